import type { ConfigProblem } from '../../../application/ports/config.ts';
import { isObject } from '../../../domain/json.ts';
import type { Secrets } from '../../../domain/redaction.ts';
import { type Environment, GATEWAY_MARKER, variableText } from './environment.ts';
import type { HttpConfig } from './http-config.ts';
import { DEFAULTS, KEYS, type Values } from './keys.ts';
import { type CommandLineOptions, type Layer, readEnvironment, readOptions } from './layers.ts';
import { readFiles } from './named-files.ts';
import { type QuotaConfig, toQuotaConfig } from './quota-config.ts';
import { httpSecrets, secretVariables } from './secret-variables.ts';
import type { ServerEntry } from './server-entry.ts';
import type { ServersLayer } from './servers-config.ts';

/** The merged keys, what they refer to, and problems with them. */
export interface SetKeys {
  readonly values: Values;
  /** The paths of the keys that are set, and not defaults. */
  readonly explicit: ReadonlySet<string>;
  /** The variables that were used. */
  readonly names: readonly string[];
  readonly instructions?: string;
  /** Present only if the command line requests the HTTP endpoint. */
  readonly http?: HttpConfig;
  /** Present only if something is limited. */
  readonly quota?: QuotaConfig;
  readonly servers?: readonly ServerEntry[];
  /** What must not be shown, besides the API key. */
  readonly secrets: Secrets;
  readonly problems: readonly ConfigProblem[];
  /** What was left out although it is configured. */
  readonly notices?: readonly ConfigProblem[];
}

/** Merges the layers. Import this only if a key is set: it loads what reads values. */
export async function readSetKeys(
  file: string | undefined,
  environment: Environment,
  commandLine: CommandLineOptions,
  isReload: boolean,
): Promise<SetKeys> {
  const where = commandLine['--config'] === undefined ? undefined : `--config ${file}`;
  const yaml: Layer =
    file === undefined ? NO_FILE : (await import('./yaml-file.ts')).readYamlFile(file, where, isReload);
  const variables = readEnvironment(environment);
  const options = readOptions(commandLine);
  const set = [...yaml.values, ...variables.values, ...options];
  const isTuned = set.some(([path, value]) => path === 'model_profiles.preset' && value === 'tuned');
  // Who chooses the preset has configured what it contains.
  const explicit = new Set([...set, ...(isTuned ? TUNED : [])].map(([path]) => path));
  const values = new Map([...DEFAULTS, ...(isTuned ? TUNED : [])]);
  for (const [path, value] of set) {
    const below = values.get(path);
    values.set(path, isObject(value) && isObject(below) ? { ...below, ...value } : value);
  }
  const files = await readFiles(values);
  const isHttp = commandLine['--http'] !== undefined;
  const http = isHttp ? (await import('./http-config.ts')).readHttpConfig(values, environment) : { problems: [] };
  const hasServers = values.has('servers') || values.has('gateway.servers_file');
  const isNested = variableText(environment, GATEWAY_MARKER) !== '';
  const servers = hasServers ? (isNested ? NESTED : await loadServers(values, environment, yaml.file)) : undefined;
  const grounding =
    values.has('grounding.tools') && servers !== NESTED
      ? (await import('./grounding-problems.ts')).groundingProblems(values, servers?.servers)
      : [];
  // A key whose value is not accepted looks as if it were missing.
  const isReported = ({ where }: ConfigProblem) => yaml.problems.some((problem) => problem.where === where);
  const merged = [...files.problems, ...http.problems, ...grounding].filter((problem) => !isReported(problem));
  const located = merged.map((problem) => withSource(problem, options, variables.values, yaml));
  const problems = [...yaml.problems, ...variables.problems, ...located, ...(servers?.problems ?? [])];
  const quota = toQuotaConfig(values);
  const names = [...variables.names, ...(servers?.names ?? [])];
  const secrets = { own: httpSecrets(values, environment), ofServers: servers?.secrets ?? [] };
  const keys = { values, explicit, names, ...files, ...http, ...(quota && { quota }), secrets, problems };
  if (servers === undefined) return keys;
  // The values are also those that are shown.
  values.set('servers', servers.shown);
  return { ...keys, servers: servers.servers, notices: servers.notices };
}

/** The servers are not even read: their variables may exist only in the process that started this one. */
const NESTED: ServersLayer = {
  servers: [],
  shown: [],
  secrets: [],
  names: [],
  problems: [],
  notices: [
    {
      where: GATEWAY_MARKER,
      message: 'this program was started as a server of its own gateway, so that it starts no servers itself',
    },
  ],
};

async function loadServers(values: Values, environment: Environment, file: string | undefined) {
  const { readServers } = await import('./servers-config.ts');
  return readServers({ values, environment, file, ownSecrets: secretVariables(values) });
}

/** The profiles of the example configuration, without models (ruling A12). */
const TUNED: readonly (readonly [string, unknown])[] = Object.entries({
  answer_detailed: { reasoning_effort: 'high', verbosity: 'high', search_context_size: 'high', max_tool_calls: 30 },
  answer_quick: { reasoning_effort: 'low', verbosity: 'low', search_context_size: 'low', max_tool_calls: 3 },
}).flatMap(([tool, keys]) =>
  Object.entries(keys).map(([key, value]) => [`model_profiles.${tool}.${key}`, value] as const),
);

const NO_FILE: Layer = { values: new Map(), problems: [] };

/** Names the source of a key that has a problem: the option, else the variable, else the file (ruling 15). */
function withSource(problem: ConfigProblem, options: Values, variables: Values, yaml: Layer): ConfigProblem {
  const { where } = problem;
  const { variable = where, option } = KEYS.find(({ path }) => path === where) ?? {};
  if (option !== undefined && options.has(where)) return { ...problem, where: `${option} (${where})` };
  if (variables.has(where)) return { ...problem, where: variable };
  return yaml.file !== undefined && yaml.values.has(where) ? { ...problem, file: yaml.file } : problem;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem, Validated } from '../../../application/ports/config.ts';
import { isObject, withoutUndefined } from '../../../domain/json.ts';
import { readApiKey } from './api-key.ts';
import { DEFAULTS, toConfigTree, type Values } from './config-tree.ts';
import { type Environment, GATEWAY_MARKER, variableText } from './environment.ts';
import { expandPath, homeFolder } from './files.ts';
import { KEYS } from './keys.ts';
import { type CommandLineOptions, type Layer, readEnvironment, readOptions } from './layers.ts';
import { mistypedVariables } from './mistyped-variables.ts';
import { pathProblems, readPolicy } from './named-files.ts';
import { readProxy } from './proxies.ts';
import { formsOf, httpSecrets, secretVariables, toShownTree, withoutSecrets } from './secrets.ts';
import { inBothForms, toGroundingPolicy, toProfiles, toQuotaConfig, toZone } from './server-config.ts';
import type { ServersLayer } from './servers-config.ts';

export interface ConfigOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineOptions;
  readonly version: string;
  /** The configuration is read again while the program runs: an empty file is then a problem. */
  readonly isReload?: boolean;
}

/** The complete configuration: the core's part, and what the adapters use. */
export type ServerConfig = ReturnType<typeof toServerConfig>;

/** The configuration, or every problem: those that a mistyped variable may have caused are followed by its name. */
export async function loadConfig(options: ConfigOptions): Promise<Validated<ServerConfig>> {
  const read = await readSources(options);
  const { problems, mistyped } = read;
  if (problems.length > 0) return { problems: [...problems.map(withoutSecrets), ...mistyped] };
  return { value: toServerConfig(options, read) };
}

/** Reads the defaults, overridden by YAML, then by the environment, then by the command line (spec 5.1, 8.1), and what they refer to. */
async function readSources({ environment, commandLine, isReload = false }: ConfigOptions) {
  const option = commandLine['--config'];
  const file = option === undefined ? defaultFile() : expandPath(option);
  const where = option === undefined ? undefined : `--config ${file}`;
  const yaml = file === undefined ? NO_FILE : (await import('./yaml-file.ts')).readYamlFile(file, where, isReload);
  const variables = readEnvironment(environment);
  const options = readOptions(commandLine);
  const { values, explicit } = merged([...yaml.values, ...variables.values, ...options]);
  const config = toConfigTree(values);
  const { openai, policy, clock, gateway, grounding } = config;

  const key = readApiKey(environment, openai.apiKeyEnv);
  const proxy = readProxy(environment, openai.baseUrl);
  const timeZone = toZone(clock.timeZone);
  const system = await readPolicy(policy.system, timeZone);
  const isHttp = commandLine['--http'] !== undefined;
  const http = isHttp ? (await import('./http-config.ts')).readHttpConfig(config, environment) : { problems: [] };
  const ownSecrets = secretVariables(config);
  const hasServers = config.servers !== undefined || gateway.serversFile !== undefined;
  // If nested, the servers are not even read: their variables may exist only in the process that started this one.
  const isNested = hasServers && variableText(environment, GATEWAY_MARKER) !== '';
  const servers =
    hasServers && !isNested
      ? (await import('./servers-config.ts')).readServers({ config, environment, file: yaml.file, ownSecrets })
      : { ...NO_SERVERS, notices: isNested ? [NESTED] : [] };
  const ofGrounding =
    grounding.tools === undefined || isNested
      ? []
      : (await import('./grounding-problems.ts')).groundingProblems(grounding.tools, servers.servers);
  // A key whose value is not accepted looks as if it were missing.
  const ofKeys = [...system.problems, ...pathProblems(config), ...http.problems, ...ofGrounding]
    .filter(({ where }) => !yaml.problems.some((problem) => problem.where === where))
    .map((problem) => withSource(problem, options, variables.values, yaml));
  const problems = [key, proxy, yaml, variables, { problems: ofKeys }, servers].flatMap((layer) => layer.problems);
  const keyNames = variableText(environment, key.variable) === '' ? [] : [key.variable];
  return {
    config,
    file,
    values: hasServers ? new Map([...values, ['servers', servers.shown]]) : values,
    explicit,
    names: [...variables.names, ...servers.names, ...keyNames, ...proxy.names],
    key,
    proxy,
    timeZone,
    instructions: system.instructions,
    http: http.http,
    ownSecrets,
    servers,
    hasServers,
    problems,
    mistyped: await mistypedVariables(environment, ownSecrets),
  };
}

function toServerConfig(
  { environment, commandLine, version }: ConfigOptions,
  { config, key, proxy, servers, timeZone, ...read }: Awaited<ReturnType<typeof readSources>>,
) {
  const { request, policy, search, citations, llm, gateway, server } = config;
  const { defaults: searchDefaults, ...ofRequests } = search;
  /** Where the configuration comes from: the YAML file, the variables and the options that were used. */
  const sources = withoutUndefined({
    ts_defaults: true as const,
    yaml: read.file,
    env: read.names,
    cli: Object.keys(commandLine),
  });
  const keys = key.value === undefined ? [] : [key.value];
  return withoutUndefined({
    ...request,
    ...citations,
    searchDefaults,
    search: ofRequests,
    llm,
    gateway,
    server,
    timeZone,
    maxCitations: policy.maxCitations,
    maxAnswerChars: server.maxAnswerChars,
    profiles: toProfiles(config, read.explicit),
    blockedDomains: inBothForms(search.blockedDomains),
    instructions: read.instructions,
    openai: withoutUndefined({
      ...config.openai,
      /** The name of the variable that contains the key, or that names a file with the key. */
      apiKeyVariable: key.variable,
      apiKey: key.value,
      /** Other users of this machine can read the file that contains the key. */
      isKeyFileShared: key.isShared || undefined,
      proxy: proxy.proxy,
    }),
    /** The URL of the proxy for cited pages, if they are read. */
    pageProxy: citations.resolveDates ? readProxy(environment, ANY_PAGE).proxy : undefined,
    /** Present only if the command line requests the HTTP endpoint. */
    http: read.http,
    /** The section `http.oauth`, which is checked only if HTTP is served. */
    readOAuth: async () => (await import('./http-config.ts')).readOAuth(config.http),
    /** The limits of callers per day, if there are any. */
    quota: toQuotaConfig(config),
    /** The servers of the gateway, if any are configured. */
    servers: read.hasServers ? servers.servers : undefined,
    grounding: toGroundingPolicy(config, servers.servers),
    /** What was left out of the servers, or changed, and variables that are probably mistyped: reported, but not a reason to stop. */
    notices: [...read.mistyped, ...servers.notices.map(withoutSecrets)],
    /** The names of the variables that contain keys and tokens of this program. */
    secretVariables: read.ownSecrets,
    secrets: {
      own: [...keys, ...httpSecrets(config, environment), ...proxy.secrets].flatMap(formsOf),
      ofServers: servers.secrets,
    },
    sources,
    /** What `--show-config` prints. Contains no key. */
    shown: () => ({ version, sources, effective: toShownTree(read.values) }),
  });
}

const NO_FILE: Layer = { values: new Map(), problems: [] };
const NO_SERVERS: ServersLayer = { servers: [], shown: [], secrets: [], names: [], problems: [], notices: [] };
const NESTED = {
  where: GATEWAY_MARKER,
  message: 'this program was started as a server of its own gateway, so that it starts no servers itself',
};

/** Of the hosts in `NO_PROXY`, only `*` contains all cited pages. */
const ANY_PAGE = 'https://page.invalid/';

/** The default file may be absent (ruling 15). */
function defaultFile(): string | undefined {
  const home = homeFolder();
  const file = home === undefined ? undefined : join(home, '.config', 'openai-responses-mcp', 'config.yaml');
  return file !== undefined && existsSync(file) ? file : undefined;
}

/** The profiles of the example configuration, without models (ruling A12). */
const TUNED = {
  answer_detailed: { reasoning_effort: 'high', verbosity: 'high', search_context_size: 'high', max_tool_calls: 30 },
  answer_quick: { reasoning_effort: 'low', verbosity: 'low', search_context_size: 'low', max_tool_calls: 3 },
};

/** All keys, and the paths of those that are set, and not defaults. */
function merged(set: readonly (readonly [string, unknown])[]) {
  const isTuned = set.some(([path, value]) => path === 'model_profiles.preset' && value === 'tuned');
  const preset = Object.entries(isTuned ? TUNED : {}).flatMap(([tool, keys]) =>
    Object.entries(keys).map(([key, value]) => [`model_profiles.${tool}.${key}`, value] as const),
  );
  const values = new Map(DEFAULTS);
  // Who chooses the preset has configured what it contains.
  for (const [path, value] of [...preset, ...set]) {
    const below = values.get(path);
    values.set(path, isObject(value) && isObject(below) ? { ...below, ...value } : value);
  }
  return { values, explicit: new Set([...preset, ...set].map(([path]) => path)) };
}

/** Names the source of a key that has a problem: the option, else the variable, else the file (ruling 15). */
function withSource(problem: ConfigProblem, options: Values, variables: Values, yaml: Layer): ConfigProblem {
  const { where } = problem;
  const { variable = where, option } = KEYS.find(({ path }) => path === where) ?? {};
  if (option !== undefined && options.has(where)) return { ...problem, where: `${option} (${where})` };
  if (variables.has(where)) return { ...problem, where: variable };
  return yaml.file !== undefined && yaml.values.has(where) ? { ...problem, file: yaml.file } : problem;
}

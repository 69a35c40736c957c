import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem, Validated } from '../../../application/ports/config.ts';
import { isObject, withoutUndefined } from '../../../domain/values/json.ts';
import { type Environment, GATEWAY_MARKER, variableText } from '../network/environment.ts';
import { readProxy } from '../network/proxies.ts';
import { readApiKey } from './api-key.ts';
import { DEFAULTS, toConfigTree, type Values } from './config-tree.ts';
import { expandPath, homeFolder } from './files.ts';
import { KEYS } from './keys.ts';
import { type CommandLineOptions, readEnvironment, readOptions } from './layers.ts';
import { mistypedVariables } from './mistyped-variables.ts';
import { reporter, withoutSecrets } from './problems.ts';
import { formsOf, httpSecrets, secretVariables } from './secrets.ts';
import { inBothForms, toGroundingPolicy, toProfiles, toQuotaConfig, toZone } from './server-config.ts';
import type { ServerEntry } from './server-entry.ts';

export interface ConfigOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineOptions;
  readonly version: string;
  /** The configuration is read again while the program runs: an empty file is then a problem. */
  readonly isReload?: boolean;
}

/** The complete configuration: the core's part, and what the adapters use. */
export type ServerConfig = ReturnType<typeof readConfig> extends Promise<infer Config> ? Config : never;

/** The configuration, or every problem with it. */
export async function loadConfig(options: ConfigOptions): Promise<Validated<ServerConfig>> {
  const problems: ConfigProblem[] = [];
  const value = await readConfig(options, problems);
  return problems.length > 0 ? { problems: problems.map(withoutSecrets) } : { value };
}

/** The defaults, overridden by YAML, then by the environment, then by the command line (spec 5.1, 8.1), and what they refer to. */
async function readConfig(
  { environment, commandLine, version, isReload = false }: ConfigOptions,
  problems: ConfigProblem[],
) {
  const option = commandLine['--config'];
  const file = option === undefined ? defaultFile() : expandPath(option);
  const label = `${option === undefined ? '' : '--config '}${file}`;
  const ofYaml: ConfigProblem[] = [];
  const yaml =
    file === undefined ? NOTHING : (await import('./yaml-file.ts')).readYamlFile(file, label, isReload, ofYaml);
  const ofVariables: ConfigProblem[] = [];
  const variables = readEnvironment(environment, reporter(ofVariables));
  const options = readOptions(commandLine);
  const { values, explicit } = merged([...yaml, ...variables.values, ...options]);
  const config = toConfigTree(values);
  const { request, policy, citations, llm, gateway, server, grounding } = config;
  const { defaults: searchDefaults, ...search } = config.search;

  const key = readApiKey(environment, config.openai.apiKeyEnv, reporter(problems));
  const proxy = readProxy(environment, config.openai.baseUrl, reporter(problems));
  problems.push(...ofYaml, ...ofVariables);
  const ofKeys: ConfigProblem[] = [];
  const report = reporter(ofKeys);
  const timeZone = toZone(config.clock.timeZone);
  // No default names a file.
  const instructions =
    explicit.size === 0 ? undefined : await (await import('./named-files.ts')).readNamedFiles(config, timeZone, report);
  const isHttp = commandLine['--http'] !== undefined;
  const http = isHttp ? (await import('./http-config.ts')).readHttpConfig(config, environment, report) : undefined;
  const ownSecrets = secretVariables(config);
  const hasServers = config.servers !== undefined || gateway.serversFile !== undefined;
  const isNested = hasServers && variableText(environment, GATEWAY_MARKER) !== '';
  const ofServers: ConfigProblem[] = [];
  const servers =
    hasServers && !isNested
      ? (await import('./servers-config.ts')).readServers({ config, environment, file, ownSecrets }, ofServers)
      : undefined;
  const configured: readonly ServerEntry[] | undefined = isNested ? [] : servers?.servers;
  if (grounding.tools !== undefined && !isNested)
    (await import('./servers-config.ts')).checkGroundedTools(grounding.tools, configured ?? [], report);
  // A key whose value is not accepted looks as if it were missing.
  const others = ofKeys.filter(({ where }) => !ofYaml.some((problem) => problem.where === where));
  problems.push(...others.map((problem) => withSource(problem, options, variables.values, yaml, file)), ...ofServers);
  const mistyped = await mistypedVariables(environment, ownSecrets);
  // A name that is mistyped is often the reason for the others.
  if (problems.length > 0) problems.push(...mistyped);

  const keyNames = variableText(environment, key.variable) === '' ? [] : [key.variable];
  const env = [...variables.names, ...(servers?.names ?? []), ...keyNames, ...proxy.names];
  /** Where the configuration comes from: the YAML file, the variables and the options that were used. */
  const sources = withoutUndefined({ ts_defaults: true as const, yaml: file, env, cli: Object.keys(commandLine) });
  const secrets = [key.value ?? '', ...httpSecrets(config, environment), ...proxy.secrets];
  return withoutUndefined({
    ...request,
    ...citations,
    searchDefaults,
    search,
    llm,
    gateway,
    server,
    instructions,
    timeZone,
    maxCitations: policy.maxCitations,
    maxAnswerChars: server.maxAnswerChars,
    profiles: toProfiles(config, explicit),
    blockedDomains: inBothForms(search.blockedDomains),
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
    http,
    /** The section `http.oauth`, which is checked only if HTTP is served. */
    readOAuth: async () => {
      const problems: ConfigProblem[] = [];
      const { readOAuth } = await import('./http-config.ts');
      return { oauth: readOAuth(config.http.oauth, reporter(problems)), problems };
    },
    /** The limits of callers per day, if there are any. */
    quota: toQuotaConfig(config),
    /** The servers of the gateway, if any are configured. Nested, they are not even read: their variables may exist only in the process that started this one. */
    servers: configured,
    grounding: toGroundingPolicy(config),
    /** What was left out of the servers, or changed, and variables that are probably mistyped: reported, but not a reason to stop. */
    notices: [...mistyped, ...(isNested ? [NESTED] : []), ...(servers?.notices ?? []).map(withoutSecrets)],
    /** The names of the variables that contain keys and tokens of this program. */
    secretVariables: ownSecrets,
    secrets: {
      own: secrets.filter((secret) => secret !== '').flatMap(formsOf),
      ofServers: servers?.secrets ?? [],
    },
    sources,
    /** What `--show-config` prints. Contains no key. */
    shown: async () => {
      const { toShownTree } = await import('./shown-tree.ts');
      const shown = hasServers ? new Map([...values, ['servers', servers?.shown ?? []]]) : values;
      return { version, sources, effective: toShownTree(shown) };
    },
  });
}

const NOTHING: Values = new Map();

const NESTED: ConfigProblem = {
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
function withSource(
  problem: ConfigProblem,
  options: Values,
  variables: Values,
  yaml: Values,
  file = '',
): ConfigProblem {
  const { where } = problem;
  const { variable = where, option } = KEYS.find(({ path }) => path === where) ?? {};
  if (option !== undefined && options.has(where)) return { ...problem, where: `${option} (${where})` };
  if (variables.has(where)) return { ...problem, where: variable };
  return yaml.has(where) ? { ...problem, file } : problem;
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem, Validated } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { type Environment, GATEWAY_MARKER, variableText } from '../network/environment.ts';
import { readProxy } from '../network/proxies.ts';
import { readApiKey } from './api-key.ts';
import { DEFAULT_CONFIG, KEY_VARIABLES } from './default-config.ts';
import { expandPath, homeFolder } from './files.ts';
import type { CommandLineOptions } from './layers.ts';
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
  const isSet = (name: string) => variableText(environment, name) !== '';
  const hasKeys = file !== undefined || Object.keys(commandLine).length > 0 || KEY_VARIABLES.some(isSet);
  const { config, explicit, ...set } = hasKeys
    ? await (await import('./set-keys.ts')).readSetKeys({ environment, commandLine, isReload, file })
    : NO_KEYS;
  const { request, policy, citations, llm, gateway, server, grounding } = config;
  const { defaults: searchDefaults, ...search } = config.search;
  const logins = expandPath(gateway.logins);

  const key = readApiKey(environment, config.openai.apiKeyEnv, reporter(problems));
  const proxy = readProxy(environment, config.openai.baseUrl, reporter(problems));
  problems.push(...set.ofYaml, ...set.ofVariables);
  const ofKeys: ConfigProblem[] = [];
  const report = reporter(ofKeys);
  const timeZone = toZone(config.clock.timeZone);
  // No default names a file.
  const instructions =
    explicit.size === 0 ? undefined : await (await import('./named-files.ts')).readNamedFiles(config, timeZone, report);
  const isHttp = commandLine['--http'] !== undefined;
  const http = isHttp ? (await import('./http-config.ts')).readHttpConfig(config, environment, report) : undefined;
  const hasServers = config.servers !== undefined || gateway.serversFile !== undefined;
  const isNested = hasServers && variableText(environment, GATEWAY_MARKER) !== '';
  const ofServers: ConfigProblem[] = [];
  const servers =
    hasServers && !isNested
      ? (await import('./servers-config.ts')).readServers(
          { config, environment, file, ownSecrets: secretVariables(config) },
          ofServers,
        )
      : undefined;
  const ownSecrets = [...secretVariables(config), ...(servers?.own.variables ?? [])];
  const configured: readonly ServerEntry[] | undefined = isNested ? [] : servers?.servers;
  if (grounding.tools !== undefined && !isNested)
    (await import('./servers-config.ts')).checkGroundedTools(grounding.tools, configured ?? [], report);
  const longAnswers =
    config.longAnswers.tools.length > 0
      ? (await import('./long-answers.ts')).readLongAnswers(config, report)
      : undefined;
  // A key whose value is not accepted looks as if it were missing.
  const others = ofKeys.filter(({ where }) => !set.ofYaml.some((problem) => problem.where === where));
  problems.push(...others.map(set.withSource), ...ofServers);
  const mistyped = await mistypedVariables(environment, ownSecrets);
  // A name that is mistyped is often the reason for the others.
  if (problems.length > 0) problems.push(...mistyped);

  const keyNames = variableText(environment, key.variable) === '' ? [] : [key.variable];
  const env = [...set.names, ...(servers?.names ?? []), ...keyNames, ...proxy.names];
  /** Where the configuration comes from: the YAML file, the variables and the options that were used. */
  const sources = withoutUndefined({ ts_defaults: true as const, yaml: file, env, cli: Object.keys(commandLine) });
  const secrets = [
    key.value ?? '',
    ...httpSecrets(config, environment),
    ...proxy.secrets,
    ...(servers?.own.values ?? []),
  ];
  return withoutUndefined({
    ...request,
    resolveDates: citations.resolveDates,
    citationCheck: citations.check,
    searchDefaults,
    search,
    llm,
    gateway: { ...gateway, logins },
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
    pageProxy: citations.resolveDates || citations.check !== 'off' ? readProxy(environment, ANY_PAGE).proxy : undefined,
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
    longAnswers,
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
      const [{ toShownTree }, { DEFAULTS }] = await Promise.all([
        import('./shown-tree.ts'),
        import('./config-tree.ts'),
      ]);
      const shown = new Map(set.values ?? DEFAULTS);
      shown.set('gateway.logins', logins);
      if (hasServers) shown.set('servers', servers?.shown ?? []);
      return { version, sources, effective: toShownTree(shown) };
    },
  });
}

/** Nothing but the API key and proxies is set, as with most clients: the start need not wait for the code that reads keys. */
const NO_KEYS = {
  config: DEFAULT_CONFIG,
  values: undefined,
  explicit: new Set<string>(),
  names: [],
  ofYaml: [],
  ofVariables: [],
  withSource: (problem: ConfigProblem) => problem,
};

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

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem, Validated } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { expandPath, homeFolder } from '../files/local-files.ts';
import { type Environment, PROXY_VARIABLES, variableText } from '../network/environment.ts';
import { DEFAULT_CONFIG, KEY_VARIABLES } from './default-config.ts';
import { mistypedVariables } from './mistyped-variables.ts';
import { reporter, withoutSecrets } from './problems.ts';
import { formsOf, httpSecrets, readApiKey, secretVariables } from './secrets.ts';
import { inBothForms, toAuditConfig, toGroundingPolicy, toProfiles, toQuotaConfig, toZone } from './server-config.ts';
import type { CommandLineOptions } from './set-keys.ts';

export interface ConfigOptions {
  readonly environment: Environment;
  readonly commandLine: CommandLineOptions;
  readonly version: string;
  /** The configuration is read again while the program runs: an empty file is then a problem. */
  readonly isReload?: boolean;
  /** The file of `gateway.lock` is to be written, so that it may be missing or damaged. */
  readonly writesLock?: boolean;
}

/** The complete configuration: the core's part, and what the adapters use. */
export type ServerConfig = Awaited<ReturnType<typeof readConfig>>;

/** The configuration, or every problem with it; in both cases, the files that it names. */
export async function loadConfig(
  options: ConfigOptions,
): Promise<Validated<ServerConfig> & Pick<ServerConfig, 'files'>> {
  const problems: ConfigProblem[] = [];
  const value = await readConfig(options, problems);
  return { files: value.files, ...(problems.length > 0 ? { problems: problems.map(withoutSecrets) } : { value }) };
}

/** The defaults, overridden by YAML, then by the environment, then by the command line (spec 5.1, 8.1), and what they refer to. */
async function readConfig(
  { environment, commandLine, version, isReload = false, writesLock = false }: ConfigOptions,
  problems: ConfigProblem[],
) {
  const option = commandLine['--config'];
  const file = option === undefined ? defaultFile() : expandPath(option);
  const isSet = (name: string) => variableText(environment, name) !== '';
  const hasKeys = file !== undefined || Object.keys(commandLine).length > 0 || KEY_VARIABLES.some(isSet);
  const { config, values, explicit, names, report } = hasKeys
    ? await (await import('./set-keys.ts')).readSetKeys(environment, commandLine, file, isReload, problems)
    : { ...NO_KEYS, report: reporter(problems) };
  const { request, policy, citations, llm, gateway, server, grounding } = config;
  const { defaults: searchDefaults, ...search } = config.search;
  const logins = expandPath(gateway.logins);

  const key = readApiKey(environment, config.openai.apiKeyEnv, reporter(problems));
  const proxies = PROXY_VARIABLES.some(isSet) ? await import('../network/proxies.ts') : undefined;
  const proxy = proxies?.readProxy(environment, config.openai.baseUrl, reporter(problems));
  const timeZone = toZone(config.clock.timeZone);
  // No default names a file.
  const instructions =
    explicit.size === 0 ? undefined : await (await import('./named-files.ts')).readNamedFiles(config, timeZone, report);
  const isHttp = commandLine['--http'] !== undefined;
  const http = isHttp ? (await import('./http-config.ts')).readHttpConfig(config, environment, report) : undefined;
  const servers =
    config.servers !== undefined || gateway.serversFile !== undefined
      ? (await import('./servers-config.ts')).readServers(config, environment, file, problems)
      : undefined;
  const ownSecrets = servers?.ownSecrets ?? secretVariables(config);
  const known = servers === undefined ? [] : servers.known;
  if (known !== undefined && (grounding.tools !== undefined || gateway.always.length > 0))
    (await import('./access-config.ts')).checkOfferedTools(config, known, report);
  const access = config.access && (await import('./access-config.ts')).readAccess(config, known, report);
  const lock =
    known !== undefined && gateway.lock !== undefined
      ? await (await import('./named-files.ts')).readLock(gateway.lock, writesLock ? () => {} : report)
      : undefined;
  const longAnswers = config.longAnswers.tools.length > 0 ? config.longAnswers : undefined;
  if (longAnswers && request.maxConcurrency === 1) report('request.max_concurrency', TOO_FEW_PLACES, 1);
  const mistyped = await mistypedVariables(environment, [...ownSecrets, ...(servers?.ofEntries ?? [])]);
  // A name that is mistyped is often the reason for the others.
  if (problems.length > 0) problems.push(...mistyped);

  const keyNames = isSet(key.apiKeyVariable) ? [key.apiKeyVariable] : [];
  const env = [...names, ...(servers?.names ?? []), ...keyNames, ...(proxy?.names ?? [])];
  /** Where the configuration comes from: the YAML file, the variables and the options that were used. */
  const sources = withoutUndefined({ ts_defaults: true as const, yaml: file, env, cli: Object.keys(commandLine) });
  const secrets = [
    key.apiKey ?? '',
    ...(await httpSecrets(config, environment)),
    ...(proxy?.secrets ?? []),
    ...(servers?.clientSecrets ?? []),
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
    openai: withoutUndefined({ ...config.openai, ...key, proxy: proxy?.proxy }),
    /** The URL of the proxy for cited pages, if they are read. */
    pageProxy:
      citations.resolveDates || citations.check !== 'off' ? proxies?.readProxy(environment, ANY_PAGE).proxy : undefined,
    /** Present only if the command line requests the HTTP endpoint. */
    http,
    /** The section `http.oauth`, which is checked only if HTTP is served. */
    readOAuth: async () => {
      const problems: ConfigProblem[] = [];
      const { readOAuth } = await import('./http-config.ts');
      return { oauth: readOAuth(config.http.oauth, reporter(problems)), problems };
    },
    quota: toQuotaConfig(config),
    /** The servers of the gateway, if any are configured. */
    servers: servers?.servers,
    /** What callers may use; absent if everyone may use everything. */
    access,
    lock,
    /** The files with what can be reloaded. */
    files: [file, gateway.serversFile, gateway.lock].filter((path) => path !== undefined),
    audit: toAuditConfig(config),
    grounding: toGroundingPolicy(config),
    longAnswers,
    /** What was left out of the servers, or changed, and variables that are probably mistyped: reported, but not a reason to stop. */
    notices: [...mistyped, ...(servers?.notices ?? []).map(withoutSecrets)],
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
      const read = { 'gateway.logins': logins, ...(servers && { servers: servers.shown }) };
      return { version, sources, effective: toShownTree(values, read) };
    },
  });
}

/** Nothing but the API key and proxies is set, as with most clients: the start need not wait for the code that reads keys. */
const NO_KEYS = {
  config: DEFAULT_CONFIG,
  values: undefined,
  explicit: new Set<string>(),
  names: [],
};

const TOO_FEW_PLACES =
  'expected an integer, 2 or greater, because long_answers.tools (LONG_ANSWERS) is set: searches that no call waits for hold up to half of these places';

/** Of the hosts in `NO_PROXY`, only `*` contains all cited pages. */
const ANY_PAGE = 'https://page.invalid/';

/** The default file may be absent (ruling 15). */
function defaultFile(): string | undefined {
  const home = homeFolder();
  const file = home === undefined ? undefined : join(home, '.config', 'openai-responses-mcp', 'config.yaml');
  return file !== undefined && existsSync(file) ? file : undefined;
}

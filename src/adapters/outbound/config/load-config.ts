import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem, Validated } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { expandPath, homeFolder } from '../files/local-files.ts';
import { PROXY_VARIABLES, readProxy, variableText } from '../network/environment.ts';
import { checkCallerLogins } from './caller-logins.ts';
import type { ConfigTree } from './keys.ts';
import { mistypedVariables, unknownCallers } from './mistyped-names.ts';
import { readLock, readNamedFiles } from './named-files.ts';
import { readOAuth } from './oauth-config.ts';
import { reporter, withoutSecrets } from './problems.ts';
import { formsOf, httpSecrets, readApiKey, secretVariables } from './secrets.ts';
import {
  checkBudget,
  checkOfferedTools,
  inBothForms,
  readAccess,
  readAudit,
  toGroundingPolicy,
  toLongAnswers,
  toPrices,
  toProfiles,
  toQuotaConfig,
  toZone,
} from './sections.ts';
import type { ServerConfig } from './server-config.ts';
import type { ReadServers } from './servers-config.ts';
import { type ConfigOptions, optionText, readSetKeys } from './set-keys.ts';
import { toShownTree } from './shown-config.ts';

/** The configuration, or every problem with it; in both cases, the files that it names and the form of the log. */
export async function loadConfig(
  options: ConfigOptions,
): Promise<Validated<ServerConfig> & Pick<ServerConfig, 'files'> & Pick<ServerConfig['server'], 'log'>> {
  const problems: ConfigProblem[] = [];
  const option = optionText(options.commandLine, '--config');
  const file = option === undefined ? defaultFile() : expandPath(option);
  const set = await readSetKeys(options, file, problems);
  const read = await resolve(options, set, file, problems);
  const found =
    problems.length > 0
      ? // Mistyped variables are added, because they are often the reason for the other problems.
        { problems: [...problems, ...read.mistyped].map(withoutSecrets) }
      : { value: toServerConfig(options, set, read, file) };
  return { files: filesOf(set, read, file), log: set.config.server.log, ...found };
}

type SetKeys = Awaited<ReturnType<typeof readSetKeys>>;

/** Reads everything to which the keys refer: variables, files and servers. */
async function resolve(
  { environment, commandLine, isReload = false, startCommand, unset, writesLock = false }: ConfigOptions,
  { config, explicit, report }: SetKeys,
  file: string | undefined,
  problems: ConfigProblem[],
) {
  const { gateway } = config;
  const ofKey: ConfigProblem[] = [];
  const key = readApiKey(environment, config.openai.apiKeyEnv, reporter(problems), reporter(ofKey));
  const proxy = readProxy(environment, config.openai.baseUrl, reporter(problems));
  const timeZone = toZone(config.clock.timeZone);
  const instructions = readNamedFiles(config, timeZone, report);
  const isHttp = commandLine['--http'] !== undefined || (unset !== undefined && usesHttp(explicit));
  // Saves the start of stdio the part of Node.js that computes hashes.
  const { readHttpConfig, callersOf } = isHttp ? await httpConfig() : {};
  const http = readHttpConfig?.(config, environment, report, { isReload, unset });
  const callers = http && callersOf?.(http);
  const audit = readAudit(config, explicit, report);
  const servers = hasServers(config)
    ? await (await import('./servers-config.ts')).readServers(config, { environment, unset }, file, problems)
    : withoutServers(config);
  if (http !== undefined) checkCallerLogins(servers.servers, http, report);
  checkOfferedTools(config, servers.known, report);
  const price = toPrices(config);
  checkBudget(toQuotaConfig(config), { profiles: toProfiles(config, explicit), price }, report);
  const access = config.access && readAccess(config, servers.known, report);
  const isLocked = servers.known !== undefined && gateway.lock !== undefined;
  const lock = isLocked ? readLock(gateway.lock, startCommand?.(), writesLock ? () => {} : report) : undefined;
  const mistyped = mistypedVariables(environment, [...READ_ELSEWHERE, ...servers.ownSecrets, ...servers.ofEntries]);
  const notices = [
    ...ofKey,
    ...(http?.notices ?? []),
    ...(callers === undefined ? [] : unknownCallers(config, callers)),
  ];
  return { key, proxy, timeZone, instructions, http, audit, servers, access, lock, mistyped, notices, callers };
}

function hasServers({ servers, gateway }: ConfigTree): boolean {
  return servers !== undefined || gateway.serversFile !== undefined;
}

/** What is read of a configuration without servers: the start then needs no keys of servers. */
function withoutServers(config: ConfigTree): ReadServers {
  const lists = { files: [], variableFiles: [], secrets: [], clientSecrets: [], names: [], ofEntries: [], notices: [] };
  return { ...lists, servers: undefined, shown: () => undefined, ownSecrets: secretVariables(config), known: [] };
}

function usesHttp(explicit: ReadonlySet<string>): boolean {
  return [...explicit].some((path) => path.startsWith('http.'));
}

const httpConfig = () => import('./http-config.ts');

type Read = Awaited<ReturnType<typeof resolve>>;

/** The configuration of the keys, and of everything to which they refer. */
function toServerConfig(options: ConfigOptions, set: SetKeys, read: Read, file: string | undefined): ServerConfig {
  const { environment } = options;
  const { config, explicit, text } = set;
  const { key, proxy, timeZone, instructions, http, callers, audit, servers, access, lock } = read;
  const { request, search, policy, citations, llm, server } = config;
  const gateway = { ...config.gateway, logins: expandPath(config.gateway.logins) };
  const { longAnswers, notice } = toLongAnswers(config, key.apiKey);
  const sources = sourcesOf(options, set, read, file);
  return withoutUndefined({
    request,
    search,
    policy,
    citations,
    llm,
    gateway,
    server,
    timeZone,
    instructions,
    http,
    audit,
    access,
    lock,
    longAnswers,
    text,
    sources,
    tokenCallers: callers,
    profiles: toProfiles(config, explicit),
    blockedDomains: inBothForms(search.blockedDomains),
    openai: withoutUndefined({ ...config.openai, ...key, proxy: proxy.proxy }),
    pageProxy: readProxy(environment, ANY_PAGE).proxy,
    quota: toQuotaConfig(config),
    priceOf: toPrices(config),
    servers: servers.servers,
    serversFiles: servers.files,
    grounding: toGroundingPolicy(config),
    readOAuth: () => {
      const problems: ConfigProblem[] = [];
      return { oauth: readOAuth(config.http.oauth, reporter(problems)), problems };
    },
    readHttp: async () => {
      if (!usesHttp(explicit)) return undefined;
      const { readHttpConfig, callersOf } = await httpConfig();
      const http = readHttpConfig(config, environment, () => {});
      if (http === undefined) return undefined;
      const problems: ConfigProblem[] = [];
      checkCallerLogins(servers.servers, http, reporter(problems));
      const { requiresToken, publicUrl, oauth } = http;
      const callers = callersOf(http);
      return { isOpenToMachine: !requiresToken, callers, issuer: oauth?.issuer, publicUrl, problems };
    },
    files: filesOf(set, read, file),
    notices: [...read.mistyped, ...read.notices, ...notice, ...servers.notices.map(withoutSecrets)],
    secretVariables: servers.ownSecrets,
    secrets: { own: ownSecrets(options, set, read).flatMap(formsOf), ofServers: servers.secrets },
    shown: () => ({ version: options.version, sources, effective: shownKeys(options, set, read, gateway.logins) }),
  });
}

function filesOf({ config: { gateway } }: SetKeys, { servers }: Read, file: string | undefined): readonly string[] {
  const named = [file, ...(gateway.serversFile ?? []), ...servers.variableFiles, gateway.lock];
  return [...new Set(named.filter((path) => path !== undefined))];
}

function sourcesOf({ environment, commandLine }: ConfigOptions, { names }: SetKeys, read: Read, yaml?: string) {
  const { apiKeyVariable } = read.key;
  const keyNames = variableText(environment, apiKeyVariable) === '' ? [] : [apiKeyVariable];
  const env = [...names, ...read.servers.names, ...keyNames, ...read.proxy.names];
  return withoutUndefined({ ts_defaults: true as const, yaml, env, cli: Object.keys(commandLine) });
}

/** The secrets of this program, rather than of its servers. */
function ownSecrets({ environment }: ConfigOptions, { config }: SetKeys, { key, proxy, servers }: Read) {
  const own = [key.apiKey ?? '', ...httpSecrets(config, environment), ...proxy.secrets, ...servers.clientSecrets];
  return own.filter((secret) => secret !== '');
}

function shownKeys({ commandLine }: ConfigOptions, { values }: SetKeys, { http, servers }: Read, logins: string) {
  const resolved = withoutUndefined({
    'gateway.logins': logins,
    'http.oauth.resource': http?.oauth?.resource,
    servers: servers.shown(commandLine['--http'] !== undefined),
  });
  return toShownTree(values, resolved);
}

/** Variables that belong to no key. */
const READ_ELSEWHERE = ['DEFAULT_TIMEOUT', ...PROXY_VARIABLES, 'NO_PROXY'];

/** A URL that only `*` in `NO_PROXY` matches, because a cited page may have any host. */
const ANY_PAGE = 'https://page.invalid/';

/** The default file, if it exists. */
function defaultFile(): string | undefined {
  const home = homeFolder();
  const file = home === undefined ? undefined : join(home, '.config', 'openai-responses-mcp', 'config.yaml');
  return file !== undefined && existsSync(file) ? file : undefined;
}

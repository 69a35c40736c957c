import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigProblem, Validated } from '../../../application/ports/config.ts';
import { withoutUndefined } from '../../../domain/values/json.ts';
import { expandPath, homeFolder } from '../files/local-files.ts';
import { PROXY_VARIABLES, variableText } from '../network/environment.ts';
import { readProxy } from '../network/proxies.ts';
import { checkOfferedTools, readAccess } from './access-config.ts';
import { mistypedVariables } from './mistyped-variables.ts';
import { readLock, readNamedFiles } from './named-files.ts';
import { readOAuth } from './oauth-config.ts';
import { reporter, withoutSecrets } from './problems.ts';
import { formsOf, httpSecrets, readApiKey } from './secrets.ts';
import { inBothForms, readAudit, toGroundingPolicy, toProfiles, toQuotaConfig, toZone } from './server-config.ts';
import { readServers } from './servers-config.ts';
import { type ConfigOptions, readSetKeys } from './set-keys.ts';
import { toShownTree } from './shown-tree.ts';
import { unknownCallers } from './unknown-callers.ts';

/** The complete configuration, for the core and the adapters. */
export type ServerConfig = ReturnType<typeof derive>;

/** The configuration, or every problem with it; in both cases, the files that it names and the form of the log. */
export async function loadConfig(
  options: ConfigOptions,
): Promise<Validated<ServerConfig> & Pick<ServerConfig, 'files'> & Pick<ServerConfig['server'], 'log'>> {
  const problems: ConfigProblem[] = [];
  const option = options.commandLine['--config'];
  const file = option === undefined ? defaultFile() : expandPath(option);
  const set = await readSetKeys(options, file, problems);
  const read = await resolve(options, set, file, problems);
  const value = derive(options, set, read, file);
  // Mistyped variables are added, because they are often the reason for the other problems.
  const found = problems.length > 0 ? { problems: [...problems, ...read.mistyped].map(withoutSecrets) } : { value };
  return { files: value.files, log: value.server.log, ...found };
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
  const key = readApiKey(environment, config.openai.apiKeyEnv, reporter(problems));
  const proxy = readProxy(environment, config.openai.baseUrl, reporter(problems));
  const timeZone = toZone(config.clock.timeZone);
  const instructions = readNamedFiles(config, timeZone, report);
  const isHttp = commandLine['--http'] !== undefined || (unset !== undefined && usesHttp(explicit));
  // Saves the start of stdio the part of Node.js that computes hashes.
  const { readHttpConfig, callersOf } = isHttp ? await httpConfig() : {};
  const http = readHttpConfig?.(config, environment, report, { isReload, unset });
  const callers = http && callersOf?.(http);
  const audit = readAudit(config, explicit, report);
  const servers = await readServers(config, { environment, unset }, file, problems);
  checkOfferedTools(config, servers.known, report);
  const access = config.access && readAccess(config, servers.known, report);
  const isLocked = servers.known !== undefined && gateway.lock !== undefined;
  const lock = isLocked ? readLock(gateway.lock, startCommand?.(), writesLock ? () => {} : report) : undefined;
  const mistyped = mistypedVariables(environment, [...READ_ELSEWHERE, ...servers.ownSecrets, ...servers.ofEntries]);
  const notices = [...(http?.notices ?? []), ...(callers === undefined ? [] : unknownCallers(config, callers))];
  return { key, proxy, timeZone, instructions, http, audit, servers, access, lock, mistyped, notices, callers };
}

function usesHttp(explicit: ReadonlySet<string>): boolean {
  return [...explicit].some((path) => path.startsWith('http.'));
}

const httpConfig = () => import('./http-config.ts');

/** Derives the configuration from the keys and from everything to which they refer. */
function derive(
  { environment, commandLine, version }: ConfigOptions,
  { config, values, explicit, names, text }: SetKeys,
  { key, proxy, timeZone, servers, mistyped, notices, callers, ...read }: Awaited<ReturnType<typeof resolve>>,
  file: string | undefined,
) {
  const { request, policy, citations, llm, gateway, server, longAnswers } = config;
  const { defaults: searchDefaults, ...search } = config.search;
  const logins = expandPath(gateway.logins);
  // Answers that are recorded, or come from a recording, end with their calls.
  const isLong = longAnswers.tools.length > 0 && llm.adapter !== 'offline' && llm.record === undefined;
  const isKeyShort = key.apiKey !== undefined && key.apiKey.length < MIN_SIGNING_KEY;
  const keyNames = variableText(environment, key.apiKeyVariable) === '' ? [] : [key.apiKeyVariable];
  const env = [...names, ...servers.names, ...keyNames, ...proxy.names];
  /** The sources of the configuration: the YAML file, and the variables and options that were used. */
  const sources = withoutUndefined({ ts_defaults: true as const, yaml: file, env, cli: Object.keys(commandLine) });
  const own = [key.apiKey ?? '', ...httpSecrets(config, environment), ...proxy.secrets, ...servers.clientSecrets];
  return withoutUndefined({
    ...request,
    ...read,
    resolveDates: citations.resolveDates,
    citationCheck: citations.check,
    checksAsTool: citations.tool,
    checksOverRest: citations.rest,
    searchDefaults,
    search,
    llm,
    gateway: { ...gateway, logins },
    server,
    timeZone,
    maxCitations: policy.maxCitations,
    maxAnswerChars: server.maxAnswerChars,
    profiles: toProfiles(config, explicit),
    blockedDomains: inBothForms(search.blockedDomains),
    openai: withoutUndefined({ ...config.openai, ...key, proxy: proxy.proxy }),
    /** The URL of the proxy for pages. */
    pageProxy: readProxy(environment, ANY_PAGE).proxy,
    /** The callers of the tokens over HTTP; undefined without the section `http`. */
    tokenCallers: callers,
    /** Reads the section `http.oauth`, whose problems are otherwise reported only while HTTP is served. */
    readOAuth: () => {
      const problems: ConfigProblem[] = [];
      return { oauth: readOAuth(config.http.oauth, reporter(problems)), problems };
    },
    /** Whether the section `http` is used, and its endpoint would require no token. */
    isOpenToMachine: async () => {
      if (!usesHttp(explicit)) return false;
      const { readHttpConfig } = await httpConfig();
      return readHttpConfig(config, environment, () => {})?.requiresToken === false;
    },
    quota: toQuotaConfig(config),
    /** The servers of the gateway, if any are configured. */
    servers: servers.servers,
    /** The text of the YAML file, with which that of a reload is compared. */
    text,
    /** The files whose changes can be reloaded. */
    files: [file, gateway.serversFile, gateway.lock].filter((path) => path !== undefined),
    grounding: toGroundingPolicy(config),
    longAnswers: isLong && !isKeyShort ? longAnswers : undefined,
    /** Problems that do not prevent the start: servers left out or renamed, variables that are probably mistyped, a key without effect. */
    notices: [
      ...mistyped,
      ...notices,
      ...(isLong && isKeyShort ? [SHORT_KEY] : []),
      ...servers.notices.map(withoutSecrets),
    ],
    /** The names of the variables that contain keys and tokens of this program. */
    secretVariables: servers.ownSecrets,
    secrets: { own: own.filter((secret) => secret !== '').flatMap(formsOf), ofServers: servers.secrets },
    sources,
    /** The output of `--show-config`, without keys. */
    shown: () => {
      const resolved = withoutUndefined({
        'gateway.logins': logins,
        'http.oauth.resource': read.http?.oauth?.resource,
        servers: servers.shown(commandLine['--http'] !== undefined),
      });
      return { version, sources, effective: toShownTree(values, resolved) };
    },
  });
}

/** Minimum length of an API key from which the key for handles is derived: guesses of a shorter one could be checked with any handle. */
const MIN_SIGNING_KEY = 20;
const SHORT_KEY: ConfigProblem = {
  where: 'long_answers.tools',
  message: `has no effect, because the API key has fewer than ${MIN_SIGNING_KEY} characters: handles of answers could be guessed`,
};

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

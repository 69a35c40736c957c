import { doctor } from '../adapters/inbound/cli/doctor.ts';
import {
  type CheckedLogin,
  checkApi,
  checkConfiguration,
  checkGrounding,
  checkLogins,
  checkServers,
  checkSettings,
  checkVariables,
  invalidConfiguration,
  NODE,
  RECORDINGS,
} from '../adapters/inbound/cli/doctor-checks.ts';
import {
  API_NOT_ASKED,
  type ConfiguredServer,
  checkConfigured,
  checkKey,
} from '../adapters/inbound/cli/offline-checks.ts';
import {
  checkAccess,
  checkAudit,
  checkLimits,
  checkLock,
  checkLockedNames,
  checkOAuth,
  checkQuota,
  checkTokens,
  issuerNotAsked,
} from '../adapters/inbound/cli/team-checks.ts';
import type { CommandContext } from '../adapters/inbound/cli/terminal.ts';
import { type CheckedValue, checkValues } from '../adapters/inbound/cli/value-checks.ts';
import { probeAuditFile } from '../adapters/outbound/audit/audit-file.ts';
import { unpricedModels } from '../adapters/outbound/config/sections.ts';
import type { CheckedHttp } from '../adapters/outbound/config/server-config.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import { kindOf } from '../adapters/outbound/login/login.ts';
import { childEnvironment, commandProblem } from '../adapters/outbound/mcp-client/child-command.ts';
import { isUnencrypted } from '../adapters/outbound/network/addresses.ts';
import type { Application } from '../application/answers/application.ts';
import { never } from '../application/async/deadline.ts';
import type { ConfigProblem } from '../application/ports/config.ts';
import { placeOf } from '../application/ports/values.ts';
import { isOld, LIST } from '../domain/answers/prices.ts';
import type { LoginOwner } from '../domain/gateway/login-owner.ts';
import { valueFailureWords } from '../domain/values/value-failure.ts';
import { zonedDate } from '../domain/values/zoned-date.ts';
import { composeApiKey } from './api-key.ts';
import { checkedOAuth, checkedQuota } from './callers.ts';
import { loginUrlOf } from './described-servers.ts';
import type { ComposedGateway } from './gateway.ts';
import { type Runtime, terminalLook } from './runtime.ts';

interface Checked {
  readonly application: Application;
  /** Undefined if no servers are configured. */
  readonly composed: ComposedGateway | undefined;
}

/** Checks the way from this machine to an answer, for a person. */
export async function runDoctor(
  json: boolean,
  context: Runtime & CommandContext,
  { application, composed }: Checked,
  signal: AbortSignal,
): Promise<number> {
  const { config, redactor, ownCommand } = context;
  const { openai, llm, grounding, access, audit, lock, quota, servers = [] } = config;
  const gateway = composed?.gateway;
  const key = { ...checkedKey(openai), read: keyReader(context) };
  const isSentOpenly = isUnencrypted(openai.baseUrl);
  const checks = [
    ...(await configurationChecks(context)),
    checkValues(checkedValues(context)),
    gateway &&
      checkServers(
        gateway,
        servers.filter(({ login }) => login === 'per_caller').map(({ name }) => name),
      ),
    checkLogins(() => checkedLogins(context, composed), ownCommand),
    grounding && checkGrounding(grounding, gateway),
    access && checkAccess(access, gateway),
    lock?.approved && checkLock(lock.approved, gateway, ownCommand),
    audit && checkAudit({ ...audit, probe: () => probeAuditFile(audit.file) }),
    quota && checkQuota(checkedQuota(quota, context)),
    oauthCheck(context),
    llm.adapter === 'offline'
      ? RECORDINGS
      : checkApi({ application, key, isUnencrypted: isSentOpenly, hasServers: gateway !== undefined }),
  ];
  return doctor(checks, { ...context, json, redact: redactor.inLogs, progress: context }, signal);
}

/** Checks the setup without a request, a key and a server. `unset` are the variables that the configuration names and that are not set. */
export async function runOfflineDoctor(
  json: boolean,
  runtime: Runtime,
  unset: readonly ConfigProblem[],
): Promise<number> {
  const { config, redactor } = runtime;
  const { openai, access, audit, lock, quota, http, servers = [], tokenCallers = [] } = config;
  const names = servers.map(({ name }) => name);
  const checks = [
    ...(await configurationChecks(runtime, unset)),
    checkConfigured(servers.map((entry) => toConfigured(entry, config))),
    tokenCallers.length > 0 ? checkTokens(tokenCallers) : undefined,
    access && checkAccess(access, undefined),
    lock?.approved && checkLockedNames(lock.approved, names, runtime.startCommand()),
    audit && checkAudit({ ...audit, probe: () => probeAuditFile(audit.file) }),
    quota && checkLimits(checkedQuota(quota, runtime)),
    http?.oauth && issuerNotAsked(http.oauth.issuer),
    checkKey(checkedKey(openai)),
    API_NOT_ASKED,
  ];
  const out = (text: string) => process.stdout.write(text);
  return doctor(
    checks,
    { json, out, redact: redactor.inLogs, ownCommand: runtime.startCommand(), ...terminalLook() },
    never(),
  );
}

/** The checks of every configuration. */
async function configurationChecks({ config, clock }: Runtime, unset: readonly ConfigProblem[] = []) {
  const { sources, notices, profiles, llm } = config;
  const today = zonedDate(clock.now(), config.timeZone);
  const unpriced = config.priceOf === undefined ? [] : unpricedModels(profiles, config.priceOf).map(([model]) => model);
  const prices = { oldList: isOld(LIST.date, today) ? LIST.date : undefined, unpriced };
  const { isOpenToMachine = false, problems = [] } = (await config.readHttp()) ?? {};
  return [
    NODE,
    checkConfiguration(describeSources(sources), notices),
    checkVariables(unset),
    ...(problems.length > 0 ? [invalidConfiguration(problems, 'http')] : []),
    checkSettings({ isOpenToMachine, ...(llm.adapter !== 'offline' && { prices }) }),
  ];
}

function oauthCheck(runtime: Runtime) {
  const { oauth, problems } = runtime.config.readOAuth();
  if (oauth !== undefined) return checkOAuth(checkedOAuth(oauth, runtime));
  return problems.length > 0 ? checkOAuth(problems) : undefined;
}

function checkedKey({ apiKeyVariable, apiKey, apiKeySource, isKeyFileShared }: Runtime['config']['openai']) {
  const command = apiKeySource?.kind === 'command' ? apiKeySource.words[0] : undefined;
  return { variable: apiKeyVariable, value: apiKey, isShared: isKeyFileShared, command };
}

/** Reads the key of a file or a command as questions do. */
function keyReader(runtime: Runtime) {
  const key = composeApiKey(runtime);
  return key && ((signal: AbortSignal) => key.read(signal));
}

/** The values of servers, each once, with the servers that use it. */
function checkedValues({ config, values }: Runtime): readonly CheckedValue[] {
  const all = (config.servers ?? []).flatMap(({ name, values = [] }) =>
    values.map(({ reference }) => ({ name, reference, key: JSON.stringify(reference) })),
  );
  const first = all.filter(({ key }, index) => all.findIndex((one) => one.key === key) === index);
  return first.map(({ reference, key }) => ({
    place: placeOf(reference),
    servers: [...new Set(all.flatMap((one) => (one.key === key ? one.name : [])))],
    read: async (signal) => {
      const read = await values.read(reference, signal);
      return read.isOk() ? undefined : valueFailureWords(read.error);
    },
  }));
}

/** A server without its process: the host that it would ask, or whether its command exists. */
function toConfigured(entry: ServerEntry, { secretVariables }: Runtime['config']): ConfiguredServer {
  const { name, connection } = entry;
  const unset = entry.unset?.find((key) => DECISIVE.includes(key));
  if (unset !== undefined) return { name, unset };
  const later = entry.values?.find(({ key }) => DECISIVE.includes(key));
  if (later !== undefined) return { name, later: later.key };
  if (connection.kind === 'remote') return { name, host: new URL(connection.url).host };
  const { command, cwd, envs, inheritEnv } = connection;
  const env = childEnvironment({ environment: process.env, inherit: inheritEnv, envs, ownSecrets: secretVariables });
  return { name, command, problem: commandProblem({ command, cwd, env }) };
}

/** The keys with variables that decide where a server is. */
const DECISIVE: readonly string[] = ['url', 'command', 'envs.PATH', 'env.PATH'];

/** The logins, the servers that sign in by themselves, and the callers who have no login, in the order of the servers. */
async function checkedLogins(runtime: Runtime, gateway: ComposedGateway | undefined): Promise<readonly CheckedLogin[]> {
  const { servers = [], readHttp } = runtime.config;
  if (servers.every(({ connection }) => connection.kind === 'child')) return [];
  const { composeLogins } = await import('./logins.ts');
  const [logins, http] = [await composeLogins(runtime).list(), await readHttp()];
  const toLogins = async ({ name, connection, login }: ServerEntry): Promise<readonly CheckedLogin[]> => {
    const { auth } = connection.kind === 'remote' ? connection : {};
    if (auth !== undefined && kindOf(auth) !== 'person') {
      const { grant, clientId } = auth;
      return [{ server: name, grant, clientId, login: await gateway?.machineLogin(name) }];
    }
    const own = logins.filter(({ server }) => server === name);
    const checked = own.map((one) => ({ ...one, isOfNobody: http !== undefined && !isCallerOf(http, one.owner) }));
    const isMissing = (caller: string) => !own.some(({ owner }) => owner?.kind === 'token' && owner.name === caller);
    const without = login === 'per_caller' ? (http?.callers ?? []).filter(isMissing) : [];
    const missing = { server: name, without, signInUrl: loginUrlOf(name, http?.publicUrl) };
    return without.length === 0 ? checked : [...checked, missing];
  };
  return (await Promise.all(servers.map(toLogins))).flat();
}

/** Whether a login may still be used: it is no caller's, or that of one who still exists, as far as that is known. */
function isCallerOf({ callers, issuer }: CheckedHttp, owner: LoginOwner | undefined): boolean {
  if (owner?.kind === 'token') return callers?.includes(owner.name) !== false;
  return owner?.kind !== 'subject' || owner.issuer === issuer;
}

function describeSources({ yaml, env, cli }: Runtime['config']['sources']): string {
  const sources = ['defaults'];
  if (yaml !== undefined) sources.push(yaml);
  if (env.length > 0) sources.push(`environment: ${env.join(', ')}`);
  if (cli.length > 0) sources.push(`options: ${cli.join(', ')}`);
  return sources.join('; ');
}

import type { Check } from '../../../application/answers/diagnose-setup.ts';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import { type ApprovedTools, numberOfTools } from '../../../domain/gateway/approved-tools.ts';
import { advised } from '../../../domain/gateway/own-command.ts';
import { keyProblem } from '../../../domain/values/redaction.ts';
import { count } from '../words/plain.ts';
import { messageForProblem } from '../words/process-messages.ts';
import { toCheck, withWarnings } from './check.ts';
import { type CheckedSetup, checkSettings, NODE } from './doctor-checks.ts';
import { checkAccess, checkAudit, limitsOfQuota } from './team-checks.ts';

/** A server that is not started. */
export interface ConfiguredServer {
  readonly name: string;
  /** The host of a remote server. */
  readonly host?: string | undefined;
  /** The key with a variable that is not set here, so that it is not known where the server is. */
  readonly unset?: string | undefined;
  /** Why its command would not start. */
  readonly problem?: string | undefined;
  readonly command?: string | undefined;
}

/** The setup to check without a request. A part that is not configured is undefined. */
export interface OfflineSetup
  extends Pick<
    CheckedSetup,
    | 'configSources'
    | 'notices'
    | 'apiKey'
    | 'access'
    | 'approved'
    | 'audit'
    | 'quota'
    | 'profiles'
    | 'toolErrors'
    | 'isOpenToMachine'
    | 'ownCommand'
  > {
  /** Variables that the configuration names and that are not set here. */
  readonly unset: readonly ConfigProblem[];
  readonly servers: readonly ConfiguredServer[] | undefined;
  /** The tokens over HTTP, by caller. */
  readonly tokenCallers?: readonly string[] | undefined;
  readonly issuer: string | undefined;
}

const NOT_ASKED = 'not asked (--offline)';

/** Checks what can be checked without a request, a key and a server, such as in CI. A secret that is not set is a note. */
export function* offlineChecksOf(options: OfflineSetup): Generator<Check> {
  const { access, approved, audit, quota, servers, tokenCallers, issuer, apiKey } = options;
  yield NODE;
  yield toCheck('configuration', 'ok', `valid (${options.configSources})`);
  for (const notice of options.notices ?? []) yield toCheck('configuration', 'warning', messageForProblem(notice));
  for (const unset of options.unset) yield toCheck('variable', 'note', messageForProblem(unset));
  yield* checkSettings(options);
  for (const server of servers ?? []) yield checkServer(server);
  if (tokenCallers !== undefined && tokenCallers.length > 0) {
    const callers = new Set(tokenCallers).size;
    yield toCheck('tokens', 'ok', `${count(tokenCallers.length, 'token')} of ${count(callers, 'caller')}`);
  }
  if (access !== undefined) yield checkAccess(access, undefined);
  if (approved !== undefined) yield checkApproved(approved, options);
  if (audit !== undefined) yield checkAudit(audit);
  if (quota !== undefined) {
    const isShared = quota.store !== 'memory';
    const where = isShared ? `; its store ${quota.store} was ${NOT_ASKED}` : '';
    yield toCheck('quota', isShared ? 'skipped' : 'ok', `${limitsOfQuota(quota)}${where}`);
  }
  if (issuer !== undefined) yield toCheck('oauth', 'skipped', `${issuer} was ${NOT_ASKED}`);
  const kind = keyProblem(apiKey.value);
  if (kind === 'no_api_key') yield toCheck('key', 'note', `${apiKey.variable} is not set here; ${NO_KEY}`);
  else if (kind === undefined) yield toCheck('key', 'ok', `found in ${apiKey.variable}`);
  else yield { ...toCheck('key', 'failed', apiKey.variable), error: { kind, variable: apiKey.variable } };
  yield toCheck('api', 'skipped', NOT_ASKED);
}

const NO_KEY = 'this check needs no key';

function checkServer({ name, host, command, problem, unset }: ConfiguredServer): Check {
  if (unset !== undefined)
    return toCheck(`server ${name}`, 'skipped', `its ${unset} has a variable that is not set here`);
  if (host !== undefined) return toCheck(`server ${name}`, 'skipped', `${host} was ${NOT_ASKED}`);
  if (problem !== undefined) return toCheck(`server ${name}`, 'failed', problem);
  return toCheck(`server ${name}`, 'ok', `${command} exists; it was not started (--offline)`);
}

/** Compares the file of approved tools with the names of the servers. */
function checkApproved(approved: ApprovedTools, { servers = [], ownCommand }: OfflineSetup): Check {
  const names = servers.map(({ name }) => name);
  const locked = Object.keys(approved.servers);
  const missing = names.filter((name) => !locked.includes(name));
  const others = locked.filter((name) => !names.includes(name));
  return withWarnings('lock', count(numberOfTools(approved), 'approved tool'), [
    ...missing.map(
      (name) => `no tool of ${name} is approved, so that none is offered: ${advised('tools --lock', ownCommand)}`,
    ),
    ...others.map((name) => `it has tools of ${name}, which is not configured`),
  ]);
}

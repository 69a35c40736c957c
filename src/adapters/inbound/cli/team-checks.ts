import type { Result } from 'neverthrow';
import type { ConfigProblem } from '../../../application/ports/config.ts';
import type { AuditPolicy } from '../../../application/tools/audit.ts';
import { type AccessPolicy, GROUP_PREFIX, unmatchedGrants } from '../../../domain/gateway/access.ts';
import { type ApprovedTools, numberOfTools } from '../../../domain/gateway/approved-tools.ts';
import { advised, type OwnCommand } from '../../../domain/gateway/own-command.ts';
import { clip } from '../../../domain/values/clean-text.ts';
import { QUOTA_UNITS, type QuotaLimits, type QuotaPolicy } from '../../../domain/values/quota.ts';
import { count } from '../words/plain.ts';
import { messageForProblem, unmatchedGrant } from '../words/process-messages.ts';
import { amountOf, limitName } from '../words/refusal-messages.ts';
import { notApprovedMessage } from '../words/server-messages.ts';
import { type DoctorCheck, type Finding, NOT_ASKED, ok, type Servers, withWarnings } from './doctor.ts';

/** Counts the entries of `access`, and warns of names and patterns that match no tool. */
export function checkAccess(access: AccessPolicy, gateway: Servers | undefined): DoctorCheck {
  const groups = Object.keys(access).filter((name) => name.startsWith(GROUP_PREFIX)).length;
  const callers = Object.keys(access).length - groups;
  const detail = `entries for ${count(callers, 'caller')} and ${count(groups, 'group')}`;
  const unmatched = () => (gateway === undefined ? [] : unmatchedGrants(access, gateway));
  return { name: 'access', run: () => withWarnings(detail, unmatched().map(unmatchedGrant)) };
}

/** Counts the approved tools, and warns of tools that are withheld because they are not approved. */
export function checkLock(approved: ApprovedTools, gateway: Servers | undefined, ownCommand?: OwnCommand): DoctorCheck {
  const warnings = () =>
    (gateway?.servers ?? []).flatMap(({ name, changed }) =>
      changed === undefined ? [] : `${name}: ${notApprovedMessage(changed, ownCommand)}`,
    );
  return { name: 'lock', run: () => withWarnings(approvedCount(approved), warnings()) };
}

/** Compares the approved tools with the names of servers that are not started. */
export function checkLockedNames(
  approved: ApprovedTools,
  names: readonly string[],
  ownCommand: OwnCommand,
): DoctorCheck {
  const locked = Object.keys(approved.servers);
  const missing = names.filter((name) => !locked.includes(name));
  const others = locked.filter((name) => !names.includes(name));
  const warnings = [
    ...missing.map(
      (name) => `no tool of ${name} is approved, so that none is offered: ${advised('tools --lock', ownCommand)}`,
    ),
    ...others.map((name) => `it has tools of ${name}, which is not configured`),
  ];
  return { name: 'lock', run: () => withWarnings(approvedCount(approved), warnings) };
}

function approvedCount(approved: ApprovedTools): string {
  return count(numberOfTools(approved), 'approved tool');
}

/** Counts the tokens over HTTP. */
export function checkTokens(callers: readonly string[]): DoctorCheck {
  const detail = `${count(callers.length, 'token')} of ${count(new Set(callers).size, 'caller')}`;
  return { name: 'tokens', run: () => ok(detail) };
}

export interface CheckedAudit extends AuditPolicy {
  readonly file: string;
  /** Why the file cannot be written; undefined if it can. */
  readonly probe: () => string | undefined;
}

/** Checks that the audit file can be written. */
export function checkAudit({ file, arguments: shown, onFailure, probe }: CheckedAudit): DoctorCheck {
  const policy = `(arguments: ${shown}; on_failure: ${onFailure})`;
  const run = (): Finding => {
    const reason = probe();
    if (reason === undefined) return ok(`${file} ${policy}`);
    return { verdict: 'failed', detail: `${file} cannot be written: ${reason} ${policy}` };
  };
  return { name: 'audit', run };
}

export interface CheckedQuota extends QuotaPolicy {
  /** `memory`, or a URL without its password. */
  readonly store: string;
  readonly onStoreFailure: 'refuse' | 'allow';
  /** Why the store cannot be used; undefined if it can. */
  readonly probe: () => Promise<string | undefined>;
}

/** Shows the limits, and checks that their store can be used. */
export function checkQuota({ store, onStoreFailure, probe, ...policy }: CheckedQuota): DoctorCheck {
  const list = limitsOfQuota(policy);
  const run = async (): Promise<Finding> => {
    if (store === 'memory') return ok(`${list}; each process counts in its own memory`);
    const failure = await probe();
    if (failure === undefined) return ok(`${list}; counted in ${store}`);
    const isRefused = onStoreFailure === 'refuse';
    const consequence = `calls are ${isRefused ? 'refused' : 'allowed without a quota'} (http.quota.on_store_failure)`;
    const detail = `the store ${store} cannot be used (${failure}): ${consequence}`;
    return { verdict: isRefused ? 'failed' : 'warning', detail };
  };
  return { name: 'quota', run };
}

/** Shows the limits, and does not ask their store. */
export function checkLimits({ store, ...policy }: QuotaPolicy & Pick<CheckedQuota, 'store'>): DoctorCheck {
  const list = limitsOfQuota(policy);
  const skipped: Finding = { verdict: 'skipped', detail: `${list}; its store ${store} was ${NOT_ASKED}` };
  return { name: 'quota', run: () => (store === 'memory' ? ok(list) : skipped) };
}

/** The general limits, then those of single callers. */
function limitsOfQuota({ limits, callers }: QuotaPolicy): string {
  const own = Object.entries(callers).map(([caller, limits]) => `${caller}: ${listOf(limits)}`);
  return [listOf(limits), ...own].join('; ');
}

function listOf(limits: QuotaLimits): string {
  const set = QUOTA_UNITS.filter((unit) => limits[unit] !== undefined);
  return set.map((unit) => `${limitName(unit)} ${amountOf(unit, limits[unit] ?? 0)}`).join(', ') || 'no limit';
}

/** The authorization server, or why the section `http.oauth` cannot be used. */
export type CheckedOAuth = readonly ConfigProblem[] | Issuer;

interface Issuer {
  readonly issuer: string;
  readonly audience: string;
  /** Reads the published keys, and returns their number, or why they cannot be read. */
  readonly countKeys: (signal: AbortSignal) => Promise<Result<number, string>>;
}

/** Maximum length of a reason, which may contain text of the issuer. */
const MAX_REASON = 500;

/** Checks that the keys that verify access tokens can be read. */
export function checkOAuth(oauth: CheckedOAuth): DoctorCheck {
  return { name: 'oauth', run: (signal) => ('issuer' in oauth ? keysOf(oauth, signal) : invalid(oauth)) };
}

function invalid(problems: readonly ConfigProblem[]): Finding {
  return { verdict: 'failed', detail: problems.map(messageForProblem).join('; ') };
}

async function keysOf({ issuer, audience, countKeys }: Issuer, signal: AbortSignal): Promise<Finding> {
  const counted = await countKeys(signal);
  if (counted.isErr()) {
    const reason = clip(counted.error, MAX_REASON);
    const detail = `the keys of ${issuer} cannot be read, so access tokens are refused (${reason}). Check http.oauth.issuer, and whether this machine can reach it`;
    return { verdict: 'failed', detail };
  }
  const detail = `${issuer} publishes ${count(counted.value, 'key')}; tokens must be for ${audience}`;
  return { verdict: counted.value === 0 ? 'failed' : 'ok', detail };
}

export function issuerNotAsked(issuer: string): DoctorCheck {
  return { name: 'oauth', run: () => ({ verdict: 'skipped', detail: `${issuer} was ${NOT_ASKED}` }) };
}

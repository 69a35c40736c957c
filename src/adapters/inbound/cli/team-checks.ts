import type { Check } from '../../../application/answers/diagnose-setup.ts';
import type { AuditPolicy } from '../../../application/tools/audit.ts';
import { type AccessPolicy, GROUP_PREFIX, unmatchedGrants } from '../../../domain/gateway/access.ts';
import { type ApprovedTools, numberOfTools } from '../../../domain/gateway/approved-tools.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import { QUOTA_UNITS, type QuotaLimits, type QuotaPolicy } from '../../../domain/values/quota.ts';
import { count } from '../words/plain.ts';
import { unmatchedGrant } from '../words/process-messages.ts';
import { limitName } from '../words/refusal-messages.ts';
import { notApprovedMessage } from '../words/server-messages.ts';
import { type Servers, toCheck, withWarnings } from './check.ts';

/** Counts the entries of `access`, and warns of names and patterns that match no tool. */
export function checkAccess(access: AccessPolicy, gateway: Servers | undefined): Check {
  const groups = Object.keys(access).filter((name) => name.startsWith(GROUP_PREFIX)).length;
  const callers = Object.keys(access).length - groups;
  const unmatched = gateway === undefined ? [] : unmatchedGrants(access, gateway);
  const detail = `entries for ${count(callers, 'caller')} and ${count(groups, 'group')}`;
  return withWarnings('access', detail, unmatched.map(unmatchedGrant));
}

/** Counts the approved tools, and warns of tools that are withheld because they are not approved. */
export function checkLock(approved: ApprovedTools, gateway: Servers | undefined, ownCommand?: OwnCommand): Check {
  const number = count(numberOfTools(approved), 'approved tool');
  const warnings = (gateway?.servers ?? []).flatMap(({ name, changed }) =>
    changed === undefined ? [] : `${name}: ${notApprovedMessage(changed, ownCommand)}`,
  );
  return withWarnings('lock', number, warnings);
}

export interface CheckedAudit extends AuditPolicy {
  readonly file: string;
  /** Why the file cannot be written; undefined if it can. */
  readonly probe: () => string | undefined;
}

/** Checks that the audit file can be written. */
export function checkAudit({ file, arguments: shown, onFailure, probe }: CheckedAudit): Check {
  const policy = `(arguments: ${shown}; on_failure: ${onFailure})`;
  const reason = probe();
  if (reason === undefined) return toCheck('audit', 'ok', `${file} ${policy}`);
  return toCheck('audit', 'failed', `${file} cannot be written: ${reason} ${policy}`);
}

export interface CheckedQuota extends QuotaPolicy {
  /** `memory`, or a URL without its password. */
  readonly store: string;
  readonly onStoreFailure: 'refuse' | 'allow';
  /** Why the store cannot be used; undefined if it can. */
  readonly probe: () => Promise<string | undefined>;
}

/** Shows the limits, and checks that their store can be used. */
export async function checkQuota({ store, onStoreFailure, probe, ...policy }: CheckedQuota): Promise<Check> {
  const list = limitsOfQuota(policy);
  if (store === 'memory') return toCheck('quota', 'ok', `${list}; each process counts in its own memory`);
  const failure = await probe();
  if (failure === undefined) return toCheck('quota', 'ok', `${list}; counted in ${store}`);
  const isRefused = onStoreFailure === 'refuse';
  const consequence = `calls are ${isRefused ? 'refused' : 'allowed without a quota'} (http.quota.on_store_failure)`;
  const detail = `the store ${store} cannot be used (${failure}): ${consequence}`;
  return toCheck('quota', isRefused ? 'failed' : 'warning', detail);
}

/** The general limits, then those of single callers. */
export function limitsOfQuota({ limits, callers }: QuotaPolicy): string {
  const own = Object.entries(callers).map(([caller, limits]) => `${caller}: ${listOf(limits)}`);
  return [listOf(limits), ...own].join('; ');
}

function listOf(limits: QuotaLimits): string {
  const set = QUOTA_UNITS.filter((unit) => limits[unit] !== undefined);
  return set.map((unit) => `${limitName(unit)} ${limits[unit]}`).join(', ') || 'no limit';
}

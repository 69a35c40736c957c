import type { Check } from '../../../application/answers/diagnose-setup.ts';
import type { AuditPolicy } from '../../../application/audit/audit.ts';
import type { AccessPolicy } from '../../../domain/gateway/access.ts';
import { type ApprovedTools, numberOfTools } from '../../../domain/gateway/approved-tools.ts';
import { unmatchedGrant } from '../words/config-problems.ts';
import { count } from '../words/plain.ts';
import { type Servers, toCheck, withWarnings } from './check.ts';

/** Who may use something, and what of it gives nothing (ruling T6). */
export async function checkAccess(access: AccessPolicy, gateway: Servers | undefined): Promise<Check> {
  const { GROUP_PREFIX, unmatchedGrants } = await import('../../../domain/gateway/access.ts');
  const groups = Object.keys(access).filter((name) => name.startsWith(GROUP_PREFIX)).length;
  const callers = Object.keys(access).length - groups;
  const unmatched = gateway === undefined ? [] : unmatchedGrants(access, gateway);
  const detail = `entries for ${count(callers, 'caller')} and ${count(groups, 'group')}`;
  return withWarnings('access', detail, unmatched.map(unmatchedGrant));
}

/** How many tools are approved, and which are not offered, because they are not as they were approved (ruling T23). */
export function checkLock(approved: ApprovedTools, gateway: Servers | undefined): Check {
  const number = count(numberOfTools(approved), 'approved tool');
  const names = (gateway?.changed ?? []).map(({ server, name }) => `${server}/${name}`);
  const warnings = names.length === 0 ? [] : [`new or changed, and not offered: ${names.join(', ')} (tools --diff)`];
  return withWarnings('lock', number, warnings);
}

export interface CheckedAudit extends AuditPolicy {
  readonly file: string;
  /** Why the file cannot be written; undefined if it can. */
  readonly probe: () => string | undefined;
}

/** Whether the file of the audit can be used (ruling T11). */
export function checkAudit({ file, arguments: shown, onFailure, probe }: CheckedAudit): Check {
  const policy = `(arguments: ${shown}; on_failure: ${onFailure})`;
  const reason = probe();
  if (reason === undefined) return toCheck('audit', 'ok', `${file} ${policy}`);
  return toCheck('audit', 'failed', `${file} cannot be written: ${reason} ${policy}`);
}

import type { Check } from '../../../application/answers/diagnose-setup.ts';
import type { AuditPolicy } from '../../../application/tools/audit.ts';
import { type AccessPolicy, GROUP_PREFIX, unmatchedGrants } from '../../../domain/gateway/access.ts';
import { type ApprovedTools, numberOfTools } from '../../../domain/gateway/approved-tools.ts';
import { unmatchedGrant } from '../words/config-problems.ts';
import { notApprovedMessage } from '../words/lock-messages.ts';
import { count } from '../words/plain.ts';
import { type Servers, toCheck, withWarnings } from './check.ts';

/** Who may use something, and which of its names and patterns match nothing. */
export function checkAccess(access: AccessPolicy, gateway: Servers | undefined): Check {
  const groups = Object.keys(access).filter((name) => name.startsWith(GROUP_PREFIX)).length;
  const callers = Object.keys(access).length - groups;
  const unmatched = gateway === undefined ? [] : unmatchedGrants(access, gateway);
  const detail = `entries for ${count(callers, 'caller')} and ${count(groups, 'group')}`;
  return withWarnings('access', detail, unmatched.map(unmatchedGrant));
}

/** How many tools are approved, and which are withheld because they are not. */
export function checkLock(approved: ApprovedTools, gateway: Servers | undefined, typed?: string): Check {
  const number = count(numberOfTools(approved), 'approved tool');
  const warnings = (gateway?.servers ?? []).flatMap(({ name, changed }) =>
    changed === undefined ? [] : `${name}: ${notApprovedMessage(changed, typed)}`,
  );
  return withWarnings('lock', number, warnings);
}

export interface CheckedAudit extends AuditPolicy {
  readonly file: string;
  /** Why the file cannot be written; undefined if it can. */
  readonly probe: () => string | undefined;
}

/** Whether the file of the audit can be used. */
export function checkAudit({ file, arguments: shown, onFailure, probe }: CheckedAudit): Check {
  const policy = `(arguments: ${shown}; on_failure: ${onFailure})`;
  const reason = probe();
  if (reason === undefined) return toCheck('audit', 'ok', `${file} ${policy}`);
  return toCheck('audit', 'failed', `${file} cannot be written: ${reason} ${policy}`);
}

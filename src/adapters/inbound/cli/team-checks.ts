import type { Check } from '../../../application/answers/diagnose-setup.ts';
import type { AuditPolicy } from '../../../application/tools/audit.ts';
import { type AccessPolicy, GROUP_PREFIX, unmatchedGrants } from '../../../domain/gateway/access.ts';
import { type ApprovedTools, numberOfTools } from '../../../domain/gateway/approved-tools.ts';
import type { OwnCommand } from '../../../domain/gateway/own-command.ts';
import { unmatchedGrant } from '../words/config-problems.ts';
import { notApprovedMessage } from '../words/lock-messages.ts';
import { count } from '../words/plain.ts';
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

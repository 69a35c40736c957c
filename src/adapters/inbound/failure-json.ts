import type { JsonObject } from '../../domain/values/json.ts';
import { type Redactor, redactedJson } from '../../domain/values/redaction.ts';

/** Why a request or a command has no result. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** For programs. */
  readonly details?: JsonObject | undefined;
  /** The members of a tool's result that is an error. */
  readonly returned?: JsonObject | undefined;
}

/** The one form of a failure in JSON, over REST and in the terminal after `--json`. */
export function failureJson(failure: Failure, redactor: Pick<Redactor, 'inLogs' | 'anywhere'>, indent?: number) {
  const { code, message, details = {}, returned } = failure;
  const body = { success: false, error: { code, message, details }, ...returned };
  // The result of a tool is not changed, except that our own keys are redacted.
  return redactedJson(body, returned === undefined ? redactor.inLogs : redactor.anywhere, indent);
}

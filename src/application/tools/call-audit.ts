import type { Audit } from './audit.ts';
import { type CallTool, isDenied, isMade, outcomeOf, type ToolOutcome } from './tool-call.ts';

/** Writes a line for every call before its outcome leaves the program. */
export function withAudit(audit: Audit, next: CallTool): CallTool {
  return (call, signal) => audit.record(call, (line) => next({ ...call, line }, signal), toEnding);
}

function toEnding(outcome: ToolOutcome) {
  const returned = outcome.isOk() ? (outcome.value.answer?.result ?? outcome.value.raw) : undefined;
  const name = outcomeOf(outcome);
  return { outcome: isDenied(outcome) ? 'denied' : name, result: returned, isMade: isMade(name) };
}

import type { Answer } from '../../../application/answer-query.ts';
import type { AnswerError } from '../../../domain/answer-error.ts';
import { messageFor } from '../error-messages.ts';
import { toReportJson } from '../report-json.ts';
import { META_PREFIX } from './era.ts';
import { CALL_FAILED, type ErrorObject, INVALID_PARAMS, type Params } from './json-rpc.ts';

const DEBUG_MESSAGE_LENGTH = 400;

/** The contract's JSON (spec 3.2) as text and as structured content; `_meta` contains what the answer took (ruling 6). */
export function toToolResult({ result, report }: Answer): Params {
  return {
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: { ...result },
    _meta: { [`${META_PREFIX}report`]: toReportJson(report) },
  };
}

/** A failure as a JSON-RPC error; with `isDebug`, `data` contains what the API reported (spec 8.2). */
export function toErrorObject(error: AnswerError, isDebug: boolean, redact: (text: string) => string): ErrorObject {
  const message = redact(messageFor(error));
  if (error.kind === 'invalid_arguments') return { code: INVALID_PARAMS, message: 'Invalid params', data: { message } };
  if (!isDebug) return { code: CALL_FAILED, message: 'answer failed', data: { message } };
  const diagnostics = 'diagnostics' in error ? error.diagnostics : undefined;
  // The list of recorded questions is kept complete.
  const shown = error.kind === 'not_recorded' ? message : [...message].slice(0, DEBUG_MESSAGE_LENGTH).join('');
  return { code: CALL_FAILED, message: 'answer failed', data: { message: shown, ...diagnostics } };
}

/** A failure as the result of a tool, for hosts that show only results to their model (ruling 4). */
export function toErrorResult(error: AnswerError, redact: (text: string) => string): Params {
  return { content: [{ type: 'text', text: `answer failed: ${redact(messageFor(error))}` }], isError: true };
}

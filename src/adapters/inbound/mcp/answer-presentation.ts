import type { Logger } from '../../../application/ports/logger.ts';
import type { Answer } from '../../../application/tools/answer.ts';
import type { AnswerError } from '../../../domain/answers/answer-error.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { toReportJson } from '../report-json.ts';
import { messageFor } from '../words/error-messages.ts';
import { type Era, META_PREFIX } from './era.ts';
import { failedAnswer, INVALID_PARAMS, type Params } from './json-rpc.ts';
import type { Reply, ToolReply } from './tool-set.ts';

export interface PresentationOptions {
  readonly logger: Pick<Logger, 'isDebug'>;
  readonly redactor: Pick<Redactor, 'inLogs'>;
  /** Whether a failed call is a JSON-RPC error, or a result with `isError`, in the legacy era. */
  readonly toolErrors: 'protocol' | 'result';
}

/** The reply to a call that failed: in the modern era, every failure is a result, which hosts show to their model. */
export function toFailedReply(
  error: AnswerError,
  era: Era,
  { toolErrors, logger, redactor }: PresentationOptions,
): ToolReply {
  if (error.kind === 'cancelled') return 'cancelled';
  const message = redactor.inLogs(messageFor(error));
  const isResult = era === 'modern' || toolErrors === 'result';
  return isResult ? failedAnswer(message, true) : toProtocolError(error, message, logger.isDebug);
}

/** The contract's JSON as text and as structured content (`raw`); `_meta` contains the report. */
export function toToolResult(raw: Params, { report }: Answer): Params {
  return { ...raw, _meta: { [`${META_PREFIX}report`]: toReportJson(report) } };
}

/** The error for a failed call. With `isDebug`, `data` contains the details that the API reported. */
function toProtocolError(error: AnswerError, message: string, isDebug: boolean): Reply {
  if (error.kind === 'invalid_arguments') {
    return { error: { code: INVALID_PARAMS, message: 'Invalid params', data: { message } } };
  }
  const diagnostics = isDebug && 'diagnostics' in error ? error.diagnostics : undefined;
  return failedAnswer(message, false, diagnostics);
}

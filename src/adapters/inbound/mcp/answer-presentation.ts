import type { Result } from 'neverthrow';
import type { Answer } from '../../../application/answer-query.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { AnswerError } from '../../../domain/answer-error.ts';
import { languageOf } from '../../../domain/language.ts';
import type { Redactor } from '../../../domain/redaction.ts';
import { toErrorObject, toErrorResult, toToolResult } from './answer-result.ts';
import type { Era } from './era.ts';
import { isRequestId } from './json-rpc.ts';
import { ProgressReporter } from './progress-reporter.ts';
import type { Send, ToolCall, ToolReply } from './tool-set.ts';

export interface PresentationOptions {
  readonly logger: Logger;
  readonly redactor: Redactor;
  /** Whether a failed call is a JSON-RPC error, or a result with `isError`, in the legacy era (ruling 4). */
  readonly toolErrors: 'protocol' | 'result';
}

/** A reporter for clients that request progress, else undefined. `0` is a valid progress token (ruling 18). */
export function createReporter({ meta, args }: ToolCall, clock: Clock, notify: Send): ProgressReporter | undefined {
  const { progressToken: token } = meta;
  const language = languageOf(typeof args.query === 'string' ? args.query : '');
  return isRequestId(token) ? new ProgressReporter({ token, language, clock, notify }) : undefined;
}

/** The reply to a call: in the modern era, every failure is a result (ruling 4). */
export function toToolReply(
  answer: Result<Answer, AnswerError>,
  era: Era,
  { toolErrors, logger, redactor }: PresentationOptions,
): ToolReply {
  if (answer.isOk()) return { result: toToolResult(answer.value) };
  if (answer.error.kind === 'cancelled') return 'cancelled';
  return era === 'modern' || toolErrors === 'result'
    ? { result: toErrorResult(answer.error, redactor.inLogs) }
    : { error: toErrorObject(answer.error, logger.isDebug, redactor.inLogs) };
}

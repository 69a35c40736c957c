import type { Answer } from '../../../application/answer-query.ts';
import type { AnswerError } from '../../../domain/answer-error.ts';
import { wordsFor } from '../error-words.ts';
import { toReportJson } from '../report-json.ts';
import { type ErrorObject, INVALID_PARAMS, type Params } from './json-rpc.ts';

/** Our own names in `_meta` begin with this (MCP, `_meta`). */
const META_PREFIX = 'io.github.uchimanajet7.openai-responses-mcp/';

/** The contract's code for a call that failed (spec B, ruling 4). */
const ANSWER_FAILED = -32001;
const DEBUG_MESSAGE_LENGTH = 400;

/**
 * The result of a call that was answered: the contract's JSON (spec 3.2) as text and as structured content, and what it
 * took in `_meta` (ruling 6).
 */
export function toToolResult({ result, report }: Answer): Params {
  return {
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: { ...result },
    _meta: { [`${META_PREFIX}report`]: toReportJson(report) },
  };
}

/** A failure as a JSON-RPC error; with `isDebug` it tells what the API said of it (spec 8.2). */
export function toErrorObject(error: AnswerError, isDebug: boolean, redact: (text: string) => string): ErrorObject {
  const message = redact(wordsFor(error));
  if (error.kind === 'invalid_arguments') return { code: INVALID_PARAMS, message: 'Invalid params', data: { message } };
  if (!isDebug) return { code: ANSWER_FAILED, message: 'answer failed', data: { message } };
  const diagnostics = 'diagnostics' in error ? error.diagnostics : undefined;
  const isOurs = error.kind === 'not_recorded';
  const shown = isOurs ? message : [...message].slice(0, DEBUG_MESSAGE_LENGTH).join('');
  return { code: ANSWER_FAILED, message: 'answer failed', data: { message: shown, ...diagnostics } };
}

/** A failure as a tool's result, for hosts that show their model only those (ruling 4). */
export function toErrorResult(error: AnswerError, redact: (text: string) => string): Params {
  return { content: [{ type: 'text', text: `answer failed: ${redact(wordsFor(error))}` }], isError: true };
}

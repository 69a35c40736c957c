import { isObject, type JsonObject, withoutUndefined } from '../../../domain/json.ts';
import type { ToolCallError } from '../../../domain/tool-call-error.ts';
import { type ToolResult, textOf } from '../../../domain/tool-result.ts';
import type { Refusal } from '../http/refusal.ts';
import { duration, excerpt } from '../words/plain.ts';
import { toolErrorCode, toolErrorMessage } from '../words/tool-error-messages.ts';

/** An error of the REST interface (ruling G17). */
export interface RestError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
  readonly retryAfterMs?: number | undefined;
  /** Members of the body beside `error`. */
  readonly rest?: JsonObject;
}

/** The error for a failed call. */
export function toRestError(error: ToolCallError): RestError {
  const code = toolErrorCode(error);
  const status = STATUS_OF_CODE[code] ?? 500;
  const retryAfterMs = retryAfterOf(error);
  return {
    status,
    code,
    message: toolErrorMessage(error),
    details: detailsOf(error),
    ...withoutUndefined({ retryAfterMs }),
  };
}

/** One row per outcome (ruling G17). */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  VALIDATION_ERROR: 400,
  SERVER_NOT_FOUND: 404,
  TOOL_NOT_FOUND: 404,
  OVERLOADED: 429,
  // The caller has left, so that nobody reads this.
  CANCELLED: 499,
  TOOL_EXECUTION_ERROR: 500,
  INTERNAL_ERROR: 500,
  SERVER_CRASHED: 502,
  RESPONSE_TOO_LARGE: 502,
  INVALID_RESPONSE: 502,
  SERVER_UNAUTHORIZED: 502,
  SERVER_NOT_RUNNING: 503,
  SHUTTING_DOWN: 503,
  TIMEOUT_ERROR: 504,
};

function retryAfterOf(error: ToolCallError): number | undefined {
  if (error.kind === 'not_available') return error.retryAfterMs;
  return error.kind === 'overloaded' || error.kind === 'shutting_down' ? 1000 : undefined;
}

/** What a program can use. The server's own data is merged into it (ruling G15). */
function detailsOf(error: ToolCallError): JsonObject {
  switch (error.kind) {
    case 'invalid_input':
      return { errors: error.errors };
    case 'json_rpc':
      return {
        ...(isObject(error.data) ? error.data : withoutUndefined({ data: error.data })),
        jsonrpcCode: error.code,
      };
    case 'unknown_server':
    case 'overloaded':
      return { server: excerpt(error.server) };
    case 'unknown_tool':
      return { server: error.server, tool: excerpt(error.tool) };
    case 'not_available':
      return { server: error.server, state: error.state };
    case 'too_large':
      return { maxBytes: error.maxBytes };
    case 'timed_out':
      return { timeoutMs: error.timeoutMs };
    default:
      return {};
  }
}

/** A result with `isError`: the call has an answer, and the answer is an error (ruling G15). */
export function ofToolError(result: ToolResult, status: number): RestError {
  const { content, structuredContent } = result;
  return {
    status,
    code: 'TOOL_EXECUTION_ERROR',
    message: textOf(result) || 'The tool reported an error without a text.',
    rest: { content, ...(structuredContent === undefined ? {} : { structuredContent }) },
  };
}

/** A request that is not served, by its HTTP status. */
export function ofRefusal({ status, error, code = CODE_OF_STATUS[status] ?? 'INTERNAL_ERROR' }: Refusal): RestError {
  return { status, code, message: error.message };
}

const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'VALIDATION_ERROR',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'OVERLOADED',
  503: 'SHUTTING_DOWN',
};

/** A request whose body has the wrong shape. */
export function ofInvalidBody(errors: readonly { readonly path: string; readonly message: string }[]): RestError {
  const message = errors.map(({ path, message }) => `${path === '' ? 'the body' : path} ${message}`).join('; ');
  return { status: 400, code: 'VALIDATION_ERROR', message, details: { errors } };
}

/** A server was started again by request so recently that its callers would get no answers. */
export function ofEarlyRestart(server: string, waitMs: number): RestError {
  const message = `The server ${server} was restarted by request a moment ago. Try again in ${duration(Math.max(waitMs, 100))}.`;
  return { status: 429, code: 'OVERLOADED', message, details: { server }, retryAfterMs: waitMs };
}

import type { ToolError } from '../../../application/tools/tool-call.ts';
import { isWrongCall } from '../../../domain/answers/answer-error.ts';
import { loginCommand, type SchemaError, type ToolCallError } from '../../../domain/gateway/tool-call-error.ts';
import { type ToolResult, textOf } from '../../../domain/gateway/tool-result.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { answerFailed, type ErrorObject } from '../mcp/json-rpc.ts';
import { messageFor } from '../words/error-messages.ts';
import { excerpt } from '../words/plain.ts';
import { REFUSALS } from '../words/refusal-messages.ts';
import { NO_ERROR_TEXT, toolErrorCode, toolErrorMessage } from '../words/tool-error-messages.ts';

/** As in nginx: the client closed the connection before the response. */
export const CLIENT_CLOSED = 499;

/** The HTTP status of every error and its reason in the access log, by its code in REST. */
const CODES = {
  VALIDATION_ERROR: [400, 'malformed message'],
  UNAUTHORIZED: [401, 'no valid token'],
  FORBIDDEN: [403, 'not allowed'],
  NOT_FOUND: [404, 'no such path'],
  SERVER_NOT_FOUND: [404, 'no such server'],
  TOOL_NOT_FOUND: [404, 'no such tool'],
  METHOD_NOT_ALLOWED: [405, 'method not allowed'],
  TOOL_CHANGED: [409, 'tool not approved'],
  PAYLOAD_TOO_LARGE: [413, 'body too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'content type not accepted'],
  INPUT_REQUIRED: [422, 'a question was not answered'],
  OVERLOADED: [429, 'too many calls in flight'],
  QUOTA_EXCEEDED: [429, 'quota reached'],
  // No one reads this response: the client has left.
  CANCELLED: [CLIENT_CLOSED, 'cancelled'],
  INTERNAL_ERROR: [500, 'internal error'],
  TOOL_EXECUTION_ERROR: [500, 'tool failed'],
  LOGIN_FAILED: [502, 'login failed'],
  INVALID_RESPONSE: [502, 'invalid result'],
  RESPONSE_TOO_LARGE: [502, 'result too large'],
  SERVER_CRASHED: [502, 'server lost'],
  SERVER_UNAUTHORIZED: [502, 'refused by the server'],
  CALL_INTERRUPTED: [502, 'shut down during the call'],
  CALL_UNRECORDED: [502, 'audit not available'],
  AUDIT_UNAVAILABLE: [503, 'audit not available'],
  ISSUER_UNAVAILABLE: [503, 'issuer unavailable'],
  LOGIN_REQUIRED: [503, 'login required'],
  QUOTA_UNAVAILABLE: [503, 'quota store not available'],
  SERVER_NOT_RUNNING: [503, 'server not running'],
  SHUTTING_DOWN: [503, 'shutting down'],
  TIMEOUT_ERROR: [504, 'timed out'],
} as const satisfies Readonly<Record<string, readonly [status: number, reason: string]>>;

type RefusalCode = keyof typeof CODES;

/** Why a request is not served, or a call over REST has no result. MCP and REST each have a form for it. */
export interface Refusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
  /** The reason in the access log, if it is not that of the code. */
  readonly reason?: string;
  /** The details for programs. */
  readonly details?: JsonObject | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The code of the error over MCP, if it is not that of an invalid request. */
  readonly jsonRpcCode?: number;
  /** The members of a result that is an error, which REST adds to the body. */
  readonly returned?: JsonObject;
}

export function refusal(code: RefusalCode, message: string, more: Partial<Refusal> = {}): Refusal {
  return { status: CODES[code][0], code, message, ...more };
}

/** The reason in the access log for a refusal with this code. */
export function loggedReason(code: RefusalCode): string {
  return CODES[code][1];
}

/** The refusal for an error that JSON-RPC or MCP defines. */
export function ofErrorObject(code: RefusalCode, { code: jsonRpcCode, message, data }: ErrorObject): Refusal {
  return refusal(code, message, { jsonRpcCode, details: data });
}

export function methodNotAllowed(allowed: readonly string[], message = REFUSALS.method(allowed)): Refusal {
  return refusal('METHOD_NOT_ALLOWED', message, { headers: { Allow: allowed.join(', ') } });
}

/** The refusal of a new call during a drain. Another replica can take the call. */
export function shuttingDown(): Refusal {
  return refusal('SHUTTING_DOWN', REFUSALS.shuttingDown, { retryAfterMs: 1000, headers: { Connection: 'close' } });
}

/** The end of a call that was in progress when the drain was over. No one may repeat it unasked, because it may have had effects. */
export function interrupted(): Refusal {
  return refusal('CALL_INTERRUPTED', REFUSALS.interrupted, { headers: { Connection: 'close' } });
}

/** The refusal of a request for which the caller needs a right of `access`. */
export function rightRequired(message: string): Refusal {
  return refusal('FORBIDDEN', message, { reason: 'access' });
}

/** The refusal for a failed call. */
export function ofToolCallError(error: ToolCallError): Refusal {
  return refusal(toolErrorCode(error), toolErrorMessage(error), { details: {}, ...moreOf(error) });
}

/** The time after which a call that was not made can be made, if the cause is only its moment. */
const SOON_MS = 1000;
/** Logged even if the call was made. */
const NO_AUDIT_LINE = 'audit not available';

/** How a person signs in: at an address, or by a command on the machine of the gateway. */
function signInOf({ server, url }: Extract<ToolCallError, { readonly kind: 'login_required' }>) {
  return url === undefined ? { command: loginCommand(server) } : { url };
}

/** What REST says of each error beside its code and message: details for programs, and when to try again. The `data` of a server's error is merged into the details. */
function moreOf(error: ToolCallError): Partial<Refusal> {
  switch (error.kind) {
    case 'invalid_input':
      return { details: { errors: error.errors } };
    case 'json_rpc': {
      const data = isObject(error.data) ? error.data : { data: error.data };
      return { details: { ...data, jsonrpcCode: error.code } };
    }
    case 'unknown_server':
      return { details: { server: excerpt(error.server) } };
    case 'overloaded':
      return {
        details: { server: excerpt(error.server) },
        retryAfterMs: SOON_MS,
        // It is no caller's fault that others use all connections.
        ...(error.unit === 'connections' && { status: 503 }),
      };
    case 'unknown_tool':
      return { details: { server: error.server, tool: excerpt(error.tool) } };
    case 'tool_changed':
      return { details: { server: error.server, tool: error.tool, change: error.change } };
    case 'not_available':
      return { details: { server: error.server, state: error.state }, retryAfterMs: error.retryAfterMs };
    case 'login_required':
      return { details: { server: error.server, ...signInOf(error) } };
    case 'unauthorized':
      return error.scopes === undefined ? {} : { details: { server: error.server, scopes: error.scopes } };
    case 'too_large':
      return { details: { maxBytes: error.maxBytes } };
    case 'timed_out':
      return { details: { timeoutMs: error.timeoutMs } };
    case 'audit_unavailable':
      return { retryAfterMs: SOON_MS, reason: NO_AUDIT_LINE };
    case 'unrecorded':
      return { reason: NO_AUDIT_LINE };
    case 'shutting_down':
      return { retryAfterMs: SOON_MS };
    case 'input_required': {
      const { server, requests: questions, result } = error;
      return { details: { server, questions, result } };
    }
    case 'no_open_question':
    case 'not_read_only':
    case 'crashed':
    case 'invalid_result':
    case 'cancelled':
      return {};
  }
}

/** The refusal for a failed call of any tool. A failed answer is treated as an error that the tool returned. */
export function ofFailedCall(error: ToolError, toolErrorStatus: number, redactor: Pick<Redactor, 'inLogs'>): Refusal {
  if (error.kind !== 'answer_failed') return ofToolCallError(error);
  const failure = error.error;
  if (failure.kind === 'cancelled') return ofToolCallError({ kind: failure.kind });
  if (isWrongCall(failure)) {
    const errors = failure.problems.map(({ argument, accepted }) => ({
      path: `/${argument}`,
      message: `must be ${accepted}`,
    }));
    return ofToolCallError({ kind: 'invalid_input', errors });
  }
  const text = answerFailed(redactor.inLogs(messageFor(failure)));
  return ofToolError({ raw: {}, content: [{ type: 'text', text }], isError: true }, toolErrorStatus);
}

/** The refusal for a result with `isError`: the call succeeded, and the tool returned an error. */
export function ofToolError(result: ToolResult, status: number): Refusal {
  const { content, structuredContent } = result;
  const returned = { content, structuredContent };
  return refusal('TOOL_EXECUTION_ERROR', textOf(result) || NO_ERROR_TEXT, { status, returned });
}

/** A request whose body has the wrong shape. */
export function ofInvalidBody(errors: readonly SchemaError[]): Refusal {
  const message = errors.map(({ path, message }) => `${path === '' ? 'the body' : path} ${message}`).join('; ');
  return refusal('VALIDATION_ERROR', message, { details: { errors } });
}

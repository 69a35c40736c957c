import type { OutgoingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../../../domain/values/json.ts';
import type { ErrorObject } from '../../mcp/json-rpc.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';

/** As in nginx: the client closed the connection before the response. */
export const CLIENT_CLOSED = 499;

/** The HTTP status of every error, by its name in REST (ruling G17). */
const STATUS = {
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  SERVER_NOT_FOUND: 404,
  TOOL_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  TOOL_CHANGED: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  OVERLOADED: 429,
  QUOTA_EXCEEDED: 429,
  // Not read: the caller has left.
  CANCELLED: CLIENT_CLOSED,
  INTERNAL_ERROR: 500,
  TOOL_EXECUTION_ERROR: 500,
  INVALID_RESPONSE: 502,
  RESPONSE_TOO_LARGE: 502,
  SERVER_CRASHED: 502,
  SERVER_UNAUTHORIZED: 502,
  AUDIT_UNAVAILABLE: 503,
  ISSUER_UNAVAILABLE: 503,
  LOGIN_REQUIRED: 503,
  QUOTA_UNAVAILABLE: 503,
  SERVER_NOT_RUNNING: 503,
  SHUTTING_DOWN: 503,
  TIMEOUT_ERROR: 504,
} as const satisfies Readonly<Record<string, number>>;

export type RefusalCode = keyof typeof STATUS;

/** Why a request is not served, or a call over REST has no result. MCP and REST each have a form for it. */
export interface Refusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
  /** What a program can use of it. */
  readonly details?: JsonObject | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: OutgoingHttpHeaders;
  /** The reason in the access log, if it is not that of the status. */
  readonly reason?: string;
  /** The code of the error over MCP, if it is not that of an invalid request. */
  readonly jsonRpcCode?: number;
  /** What the tool returned, if that is the error: REST adds these members to the body. */
  readonly returned?: JsonObject;
}

export function refusal(code: RefusalCode, message: string, more: Partial<Refusal> = {}): Refusal {
  return { status: STATUS[code], code, message, ...more };
}

/** The refusal for an error that JSON-RPC or MCP defines. */
export function ofErrorObject(code: RefusalCode, { code: jsonRpcCode, message, data }: ErrorObject): Refusal {
  return refusal(code, message, { jsonRpcCode, details: data });
}

export function methodNotAllowed(allowed: readonly string[], message = REFUSALS.method): Refusal {
  return refusal('METHOD_NOT_ALLOWED', message, { headers: { Allow: allowed.join(', ') } });
}

/** No new calls during a drain: another replica can take the call. */
export function shuttingDown(): Refusal {
  return refusal('SHUTTING_DOWN', REFUSALS.shuttingDown, { retryAfterMs: 1000, headers: { Connection: 'close' } });
}

/** More is in progress than one caller may have. */
export function overloaded(message: string): Refusal {
  return refusal('OVERLOADED', message, { retryAfterMs: 1000 });
}

/** Of what only operators may do (ruling T5). */
export function operatorRequired(): Refusal {
  return refusal('FORBIDDEN', REFUSALS.operator, { reason: 'access' });
}

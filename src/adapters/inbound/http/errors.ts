import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { failureJson } from '../failure-json.ts';
import { errorMessage, INVALID_REQUEST, type RequestId } from '../mcp/json-rpc.ts';
import { loggedReason, type Refusal } from './refusal.ts';
import type { HttpRequest } from './request.ts';

/** The response that refuses a request. */
export function refuse(c: HttpRequest, refused: Refusal): Response {
  const { status, code, headers, retryAfterMs, reason } = refused;
  const log = c.get('log');
  const wait = retryAfterMs === undefined ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
  // For a call that was made, the logged outcome already says why it failed.
  log.reason ??= reason ?? (log.call === undefined ? loggedReason(code) : undefined);
  return sendJson(c, status, c.get('toErrorJson')(refused), { ...wait, ...headers });
}

/** Sends a response whose body is the text `json`. */
export function sendJson(c: HttpRequest, status: number, json: string, headers: Readonly<Record<string, string>> = {}) {
  return c.body(json, status as ContentfulStatusCode, { ...JSON_TYPE, ...c.get('headers'), ...headers });
}

/**
 * Like `sendJson`, for the answer to a POST. Writes it to the connection, because a `Response`, whose body is a web stream, takes as long as the rest of
 * a short request. Only a `Response` can get the headers for a page of another origin, or be replaced when the process is about to exit.
 */
export function answerJson(
  c: HttpRequest,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const { incoming, outgoing } = c.env;
  if (incoming.headers.origin !== undefined || c.get('log').isShutDown) return sendJson(c, status, json, headers);
  const length = Buffer.byteLength(json);
  outgoing.writeHead(status, { ...JSON_TYPE, ...c.get('headers'), ...headers, 'Content-Length': length }).end(json);
  return RESPONSE_ALREADY_SENT;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The form of a refusal over MCP. */
export function toJsonRpcError({ message, details, jsonRpcCode }: Refusal, id: RequestId | undefined): string {
  const error = { code: jsonRpcCode ?? INVALID_REQUEST, message, ...(details && { data: details }) };
  return JSON.stringify(errorMessage(id, error));
}

/** The form of a refusal over REST. */
export function toRestError(refused: Refusal, requestId: string, redactor: Redactor): string {
  return failureJson({ ...refused, details: { ...refused.details, requestId } }, redactor);
}

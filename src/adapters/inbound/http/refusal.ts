import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type ErrorObject, errorMessage, INVALID_REQUEST, type RequestId } from '../mcp/json-rpc.ts';

/** The response to a request that is not served: an HTTP status, and the JSON-RPC error of its body. */
export interface Refusal {
  readonly status: number;
  readonly error: ErrorObject;
  /** The ID of the refused message, if it could be read (MCP: errors repeat it, with a 4xx too). */
  readonly id?: RequestId | undefined;
  readonly headers?: OutgoingHttpHeaders;
  /** The code of the error over REST, if it is not that of the status. */
  readonly code?: string;
  /** The reason in the access log, if it is not that of the status. */
  readonly reason?: string;
}

/** A refusal that does not depend on the message. */
export function refusal(status: number, message: string, headers: OutgoingHttpHeaders = {}): Refusal {
  return { status, error: { code: INVALID_REQUEST, message }, headers };
}

/** No new calls during a drain: another replica can take the call. */
export function shuttingDown(): Refusal {
  const headers = { 'Retry-After': '1', Connection: 'close' };
  return refusal(503, 'Service Unavailable: the server is shutting down', headers);
}

/** More is in progress than one caller may have. */
export function overloaded(message: string): Refusal {
  return refusal(429, message, { 'Retry-After': '1' });
}

export const tooManyCalls = (max: number): string =>
  `Too many calls in flight: at most ${max} per token. Try again when one has finished.`;

export const UNREAD =
  'Too many bytes of responses in progress, so that this one was dropped. Its call may have had effects. Read the others, then ask again.';

const limits = new WeakMap<ServerResponse, (bytes: number) => boolean>();

/** Makes a response depend on its length. If it may not be sent, `admit` sends a refusal instead. */
export function limitBytes(response: ServerResponse, admit: (bytes: number) => boolean): void {
  limits.set(response, admit);
}

/** Whether so many bytes may be sent. If not, the refusal was sent. */
export function admits(response: ServerResponse, bytes: number): boolean {
  const admit = limits.get(response);
  limits.delete(response);
  return admit?.(bytes) ?? true;
}

/** Sends a refusal as a JSON-RPC error message. */
export function sendRefusal(response: ServerResponse, { status, error, id, headers = {} }: Refusal): void {
  sendJson(response, status, JSON.stringify(errorMessage(id, error)), headers);
}

/** Sends a complete response, unless the request has one: that of the end of the drain. `json` is a JSON text. */
export function sendJson(
  response: ServerResponse,
  status: number,
  json: string | Buffer,
  headers?: OutgoingHttpHeaders,
): void {
  const length = Buffer.byteLength(json);
  if (response.headersSent || !admits(response, length)) return;
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length, ...headers }).end(json);
}

/** Sends a response without a body. */
export function sendEmpty(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
  // RFC 9110: a 204 has no Content-Length.
  response.writeHead(status, status === 204 ? headers : { 'Content-Length': 0, ...headers }).end();
}

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type ErrorObject, errorMessage, INVALID_REQUEST, type RequestId } from '../mcp/json-rpc.ts';

/** Why a request is not served: an HTTP status, and the JSON-RPC error that its body tells. */
export interface Refusal {
  readonly status: number;
  readonly error: ErrorObject;
  /** Of the message that was refused, where it could be read (MCP: errors echo it, also with a 4xx). */
  readonly id?: RequestId;
  readonly headers?: OutgoingHttpHeaders;
}

/** A refusal that has nothing to do with what the message asks. */
export function refusal(status: number, message: string, headers: OutgoingHttpHeaders = {}): Refusal {
  return { status, error: { code: INVALID_REQUEST, message }, headers };
}

export function sendRefusal(response: ServerResponse, { status, error, id, headers = {} }: Refusal): void {
  sendJson(response, status, JSON.stringify(errorMessage(id, error)), headers);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  json: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const length = Buffer.byteLength(json);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length, ...headers }).end(json);
}

export function sendEmpty(response: ServerResponse, status: number, headers: OutgoingHttpHeaders = {}): void {
  // RFC 9110: a 204 has no Content-Length.
  response.writeHead(status, status === 204 ? headers : { 'Content-Length': 0, ...headers }).end();
}

/** No new calls while those in flight end: another replica will take it. */
export function aboutToEnd(): Refusal {
  const headers = { 'Retry-After': '1', Connection: 'close' };
  return refusal(503, 'Service Unavailable: this server is about to end', headers);
}

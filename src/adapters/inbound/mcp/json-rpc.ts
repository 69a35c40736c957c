/** JSON-RPC 2.0, as far as MCP uses it: no batches, ids never null. */
export type RequestId = string | number;

export interface Params {
  readonly [name: string]: unknown;
}

export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: Params;
}

/** What is written: an answer, an error (without an id where none could be read), or a notification. */
export type OutgoingMessage =
  | { readonly jsonrpc: '2.0'; readonly id: RequestId; readonly result: Params }
  | { readonly jsonrpc: '2.0'; readonly id?: RequestId; readonly error: ErrorObject }
  | { readonly jsonrpc: '2.0'; readonly method: string; readonly params: Params };

/** What was read, told apart. */
export type IncomingMessage =
  | { readonly kind: 'request'; readonly id: RequestId; readonly method: string; readonly params: Params | undefined }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  /** An answer to a question that nobody asked; ignored (ruling 18). */
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly id?: RequestId; readonly reason: string };

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** Tells what a JSON value is as a message. `params` that are no object are undefined, for the method to refuse. */
export function readMessage(value: unknown): IncomingMessage {
  if (Array.isArray(value))
    return { kind: 'invalid', reason: 'batches are not part of MCP: send one message at a time' };
  if (!isParams(value)) return { kind: 'invalid', reason: 'a message is a JSON object' };
  const { id, method } = value;
  const known = isRequestId(id) ? { id } : {};
  if (value.jsonrpc !== '2.0') return { kind: 'invalid', reason: 'jsonrpc must be "2.0"', ...known };
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' };
  if (typeof method !== 'string') return { kind: 'invalid', reason: 'method must be a string', ...known };

  const params = value.params ?? {};
  if (!('id' in value)) return { kind: 'notification', method, params: isParams(params) ? params : {} };
  if (!isRequestId(id))
    return { kind: 'invalid', reason: 'id must be a string or a number that JSON can hold exactly' };
  return { kind: 'request', id, method, params: isParams(params) ? params : undefined };
}

export function isParams(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `0` and `""` are ids; a number that lost digits in reading would be answered under another id. */
export function isRequestId(value: unknown): value is RequestId {
  return (
    typeof value === 'string' ||
    (typeof value === 'number' && (Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value))))
  );
}

/** A key under which `1` and `"1"` are different ids (ruling 18). */
export function keyOf(id: RequestId): string {
  return JSON.stringify(id);
}

export function resultMessage(id: RequestId, result: Params): OutgoingMessage {
  return { jsonrpc: '2.0', id, result };
}

/** An error to a message whose id could not be read carries no id at all: MCP's schemas refuse null (ruling 4). */
export function errorMessage(id: RequestId | undefined, error: ErrorObject): OutgoingMessage {
  return { jsonrpc: '2.0', ...(id === undefined ? {} : { id }), error };
}

/** A fault of this program, of which a client learns nothing more. */
export const INTERNAL: ErrorObject = { code: INTERNAL_ERROR, message: 'Internal error' };

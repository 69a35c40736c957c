import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { excerpt } from '../words/plain.ts';
import { missingFileMessage } from '../words/process-messages.ts';

/** JSON-RPC 2.0 as MCP uses it: no batches, and IDs are never null. */
export type RequestId = string | number;

export type Params = JsonObject;

/** A JSON-RPC error. `data` is for the client's user. */
export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: Params | undefined;
}

/** A message to the client. An error has no ID if the ID of the request could not be read. */
export type OutgoingMessage =
  | { readonly jsonrpc: '2.0'; readonly id: RequestId; readonly result: Params }
  | { readonly jsonrpc: '2.0'; readonly id?: RequestId | undefined; readonly error: ErrorObject }
  | { readonly jsonrpc: '2.0'; readonly method: string; readonly params: Params }
  /** A question to a client of a revision before 2026-07-28. */
  | { readonly jsonrpc: '2.0'; readonly id: string; readonly method: string; readonly params: Params };

export interface RequestMessage {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  /** Undefined if it is not an object, which the session rejects. */
  readonly params: Params | undefined;
}

export type IncomingMessage =
  | RequestMessage
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  /** The answer to a question. `result` is undefined for an error. */
  | { readonly kind: 'response'; readonly id?: RequestId | undefined; readonly result?: unknown }
  | { readonly kind: 'invalid'; readonly id?: RequestId | undefined; readonly error: ErrorObject };

/** The error codes of the JSON-RPC 2.0 specification, section 5.1. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;

/** The contract's error code for a failed call. */
export const CALL_FAILED = -32001;

/** The `_meta` of params or of a result; empty if it is not an object. */
export function metaOf(value: Params | undefined): Params {
  return isObject(value?._meta) ? value._meta : {};
}

export function toMessage(value: unknown): IncomingMessage {
  if (Array.isArray(value)) return invalid('batches are not part of MCP: send one message at a time');
  if (!isObject(value)) return invalid('a message is a JSON object');
  const { method } = value;
  const id = isRequestId(value.id) ? value.id : undefined;
  if (value.jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0"', id);
  if (method === undefined && ('result' in value || 'error' in value))
    return { kind: 'response', id, result: value.result };
  if (typeof method !== 'string') return invalid('method must be a string', id);

  const params = value.params ?? {};
  if (!('id' in value)) return { kind: 'notification', method, params: isObject(params) ? params : {} };
  if (id === undefined) return invalid(ID_ACCEPTED);
  return { kind: 'request', id, method, params: isObject(params) ? params : undefined };
}

function invalid(reason: string, id?: RequestId): IncomingMessage {
  return { kind: 'invalid', id, error: { code: INVALID_REQUEST, message: `Invalid Request: ${reason}` } };
}

/** Maximum length of IDs and progress tokens, which are repeated in every message about a request. */
const MAX_ID_LENGTH = 256;
const ID_ACCEPTED = `id must be a string of at most ${MAX_ID_LENGTH} characters, or a number that JSON can represent exactly`;

/** `0` and `""` are IDs. A number that lost digits when it was parsed would be answered with another ID. */
export function isRequestId(value: unknown): value is RequestId {
  if (typeof value === 'string') return value.length <= MAX_ID_LENGTH;
  return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
}

/** An error for a message whose ID could not be read has no `id` member: MCP's schemas reject null. */
export function errorMessage(id: RequestId | undefined, error: ErrorObject): OutgoingMessage {
  return { jsonrpc: '2.0', id, error };
}

export function invalidParams(reason: string): ErrorObject {
  return { code: INVALID_PARAMS, message: `Invalid params: ${reason}` };
}

export function methodNotFound(method: string): { readonly error: ErrorObject } {
  return { error: { code: METHOD_NOT_FOUND, message: `Method not found: ${excerpt(method)}` } };
}

/** A failed call as a result, whose text a model can read. */
export function failedResult(text: string): Params {
  return { content: [{ type: 'text', text }], isError: true };
}

/** The text of a result that reports a failed answer. */
export function answerFailed(message: string): string {
  return `answer failed: ${message}`;
}

export type FailureForm = 'result' | 'protocol';

/** A failed call of an answer tool, in its form. */
export function failedAnswer(
  message: string,
  form: FailureForm,
  diagnostics?: object,
): { readonly result: Params } | { readonly error: ErrorObject } {
  if (form === 'result') return { result: failedResult(answerFailed(message)) };
  return { error: { code: CALL_FAILED, message: 'answer failed', data: { message, ...diagnostics } } };
}

/** A bug in this program. The details are only logged. */
export const INTERNAL: ErrorObject = { code: -32603, message: 'Internal error' };

/** The error for an exception, which is a bug or a file of this program that is missing. */
export function internalError(thrown: unknown): ErrorObject {
  return { ...INTERNAL, message: missingFileMessage(thrown) ?? INTERNAL.message };
}

import { isJSONRPCErrorResponse, isJSONRPCResultResponse, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { MAX_NESTING } from '../../../domain/values/json-nesting.ts';
import type { Excess } from './line-reader.ts';

/** Codes of errors that the transports create in place of a response. They are outside the range of JSON-RPC and MCP. */
export const TOO_LARGE = -1_000_001;
export const LOST = -1_000_002;
export const INVALID = -1_000_003;

/** A response in place of one that was not read, or cannot be used. */
export function errorResponse(
  id: string | number,
  code: typeof TOO_LARGE | typeof LOST | typeof INVALID,
  message: string,
): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** A response as a server sent it. The client accepts only strict ones, and would wait for others until the timeout. */
export function toResponse(id: string | number, { result, error }: JsonObject): JSONRPCMessage {
  const response = { jsonrpc: '2.0', id, ...(result === undefined || result === null ? { error } : { result }) };
  // What the client requires of all results are types of these two members.
  const isPlain = isObject(result) && result._meta === undefined && result.resultType === undefined;
  if (isPlain || isJSONRPCResultResponse(response) || isJSONRPCErrorResponse(response))
    return response as JSONRPCMessage;
  return errorResponse(id, INVALID, 'the answer is neither a result nor an error');
}

export function excessResponse(id: string | number, excess: Excess, maxBytes: number): JSONRPCMessage {
  if (excess === 'too_large') return errorResponse(id, TOO_LARGE, `a response of more than ${maxBytes} bytes`);
  return errorResponse(id, INVALID, `the answer ${REASONS[excess]}`);
}

const REASONS = {
  too_deep: `nests more than ${MAX_NESTING} levels deep`,
  too_many_parts: 'has too many objects, lists and members; ask for less',
  too_many_parts_of_list: 'has too many objects, lists and members for a list; let the server offer less',
} as const;

/** A message of which only the start and the end were kept. `unknown` may be a response, but its ID cannot be read. */
export type CutMessage =
  | { readonly kind: 'response'; readonly id: string | number }
  | { readonly kind: 'other' | 'unknown' };

const ID = String.raw`"id"\s*:\s*(\d+|"(?:[^"\\]|\\.)*")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
/** The ID and the version, in any order, at the start of an object, and the name of the next member. */
const HEAD = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(\w+)"\s*:`);
const TAIL = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

export function readCutMessage(head: string, tail: string): CutMessage {
  const [, first, member] = HEAD.exec(head) ?? [];
  if (member === 'method' || member === 'params') return { kind: 'other' };
  const [, last] = TAIL.exec(tail) ?? [];
  // What looks like an ID need not be JSON.
  const id = parseJson(first ?? last ?? '');
  return typeof id === 'string' || typeof id === 'number' ? { kind: 'response', id } : { kind: 'unknown' };
}

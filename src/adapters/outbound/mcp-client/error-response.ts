import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { parseJson } from '../../../domain/values/json.ts';

/** Codes of errors that replace responses which cannot be read. They are outside the ranges of JSON-RPC and MCP. */
export const TOO_LARGE = -1_000_001;
export const LOST = -1_000_002;
export const INVALID = -1_000_003;

/** A response that replaces one that was not read, or cannot be used. */
export function errorResponse(
  id: RequestId,
  code: typeof TOO_LARGE | typeof LOST | typeof INVALID,
  message: string,
): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

export function tooLargeResponse(id: RequestId, maxBytes: number): JSONRPCMessage {
  return errorResponse(id, TOO_LARGE, `a response of more than ${maxBytes} bytes`);
}

const ID = String.raw`"id"\s*:\s*(\d+|"(?:[^"\\]|\\.)*")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
/** The ID and the version, in any order, at the start of an object, and the name of the next member. */
const HEAD = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(\w+)"\s*:`);
const TAIL = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/**
 * The ID of the request to which a message responds, from the start and the end of the message. Undefined if the message is not a response;
 * `unknown` if there is no ID in them.
 */
export function requestIdIn(start: string, end: string): RequestId | 'unknown' | undefined {
  const [, first, member] = HEAD.exec(start) ?? [];
  if (member === 'method' || member === 'params') return undefined;
  const [, last] = TAIL.exec(end) ?? [];
  // A text that looks like an ID need not be JSON.
  const id = parseJson(first ?? last ?? '');
  return typeof id === 'string' || typeof id === 'number' ? id : 'unknown';
}

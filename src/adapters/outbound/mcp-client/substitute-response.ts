import type { JSONRPCMessage } from '@modelcontextprotocol/client';

/** Codes of errors that the transports create in place of a response. They are outside the range of JSON-RPC and MCP. */
export const TOO_LARGE = -1_000_001;
export const LOST = -1_000_002;

/** A response in place of one that was not read. */
export function errorResponse(
  id: string | number,
  code: typeof TOO_LARGE | typeof LOST,
  message: string,
): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/** The ID of a response of which only the start and the end were kept; undefined if it cannot be read. */
export function idOfResponse(head: string, tail: string): string | number | undefined {
  const [, first] = /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d+|"(?:[^"\\]|\\.)*")/.exec(head) ?? [];
  const [, early] = /^\s*\{\s*"id"\s*:\s*(\d+|"(?:[^"\\]|\\.)*")/.exec(head) ?? [];
  const [, last] = /,\s*"id"\s*:\s*(\d+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail) ?? [];
  const id = first ?? early ?? last;
  return id === undefined ? undefined : (JSON.parse(id) as string | number);
}

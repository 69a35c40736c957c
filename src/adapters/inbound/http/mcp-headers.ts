import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { checkEnvelope, checkVersion, type Era, eraOf, MODERN_VERSION, requestedVersion } from '../mcp/era.ts';
import { type ErrorObject, INVALID_REQUEST, type IncomingMessage } from '../mcp/json-rpc.ts';
import { excerpt } from '../words/plain.ts';
import { REFUSALS } from '../words/refusal-messages.ts';

const HEADER_MISMATCH = -32020;

/** Official clients continue to send the revision that they requested, although the response to `initialize` names 2025-06-18. */
const LEGACY_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

/** The member of `params` that the header `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** The era of a message by its `_meta`, or else by the header `MCP-Protocol-Version`. */
export function eraOfPost(headers: IncomingHttpHeaders, message: IncomingMessage): Era {
  const params = 'params' in message ? message.params : undefined;
  if (eraOf(params) === 'modern') return 'modern';
  // Without a version in `_meta`, `initialize` is legacy, whatever the header says.
  if (isInitialize(message)) return 'legacy';
  const version = headerOf(headers, 'mcp-protocol-version') ?? '';
  // Revisions are dates, which can be compared as strings.
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION ? 'modern' : 'legacy';
}

/** The error for headers that the era of a message does not allow; undefined if they are valid. */
export function checkHeaders(
  headers: IncomingHttpHeaders,
  message: IncomingMessage,
  era: Era,
): ErrorObject | undefined {
  if (era === 'modern') return checkModernHeaders(headers, message);
  // 2025-06-18, Protocol Version Header. `initialize` precedes the choice of a version.
  const version = headerOf(headers, 'mcp-protocol-version');
  if (isInitialize(message) || version === undefined || LEGACY_VERSIONS.includes(version)) return undefined;
  return { code: INVALID_REQUEST, message: REFUSALS.versions([...LEGACY_VERSIONS, MODERN_VERSION]) };
}

/** 2026-07-28, Streamable HTTP: headers must match the body. The checks have the order of the official SDK. */
function checkModernHeaders(headers: IncomingHttpHeaders, message: IncomingMessage): ErrorObject | undefined {
  if (message.kind !== 'request') return undefined;
  const { method, params } = message;
  const requested = requestedVersion(params);
  const version = headerOf(headers, 'mcp-protocol-version');
  const mismatch = checkHeader('MCP-Protocol-Version', version, requested);
  const error =
    checkEnvelope(params) ??
    (version === undefined ? undefined : mismatch) ??
    checkVersion(requested) ??
    mismatch ??
    checkHeader('Mcp-Method', headerOf(headers, 'mcp-method'), method);
  const name = NAMED[method];
  const expected = name === undefined ? undefined : params?.[name];
  if (error !== undefined || typeof expected !== 'string') return error;
  const sent = headerOf(headers, 'mcp-name');
  return checkHeader('Mcp-Name', sent, expected, sent !== undefined && decodeHeader(sent) === expected);
}

function checkHeader(name: string, sent: string | undefined, expected: unknown, matches = sent === expected) {
  if (matches) return undefined;
  const problem =
    sent === undefined ? 'is missing; the body has' : `value '${excerpt(sent)}' does not match body value`;
  return { code: HEADER_MISMATCH, message: REFUSALS.header(name, problem, excerpt(String(expected))) };
}

/** Decodes `=?base64?...?=`, the form of values that a header cannot contain; undefined if it is not base64 of UTF-8. */
export function decodeHeader(value: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (encoded === undefined) return value;
  // Buffer ignores characters that are not base64, so alphabet and padding are checked first.
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

function isInitialize(message: IncomingMessage): boolean {
  return 'method' in message && message.method === 'initialize';
}

/** Node.js joins repeated headers with a comma, so that a header sent twice matches nothing. */
function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name]?.toString();
}

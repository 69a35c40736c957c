import type { IncomingHttpHeaders } from 'node:http';
import { checkEnvelope, checkVersion, claimedVersion, type Era, eraOf, MODERN_VERSION } from '../mcp/era.ts';
import { INVALID_REQUEST, type IncomingMessage, type RequestId } from '../mcp/json-rpc.ts';
import type { Refusal } from './refusal.ts';

export type RequestMessage = Extract<IncomingMessage, { kind: 'request' }>;

const HEADER_MISMATCH = -32020;

/**
 * Revisions of the `initialize` era that a client may name after it was answered 2025-06-18. Official clients and the
 * conformance suite go on with the one that they had asked for.
 */
const LEGACY_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

/** The era of a message by what it claims itself or, failing that, by its `MCP-Protocol-Version`. */
export function eraOfPost(headers: IncomingHttpHeaders, message: IncomingMessage): Era {
  const params = 'params' in message ? message.params : undefined;
  if (eraOf(params) === 'modern') return 'modern';
  // Without a claim it always begins the era that is named for it.
  if (isInitialize(message)) return 'legacy';
  const version = headerOf(headers, 'mcp-protocol-version') ?? '';
  // Revisions are dates, and compare as texts.
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION ? 'modern' : 'legacy';
}

/** 2025-06-18, Protocol Version Header. `initialize` comes before a version is agreed on. */
export function checkLegacyHeaders(headers: IncomingHttpHeaders, message: IncomingMessage): Refusal | undefined {
  if (isInitialize(message)) return undefined;
  const version = headerOf(headers, 'mcp-protocol-version');
  if (version === undefined || LEGACY_VERSIONS.includes(version)) return undefined;
  const words = `Invalid Request: MCP-Protocol-Version must be one of ${[...LEGACY_VERSIONS, MODERN_VERSION].join(', ')}`;
  return { status: 400, error: { code: INVALID_REQUEST, message: words }, ...idOf(message) };
}

/**
 * 2026-07-28, Streamable HTTP: the headers by which proxies route must say what the body says. The order is the official
 * SDK's: envelope, contradiction, version, presence.
 */
export function checkModernHeaders(headers: IncomingHttpHeaders, request: RequestMessage): Refusal | undefined {
  const { id, method, params } = request;
  const claimed = claimedVersion(params);
  const envelope = checkEnvelope(params);
  if (envelope !== undefined) return { status: 400, error: envelope, id };

  const version = headerOf(headers, 'mcp-protocol-version');
  if (version !== undefined && version !== claimed) return mismatch(id, 'MCP-Protocol-Version', version, claimed);
  const unsupported = checkVersion(claimed);
  if (unsupported !== undefined) return { status: 400, error: unsupported, id };
  if (version === undefined) return mismatch(id, 'MCP-Protocol-Version', version, claimed);

  const sentMethod = headerOf(headers, 'mcp-method');
  if (sentMethod !== method) return mismatch(id, 'Mcp-Method', sentMethod, method);
  if (method !== 'tools/call' || typeof params?.name !== 'string') return undefined;
  const sentName = headerOf(headers, 'mcp-name');
  return sentName !== undefined && decodeHeader(sentName) === params.name
    ? undefined
    : mismatch(id, 'Mcp-Name', sentName, params.name);
}

/** A value that HTTP cannot carry as it is comes as `=?base64?...?=`; undefined where that is not strict base64 of UTF-8. */
export function decodeHeader(value: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  if (encoded === undefined) return value;
  // Buffer ignores what is no base64, so the alphabet and the padding are looked at first.
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(encoded)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}

function isInitialize(message: IncomingMessage): boolean {
  return 'method' in message && message.method === 'initialize';
}

function mismatch(id: RequestId, name: string, sent: string | undefined, expected: unknown): Refusal {
  const said = sent === undefined ? `${name} header is missing` : `${name} header value '${sent}' does not match`;
  const message = `Header mismatch: ${said}${sent === undefined ? '; the body has' : ' body value'} '${String(expected)}'`;
  return { status: 400, error: { code: HEADER_MISMATCH, message }, id };
}

/** Node joins repeated headers of other names with a comma, so that one sent twice matches nothing. */
function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function idOf(message: IncomingMessage): { readonly id?: RequestId } {
  return message.kind === 'request' ? { id: message.id } : {};
}

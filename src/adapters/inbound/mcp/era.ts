import { isObject } from '../../../domain/values/json.ts';
import { excerpt } from '../words/plain.ts';
import {
  type ErrorObject,
  errorMessage,
  type IncomingMessage,
  invalidParams,
  type OutgoingMessage,
  type Params,
  type RequestId,
  toMessage,
} from './json-rpc.ts';

/** The only revision of the `initialize` era that this server speaks, whichever is requested (ruling 2). */
export const LEGACY_VERSION = '2025-06-18';

/** The revision in which every request contains its version and capabilities. */
export const MODERN_VERSION = '2026-07-28';

/** Names in `_meta` that MCP 2026-07-28 defines. */
const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

/** The prefix of this server's own names in `_meta` (MCP, `_meta`). */
export const META_PREFIX = 'io.github.uchimanajet7.openai-responses-mcp/';

const UNSUPPORTED_VERSION = -32022;

const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** `legacy`: revisions with `initialize`; `modern`: those whose requests name a version in `_meta`, valid or not. */
export type Era = 'legacy' | 'modern';

/** The era of a message, by its `params`. */
export function eraOf(params: Params | undefined): Era {
  return requestedVersion(params) === undefined ? 'legacy' : 'modern';
}

/** The version that a modern request names, valid or not. */
export function requestedVersion(params: Params | undefined): unknown {
  return isObject(params?._meta) ? params._meta[META.protocolVersion] : undefined;
}

/** What is wrong with the `_meta` of a modern request; undefined if it is valid. */
export function checkEnvelope(params: Params | undefined): ErrorObject | undefined {
  const meta = isObject(params?._meta) ? params._meta : {};
  const clientInfo = meta[META.clientInfo];
  const logLevel = meta[META.logLevel];
  if (typeof meta[META.protocolVersion] !== 'string') return invalidMeta(META.protocolVersion, 'a string');
  if (!isObject(meta[META.clientCapabilities])) return invalidMeta(META.clientCapabilities, 'an object');
  const isImplementation =
    isObject(clientInfo) && typeof clientInfo.name === 'string' && typeof clientInfo.version === 'string';
  if (clientInfo !== undefined && !isImplementation) {
    return invalidMeta(META.clientInfo, 'an object with the strings name and version');
  }
  if (logLevel !== undefined && !LOG_LEVELS.some((level) => level === logLevel)) {
    return invalidMeta(META.logLevel, `one of ${LOG_LEVELS.join(', ')}`);
  }
  return undefined;
}

/** The error for a version that is not supported; undefined if it is. */
export function checkVersion(requested: unknown): ErrorObject | undefined {
  if (requested === MODERN_VERSION) return undefined;
  const shown = typeof requested === 'string' ? excerpt(requested) : requested;
  const data = { supported: [MODERN_VERSION], requested: shown };
  return { code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data };
}

/** A message for the session, or the error with which to respond. */
type ReadMessage = { readonly message: IncomingMessage; readonly era: Era } | { readonly rejection: OutgoingMessage };

/** Reads a JSON value as a message of a transport without headers. A modern request must meet the requirements of its era. */
export function readMessage(value: unknown): ReadMessage {
  const message = toMessage(value);
  if (message.kind === 'invalid') return { rejection: errorMessage(message.id, message.error) };
  const params = 'params' in message ? message.params : undefined;
  const era = eraOf(params);
  if (era === 'legacy' || message.kind !== 'request') return { message, era };
  const error = checkEnvelope(params) ?? checkVersion(requestedVersion(params));
  return error === undefined ? { message, era } : { rejection: errorMessage(message.id, error) };
}

function invalidMeta(name: string, accepted: string): ErrorObject {
  return invalidParams(`_meta["${name}"] must be ${accepted}`);
}

/** MCP's `Implementation`. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** The response to a request. Results of the modern era also contain their type, and the server. */
export function resultMessage(
  { id, era }: { readonly id: RequestId; readonly era: Era },
  result: Params,
  serverInfo: ServerInfo,
): OutgoingMessage {
  return { jsonrpc: '2.0', id, result: era === 'legacy' ? result : completeResult(result, serverInfo) };
}

/** A result of the modern era. */
export function completeResult(result: Params, serverInfo: ServerInfo): Params {
  const meta = isObject(result._meta) ? result._meta : {};
  const _meta = { [META.serverInfo]: serverInfo, ...meta };
  return { resultType: 'complete', ...result, _meta };
}

import { type ErrorObject, INVALID_PARAMS, isParams, type Params } from './json-rpc.ts';

/** The only revision of the `initialize` era that is spoken, whatever is asked for (ruling 2). */
export const LEGACY_VERSION = '2025-06-18';

/** The revision in which every request brings its version and capabilities itself. */
export const MODERN_VERSION = '2026-07-28';

/** Names in `_meta` that MCP 2026-07-28 defines. */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
} as const;

const UNSUPPORTED_VERSION = -32022;

const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/**
 * `legacy`: revisions that begin with `initialize`; `modern`: those whose requests name their version in `_meta`. Decided for
 * each request by itself; a claim that is malformed is refused, never served as legacy.
 */
export type Era = 'legacy' | 'modern';

export function eraOf(params: Params | undefined): Era {
  return isParams(params?._meta) && META.protocolVersion in params._meta ? 'modern' : 'legacy';
}

/** The version that a modern request claims, whatever it is. */
export function claimedVersion(params: Params | undefined): unknown {
  return isParams(params?._meta) ? params._meta[META.protocolVersion] : undefined;
}

/** What is wrong with a modern request's envelope; undefined if it is as the revision wants it. */
export function checkEnvelope(params: Params | undefined): ErrorObject | undefined {
  const meta = isParams(params?._meta) ? params._meta : {};
  const clientInfo = meta[META.clientInfo];
  const logLevel = meta[META.logLevel];
  if (typeof meta[META.protocolVersion] !== 'string') return invalid(META.protocolVersion, 'a string');
  if (!isParams(meta[META.clientCapabilities])) return invalid(META.clientCapabilities, 'an object');
  if (clientInfo !== undefined && !isImplementation(clientInfo)) {
    return invalid(META.clientInfo, 'an object with the strings name and version');
  }
  if (logLevel !== undefined && !LOG_LEVELS.some((level) => level === logLevel)) {
    return invalid(META.logLevel, `one of ${LOG_LEVELS.join(', ')}`);
  }
  return undefined;
}

/** The refusal of a version that is not served; undefined if it is. */
export function checkVersion(requested: unknown): ErrorObject | undefined {
  if (requested === MODERN_VERSION) return undefined;
  const data = { supported: [MODERN_VERSION], requested };
  return { code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data };
}

function isImplementation(value: unknown): boolean {
  return isParams(value) && typeof value.name === 'string' && typeof value.version === 'string';
}

function invalid(name: string, accepted: string): ErrorObject {
  return { code: INVALID_PARAMS, message: `Invalid params: _meta["${name}"] must be ${accepted}` };
}

/** Who serves, as MCP's `Implementation`. */
export interface ServerInfo {
  readonly name: string;
  readonly version: string;
}

/** Results of the modern era say that they are whole, and who made them; those of the legacy era never do. */
export function stamp(result: Params, era: Era, serverInfo: ServerInfo): Params {
  if (era === 'legacy') return result;
  const meta = isParams(result._meta) ? result._meta : {};
  return { resultType: 'complete', ...result, _meta: { [META.serverInfo]: serverInfo, ...meta } };
}

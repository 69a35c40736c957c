import { isObject, withoutUndefined } from '../../../domain/values/json.ts';
import { excerpt } from '../words/plain.ts';
import {
  type ErrorObject,
  errorMessage,
  type FailureForm,
  type IncomingMessage,
  invalidParams,
  metaOf,
  type OutgoingMessage,
  type Params,
  toMessage,
} from './json-rpc.ts';

/** The only revision of the `initialize` era that this server speaks, whichever is requested. */
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
  return metaOf(params)[META.protocolVersion];
}

/** The capabilities that a modern request declares; empty if they are not an object. */
export function capabilitiesOf(params: Params | undefined): Params {
  const declared = metaOf(params)[META.clientCapabilities];
  return isObject(declared) ? declared : {};
}

/** Those of them about which servers may ask: the person, a model, and folders. */
export function askableOf(params: Params | undefined): Params {
  const { elicitation, sampling, roots } = capabilitiesOf(params);
  return withoutUndefined({ elicitation, sampling, roots });
}

/** The error for an invalid `_meta` of a modern request; undefined if it is valid. */
export function checkEnvelope(params: Params | undefined): ErrorObject | undefined {
  const meta = metaOf(params);
  const { [META.clientInfo]: clientInfo, [META.logLevel]: logLevel } = meta;
  const isNamed = isObject(clientInfo) && typeof clientInfo.name === 'string' && typeof clientInfo.version === 'string';
  const must = (name: string, accepted: string) => invalidParams(`_meta["${name}"] must be ${accepted}`);
  if (typeof meta[META.protocolVersion] !== 'string') return must(META.protocolVersion, 'a string');
  if (!isObject(meta[META.clientCapabilities])) return must(META.clientCapabilities, 'an object');
  if (clientInfo !== undefined && !isNamed) return must(META.clientInfo, 'an object with the strings name and version');
  const isLevel = logLevel === undefined || LOG_LEVELS.some((level) => level === logLevel);
  return isLevel ? undefined : must(META.logLevel, `one of ${LOG_LEVELS.join(', ')}`);
}

/** The error for a version that is not supported; undefined if it is. */
export function checkVersion(requested: unknown): ErrorObject | undefined {
  if (requested === MODERN_VERSION) return undefined;
  const shown = typeof requested === 'string' ? excerpt(requested) : requested;
  const data = { supported: [MODERN_VERSION], requested: shown };
  return { code: UNSUPPORTED_VERSION, message: 'Unsupported protocol version', data };
}

/** The form of a failed call: a result, or an error of the protocol. In the modern era, hosts show every failure to their model. */
export function failureForm(era: Era, toolErrors: FailureForm | undefined): FailureForm {
  return era === 'modern' || toolErrors === 'result' ? 'result' : 'protocol';
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

/** MCP's `Implementation`. */
export type ServerInfo = Readonly<Record<'name' | 'version', string>>;

/** Adds the members that a result of the modern era requires: its type, and the server. */
export function completeResult(result: Params, serverInfo: ServerInfo): Params {
  const _meta = { [META.serverInfo]: serverInfo, ...metaOf(result) };
  return { resultType: 'complete', ...result, _meta };
}

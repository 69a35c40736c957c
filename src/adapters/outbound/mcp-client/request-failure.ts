import {
  ProtocolError,
  ResourceNotFoundError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { ToolServerError } from '../../../domain/gateway/tool-call-error.ts';
import { causesOf, codeOf } from '../../../domain/values/certificate-problem.ts';
import { clip, shortLine } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject, withoutUndefined } from '../../../domain/values/json.ts';
import { ResponseTooLarge } from './message-fetch.ts';
import { INVALID, LOST, TOO_LARGE } from './messages.ts';
import { LoginRequired, NotAuthorized } from './remote-login.ts';
import { bodyOf, textOf } from './server-replies.ts';
import { SessionLost } from './settling-transport.ts';

/** Why a request of the official client failed. */
export interface RequestFailure {
  readonly error: ToolServerError;
  /** For people. */
  readonly reason: string;
  /** `session`: the server does not know the session, if there is one, and did not accept the request. `network`: no request can succeed now. */
  readonly refusal?: 'session' | 'network';
}

const RESOURCE_NOT_FOUND = -32002;

const CONNECTION_CODES: ReadonlySet<string> = new Set([
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
]);

export function toRequestFailure(
  thrown: unknown,
  { maxBytes, lostReason }: { readonly maxBytes: number; readonly lostReason: () => string },
): RequestFailure {
  if (thrown instanceof SessionLost)
    return { ...toRequestFailure(thrown.cause, { maxBytes, lostReason }), refusal: 'session' };
  const reason = messageWithCode(thrown);
  if (thrown instanceof LoginRequired) return { error: { kind: 'login_required' }, reason, refusal: 'network' };
  if (thrown instanceof ResponseTooLarge) return { error: { kind: 'too_large', maxBytes }, reason };
  if (thrown instanceof NotAuthorized) return { error: thrown.error, reason };
  if (thrown instanceof ProtocolError) {
    const { code, message, data } = thrown;
    if (code === TOO_LARGE) return { error: { kind: 'too_large', maxBytes }, reason };
    if (code === LOST) return { error: { kind: 'crashed', reason }, reason };
    // The client replaces the code from the server by that of the latest revision.
    if (thrown instanceof ResourceNotFoundError) return { error: jsonRpc(RESOURCE_NOT_FOUND, message), reason };
    if (code === INVALID) return { error: { kind: 'invalid_result', detail: message }, reason };
    return { error: jsonRpc(code, message, data), reason };
  }
  const status = httpStatusOf(thrown);
  if (status !== undefined) return ofStatus(status, thrown);
  const isUnexpected = thrown instanceof SdkError && !CONNECTION_CODES.has(thrown.code);
  if (isUnexpected || isNoMessage(thrown)) return { error: { kind: 'invalid_result', detail: reason }, reason };
  // `fetch` failed before or during a response.
  const isNetworkError = thrown instanceof TypeError && thrown.cause !== undefined;
  if (isNetworkError) return { error: { kind: 'crashed', reason }, reason, refusal: 'network' };
  return { error: { kind: 'crashed', reason: lostReason() }, reason: lostReason() };
}

/** Whether the client could not read an answer: it is not JSON, or not a message. The errors of its schemas have `issues`. */
function isNoMessage(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const isOfSchema = 'issues' in thrown || (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult);
  return thrown instanceof SyntaxError || isOfSchema;
}

/** Why an answer cannot be read, if the type of its content shows that. */
function unreadable(thrown: unknown): string | undefined {
  if (isNoMessage(thrown)) return 'the answer is not a JSON-RPC message';
  if (!(thrown instanceof SdkError) || thrown.code !== SdkErrorCode.ClientHttpUnexpectedContent) return undefined;
  const { contentType } = isObject(thrown.data) ? thrown.data : {};
  const isPage = typeof contentType === 'string' && contentType.includes('html');
  const type = typeof contentType === 'string' ? contentType : 'no content';
  return `the answer is ${isPage ? 'a web page, and no JSON-RPC message; check the url' : `no JSON-RPC message (${type})`}`;
}

/** Maximum length of the words of a server in a reason. */
const MAX_WORDS = 200;
/** Longer messages take too long to clean of secrets and unsafe characters. */
const MAX_MESSAGE = 64 * 1024;

function jsonRpc(code: number, message: string, data?: unknown): ToolServerError {
  return {
    kind: 'json_rpc',
    code,
    message: clip(message, MAX_MESSAGE),
    ...withoutUndefined({ data: data ?? undefined }),
  };
}

function ofStatus(status: number, thrown: unknown): RequestFailure {
  const reason = reasonForStatus(status, thrown);
  if (status === 401 || status === 403) return { error: { kind: 'unauthorized', status }, reason };
  const { code, message, data } = jsonRpcErrorOf(thrown) ?? {};
  const isError = typeof code === 'number' && typeof message === 'string';
  const error = isError ? jsonRpc(code, message, data) : jsonRpc(0, reason);
  return { error, reason };
}

/** Why a remote server could not be connected. */
export interface ConnectFailure {
  /** For people. */
  readonly reason: string;
  /** Whether the server probably knows only the older SSE transport. */
  readonly isOlderServer: boolean;
}

export function toConnectFailure(thrown: unknown): ConnectFailure {
  const status = httpStatusOf(thrown);
  if (status === undefined) return { reason: messageWithCode(thrown), isOlderServer: false };
  const isOlderServer = thrown instanceof SdkHttpError && isUnknownPost(status) && jsonRpcErrorOf(thrown) === undefined;
  return { reason: reasonForStatus(status, thrown), isOlderServer };
}

/** Whether a status may mean that a server accepts no POST at this URL. */
function isUnknownPost(status: number): boolean {
  return status === 501 || (status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status));
}

/** The status of the response that made a transport fail; undefined if there was none. */
function httpStatusOf(thrown: unknown): number | undefined {
  if (thrown instanceof UnauthorizedError) return 401;
  if (thrown instanceof SdkHttpError) return Number(thrown.status);
  return thrown instanceof SseError ? thrown.code : undefined;
}

function reasonForStatus(status: number, thrown: unknown): string {
  if (status >= 300 && status < 400) {
    return `the server redirects to another origin (HTTP ${status}), which is refused; check its url`;
  }
  const words = wordsIn(thrown);
  const said = words === '' ? '' : `: ${words}`;
  if (status === 401 || status === 403)
    return `the server did not accept the credentials (HTTP ${status})${said}; check its headers`;
  return `the server answered with HTTP ${status}${said}`;
}

/** The start of the text with which a server refused a request; empty if it is a page. */
function wordsIn(thrown: unknown): string {
  const { message } = jsonRpcErrorOf(thrown) ?? {};
  const text = typeof message === 'string' ? message : textOf(thrown).trim();
  return text.startsWith('<') ? '' : shortLine(text, MAX_WORDS);
}

/** The message with the code of the innermost cause that has one: undici says only "fetch failed". */
function messageWithCode(thrown: unknown): string {
  // The first request negotiates the revision of MCP. The reason is the cause of its failure.
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.EraNegotiationFailed && thrown.cause !== undefined)
    return messageWithCode(thrown.cause);
  const why = unreadable(thrown);
  if (why !== undefined) return why;
  if (!(thrown instanceof Error)) return String(thrown);
  const [, ...causes] = causesOf(thrown);
  const code = causes.map(codeOf).findLast((code) => code !== undefined);
  return code === undefined || thrown.message.includes(code) ? thrown.message : `${thrown.message} (${code})`;
}

/** The JSON-RPC error in the body of a failed response. */
function jsonRpcErrorOf(thrown: unknown): JsonObject | undefined {
  const body = bodyOf(thrown);
  return body?.jsonrpc === '2.0' && isObject(body.error) ? body.error : undefined;
}

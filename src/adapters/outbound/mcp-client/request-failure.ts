import { ProtocolError, SdkError, SdkHttpError } from '@modelcontextprotocol/client';
import { withoutUndefined } from '../../../domain/json.ts';
import type { ToolServerError } from '../../../domain/tool-call-error.ts';
import { httpStatusOf, jsonRpcErrorOf, reasonForStatus, reasonOf } from './connect-failure.ts';
import { INVALID, LOST, TOO_LARGE } from './substitute-response.ts';

/** Why a request of the official client failed. */
export interface RequestFailure {
  readonly error: ToolServerError;
  /** For people. */
  readonly reason: string;
  /** `session`: a server with sessions does not know that of the request, and did not accept it. `network`: `fetch` failed. */
  readonly refusal?: 'session' | 'network';
}

interface Context {
  readonly maxBytes: number;
  readonly lostReason: () => string;
}

const CONNECTION_CODES: ReadonlySet<string> = new Set(['CONNECTION_CLOSED', 'NOT_CONNECTED', 'SEND_FAILED']);

export function toRequestFailure(thrown: unknown, { maxBytes, lostReason }: Context): RequestFailure {
  const reason = reasonOf(thrown);
  if (thrown instanceof ProtocolError) {
    const { code, message, data } = thrown;
    if (code === TOO_LARGE) return { error: { kind: 'too_large', maxBytes }, reason };
    if (code === LOST) return { error: { kind: 'crashed', reason }, reason };
    if (code === INVALID) return { error: { kind: 'invalid_result', detail: message }, reason };
    return { error: { kind: 'json_rpc', code, message, ...withoutUndefined({ data }) }, reason };
  }
  const status = httpStatusOf(thrown);
  if (status !== undefined) return ofStatus(status, thrown);
  const isUnexpected = thrown instanceof SdkError && !CONNECTION_CODES.has(thrown.code);
  // What the client throws if a body is not JSON, or not a message.
  const isNoMessage = thrown instanceof SyntaxError || (thrown instanceof Error && /ZodError$/.test(thrown.name));
  if (isUnexpected || isNoMessage) {
    const detail = isNoMessage ? 'the answer is not a JSON-RPC message' : reason;
    return { error: { kind: 'invalid_result', detail }, reason };
  }
  if (!isNetworkError(thrown)) return { error: { kind: 'crashed', reason: lostReason() }, reason: lostReason() };
  return { error: { kind: 'crashed', reason }, reason, refusal: 'network' };
}

function ofStatus(status: number, thrown: unknown): RequestFailure {
  const reason = reasonForStatus(status);
  if (status === 401 || status === 403) return { error: { kind: 'unauthorized', status }, reason };
  const { code, message, data } = jsonRpcErrorOf(thrown) ?? {};
  const error: ToolServerError =
    typeof code === 'number' && typeof message === 'string'
      ? { kind: 'json_rpc', code, message, ...withoutUndefined({ data }) }
      : { kind: 'json_rpc', code: 0, message: reason };
  // Servers that lost their sessions in a restart often answer 400, although MCP says 404.
  const text = thrown instanceof SdkHttpError ? thrown.message : '';
  const isSessionLost = status === 404 || (status === 400 && /session/i.test(text));
  return { error, reason, ...(isSessionLost ? { refusal: 'session' as const } : {}) };
}

/** `fetch` failed before or within a response. */
function isNetworkError(thrown: unknown): thrown is Error {
  return thrown instanceof TypeError && thrown.cause !== undefined;
}

import { SdkHttpError, SseError, UnauthorizedError } from '@modelcontextprotocol/client';
import { isObject, parseJson } from '../../../domain/json.ts';

/** Why a remote server could not be connected. */
export interface ConnectFailure {
  /** For people. */
  readonly reason: string;
  /** The answer is that of a server that knows only the older SSE transport (ruling G21). */
  readonly isOlderServer: boolean;
}

export function toConnectFailure(thrown: unknown): ConnectFailure {
  if (thrown instanceof UnauthorizedError) return { reason: UNAUTHORIZED, isOlderServer: false };
  if (thrown instanceof SdkHttpError) {
    const { status } = thrown;
    const isOlderServer = [400, 404, 405].includes(status) && !isJsonRpcError(thrown.data);
    return {
      reason: status === 401 || status === 403 ? UNAUTHORIZED : `the server answered with HTTP ${status}`,
      isOlderServer,
    };
  }
  if (thrown instanceof SseError && thrown.code !== undefined) {
    const isRefused = thrown.code === 401 || thrown.code === 403;
    return { reason: isRefused ? UNAUTHORIZED : `the server answered with HTTP ${thrown.code}`, isOlderServer: false };
  }
  return { reason: reasonOf(thrown), isOlderServer: false };
}

const UNAUTHORIZED = 'the server did not accept the credentials (HTTP 401 or 403); check its headers';

/** As undici reports it: the cause has the code of the operating system. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { cause } = thrown;
  const code = isObject(cause) && typeof cause.code === 'string' ? cause.code : undefined;
  return code === undefined ? thrown.message : `${thrown.message} (${code})`;
}

function isJsonRpcError(data: unknown): boolean {
  const text = isObject(data) ? data.text : undefined;
  const body = typeof text === 'string' ? parseJson(text) : undefined;
  return isObject(body) && body.jsonrpc === '2.0' && isObject(body.error);
}

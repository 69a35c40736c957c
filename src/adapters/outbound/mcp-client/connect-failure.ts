import { SdkHttpError, SseError, UnauthorizedError } from '@modelcontextprotocol/client';
import { isObject, type JsonObject, parseJson } from '../../../domain/json.ts';

/** Why a remote server could not be connected. */
export interface ConnectFailure {
  /** For people. */
  readonly reason: string;
  /** The answer is that of a server that knows only the older SSE transport (ruling G21). */
  readonly isOlderServer: boolean;
}

export function toConnectFailure(thrown: unknown): ConnectFailure {
  const status = httpStatusOf(thrown);
  if (status === undefined) return { reason: reasonOf(thrown), isOlderServer: false };
  const isOlderServer =
    thrown instanceof SdkHttpError && [400, 404, 405].includes(status) && jsonRpcErrorOf(thrown) === undefined;
  return { reason: reasonForStatus(status), isOlderServer };
}

/** The status of the response that made a transport fail; undefined if there was none. */
export function httpStatusOf(thrown: unknown): number | undefined {
  if (thrown instanceof UnauthorizedError) return 401;
  if (thrown instanceof SdkHttpError) return Number(thrown.status);
  if (thrown instanceof SseError) return thrown.code;
  // The SSE transport reports the response to a message only as a text.
  const [, status] =
    /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(thrown instanceof Error ? thrown.message : '') ?? [];
  return status === undefined ? undefined : Number(status);
}

export function reasonForStatus(status: number): string {
  if (status === 401 || status === 403) {
    return `the server did not accept the credentials (HTTP ${status}); check its headers`;
  }
  if (status >= 300 && status < 400) {
    return `the server redirects to another origin (HTTP ${status}), which is refused; check its url`;
  }
  return `the server answered with HTTP ${status}`;
}

/** As undici reports it: one of the causes has the code of the operating system. */
export function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code = codesOf(thrown).at(-1);
  return code === undefined ? thrown.message : `${thrown.message} (${code})`;
}

/** The codes of the causes of an error, the outermost first. */
function codesOf({ cause }: Error): readonly string[] {
  const inner = cause instanceof Error ? codesOf(cause) : [];
  return isObject(cause) && typeof cause.code === 'string' ? [cause.code, ...inner] : inner;
}

/** The JSON-RPC error in the body of a failed response. */
export function jsonRpcErrorOf(thrown: unknown): JsonObject | undefined {
  const text = thrown instanceof SdkHttpError && isObject(thrown.data) ? thrown.data.text : undefined;
  const body = typeof text === 'string' ? parseJson(text) : undefined;
  return isObject(body) && body.jsonrpc === '2.0' && isObject(body.error) ? body.error : undefined;
}

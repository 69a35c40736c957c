import {
  type Client,
  ProtocolError,
  type RequestOptions,
  SdkError,
  SdkHttpError,
  type StandardSchemaV1,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import type { ServerConnection, ToolProgress } from '../../../application/ports/tool-server.ts';
import { type GatewayTool, parseTool } from '../../../domain/gateway-tool.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { ToolServerError } from '../../../domain/tool-call-error.ts';
import { parseToolResult, type ToolResult } from '../../../domain/tool-result.ts';
import { reasonOf } from './connect-failure.ts';
import { LOST, TOO_LARGE } from './substitute-response.ts';

export interface McpConnectionOptions {
  /** The name of the server. */
  readonly name: string;
  readonly transport: ServerConnection['transport'];
  readonly pid: number | undefined;
  readonly maxBytes: number;
  /** Why the connection was lost. */
  readonly lostReason: () => string;
  /** Ends what the client uses. Resolves when nothing is left. */
  readonly close: () => Promise<void>;
  /** The network, or the server on the other machine, failed in a way that a new connection may resolve. */
  readonly onBroken: (reason: string) => void;
  /** Connects again if a remote server no longer knows the session (ruling G22). */
  readonly renew?: (signal: AbortSignal) => Promise<Client>;
}

/** Far longer than any limit: the caller of the port ends a call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const MAX_PAGES = 1000;

/** The result as the server sent it. The client's own check would reject results that this program accepts. */
const ANY_RESULT: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'any', validate: (value) => ({ value: value as JsonObject }) },
};

const CONNECTION_CODES: ReadonlySet<string> = new Set(['CONNECTION_CLOSED', 'NOT_CONNECTED', 'SEND_FAILED']);

/** A remote server answered 404 to a request. */
const SESSION_LOST = 'session lost';
const SESSION_LOST_REASON = 'the server no longer knows the session (HTTP 404)';

type SignalOptions = RequestOptions & { readonly signal: AbortSignal };

function toServerError(error: ToolServerError | typeof SESSION_LOST): ToolServerError {
  return error === SESSION_LOST ? { kind: 'crashed', reason: SESSION_LOST_REASON } : error;
}

/** A connected official client as the port describes it. */
export class McpConnection implements ServerConnection {
  #client: Client;
  #renewing: Promise<Client> | undefined;
  readonly #options: McpConnectionOptions;

  constructor(client: Client, options: McpConnectionOptions) {
    this.#client = client;
    this.#options = options;
  }

  get transport(): ServerConnection['transport'] {
    return this.#options.transport;
  }

  get pid(): number | undefined {
    return this.#options.pid;
  }

  get protocolVersion(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion();
  }

  get serverInfo(): JsonObject | undefined {
    return this.#client.getServerVersion() as JsonObject | undefined;
  }

  async listTools(signal: AbortSignal): Promise<Result<readonly GatewayTool[], ToolServerError>> {
    const tools = new Map<string, GatewayTool>();
    // A server without tools need not know the method.
    if (this.#client.getServerCapabilities()?.tools === undefined) return ok([]);
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const result = await this.#request('tools/list', params, { signal });
      if (result.isErr()) return err(result.error);
      if (!Array.isArray(result.value.tools))
        return err({ kind: 'invalid_result', detail: 'tools/list has no list of tools' });
      for (const value of result.value.tools) {
        const tool = parseTool(this.#options.name, value);
        if (tool !== undefined) tools.set(tool.name, tool);
      }
      cursor = result.value.nextCursor;
      if (typeof cursor !== 'string') return ok([...tools.values()]);
    }
    return err({ kind: 'invalid_result', detail: `tools/list has more than ${MAX_PAGES} pages` });
  }

  async callTool(
    name: string,
    args: JsonObject,
    onProgress: (progress: ToolProgress) => void,
    signal: AbortSignal,
  ): Promise<Result<ToolResult, ToolServerError>> {
    const options = { signal, onprogress: onProgress as NonNullable<RequestOptions['onprogress']> };
    const result = await this.#request('tools/call', { name, arguments: args }, options);
    return result.andThen((value) => {
      const parsed = parseToolResult(value);
      return parsed === undefined
        ? err<ToolResult, ToolServerError>({ kind: 'invalid_result', detail: 'the answer is not the result of a tool' })
        : ok(parsed);
    });
  }

  close(): Promise<void> {
    return this.#options.close();
  }

  async #request(
    method: string,
    params: JsonObject,
    options: SignalOptions,
  ): Promise<Result<JsonObject, ToolServerError>> {
    const { renew } = this.#options;
    const client = this.#client;
    const first = await this.#send(method, params, options);
    if (first.isOk() || first.error !== SESSION_LOST || renew === undefined) return first.mapErr(toServerError);
    // The server did not accept the request, so that it can be sent again. Concurrent requests share the new connection.
    this.#renewing ??= renew(options.signal).finally(() => {
      this.#renewing = undefined;
    });
    try {
      this.#client = client === this.#client ? await this.#renewing : this.#client;
    } catch (thrown) {
      return err(options.signal.aborted ? { kind: 'aborted' } : toServerError(this.#toError(thrown)));
    }
    const second = await this.#send(method, params, options);
    if (second.isErr() && second.error === SESSION_LOST) this.#options.onBroken(SESSION_LOST_REASON);
    return second.mapErr(toServerError);
  }

  async #send(
    method: string,
    params: JsonObject,
    options: SignalOptions,
  ): Promise<Result<JsonObject, ToolServerError | typeof SESSION_LOST>> {
    if (options.signal.aborted) return err({ kind: 'aborted' });
    try {
      return ok(await this.#client.request({ method, params }, ANY_RESULT, { ...options, timeout: NO_TIMEOUT_MS }));
    } catch (thrown) {
      return err(options.signal.aborted ? { kind: 'aborted' } : this.#toError(thrown));
    }
  }

  #toError(thrown: unknown): ToolServerError | typeof SESSION_LOST {
    const { maxBytes, lostReason, onBroken } = this.#options;
    if (thrown instanceof ProtocolError) {
      const { code, message, data } = thrown;
      if (code === TOO_LARGE) return { kind: 'too_large', maxBytes };
      if (code === LOST) return { kind: 'crashed', reason: message };
      return { kind: 'json_rpc', code, message, ...(data === undefined ? {} : { data }) };
    }
    if (thrown instanceof UnauthorizedError) return { kind: 'unauthorized', status: 401 };
    if (thrown instanceof SdkHttpError) {
      const status = Number(thrown.status);
      if (status === 401 || status === 403) return { kind: 'unauthorized', status };
      if (status === 404) return SESSION_LOST;
      return { kind: 'json_rpc', code: 0, message: `the server answered with HTTP ${status}` };
    }
    if (thrown instanceof SdkError && !CONNECTION_CODES.has(thrown.code)) {
      return { kind: 'invalid_result', detail: thrown.message };
    }
    if (!isNetworkError(thrown)) return { kind: 'crashed', reason: lostReason() };
    const reason = reasonOf(thrown);
    onBroken(reason);
    return { kind: 'crashed', reason };
  }
}

/** `fetch` failed before or within a response. */
function isNetworkError(thrown: unknown): thrown is Error {
  return thrown instanceof TypeError && thrown.cause !== undefined;
}

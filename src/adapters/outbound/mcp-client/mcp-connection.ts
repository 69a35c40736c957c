import type { CallToolRequest, Client, RequestOptions, StandardSchemaV1, Tool } from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import type { Services } from '../../../application/ports/services.ts';
import type { ListedTools, ServerConnection } from '../../../application/ports/tool-server.ts';
import { withoutBaggage, withTrace } from '../../../domain/gateway/call-origin.ts';
import { parseTool } from '../../../domain/gateway/gateway-tool.ts';
import { toLeftOut } from '../../../domain/gateway/shared-entries.ts';
import type { ToolServerError } from '../../../domain/gateway/tool-call-error.ts';
import { parseToolResult, type ToolResult } from '../../../domain/gateway/tool-result.ts';
import { isNestedDeeper, type JsonObject, MAX_NESTING } from '../../../domain/values/json.ts';
import { readPages } from './read-pages.ts';
import { type RequestFailure, toRequestFailure } from './request-failure.ts';
import { SettlingTransport } from './settling-transport.ts';

interface McpConnectionOptions extends Pick<Services, 'logger'> {
  readonly name: string;
  readonly transport: ServerConnection['transport'];
  readonly pid: number | undefined;
  readonly maxBytes: number;
  /** Whether the server gets the baggage of callers, which often identifies people. */
  readonly forwardBaggage?: boolean | undefined;
  readonly lostReason: () => string;
  /** Closes the connection and, of a child, ends the process. Resolves when nothing is left. */
  readonly close: () => Promise<void>;
  /** Called when the network or a remote server failed in a way that a new connection may resolve. */
  readonly onBroken: (reason: string) => void;
  /** Connects again after a remote server has lost the session. Rejects if that fails. The earlier client stays usable. */
  readonly renew?: () => Promise<Client>;
  /** Whether the server gave this connection a session. */
  readonly hasSession?: () => boolean;
}

/** Far longer than any limit: the caller of the port ends a call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
const LINGER_MS = 500;

/** The result as the server sent it. The client's own check would reject results that this program accepts. */
const ANY_RESULT: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'any', validate: (value) => ({ value: value as JsonObject }) },
};

/** Limited, because recursion through a deep value could exhaust the stack. */
const TOO_DEEP: RequestFailure = {
  error: { kind: 'invalid_result', detail: `the answer nests more than ${MAX_NESTING} levels deep` },
  reason: '',
};

interface SendOptions extends RequestOptions {
  readonly signal: AbortSignal;
  /** The definition of a tool with arguments that the client also sends as headers, in the modern era. */
  readonly toolDefinition?: Tool;
}

/** Adapts a connected official client to the port. */
export class McpConnection implements ServerConnection {
  readonly transport: ServerConnection['transport'];
  readonly pid: number | undefined;
  readonly close: () => Promise<void>;
  #current: { readonly client: Client; requests: number };
  #renewing: Promise<ToolServerError | undefined> | undefined;
  readonly #options: McpConnectionOptions;
  /** The lists whose pages had no end. */
  readonly #warned = new Set<string>();

  constructor(client: Client, options: McpConnectionOptions) {
    this.#current = { client, requests: 0 };
    this.#options = options;
    this.transport = options.transport;
    this.pid = options.pid;
    this.close = options.close;
  }

  get protocolVersion(): string | undefined {
    return this.#current.client.getNegotiatedProtocolVersion();
  }

  get #isModern(): boolean {
    return this.#current.client.getProtocolEra() === 'modern';
  }

  get serverInfo(): JsonObject | undefined {
    return this.#current.client.getServerVersion() as JsonObject | undefined;
  }

  get capabilities(): JsonObject {
    return this.#current.client.getServerCapabilities() ?? {};
  }

  async listTools(signal: AbortSignal): Promise<Result<ListedTools, ToolServerError>> {
    // A server without tools need not know the method.
    if (this.capabilities.tools === undefined) return ok({ tools: [], leftOut: [] });
    const listed = await this.list('tools/list', 'tools', signal);
    return listed.map((values) => {
      const read = values.map((value) => [value, parseTool(this.#options.name, value)] as const);
      const tools = new Map(read.flatMap(([, tool]) => (tool === undefined ? [] : [[tool.name, tool] as const])));
      const leftOut = read.flatMap(([value, tool]) => (tool === undefined ? [toLeftOut('tools', value)] : []));
      return { tools: [...tools.values()], leftOut };
    });
  }

  async list(
    method: string,
    member: string,
    signal: AbortSignal,
  ): Promise<Result<readonly unknown[], ToolServerError>> {
    const warn = () => this.#warnOfPages(method);
    return readPages({ method, member, warn }, (params) => this.request(method, params, signal));
  }

  #warnOfPages(method: string): void {
    const { name, logger } = this.#options;
    if (this.#warned.has(method)) return;
    this.#warned.add(method);
    logger.warn(
      `gateway: ${name}: ${method} names a next page again and again that brings nothing new; the list ends there`,
    );
  }

  request(method: string, params: JsonObject, signal: AbortSignal): Promise<Result<JsonObject, ToolServerError>> {
    return this.#request(method, params, { signal });
  }

  async callTool(
    name: string,
    args: JsonObject,
    { onProgress, trace: full, inputSchema }: Parameters<ServerConnection['callTool']>[2],
    signal: AbortSignal,
  ): Promise<Result<ToolResult, ToolServerError>> {
    const onprogress = onProgress as RequestOptions['onprogress'];
    const trace = this.#options.forwardBaggage ? full : withoutBaggage(full);
    const isMarked = inputSchema !== undefined && this.#isModern && marksHeaders(inputSchema);
    const options: SendOptions = {
      signal,
      ...(onprogress && { onprogress }),
      // The headers repeat the trace for proxies.
      ...(trace && { headers: { ...trace } }),
      ...(isMarked && { toolDefinition: { name, inputSchema } as Tool }),
    };
    const result = await this.#request('tools/call', withTrace({ name, arguments: args }, trace), options);
    return result.andThen((value) => {
      const parsed = parseToolResult(value);
      return parsed === undefined
        ? err<ToolResult, ToolServerError>({ kind: 'invalid_result', detail: 'the answer is not the result of a tool' })
        : ok(parsed);
    });
  }

  async #request(
    method: string,
    params: JsonObject,
    options: SendOptions,
  ): Promise<Result<JsonObject, ToolServerError>> {
    const { client } = this.#current;
    const first = await this.#send(method, params, options);
    if (first.isOk() || !this.#isSessionLost(first.error)) return first.mapErr(({ error }) => error);
    // The server did not accept the request, so that it can be sent again.
    const failure = await untilAborted(this.#renewed(client), options.signal);
    if (failure !== undefined) return err(failure === 'aborted' ? { kind: 'aborted' } : failure);
    return (await this.#send(method, params, options)).mapErr(({ error }) => error);
  }

  /** Replaces the client, once for all requests that failed on it. Returns why this failed. */
  async #renewed(stale: Client): Promise<ToolServerError | undefined> {
    const { renew } = this.#options;
    const earlier = this.#current;
    if (earlier.client !== stale || renew === undefined) return undefined;
    this.#renewing ??= renew()
      .then(
        (client) => {
          this.#current = { client, requests: 0 };
          if (earlier.requests === 0) void stale.close();
          return undefined;
        },
        (thrown: unknown) => {
          const { error, reason } = toRequestFailure(thrown, this.#options);
          return error.kind === 'unauthorized' ? error : this.#broken(reason);
        },
      )
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  #isSessionLost({ refusal }: RequestFailure): boolean {
    return refusal === 'session' && this.#options.hasSession?.() === true;
  }

  #broken(reason: string): ToolServerError {
    this.#options.onBroken(reason);
    return { kind: 'crashed', reason };
  }

  async #send(method: string, params: JsonObject, options: SendOptions): Promise<Result<JsonObject, RequestFailure>> {
    const aborted = { error: { kind: 'aborted' }, reason: '' } as const;
    if (options.signal.aborted) return err(aborted);
    const current = this.#current;
    const { client } = current;
    current.requests += 1;
    try {
      const result = await ask(client, method, params, options);
      return isNestedDeeper(result, MAX_NESTING) ? err(TOO_DEEP) : ok(result);
    } catch (thrown) {
      if (options.signal.aborted) return err(aborted);
      const failure = toRequestFailure(thrown, this.#options);
      if (failure.refusal === 'network') this.#options.onBroken(failure.reason);
      return err(failure);
    } finally {
      current.requests -= 1;
      // Closes an earlier client after its last request, late enough for the cancellation of this request to be sent.
      if (current.requests === 0 && current !== this.#current) setTimeout(() => void client.close(), LINGER_MS).unref();
    }
  }
}

function ask(client: Client, method: string, params: JsonObject, options: SendOptions): Promise<JsonObject> {
  const { transport } = client;
  if (transport instanceof SettlingTransport && client.getProtocolEra() !== 'modern')
    return transport.ask(method, params, options);
  const sent = { ...options, timeout: NO_TIMEOUT_MS };
  if (options.toolDefinition === undefined) return client.request({ method, params }, ANY_RESULT, sent);
  return client.callTool(params as CallToolRequest['params'], sent) as Promise<JsonObject>;
}

/** Whether a schema marks arguments that are also sent as headers (SEP-2243). */
function marksHeaders(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return 'x-mcp-header' in schema || Object.values(schema).some(marksHeaders);
}

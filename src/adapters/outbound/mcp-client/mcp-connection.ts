import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client, RequestOptions, StandardSchemaV1 } from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import type { ListedTool, ServerConnection } from '../../../application/ports/tool-server.ts';
import { parseTool } from '../../../domain/gateway/gateway-tool.ts';
import type { ToolServerError } from '../../../domain/gateway/tool-call-error.ts';
import { parseToolResult, type ToolResult } from '../../../domain/gateway/tool-result.ts';
import { withTrace } from '../../../domain/gateway/trace-context.ts';
import type { JsonObject } from '../../../domain/values/json.ts';
import { jsonExtent } from '../../../domain/values/json-extent.ts';
import { inTurns } from './in-turns.ts';
import { type RequestFailure, toRequestFailure } from './request-failure.ts';

interface McpConnectionOptions {
  readonly name: string;
  readonly transport: ServerConnection['transport'];
  readonly pid: number | undefined;
  readonly maxBytes: number;
  readonly lostReason: () => string;
  /** Ends what the client uses. Resolves when nothing is left. */
  readonly close: () => Promise<void>;
  /** The network, or the server on the other machine, failed in a way that a new connection may resolve. */
  readonly onBroken: (reason: string) => void;
  /** Connects again after a remote server has lost the session (ruling G22). Rejects if that fails. The earlier client stays usable. */
  readonly renew?: () => Promise<Client>;
  /** Whether the server gave this connection a session. */
  readonly hasSession?: () => boolean;
}

/** Far longer than any limit: the caller of the port ends a call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** How large a list may be: without a limit, its pages would fill the memory. */
const MAX_ENTRIES = 1000;
const MAX_LIST_CHARACTERS = 8 * 1024 * 1024;
const MAX_PAGES = 1000;
const LINGER_MS = 500;
/** What a server says of itself is in every list of servers; icons may be in it. */
const MAX_INFO_VALUES = 1000;
const MAX_INFO_CHARACTERS = 64 * 1024;

/** The result as the server sent it. The client's own check would reject results that this program accepts. */
const ANY_RESULT: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'any', validate: (value) => ({ value: value as JsonObject }) },
};

type SignalOptions = RequestOptions & { readonly signal: AbortSignal };

/** A connected official client as the port describes it. */
export class McpConnection implements ServerConnection {
  readonly transport: ServerConnection['transport'];
  readonly pid: number | undefined;
  readonly close: () => Promise<void>;
  #current: { readonly client: Client; requests: number };
  #renewing: Promise<ToolServerError | undefined> | undefined;
  readonly #options: McpConnectionOptions;

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

  get serverInfo(): JsonObject | undefined {
    const info = this.#current.client.getServerVersion() as JsonObject | undefined;
    const { values, characters } = jsonExtent(info, MAX_INFO_VALUES);
    return values > MAX_INFO_VALUES || characters > MAX_INFO_CHARACTERS ? undefined : info;
  }

  get capabilities(): JsonObject {
    return this.#current.client.getServerCapabilities() ?? {};
  }

  async listTools(signal: AbortSignal): Promise<Result<readonly ListedTool[], ToolServerError>> {
    // A server without tools need not know the method.
    if (this.capabilities.tools === undefined) return ok([]);
    const listed = await this.list('tools/list', 'tools', signal);
    if (listed.isErr()) return err(listed.error);
    // To count the characters of a large tool took long.
    await nextTurn();
    const tools = new Map<string, ListedTool>();
    await inTurns(listed.value, (value) => {
      const tool = parseTool(this.#options.name, value);
      if (tool === undefined) return;
      const fingerprint = createHash('sha256').update(JSON.stringify(tool)).digest('base64');
      tools.set(tool.name, { tool, fingerprint });
    });
    return signal.aborted ? err({ kind: 'aborted' }) : ok([...tools.values()]);
  }

  async list(
    method: string,
    member: string,
    signal: AbortSignal,
  ): Promise<Result<readonly unknown[], ToolServerError>> {
    const listed: unknown[] = [];
    let cursor: unknown;
    let characters = 0;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const result = await this.request(method, params, signal);
      if (result.isErr()) return err(result.error);
      const { [member]: values, ...rest } = result.value;
      if (!Array.isArray(values)) return err({ kind: 'invalid_result', detail: `${method} has no list of ${member}` });
      // A large page took long to parse.
      await nextTurn();
      await inTurns([rest, ...values], (value) => {
        const extent = jsonExtent(value, Number.POSITIVE_INFINITY);
        characters += extent.characters + extent.values;
      });
      if (listed.length + values.length > MAX_ENTRIES || characters > MAX_LIST_CHARACTERS) break;
      listed.push(...values);
      cursor = rest.nextCursor;
      if (signal.aborted) return err({ kind: 'aborted' });
      if (typeof cursor !== 'string') return ok(listed);
    }
    const limits = `${MAX_ENTRIES} ${member}, 8 MiB or ${MAX_PAGES} pages`;
    return err({ kind: 'invalid_result', detail: `the list exceeds ${limits}; let the server offer fewer ${member}` });
  }

  request(method: string, params: JsonObject, signal: AbortSignal): Promise<Result<JsonObject, ToolServerError>> {
    return this.#request(method, params, { signal });
  }

  async callTool(
    name: string,
    args: JsonObject,
    { onProgress, trace }: Parameters<ServerConnection['callTool']>[2],
    signal: AbortSignal,
  ): Promise<Result<ToolResult, ToolServerError>> {
    const onprogress = onProgress as RequestOptions['onprogress'];
    const options: SignalOptions = onprogress === undefined ? { signal } : { signal, onprogress };
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
    options: SignalOptions,
  ): Promise<Result<JsonObject, ToolServerError>> {
    const { client } = this.#current;
    const first = await this.#send(method, params, options);
    if (first.isOk() || !this.#isSessionLost(first.error)) return first.mapErr(({ error }) => error);
    // The server did not accept the request, so that it can be sent again.
    const failure = await untilAborted(this.#renewed(client), options.signal);
    if (failure !== undefined) return err(failure === 'aborted' ? { kind: 'aborted' } : failure);
    const second = await this.#send(method, params, options);
    if (second.isErr() && this.#isSessionLost(second.error))
      return err(this.#broken('the server lost the session twice'));
    return second.mapErr(({ error }) => error);
  }

  /** Replaces the client, once for all requests that it has failed. */
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

  async #send(method: string, params: JsonObject, options: SignalOptions): Promise<Result<JsonObject, RequestFailure>> {
    const aborted = { error: { kind: 'aborted' }, reason: '' } as const;
    if (options.signal.aborted) return err(aborted);
    const current = this.#current;
    const { client } = current;
    current.requests += 1;
    try {
      return ok(await client.request({ method, params }, ANY_RESULT, { ...options, timeout: NO_TIMEOUT_MS }));
    } catch (thrown) {
      if (options.signal.aborted) return err(aborted);
      const failure = toRequestFailure(thrown, this.#options);
      if (failure.refusal === 'network') this.#options.onBroken(failure.reason);
      return err(failure);
    } finally {
      current.requests -= 1;
      // An earlier client is closed after its last request, and the cancellation of that.
      if (current.requests === 0 && current !== this.#current) setTimeout(() => void client.close(), LINGER_MS).unref();
    }
  }
}

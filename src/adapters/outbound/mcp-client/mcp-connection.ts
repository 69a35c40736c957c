import type { Client, RequestOptions, Tool } from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted } from '../../../application/async/deadline.ts';
import type { Services } from '../../../application/ports/services.ts';
import type { ListedTools, ServerConnection, ServerResult } from '../../../application/ports/tool-server.ts';
import { withoutBaggage, withTrace } from '../../../domain/gateway/call-origin.ts';
import type { Retry } from '../../../domain/gateway/elicitation.ts';
import { parseInputRequests } from '../../../domain/gateway/input-requests.ts';
import { parseTool } from '../../../domain/gateway/listed-tool.ts';
import { readEntries } from '../../../domain/gateway/shared-entries.ts';
import type { ToolServerError } from '../../../domain/gateway/tool-call-error.ts';
import { parseToolResult } from '../../../domain/gateway/tool-result.ts';
import { isNestedDeeper, type JsonObject, MAX_NESTING, withoutUndefined } from '../../../domain/values/json.ts';
import { ask, marksHeaders, type SendOptions } from './client-request.ts';
import { readPages } from './read-pages.ts';
import { type RequestFailure, toRequestFailure } from './request-failure.ts';
import type { ServerQuestions } from './server-questions.ts';
import { SettlingTransport } from './settling-transport.ts';
import { withUsableOutputs } from './usable-outputs.ts';

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

const LINGER_MS = 500;

/** Limited, because recursion through a deep value could exhaust the stack. */
const TOO_DEEP: RequestFailure = {
  error: { kind: 'invalid_result', detail: `the answer nests more than ${MAX_NESTING} levels deep` },
  reason: '',
};

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

  /** Undefined if the server asks by results. */
  get #questions(): ServerQuestions | undefined {
    const { transport } = this.#current.client;
    return transport instanceof SettlingTransport && !this.#isModern ? transport.questions : undefined;
  }

  get serverInfo(): JsonObject | undefined {
    return this.#current.client.getServerVersion() as JsonObject | undefined;
  }

  get capabilities(): JsonObject {
    return this.#current.client.getServerCapabilities() ?? {};
  }

  async listTools(signal: AbortSignal): Promise<Result<ListedTools, ToolServerError>> {
    const { tools: declared, prompts, resources } = this.capabilities;
    const none = { tools: [], leftOut: [] };
    // A server without tools need not know the method. One that declares nothing may only have forgotten to declare its tools.
    if (declared === undefined && (prompts !== undefined || resources !== undefined)) return ok(none);
    const listed = await this.list('tools/list', 'tools', signal);
    if (listed.isErr())
      return declared === undefined && listed.error.kind === 'json_rpc' ? ok(none) : err(listed.error);
    const { entries, leftOut } = readEntries('tools', listed.value, (value) => parseTool(this.#options.name, value));
    const { tools, unusable } = await withUsableOutputs(entries);
    if (unusable.length > 0)
      this.#warnOnce('outputs', `output schemas that cannot be compiled are left out: ${unusable.join(', ')}`);
    return ok({ tools, leftOut });
  }

  async list(
    method: string,
    member: string,
    signal: AbortSignal,
  ): Promise<Result<readonly unknown[], ToolServerError>> {
    const warn = (reason: string) => this.#warnOnce(method, `${method} ${reason}; the list ends there`);
    return readPages({ method, member, warn }, (params) => this.request(method, params, signal));
  }

  #warnOnce(about: string, words: string): void {
    const { name, logger } = this.#options;
    if (this.#warned.has(about)) return;
    this.#warned.add(about);
    logger.warn(`gateway: ${name}: ${words}`);
  }

  /** What a repeated request adds; servers of earlier revisions do not know it. */
  #retried({ inputResponses, requestState }: Retry = {}): JsonObject {
    return this.#isModern ? withoutUndefined({ inputResponses, requestState }) : {};
  }

  /** Whether the server speaks MCP 2026-07-28. */
  get asksByResult(): boolean {
    return this.#isModern;
  }

  request(...[method, params, signal, asked]: Parameters<ServerConnection['request']>) {
    return this.#request(
      method,
      { ...params, ...this.#retried(asked?.retry) },
      { signal, asked, declared: asked?.declared, caller: asked?.caller },
    );
  }

  async callTool(
    name: string,
    args: JsonObject,
    { onProgress, trace: full, inputSchema, asked, retry }: Parameters<ServerConnection['callTool']>[2],
    signal: AbortSignal,
  ): Promise<Result<ServerResult, ToolServerError>> {
    const onprogress = onProgress as RequestOptions['onprogress'];
    const trace = this.#options.forwardBaggage ? full : withoutBaggage(full);
    const isMarked = inputSchema !== undefined && this.#isModern && marksHeaders(inputSchema);
    const options: SendOptions = {
      signal,
      asked,
      caller: asked?.caller,
      declared: asked?.declared,
      ...(onprogress && { onprogress }),
      // The headers repeat the trace for proxies.
      ...(trace && { headers: { ...trace } }),
      ...(isMarked && { toolDefinition: { name, inputSchema } as Tool }),
    };
    const questions = this.#questions;
    if (asked !== undefined && questions?.mustWait(asked) === true) await questions.turn(asked, signal);
    const called = { name, arguments: args, ...this.#retried(retry) };
    const result = await this.#request('tools/call', withTrace(called, trace), options);
    return result.andThen((value) => {
      const asks = this.#isModern ? parseInputRequests(this.#options.name, value) : undefined;
      if (asks !== undefined) return ok({ raw: value, content: [], isError: false, asks });
      const parsed = parseToolResult(value);
      return parsed === undefined
        ? err<ServerResult, ToolServerError>({
            kind: 'invalid_result',
            detail: 'the answer is not the result of a tool',
          })
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

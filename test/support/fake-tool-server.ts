import { err, ok, type Result } from 'neverthrow';
import type {
  ChangingList,
  ListedTools,
  ServerConnection,
  ServerEvents,
  ServerResult,
  ToolProgress,
  ToolServer,
} from '../../src/application/ports/tool-server.ts';
import type { TraceContext } from '../../src/domain/gateway/call-origin.ts';
import type { Retry } from '../../src/domain/gateway/elicitation.ts';
import type { GatewayTool } from '../../src/domain/gateway/gateway-tool.ts';
import type { ToolServerError } from '../../src/domain/gateway/tool-call-error.ts';
import { parseToolResult, type ToolResult } from '../../src/domain/gateway/tool-result.ts';
import type { JsonObject } from '../../src/domain/values/json.ts';
import type { FakeServerLogin } from './fake-server-login.ts';

type Reply<T> = Promise<Result<T, ToolServerError>>;
export type AnswerCall = (
  name: string,
  args: JsonObject,
  onProgress: (progress: ToolProgress) => void,
  signal: AbortSignal,
) => Reply<ServerResult>;

/** A ToolServer in memory. A connect does what the next of `connects` says; without one, it succeeds. */
export class FakeToolServer implements ToolServer {
  readonly connections: FakeConnection[] = [];
  /** While it is required, a connect fails. */
  login: FakeServerLogin | undefined;
  /** `connects`, `hangs` until the test calls `letConnect`, or a reason to fail. */
  readonly connects: string[] = [];
  letConnect = (): void => {};
  readonly #mayConnect = new Promise<void>((resolve) => {
    this.letConnect = resolve;
  });
  /** How often a connect was begun. */
  starts = 0;
  tools: readonly GatewayTool[] = [fakeTool('echo')];
  list: (signal: AbortSignal) => Reply<readonly GatewayTool[]> = async () => ok(this.tools);
  leftOut: ListedTools['leftOut'] = [];
  capabilities: JsonObject = { tools: { listChanged: true } };
  asksByResult = false;
  /** Answers other requests than those about tools. */
  respond: (method: string, params: JsonObject, signal: AbortSignal) => Reply<JsonObject> = async (method) =>
    err({ kind: 'json_rpc', code: -32601, message: `Method not found: ${method}` });
  answer: AnswerCall = async (_, args) => ok(textResult(JSON.stringify(args)));
  /** Settles what a closed connection leaves to do. */
  onClose: () => Promise<void> = async () => {};

  async connect(events: ServerEvents, signal: AbortSignal): Promise<Result<ServerConnection, string>> {
    if (signal.aborted) return err('aborted');
    this.starts += 1;
    const outcome = this.connects.shift() ?? 'connects';
    if (outcome === 'hangs') await Promise.race([this.#mayConnect, untilAborted(signal)]);
    else if (outcome !== 'connects') return err(outcome);
    if (signal.aborted) return err('aborted');
    if (this.login?.required !== undefined) return err('HTTP 401');
    const connection = new FakeConnection(this, events);
    this.connections.push(connection);
    return ok(connection);
  }

  /** The connection that was made last. */
  get last(): FakeConnection {
    const last = this.connections.at(-1);
    if (last === undefined) throw new Error('The fake was not connected.');
    return last;
  }
}

export class FakeConnection implements ServerConnection {
  readonly transport = 'stdio';
  readonly pid = undefined;
  readonly protocolVersion = '2025-11-25';
  readonly serverInfo = { name: 'fake', version: '1.2.3' };
  /** The calls that were sent, in order. */
  readonly calls: { readonly name: string; readonly args: JsonObject }[] = [];
  /** The trace of each. */
  readonly traces: (TraceContext | undefined)[] = [];
  /** What the client of each call and request declared, and what its retry added. */
  readonly given: { readonly declared: JsonObject; readonly retry: Retry | undefined }[] = [];
  /** How many of them asked for progress. */
  progressRequests = 0;
  readonly #server: FakeToolServer;
  readonly #events: ServerEvents;
  /** Ends the calls in flight. */
  readonly #enders = new Set<() => void>();
  isEnded = false;

  constructor(server: FakeToolServer, events: ServerEvents) {
    this.#server = server;
    this.#events = events;
  }

  listTools(signal: AbortSignal): Reply<ListedTools> {
    const { leftOut } = this.#server;
    return this.#race(signal, async (inner) => (await this.#server.list(inner)).map((tools) => ({ tools, leftOut })));
  }

  get capabilities(): JsonObject {
    return this.#server.capabilities;
  }

  get asksByResult(): boolean {
    return this.#server.asksByResult;
  }

  list(method: string, member: string, signal: AbortSignal): Reply<readonly unknown[]> {
    const read = async (
      inner: AbortSignal,
      before: readonly unknown[],
      params: JsonObject,
    ): Reply<readonly unknown[]> => {
      const page = await this.#server.respond(method, params, inner);
      if (page.isErr()) return err(page.error);
      const { [member]: values, nextCursor: cursor } = page.value;
      if (!Array.isArray(values)) return err({ kind: 'invalid_result', detail: `${method} has no list of ${member}` });
      const listed = [...before, ...values];
      return typeof cursor === 'string' ? read(inner, listed, { cursor }) : ok(listed);
    };
    return this.#race(signal, (inner) => read(inner, [], {}));
  }

  request(...[method, params, signal, asked]: Parameters<ServerConnection['request']>): Reply<JsonObject> {
    return this.#race(signal, (inner) => {
      this.given.push({ declared: asked?.declared ?? {}, retry: asked?.retry });
      return this.#server.respond(method, params, inner);
    });
  }

  callTool(
    ...[name, args, { onProgress, trace, asked, retry }, signal]: Parameters<ServerConnection['callTool']>
  ): Reply<ServerResult> {
    return this.#race(signal, (inner) => {
      this.calls.push({ name, args });
      this.traces.push(trace);
      this.given.push({ declared: asked?.declared ?? {}, retry });
      if (onProgress !== undefined) this.progressRequests += 1;
      return this.#server.answer(name, args, (progress) => inner.aborted || onProgress?.(progress), inner);
    });
  }

  lose(reason = 'lost', lastLine?: string): void {
    if (this.isEnded) return;
    this.#end();
    this.#events.onLost(reason, lastLine);
  }

  changeTools(tools: readonly GatewayTool[]): void {
    this.#server.tools = tools;
    this.#events.onToolsChanged();
  }

  changeList(list: ChangingList): void {
    this.#events.onListChanged?.(list);
  }

  async close(): Promise<void> {
    this.#end();
    await this.#server.onClose();
  }

  #end(): void {
    this.isEnded = true;
    for (const end of this.#enders) end();
  }

  /** The result of `run`, unless the caller leaves or the connection ends earlier; `run` is notified of both. */
  #race<T>(signal: AbortSignal, run: (signal: AbortSignal) => Reply<T>): Reply<T> {
    if (signal.aborted) return Promise.resolve(err({ kind: 'aborted' }));
    if (this.isEnded) return Promise.resolve(err({ kind: 'crashed', reason: 'lost' }));
    const inner = new AbortController();
    return new Promise((resolve) => {
      const settle = (result: Result<T, ToolServerError>) => {
        signal.removeEventListener('abort', onAbort);
        this.#enders.delete(onEnd);
        if (result.isErr()) inner.abort();
        resolve(result);
      };
      const onAbort = () => settle(err({ kind: 'aborted' }));
      const onEnd = () => settle(err({ kind: 'crashed', reason: 'lost' }));
      signal.addEventListener('abort', onAbort, { once: true });
      this.#enders.add(onEnd);
      void run(inner.signal).then(settle);
    });
  }
}

export function fakeTool(name: string, more: Partial<GatewayTool> = {}): GatewayTool {
  return { server: 'fake', name, description: `Does ${name}.`, inputSchema: { type: 'object' }, ...more };
}

/** The result of a tool that answers with a text. */
export function textResult(text: string, more: JsonObject = {}): ToolResult {
  const result = parseToolResult({ content: [{ type: 'text', text }], ...more });
  if (result === undefined) throw new Error('This is not the result of a tool.');
  return result;
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

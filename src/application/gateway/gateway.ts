import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { untilAborted, withDeadline } from '../async/deadline.ts';
import type { ToolServer } from '../ports/tool-server.ts';
import { type CallOptions, CallTool, type ToolCallInput, type ToolCallOutcome } from './call-tool.ts';
import { type ServerDefinition, type ServerStatus, ServerSupervisor } from './server-supervisor.ts';

export interface ConfiguredServer {
  readonly definition: ServerDefinition;
  readonly server: ToolServer;
  /** The complete configuration of the server as a text: if it is different after a reload, the server is replaced. */
  readonly fingerprint: string;
}

export interface GatewayOptions extends CallOptions {
  readonly servers: readonly ConfiguredServer[];
  /** How long calls of a removed server may take to end. */
  readonly drainMs: number;
}

/** How many servers start at the same time (ruling G4). */
const STARTS_AT_A_TIME = 4;

/** The user's own MCP servers, as drivers (REST, MCP, the command line) use them; in the order of the configuration. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #callTool: CallTool;
  #entries: ReadonlyMap<string, { readonly fingerprint: string; readonly supervisor: ServerSupervisor }> = new Map();
  #starting: Promise<void> = Promise.resolve();
  #pendingStarts = 0;
  /** Servers that are ending after their calls; each can be ended at once. */
  readonly #retiring = new Map<Promise<void>, AbortController>();
  readonly #changeListeners = new Set<() => void>();
  #isClosed = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#callTool = new CallTool({
      ...options,
      find: (name) => this.#find(name),
      names: () => [...this.#entries.keys()],
    });
    this.reconfigure(options.servers);
  }

  get servers(): readonly ServerStatus[] {
    return this.#supervisors.map(({ status }) => status);
  }

  /** The tools of the servers that are available. */
  get tools(): readonly GatewayTool[] {
    return this.#supervisors.flatMap(({ tools }) => tools);
  }

  /** The time limit of a call, in milliseconds; undefined if there is no such server. */
  timeoutOf(server: string): number | undefined {
    return this.#find(server)?.definition.timeoutMs;
  }

  /** Whether every required server is available, and every first start has settled. */
  readiness(): 'ready' | 'starting' | 'required server not available' {
    if (this.#pendingStarts > 0) return 'starting';
    const isMissing = ({ status, definition }: ServerSupervisor) =>
      status.state !== 'available' && definition.isRequired;
    return this.#supervisors.some(isMissing) ? 'required server not available' : 'ready';
  }

  /** Resolves when every first start (of these servers) has succeeded or failed, after `maxMs`, or when `signal` aborts. */
  async whenStarted(maxMs: number, signal: AbortSignal, servers?: readonly string[]): Promise<void> {
    await withDeadline(this.#options.clock, maxMs, signal, async (limit) => {
      if (servers === undefined) await untilAborted(this.#starting, limit);
      else await Promise.all(servers.map((name) => this.#find(name)?.whenStarted(limit)));
    });
  }

  callTool(call: ToolCallInput, signal: AbortSignal): Promise<ToolCallOutcome> {
    return this.#callTool.execute(call, signal);
  }

  /** Starts a server immediately, in any state. False if there is no such server. */
  restart(name: string): boolean {
    const supervisor = this.#find(name);
    supervisor?.restart();
    return supervisor !== undefined;
  }

  /**
   * Replaces the servers by those that are configured now. New and changed ones are started; removed and changed ones end after their calls,
   * of which each has a limited time (ruling G10).
   */
  reconfigure(servers: readonly ConfiguredServer[]): void {
    if (this.#isClosed) return;
    const before = this.#entries;
    const added: ServerSupervisor[] = [];
    this.#entries = new Map(
      servers.map(({ definition, server, fingerprint }) => {
        const known = before.get(definition.name);
        if (known?.fingerprint === fingerprint) return [definition.name, known];
        const onToolsChanged = () => this.#onToolsChanged();
        const supervisor = new ServerSupervisor({ ...this.#options, onToolsChanged, definition, server });
        added.push(supervisor);
        return [definition.name, { fingerprint, supervisor }];
      }),
    );
    for (const [name, entry] of before) if (this.#entries.get(name) !== entry) this.#retire(entry.supervisor);
    if (before.size > 0) this.#onToolsChanged();
    this.#starting = Promise.all([this.#starting, this.#startAll(added)]).then(() => {});
  }

  /** Notifies of changes of `tools`. Returns the removal. */
  onToolsChanged(listener: () => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  /** Ends every server, for good. Resolves when nothing is left of any. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const limit of this.#retiring.values()) limit.abort();
    await Promise.all([...this.#supervisors.map((supervisor) => supervisor.stop()), ...this.#retiring.keys()]);
  }

  get #supervisors(): readonly ServerSupervisor[] {
    return [...this.#entries.values()].map(({ supervisor }) => supervisor);
  }

  #find(name: string): ServerSupervisor | undefined {
    return this.#entries.get(name)?.supervisor;
  }

  #onToolsChanged(): void {
    for (const listener of this.#changeListeners) listener();
  }

  async #startAll(supervisors: readonly ServerSupervisor[]): Promise<void> {
    const waiting = [...supervisors];
    this.#pendingStarts += waiting.length;
    const startNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await next.start();
        this.#pendingStarts -= 1;
      }
    };
    await Promise.all(Array.from({ length: STARTS_AT_A_TIME }, startNext));
  }

  #retire(supervisor: ServerSupervisor): void {
    const { clock, drainMs } = this.#options;
    const end = new AbortController();
    const retired = withDeadline(clock, drainMs, end.signal, (limit) =>
      untilAborted(supervisor.places.whenIdle(), limit),
    ).then(() => supervisor.stop());
    this.#retiring.set(retired, end);
    void retired.finally(() => this.#retiring.delete(retired));
  }
}

import type { ApprovedTools, ListedServer } from '../../domain/gateway/approved-tools.ts';
import { EVERYTHING, type Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { untilAborted, withDeadline } from '../async/deadline.ts';
import type { OnListChanged } from '../ports/tool-server.ts';
import { type CallOptions, CallTool, type ToolCallInput, type ToolCallOutcome } from './call-tool.ts';
import { type ConfiguredServer, type ServerStatus, ServerSupervisor } from './server-supervisor.ts';

export interface GatewayOptions extends CallOptions {
  readonly servers: readonly ConfiguredServer[];
  /** Undefined if every tool is offered (`gateway.lock`). */
  readonly approved?: ApprovedTools | undefined;
  /** How long calls of a removed server may take to end. */
  readonly drainMs: number;
  readonly onListChanged?: OnListChanged | undefined;
}

/** The servers and tools that exist for a caller (ruling T3). Calls are checked where they are made. */
export type VisibleGateway = Pick<Gateway, 'servers' | 'tools' | 'changed' | 'timeoutOf' | 'whenStarted'>;

/** How many servers start at the same time (ruling G4). */
const STARTS_AT_A_TIME = 4;

/** The user's own MCP servers, as drivers (REST, MCP, the command line) use them; in the order of the configuration. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #callTool: CallTool;
  #byName: ReadonlyMap<string, ServerSupervisor> = new Map();
  #pendingStarts = 0;
  /** Servers that are ending after their calls; each can be ended at once. */
  readonly #retiring = new Map<Promise<void>, AbortController>();
  readonly #changeListeners: (() => void)[] = [];
  #isClosed = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#callTool = new CallTool({ ...options, supervisors: () => this.#byName });
    this.reconfigure(options.servers, options.approved);
  }

  get servers(): readonly ServerStatus[] {
    return this.#supervisors.map(({ status }) => status);
  }

  /** The tools of the servers that are available. */
  get tools(): readonly GatewayTool[] {
    return this.#supervisors.flatMap(({ tools }) => tools);
  }

  /** What a caller with these rights sees. */
  as(rights: Rights): VisibleGateway {
    if (rights === EVERYTHING) return this;
    const all = this;
    return {
      get servers() {
        const seen = all.#supervisors.filter(({ definition }) => rights.sees(definition.name));
        return seen.map((supervisor) => supervisor.statusFor(rights));
      },
      get tools() {
        return all.tools.filter(rights.mayUse);
      },
      get changed() {
        return all.changed.filter(rights.mayUse);
      },
      timeoutOf: (server) => (rights.sees(server) ? all.timeoutOf(server) : undefined),
      whenStarted: (maxMs, signal, servers = [...all.#byName.keys()]) =>
        all.whenStarted(maxMs, signal, servers.filter(rights.sees)),
    };
  }

  /** The tools of these servers that are not offered (ruling T13). */
  get changed(): readonly GatewayTool[] {
    return this.#supervisors.flatMap(({ changed }) => changed);
  }

  /** The servers, with their tools as they describe them (ruling T12), and what is probably mistyped in the overrides, for people. */
  get listed(): readonly (ListedServer & { readonly problems: readonly string[] })[] {
    return this.#supervisors.map(({ status, connection, list }) => {
      const { name, serverInfo } = status;
      return { name, serverInfo, tools: connection && list.own, problems: list.current.problems };
    });
  }

  /** The servers whose resources and prompts a caller with these rights may use (ruling T17). */
  readable(rights: Rights): readonly ServerSupervisor[] {
    return this.#supervisors.filter(({ definition }) => rights.mayRead(definition.name));
  }

  /** The time limit of a call, in milliseconds; undefined if there is no such server. */
  timeoutOf(server: string): number | undefined {
    return this.#byName.get(server)?.definition.timeoutMs;
  }

  /** Whether every required server is available, and every first start has settled. */
  readiness(): 'ready' | 'starting' | 'required server not available' {
    if (this.#pendingStarts > 0) return 'starting';
    const isMissing = ({ status, definition }: ServerSupervisor) =>
      status.state !== 'available' && definition.isRequired;
    return this.#supervisors.some(isMissing) ? 'required server not available' : 'ready';
  }

  /** Resolves when every first start (of these servers) has succeeded or failed, after `maxMs`, or when `signal` aborts. */
  async whenStarted(
    maxMs: number,
    signal: AbortSignal,
    servers: readonly string[] = [...this.#byName.keys()],
  ): Promise<void> {
    await withDeadline(this.#options.clock, maxMs, signal, async (limit) => {
      // One after the other: each has a listener, and Node.js warns about more than ten.
      for (const name of servers) await this.#byName.get(name)?.whenStarted(limit);
    });
  }

  callTool(call: ToolCallInput, signal: AbortSignal): Promise<ToolCallOutcome> {
    return this.#callTool.execute(call, signal);
  }

  /** Starts a server immediately, in any state. */
  restart(name: string): void {
    this.#byName.get(name)?.restart();
  }

  /** Replaces the approved tools, and the servers: new and changed ones start; removed and changed ones end after their calls (ruling G10). */
  reconfigure(servers: readonly ConfiguredServer[], approved?: ApprovedTools): void {
    if (this.#isClosed) return;
    const before = this.#byName;
    const added: ServerSupervisor[] = [];
    this.#byName = new Map(
      servers.map((configured) => {
        const { name } = configured.definition;
        const known = before.get(name);
        if (known?.fingerprint === configured.fingerprint) {
          known.list.approve(approved);
          return [name, known];
        }
        const onToolsChanged = () => this.#onToolsChanged();
        const supervisor = new ServerSupervisor({ ...this.#options, ...configured, approved, onToolsChanged });
        added.push(supervisor);
        return [name, supervisor];
      }),
    );
    for (const [name, supervisor] of before) if (this.#byName.get(name) !== supervisor) this.#retire(supervisor);
    if (before.size > 0) this.#onToolsChanged();
    void this.#startAll(added);
  }

  /** Notifies of changes of `tools`. */
  onToolsChanged(listener: () => void): void {
    this.#changeListeners.push(listener);
  }

  /** Ends every server, for good. Resolves when nothing is left of any. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const limit of this.#retiring.values()) limit.abort();
    await Promise.all([...this.#supervisors.map((supervisor) => supervisor.stop()), ...this.#retiring.keys()]);
  }

  get #supervisors(): readonly ServerSupervisor[] {
    return [...this.#byName.values()];
  }

  #onToolsChanged(): void {
    for (const listener of this.#changeListeners) listener();
  }

  async #startAll(supervisors: readonly ServerSupervisor[]): Promise<void> {
    this.#pendingStarts += supervisors.length;
    // They share the iterator.
    const waiting = supervisors.values();
    const startNext = async (): Promise<void> => {
      for (const next of waiting) {
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

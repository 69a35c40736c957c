import { err } from 'neverthrow';
import type { ApprovedTools, ListedServer } from '../../domain/gateway/approved-tools.ts';
import type { Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { untilAborted, withDeadline } from '../async/deadline.ts';
import type { FoundTool, ObservedCall, ToolCall, ToolOutcome, ToolProvider } from '../tools/tool-call.ts';
import { callOnServer, findTool } from './server-call.ts';
import type { ConfiguredServer, GatewayOptions } from './server-definition.ts';
import type { ServerStatus } from './server-description.ts';
import { ServerSupervisor } from './server-supervisor.ts';

/** The servers and tools that exist for a caller. Rights of a call are checked by the catalogue. */
export type VisibleGateway = Pick<
  Gateway,
  'servers' | 'tools' | 'changed' | 'timeoutOf' | 'isOffered' | 'whenListed' | 'whenStarted'
>;

/** How long a list waits for a server that is starting or busy. A later change is announced. */
export const LIST_WAIT_MS = 500;

/** Maximum number of servers that start at the same time without a call. */
const STARTS_AT_A_TIME = 4;

/** The user's own MCP servers, in the order of the configuration, as drivers (REST, MCP, the command line) use them. */
export class Gateway implements ToolProvider {
  readonly #options: GatewayOptions;
  #byName: ReadonlyMap<string, ServerSupervisor> = new Map();
  #pendingStarts = 0;
  /** Servers that end after their calls. Each can also be ended at once. */
  readonly #retiring = new Map<Promise<void>, AbortController>();
  readonly #changeListeners: (() => void)[] = [];
  #isClosed = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.reconfigure(options.servers, options.approved);
  }

  get servers(): readonly ServerStatus[] {
    return this.#supervisors.map(({ status }) => status);
  }

  /** The tools of the servers that are available, or start with a call. */
  get tools(): readonly GatewayTool[] {
    return this.#supervisors.flatMap(({ tools }) => tools);
  }

  /** The servers and tools that a caller with these rights sees. */
  as(rights: Rights): VisibleGateway {
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
      isOffered: (server) => rights.sees(server) && all.isOffered(server),
      whenListed: (maxMs, signal, servers = [...all.#byName.keys()]) =>
        all.whenListed(maxMs, signal, servers.filter(rights.sees)),
      whenStarted: (maxMs, signal, servers = [...all.#byName.keys()]) =>
        all.whenStarted(maxMs, signal, servers.filter(rights.sees)),
    };
  }

  /** The tools of these servers that are not offered. */
  get changed(): readonly GatewayTool[] {
    return this.#supervisors.flatMap(({ changed }) => changed);
  }

  /**
   * The servers with their tools as they describe them and, for people, overrides that are probably mistyped, and differences from the kept
   * tools.
   */
  get listed(): readonly (ListedServer & { readonly problems: readonly string[]; readonly difference?: string })[] {
    return this.#supervisors.map(({ status, connection, list }) => {
      const { name, serverInfo } = status;
      const { current, difference, own } = list;
      return {
        name,
        serverInfo,
        tools: connection && own,
        problems: current.problems,
        ...(difference && { difference }),
      };
    });
  }

  /** Whether callers can use the tools of a server: it is available, or starts with a call. */
  isOffered(server: string): boolean {
    return this.#byName.get(server)?.description.isOffered === true;
  }

  /** Whether a server is configured as public now. */
  isPublic(server: string): boolean {
    return this.#byName.get(server)?.definition.isPublic === true;
  }

  /** The servers whose resources and prompts a caller with these rights may use. */
  readable(rights: Rights): readonly ServerSupervisor[] {
    return this.#supervisors.filter(({ definition }) => rights.mayRead(definition.name));
  }

  /** Whether a server has resources. */
  hasResources(server: string): boolean {
    return this.#byName.get(server)?.description.capabilities?.resources !== undefined;
  }

  /** The time limit of a call, in milliseconds; undefined if there is no such server. */
  timeoutOf(server: string): number | undefined {
    return this.#byName.get(server)?.definition.timeoutMs;
  }

  /** Whether every required server is available, or starts with a call, and every first start has settled. */
  readiness(): 'ready' | 'starting' | 'required server not available' {
    if (this.#pendingStarts > 0) return 'starting';
    const isMissing = ({ description, definition }: ServerSupervisor) =>
      !description.isOffered && definition.isRequired;
    return this.#supervisors.some(isMissing) ? 'required server not available' : 'ready';
  }

  /** Resolves when the lists of these servers are known, or could not be read, after `maxMs`, or when `signal` aborts. */
  whenListed(maxMs: number, signal: AbortSignal, servers?: readonly string[]): Promise<void> {
    return this.#each(maxMs, signal, servers, (server, limit) => server.whenListed(limit));
  }

  /** Resolves when every start in progress has settled, whether lists are known or not. */
  whenStarted(maxMs: number, signal: AbortSignal, servers?: readonly string[]): Promise<void> {
    return this.#each(maxMs, signal, servers, (server, limit) => server.whenStarted(limit));
  }

  get serverNames(): readonly string[] {
    return [...this.#byName.keys()];
  }

  toolsFor(): readonly GatewayTool[] {
    return this.tools;
  }

  limitMs(server: string, wantedMs: number): number {
    return Math.min(this.timeoutOf(server) ?? Number.POSITIVE_INFINITY, wantedMs);
  }

  find(call: ToolCall, signal: AbortSignal): FoundTool | Promise<FoundTool> {
    const supervisor = this.#byName.get(call.server);
    return supervisor === undefined ? {} : findTool(this, supervisor, call, signal);
  }

  async call(call: ObservedCall, signal: AbortSignal): Promise<ToolOutcome> {
    const { server, tool } = call;
    const supervisor = this.#byName.get(server);
    // A reload may have removed the server in the meantime.
    if (supervisor === undefined) return err({ kind: 'unknown_tool', server, tool, known: [] });
    return callOnServer(supervisor, call, this.#options, signal);
  }

  /** Starts a server immediately, in any state. */
  restart(name: string): void {
    this.#byName.get(name)?.restart();
  }

  /** Replaces the approved tools, and the servers: new and changed ones start; removed and changed ones end after their calls. */
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
    void this.#startAll(added.filter(({ startsAtOnce }) => startsAtOnce));
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

  async #each(
    maxMs: number,
    signal: AbortSignal,
    servers: readonly string[] = [...this.#byName.keys()],
    wait: (server: ServerSupervisor, limit: AbortSignal) => Promise<void>,
  ): Promise<void> {
    await withDeadline(this.#options.clock, maxMs, signal, async (limit) => {
      // One after the other, because each start has a listener, and Node.js warns about more than ten.
      for (const name of servers) {
        const server = this.#byName.get(name);
        if (server !== undefined) await wait(server, limit);
      }
    });
  }

  #onToolsChanged(): void {
    for (const listener of this.#changeListeners) listener();
  }

  async #startAll(supervisors: readonly ServerSupervisor[]): Promise<void> {
    this.#pendingStarts += supervisors.length;
    // The workers share the iterator, so that each server is started once.
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

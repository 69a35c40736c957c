import { err } from 'neverthrow';
import type { ApprovedTools, ListedServer } from '../../domain/gateway/approved-tools.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { LoginOwner } from '../../domain/gateway/login-owner.ts';
import { untilAborted, withDeadline } from '../async/deadline.ts';
import type { FoundTool, ObservedCall, ToolCall, ToolOutcome, ToolProvider } from '../tools/tool-call.ts';
import { callAsCaller, findToolFor } from './caller-call.ts';
import { GatewayServer, type Viewer } from './gateway-server.ts';
import { callOnServer } from './server-call.ts';
import type { ConfiguredServer, GatewayOptions } from './server-definition.ts';
import type { ServerStatus } from './server-description.ts';
import type { ServerSupervisor } from './server-supervisor.ts';
import { type VisibleGateway, visibleTo } from './visible-gateway.ts';

/** How long a list waits for a server that is starting or busy. A later change is announced. */
export const LIST_WAIT_MS = 500;

/** Maximum number of servers that start at the same time without a call. */
const STARTS_AT_A_TIME = 4;

/** The user's own MCP servers, in the order of the configuration, as drivers (REST, MCP, the command line) use them. */
export class Gateway implements ToolProvider {
  readonly #options: GatewayOptions;
  #byName: ReadonlyMap<string, GatewayServer> = new Map();
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

  /** The tools of the servers that are available, or for whose start a call waits. */
  get tools(): readonly GatewayTool[] {
    return this.#supervisors.flatMap(({ tools }) => tools);
  }

  /** The servers and tools that a caller sees. */
  as(by: Viewer): VisibleGateway {
    return visibleTo(by, this, () => this.#byName);
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

  /** Whether callers can use the tools of a server: it is available, or a call waits for its start. */
  isOffered(server: string): boolean {
    return this.#byName.get(server)?.common.description.isOffered === true;
  }

  /** Whether a server is configured as public now. */
  isPublic(server: string): boolean {
    return this.#byName.get(server)?.common.definition.isPublic === true;
  }

  /** The servers whose resources and prompts a caller may use, as this caller knows them. */
  readable(by: Viewer): readonly ServerSupervisor[] {
    const readable = [...this.#byName].filter(([name]) => by.rights.mayRead(name));
    return readable.map(([, server]) => server.seenBy(by));
  }

  /** A server of the configuration; undefined if there is none. */
  named(server: string): GatewayServer | undefined {
    return this.#byName.get(server);
  }

  /** The number of open connections to each server at which each caller has one. */
  get connections(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#byName].flatMap(([name, { connections }]) => (connections === undefined ? [] : [[name, connections]])),
    );
  }

  /** Ends the connections of callers who no longer exist. */
  endCallers(exists: (owner: LoginOwner) => boolean): void {
    for (const server of this.#byName.values()) server.endCallers(exists);
  }

  /** Whether a server has resources. */
  hasResources(server: string): boolean {
    return this.#byName.get(server)?.common.description.capabilities?.resources !== undefined;
  }

  /** The time limit of a call, in milliseconds; undefined if there is no such server. */
  timeoutOf(server: string): number | undefined {
    return this.#byName.get(server)?.common.definition.timeoutMs;
  }

  /** Whether every required server is available, or starts with a call, and every first start has settled. */
  readiness(): 'ready' | 'starting' | 'required server not available' {
    if (this.#pendingStarts > 0) return 'starting';
    // Callers can sign in only at a gateway that is ready.
    const isMissing = ({ common: { description, definition, gate }, perCaller }: GatewayServer) =>
      perCaller === undefined && definition.isRequired && (!description.isOffered || gate?.isRestart === true);
    return [...this.#byName.values()].some(isMissing) ? 'required server not available' : 'ready';
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
    const found = this.#byName.get(call.server);
    return found === undefined ? {} : findToolFor(this, found, call, signal);
  }

  async call(call: ObservedCall, signal: AbortSignal): Promise<ToolOutcome> {
    const { server, tool } = call;
    const found = this.#byName.get(server);
    // A reload may have removed the server in the meantime.
    if (found === undefined) return err({ kind: 'unknown_tool', server, tool, known: [] });
    if (found.perCaller !== undefined) return callAsCaller(found, call, this.#options, signal);
    return callOnServer(found.common, call, this.#options, signal);
  }

  /** Starts a server immediately, in any state. */
  restart(name: string): void {
    this.#byName.get(name)?.restart();
  }

  /** Replaces the approved tools, and the servers: new and changed ones start; removed and changed ones end after their calls. */
  reconfigure(servers: readonly ConfiguredServer[], approved?: ApprovedTools): void {
    if (this.#isClosed) return;
    const before = this.#byName;
    const added: GatewayServer[] = [];
    this.#byName = new Map(
      servers.map((configured) => {
        const { name } = configured.definition;
        const known = before.get(name);
        if (known?.common.fingerprint === configured.fingerprint) {
          known.approve(approved);
          return [name, known];
        }
        const onToolsChanged = () => this.#onToolsChanged();
        const server = new GatewayServer({ ...this.#options, ...configured, approved, onToolsChanged });
        added.push(server);
        return [name, server];
      }),
    );
    for (const [name, server] of before) if (this.#byName.get(name) !== server) this.#retire(server);
    if (before.size > 0) this.#onToolsChanged();
    void this.#startAll(added.map(({ common }) => common).filter(({ startsAtOnce }) => startsAtOnce));
  }

  /** Notifies of changes of `tools`. */
  onToolsChanged(listener: () => void): void {
    this.#changeListeners.push(listener);
  }

  /** Ends every server, for good. Resolves when nothing is left of any. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const limit of this.#retiring.values()) limit.abort();
    const ends = [...this.#byName.values()].map((server) => server.stop());
    await Promise.all([...ends, ...this.#retiring.keys()]);
  }

  get #supervisors(): readonly ServerSupervisor[] {
    return [...this.#byName.values()].map(({ common }) => common);
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
        if (server !== undefined) await wait(server.common, limit);
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

  #retire(server: GatewayServer): void {
    const { clock, drainMs } = this.#options;
    const end = new AbortController();
    const retired = withDeadline(clock, drainMs, end.signal, (limit) =>
      untilAborted(server.common.places.whenIdle(), limit),
    ).then(() => server.stop());
    this.#retiring.set(retired, end);
    void retired.finally(() => this.#retiring.delete(retired));
  }
}

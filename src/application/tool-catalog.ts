import type { GatewayTool } from '../domain/gateway-tool.ts';
import type { Clock } from './ports/clock.ts';
import type { Logger } from './ports/logger.ts';
import type { ToolServer } from './ports/tool-server.ts';
import { type ServerDefinition, type ServerStatus, ServerSupervisor } from './server-supervisor.ts';
import { untilAborted } from './until-aborted.ts';

/** A configured server. */
export interface ConfiguredServer {
  readonly definition: ServerDefinition;
  readonly server: ToolServer;
  /** The complete configuration of the server as a text: if it is different after a reload, the server is replaced. */
  readonly fingerprint: string;
}

interface Dependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onToolsChanged: () => void;
}

/** How many servers start at the same time (ruling G4). */
const STARTS_AT_A_TIME = 4;

interface Entry {
  readonly fingerprint: string;
  readonly supervisor: ServerSupervisor;
}

/** The servers of the gateway and their tools, in the order of the configuration. */
export class ToolCatalog {
  readonly #deps: Dependencies;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #starting: Promise<void> = Promise.resolve();
  /** Servers that are ending after their calls; each can be ended at once. */
  readonly #retiring = new Map<Promise<void>, AbortController>();
  #isClosed = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  get statuses(): readonly ServerStatus[] {
    return [...this.#entries.values()].map(({ supervisor }) => supervisor.status);
  }

  /** The tools of the servers that are available. */
  get tools(): readonly GatewayTool[] {
    return [...this.#entries.values()].flatMap(({ supervisor }) => supervisor.tools);
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  find(name: string): ServerSupervisor | undefined {
    return this.#entries.get(name)?.supervisor;
  }

  /** Whether every required server is available, and every first start has settled. */
  readiness(): 'ready' | 'starting' | 'required server not available' {
    const statuses = this.statuses;
    if (this.#pendingStarts > 0) return 'starting';
    const isMissing = ({ name, state }: ServerStatus) =>
      state !== 'available' && this.find(name)?.definition.isRequired === true;
    return statuses.some(isMissing) ? 'required server not available' : 'ready';
  }

  #pendingStarts = 0;

  /**
   * Makes these servers those of the catalog. New and changed ones are started; removed and changed ones end after their calls, of which
   * each has at most `drainMs` (ruling G10).
   */
  configure(servers: readonly ConfiguredServer[], drainMs: number): void {
    if (this.#isClosed) return;
    const before = this.#entries;
    const isKept = ({ definition, fingerprint }: ConfiguredServer) =>
      before.get(definition.name)?.fingerprint === fingerprint;
    const kept = new Set(servers.filter(isKept).map(({ definition }) => definition.name));
    const added: ServerSupervisor[] = [];
    this.#entries = new Map(
      servers.map((configured) => {
        const { definition, server, fingerprint } = configured;
        const known = kept.has(definition.name) ? before.get(definition.name) : undefined;
        if (known !== undefined) return [definition.name, known];
        const supervisor = new ServerSupervisor({ ...this.#deps, definition, server });
        added.push(supervisor);
        return [definition.name, { fingerprint, supervisor }];
      }),
    );
    for (const [name, { supervisor }] of before) if (!kept.has(name)) this.#retire(supervisor, drainMs);
    if (before.size > 0) this.#deps.onToolsChanged();
    this.#starting = Promise.all([this.#starting, this.#startAll(added)]).then(() => {});
  }

  /** Resolves when every first start (of these servers) has succeeded or failed, or when `signal` aborts. */
  async whenStarted(signal: AbortSignal, servers?: readonly string[]): Promise<void> {
    if (servers === undefined) await untilAborted(this.#starting, signal);
    else await Promise.all(servers.map((name) => this.find(name)?.whenStarted(signal)));
  }

  /** Ends every server, for good. Resolves when nothing is left of any. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const entries = [...this.#entries.values()];
    for (const limit of this.#retiring.values()) limit.abort();
    await Promise.all([...entries.map(({ supervisor }) => supervisor.stop()), ...this.#retiring.keys()]);
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

  #retire(supervisor: ServerSupervisor, drainMs: number): void {
    const limit = new AbortController();
    void this.#deps.clock.sleep(drainMs, limit.signal).then(() => limit.abort());
    const retired = untilAborted(supervisor.places.whenIdle(), limit.signal).then(() => {
      limit.abort();
      return supervisor.stop();
    });
    this.#retiring.set(retired, limit);
    void retired.finally(() => this.#retiring.delete(retired));
  }
}

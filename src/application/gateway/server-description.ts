import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import { never, untilAborted, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Definitions } from '../ports/kept-definitions.ts';
import type { Logger } from '../ports/logger.ts';
import type { OnListChanged } from '../ports/tool-server.ts';
import type { ConfiguredServer, RunningServer } from './server-definition.ts';
import { SharedLists } from './shared-lists.ts';
import { ToolList } from './tool-list.ts';

/** How long the end of a server waits until what it listed is kept. */
const KEEP_MS = 1000;

export interface SupervisorOptions extends ConfiguredServer {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly approved?: ApprovedTools | undefined;
  /** Whether callers share the servers: the last line of one that was lost may contain the input of another caller. */
  readonly isShared?: boolean | undefined;
  readonly onToolsChanged: () => void;
  readonly onListChanged?: OnListChanged | undefined;
}

/** What a server describes of itself: as it is, or as it was when it ran last. */
export class ServerDescription {
  readonly tools: ToolList;
  readonly shared: SharedLists;
  readonly #options: SupervisorOptions;
  readonly #server: RunningServer;
  #known: Definitions | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #learning: Promise<void> = Promise.resolve();

  constructor(options: SupervisorOptions, server: RunningServer) {
    const { definition, clock, logger, approved, known } = options;
    this.#options = options;
    this.#server = server;
    this.#known = known;
    this.tools = new ToolList({ ...definition, logger }, approved, known?.tools);
    this.shared = new SharedLists(server, clock, known?.shared ?? {}, () => this.#onChanged());
  }

  /** Undefined if the server has never listed its tools. */
  get known(): Definitions | undefined {
    return this.#known;
  }

  /** Whether callers can use the tools: the server is available, or starts with a call. */
  get isOffered(): boolean {
    return this.#server.connection !== undefined || (this.#known !== undefined && this.#server.isIdle);
  }

  /** What the server declares, or declared last; undefined while it is not offered. */
  get capabilities(): JsonObject | undefined {
    return this.#server.connection?.capabilities ?? (this.isOffered ? this.#known?.capabilities : undefined);
  }

  /** Resolves when everything that a connected server describes was read. */
  get whenLearned(): Promise<void> {
    return this.#learning;
  }

  /** Resolves when everything is kept, or after a second, so that a folder that does not answer does not delay the end. */
  async whenKept(): Promise<void> {
    await withDeadline(this.#options.clock, KEEP_MS, never(), (limit) => untilAborted(this.#keeping, limit));
  }

  /** Learns what a server describes that has listed its tools. */
  learn(): void {
    this.#onChanged();
    this.#learning = this.shared.readAll();
  }

  async readToolsAgain(signal: AbortSignal): Promise<void> {
    const { logger, clock, definition } = this.#options;
    const { connection } = this.#server;
    if (connection === undefined) return;
    const startedMs = clock.elapsedMs();
    // A server that does not answer must not prevent that later changes are noticed.
    const { outcome: listed } = await withDeadline(clock, definition.startupTimeoutMs, signal, async (limit) =>
      this.tools.read(connection, limit),
    );
    if (connection !== this.#server.connection) return;
    if (listed.isOk()) this.#onChanged();
    else logger.warn(`gateway: ${definition.name}: ${listed.error}; the list of tools stays as it was`);
    // The reading of a large list takes at most a tenth of the time.
    await clock.sleep(Math.min(10_000, 10 * (clock.elapsedMs() - startedMs)), signal);
  }

  /** Remembers what the server describes, for the time when it does not run. */
  #onChanged(): void {
    const { clock, keep, onToolsChanged } = this.#options;
    const { capabilities, serverInfo } = this.#server.connection ?? {};
    if (capabilities !== undefined) {
      const { listed: tools = [] } = this.tools;
      const known = { listedAt: clock.now(), tools, capabilities, serverInfo, shared: this.shared.entries };
      this.#known = known;
      if (keep !== undefined) this.#keeping = this.#keeping.then(() => keep(known));
    }
    onToolsChanged();
  }
}

import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import type { JsonObject } from '../../domain/values/json.ts';
import { never, untilAborted, withDeadline } from '../async/deadline.ts';
import { GrowingWait } from '../async/growing-wait.ts';
import type { Clock } from '../ports/clock.ts';
import type { Definitions } from '../ports/kept-definitions.ts';
import type { Logger } from '../ports/logger.ts';
import type { OnListChanged } from '../ports/tool-server.ts';
import type { ConfiguredServer, RunningServer } from './server-definition.ts';
import { SharedLists } from './shared-lists.ts';
import { ToolList } from './tool-list.ts';

/** How long the end of a server waits until its lists are kept. */
const KEEP_MS = 1000;

export interface SupervisorOptions extends ConfiguredServer {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly approved?: ApprovedTools | undefined;
  /** Whether callers share the servers. The last line of a lost server may then contain the input of another caller. */
  readonly isShared?: boolean | undefined;
  readonly onToolsChanged: () => void;
  readonly onListChanged?: OnListChanged | undefined;
}

/** The description that a server gives of itself, now or when it last ran. */
export class ServerDescription {
  readonly tools: ToolList;
  readonly shared: SharedLists;
  readonly #options: SupervisorOptions;
  readonly #server: RunningServer;
  #known: Definitions | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #learning: Promise<void> = Promise.resolve();
  readonly #wait: GrowingWait;

  constructor(options: SupervisorOptions, server: RunningServer) {
    const { definition, clock, logger, approved, known } = options;
    this.#options = options;
    this.#server = server;
    this.#known = known;
    this.#wait = new GrowingWait(clock);
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

  /** The capabilities that the server declares, or last declared; undefined while it is not offered. */
  get capabilities(): JsonObject | undefined {
    return this.#server.connection?.capabilities ?? (this.isOffered ? this.#known?.capabilities : undefined);
  }

  /** Resolves when the complete description of a connected server was read. */
  get whenLearned(): Promise<void> {
    return this.#learning;
  }

  /** Resolves when the description is kept, or after a second, so that a folder that does not respond cannot delay the end. */
  async whenKept(): Promise<void> {
    await withDeadline(this.#options.clock, KEEP_MS, never(), (limit) => untilAborted(this.#keeping, limit));
  }

  /** Reads the description of a server that has listed its tools. */
  learn(): void {
    this.#onChanged();
    this.#learning = this.shared.readAll();
  }

  async readToolsAgain(signal: AbortSignal): Promise<void> {
    const { logger, clock, definition } = this.#options;
    const { connection } = this.#server;
    if (connection === undefined) return;
    const startedMs = clock.elapsedMs();
    // A server that does not answer must not block the notices of later changes.
    const { outcome: listed } = await withDeadline(clock, definition.startupTimeoutMs, signal, async (limit) =>
      this.tools.read(connection, limit),
    );
    if (connection !== this.#server.connection) return;
    if (listed.isOk()) this.#onChanged();
    else logger.warn(`gateway: ${definition.name}: ${listed.error}; the list of tools stays as it was`);
    // Reading a large list may take at most a tenth of the time, and a list that always changes is read ever more rarely.
    const shareMs = Math.min(10_000, 10 * (clock.elapsedMs() - startedMs));
    await clock.sleep(Math.max(shareMs, this.#wait.next()), signal);
  }

  /** Keeps the description for the time when the server does not run. */
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

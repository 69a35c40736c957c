import { err, ok, type Result } from 'neverthrow';
import { changedTools, type GatewayTool, isAllowed, type ToolFilter } from '../domain/gateway-tool.ts';
import { type JsonObject, withoutUndefined } from '../domain/json.ts';
import type { ServerState } from '../domain/tool-call-error.ts';
import { CallSlots } from './call-slots.ts';
import { forwardAbort } from './forward-abort.ts';
import type { Clock } from './ports/clock.ts';
import type { Logger } from './ports/logger.ts';
import type { ServerConnection, ToolServer } from './ports/tool-server.ts';

/** What the gateway must know about a server; how to reach it is for the adapter (ruling G1). */
export interface ServerDefinition {
  readonly name: string;
  readonly transport: ServerConnection['transport'];
  /** Limits of a call, and of a start until the list of tools is known. */
  readonly timeoutMs: number;
  readonly startupTimeoutMs: number;
  readonly restart: 'on-failure' | 'never';
  /** Whether the gateway is ready only while this server is available. */
  readonly isRequired: boolean;
  readonly filter: ToolFilter;
  readonly maxConcurrency: number;
}

/** A server for people and monitoring (ruling G13). */
export interface ServerStatus {
  readonly name: string;
  readonly transport: ServerConnection['transport'];
  readonly state: ServerState;
  readonly since: Date;
  /** The number of starts after the first. */
  readonly restarts: number;
  /** The number of tools. */
  readonly tools: number;
  readonly pid?: number;
  readonly lastError?: string;
  readonly protocolVersion?: string;
  readonly serverInfo?: JsonObject;
}

export interface SupervisorOptions {
  readonly definition: ServerDefinition;
  readonly server: ToolServer;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The tools that callers can use have changed. */
  readonly onToolsChanged: () => void;
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** After this time without a failure, a crash counts as the first. */
const HEALTHY_MS = 30_000;
const MAX_FAILURES = 5;

/** Starts a server, keeps its list of tools, and starts it again after a failure (rulings G3 to G9). */
export class ServerSupervisor {
  readonly #options: SupervisorOptions;
  /** Of the calls on this server. */
  readonly slots: CallSlots;
  #state: ServerState = 'starting';
  #since: Date;
  #starts = 0;
  #failures = 0;
  #lastError: string | undefined;
  #connection: ServerConnection | undefined;
  #tools: readonly GatewayTool[] = [];
  #availableMs = 0;
  #retryMs: number | undefined;
  #refreshed: Promise<void> = Promise.resolve();
  #isRefreshQueued = false;
  /** Aborts when the current start, or the wait for it, is obsolete. */
  #life = new AbortController();
  /** Settles when the previous process is gone. */
  #closing: Promise<void> = Promise.resolve();
  #onFirstStart: () => void = () => {};
  readonly #firstStart = new Promise<void>((resolve) => {
    this.#onFirstStart = resolve;
  });

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    this.slots = new CallSlots(options.definition.maxConcurrency);
  }

  get definition(): ServerDefinition {
    return this.#options.definition;
  }

  /** The connection while the server is available. */
  get connection(): ServerConnection | undefined {
    return this.#connection;
  }

  /** The tools that callers can use; none while the server is not available. */
  get tools(): readonly GatewayTool[] {
    return this.#connection === undefined ? [] : this.#tools;
  }

  /** Whether the server has this tool, or had it before it was lost. */
  knowsTool(name: string): boolean {
    return this.#tools.some((tool) => tool.name === name);
  }

  get status(): ServerStatus {
    const { name, transport } = this.definition;
    const connection = this.#connection;
    return withoutUndefined({
      name,
      transport: connection?.transport ?? transport,
      state: this.#state,
      since: this.#since,
      restarts: Math.max(0, this.#starts - 1),
      tools: this.tools.length,
      pid: connection?.pid,
      lastError: this.#lastError,
      protocolVersion: connection?.protocolVersion,
      serverInfo: connection?.serverInfo,
    });
  }

  /** How long until the server is started again; undefined if no start is scheduled. */
  get retryAfterMs(): number | undefined {
    return this.#retryMs === undefined ? undefined : Math.max(0, this.#retryMs - this.#options.clock.elapsedMs());
  }

  /** Starts the server for the first time. Resolves when this start has succeeded or failed. */
  start(): Promise<void> {
    void this.#attempt(this.#life);
    return this.#firstStart;
  }

  /** Waits for a first start that is in progress. */
  async whenStarted(signal: AbortSignal): Promise<'started' | 'aborted'> {
    if (signal.aborted) return 'aborted';
    return new Promise((resolve) => {
      const onAbort = () => resolve('aborted');
      signal.addEventListener('abort', onAbort, { once: true });
      void this.#firstStart.then(() => {
        signal.removeEventListener('abort', onAbort);
        resolve('started');
      });
    });
  }

  /** Starts the server immediately, in any state. */
  restart(): void {
    this.#renew();
    this.#failures = 0;
    this.#set('starting');
    void this.#attempt(this.#life);
  }

  /** Resolves when nothing of the server is left. */
  async stop(): Promise<void> {
    this.#renew();
    this.#set('stopped');
    this.#life.abort();
    this.#onFirstStart();
    await this.#closing;
  }

  /** Ends the current process, or its start, and begins another life. */
  #renew(): void {
    this.#life.abort();
    this.#life = new AbortController();
    this.#disconnect();
  }

  #disconnect(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#retryMs = undefined;
    if (connection === undefined) return;
    this.#closing = Promise.all([this.#closing, connection.close()]).then(() => {});
    this.#options.onToolsChanged();
  }

  async #attempt(life: AbortController): Promise<void> {
    this.#retryMs = undefined;
    this.#set('starting');
    await this.#closing;
    if (life.signal.aborted) return;
    this.#starts += 1;
    const connecting = this.#connect(life);
    // A start that has become obsolete must be gone before the next one begins.
    this.#closing = connecting.then(() => {});
    const connected = await connecting;
    if (life.signal.aborted) return;
    this.#onFirstStart();
    if (connected.isErr()) {
      this.#onFailure(life, connected.error);
      return;
    }
    this.#connection = connected.value;
    this.#availableMs = this.#options.clock.elapsedMs();
    this.#set('available');
    this.#options.onToolsChanged();
  }

  /** Connects and reads the list of tools, within the time for a start. */
  async #connect(life: AbortController): Promise<Result<ServerConnection, string>> {
    const { server, clock } = this.#options;
    const { startupTimeoutMs } = this.definition;
    const limit = new AbortController();
    const stopForwarding = forwardAbort(life.signal, limit);
    void clock.sleep(startupTimeoutMs, limit.signal).then(() => limit.abort());
    let connection: ServerConnection | undefined;
    const events = {
      onToolsChanged: () => void this.#refresh(life, connection),
      onLost: (reason: string) => this.#onLost(life, connection, reason),
    };
    const connected = await server.connect(events, limit.signal);
    connection = connected.isOk() ? connected.value : undefined;
    const listed = connection && (await this.#list(connection, limit.signal));
    const isLate = limit.signal.aborted;
    limit.abort();
    stopForwarding();
    if (listed?.isOk() && !isLate) return connected;
    await connection?.close();
    if (isLate) return err(`no list of tools within ${startupTimeoutMs / 1000} s (startup_timeout)`);
    return listed?.isErr() ? err(listed.error) : connected;
  }

  /** Reads the list of tools and warns about those that have changed (tool poisoning, ruling G9). */
  async #list(connection: ServerConnection, signal: AbortSignal): Promise<Result<void, string>> {
    const { logger, definition } = this.#options;
    const listed = await connection.listTools(signal);
    if (listed.isErr()) {
      const { error } = listed;
      return err(
        `tools/list failed: ${'message' in error ? error.message : 'reason' in error ? error.reason : error.kind}`,
      );
    }
    const tools = listed.value.filter(({ name }) => isAllowed(name, definition.filter));
    for (const name of changedTools(this.#tools, tools)) {
      logger.warn(`gateway: the description or schema of the tool ${definition.name}/${name} has changed`);
    }
    this.#tools = tools;
    return ok(undefined);
  }

  /** Reads the list again, once for any number of notifications in the meantime. If that fails, the list stays as it was. */
  async #refresh(life: AbortController, connection: ServerConnection | undefined): Promise<void> {
    if (this.#isRefreshQueued) return;
    this.#isRefreshQueued = true;
    await this.#refreshed;
    this.#isRefreshQueued = false;
    if (connection === undefined || connection !== this.#connection) return;
    this.#refreshed = this.#list(connection, life.signal).then((listed) => {
      if (listed.isErr()) this.#options.logger.warn(`gateway: ${this.definition.name}: ${listed.error}`);
      else this.#options.onToolsChanged();
    });
  }

  #onLost(life: AbortController, connection: ServerConnection | undefined, reason: string): void {
    if (connection === undefined || connection !== this.#connection) return;
    if (this.#options.clock.elapsedMs() - this.#availableMs >= HEALTHY_MS) this.#failures = 0;
    this.#disconnect();
    this.#onFailure(life, reason);
  }

  #onFailure(life: AbortController, reason: string): void {
    const { clock, logger, definition } = this.#options;
    this.#lastError = reason;
    this.#failures += 1;
    const isFinal = definition.restart === 'never' || this.#failures >= MAX_FAILURES;
    this.#set(isFinal ? 'failed' : 'unavailable');
    if (isFinal) {
      logger.warn(`gateway: ${definition.name} failed and is not started again: ${reason}`);
      return;
    }
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1));
    logger.warn(`gateway: ${definition.name} is unavailable and is started again in ${delayMs / 1000} s: ${reason}`);
    this.#retryMs = clock.elapsedMs() + delayMs;
    void clock.sleep(delayMs, life.signal).then((outcome) => {
      if (outcome === 'elapsed') void this.#attempt(life);
    });
  }

  #set(state: ServerState): void {
    if (state !== this.#state) this.#since = this.#options.clock.now();
    this.#state = state;
  }
}

import type { ApprovedTools } from '../../domain/gateway/approved-tools.ts';
import { EVERYTHING, type Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import { loginCommand, type ServerState } from '../../domain/gateway/tool-call-error.ts';
import { withoutUndefined } from '../../domain/values/json.ts';
import { coalesced } from '../async/coalesced.ts';
import { untilAborted, withDeadline } from '../async/deadline.ts';
import { Places } from '../async/places.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { OnListChanged, ServerConnection, ServerEvents, ToolServer } from '../ports/tool-server.ts';
import { restartBackoff } from './restart-backoff.ts';
import { startServer } from './start-server.ts';
import { ToolList, type ToolRules } from './tool-list.ts';

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
  readonly filter: ToolRules;
  readonly maxConcurrency: number;
}

export interface ConfiguredServer {
  readonly definition: ServerDefinition;
  readonly server: ToolServer;
  /** The complete configuration of the server as a text: if it is different after a reload, the server is replaced. */
  readonly fingerprint: string;
}

export interface SupervisorOptions extends ConfiguredServer {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly approved?: ApprovedTools | undefined;
  readonly onToolsChanged: () => void;
  readonly onListChanged?: OnListChanged | undefined;
}

export type ServerStatus = ReturnType<ServerSupervisor['statusFor']>;

/** Starts a server, keeps its list of tools, and starts it again after a failure (rulings G3 to G9). */
export class ServerSupervisor {
  readonly definition: ServerDefinition;
  readonly fingerprint: string;
  readonly #options: SupervisorOptions;
  /** The calls that run on this server, and of each caller as many that wait (ruling G1). */
  readonly places: Places;
  /** As the server listed its tools last, also after it was lost. */
  readonly list: ToolList;
  #delayAfterFailure = restartBackoff();
  #state: ServerState = 'starting';
  #since: Date;
  #starts = 0;
  #hasBegun = false;
  #lastError: string | undefined;
  #connection: ServerConnection | undefined;
  #availableMs = 0;
  #retryMs: number | undefined;
  /** Aborts when the current start, or the wait for it, is obsolete. */
  #life = new AbortController();
  /** Settles when the previous process is gone. */
  #closing: Promise<void> = Promise.resolve();
  readonly #forgetLogin: (() => void) | undefined;
  #onFirstStart: () => void = () => {};
  readonly #firstStart = new Promise<void>((resolve) => {
    this.#onFirstStart = resolve;
  });

  constructor(options: SupervisorOptions) {
    const { definition, clock, logger, approved } = options;
    this.#options = options;
    this.definition = definition;
    this.fingerprint = options.fingerprint;
    this.#since = clock.now();
    this.places = new Places(definition.maxConcurrency, definition.maxConcurrency);
    this.list = new ToolList({ ...definition, logger, clock }, approved);
    this.#forgetLogin = options.server.login?.onChanged(() => this.#hasBegun && this.restart());
  }

  get connection(): ServerConnection | undefined {
    return this.#connection;
  }

  /** The tools that callers can use; none while the server is not available. */
  get tools(): readonly GatewayTool[] {
    return this.#connection === undefined ? [] : this.list.current.offered;
  }

  /** Those that are not offered, because they are not as they were approved (ruling T13). */
  get changed(): readonly GatewayTool[] {
    return this.#connection === undefined ? [] : this.list.current.changed;
  }

  get status(): ServerStatus {
    return this.statusFor(EVERYTHING);
  }

  /** The server for people and monitoring (ruling G13), with the tools that these rights allow. */
  statusFor({ mayUse }: Rights) {
    const { name, transport } = this.definition;
    const connection = this.#connection;
    const changed = this.changed.filter(mayUse).map(({ name }) => name);
    return withoutUndefined({
      name,
      transport: connection?.transport ?? transport,
      state: this.#state,
      since: this.#since,
      /** The number of starts after the first. */
      restarts: Math.max(0, this.#starts - 1),
      tools: this.tools.filter(mayUse).length,
      /** Not offered, because they are not as they were approved (ruling T13). */
      changed: changed.length > 0 ? changed : undefined,
      pid: connection?.pid,
      lastError: this.#lastError,
      /** The command that a person must run first (ruling O3). */
      login: this.#state === 'login_required' ? loginCommand(name) : undefined,
      protocolVersion: connection?.protocolVersion,
      serverInfo: connection?.serverInfo,
    });
  }

  /** How long until the server is started again; undefined if no start is scheduled. */
  get retryAfterMs(): number | undefined {
    return this.#retryMs === undefined ? undefined : Math.max(0, this.#retryMs - this.#options.clock.elapsedMs());
  }

  /** Starts the server for the first time, unless that was requested already. Resolves when the first start has settled. */
  start(): Promise<void> {
    if (!this.#hasBegun) void this.#attempt(this.#life);
    return this.#firstStart;
  }

  async whenStarted(signal: AbortSignal): Promise<'started' | 'aborted'> {
    if (this.#connection !== undefined && !signal.aborted) return 'started';
    return (await untilAborted(this.#firstStart, signal)) ?? 'started';
  }

  /** Starts the server immediately, in any state but `stopped`: nothing would stop it again. */
  restart(): void {
    if (this.#state === 'stopped') return;
    this.#renew();
    this.#delayAfterFailure = restartBackoff();
    void this.#attempt(this.#life);
  }

  /** Ends the server for good. Resolves when nothing of it is left. */
  async stop(): Promise<void> {
    this.#renew();
    this.#forgetLogin?.();
    this.#hasBegun = true;
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
    this.#connection = this.#retryMs = undefined;
    if (connection === undefined) return;
    this.#closing = Promise.all([this.#closing, connection.close()]).then(() => {});
    this.#options.onToolsChanged();
  }

  async #attempt(life: AbortController): Promise<void> {
    this.#hasBegun = true;
    this.#retryMs = undefined;
    this.#set('starting');
    await this.#closing;
    if (life.signal.aborted) return;
    this.#starts += 1;
    const onStarted = (connection: ServerConnection) => this.#onStarted(life, connection);
    const connecting = startServer({ ...this.#options, list: this.list, onStarted }, life.signal);
    // A start that has become obsolete must be gone before the next one begins.
    this.#closing = connecting.then(() => {});
    const started = await connecting;
    if (life.signal.aborted) return;
    this.#onFirstStart();
    if (started.isErr()) this.#onFailure(life, started.error, 0);
  }

  #onStarted(life: AbortController, connection: ServerConnection): ServerEvents {
    this.#connection = connection;
    this.#availableMs = this.#options.clock.elapsedMs();
    this.#set('available');
    this.#options.onToolsChanged();
    return {
      onToolsChanged: coalesced(() => this.#readToolsAgain(life, connection)),
      onLost: (reason) => this.#onLost(life, connection, reason),
    };
  }

  async #readToolsAgain(life: AbortController, connection: ServerConnection): Promise<void> {
    if (connection !== this.#connection) return;
    const { logger, clock, onToolsChanged, definition } = this.#options;
    const { name, startupTimeoutMs } = definition;
    const startedMs = clock.elapsedMs();
    // A server that does not answer must not prevent that later changes are noticed.
    const { outcome: listed } = await withDeadline(clock, startupTimeoutMs, life.signal, async (limit) =>
      this.list.read(connection, limit),
    );
    if (connection !== this.#connection) return;
    if (listed.isOk()) onToolsChanged();
    else logger.warn(`gateway: ${name}: ${listed.error}; the list of tools stays as it was`);
    // The reading of a large list takes at most a tenth of the time.
    await clock.sleep(Math.min(10_000, 10 * (clock.elapsedMs() - startedMs)), life.signal);
  }

  #onLost(life: AbortController, connection: ServerConnection, reason: string): void {
    if (connection !== this.#connection) return;
    this.#disconnect();
    this.#onFailure(life, reason, this.#options.clock.elapsedMs() - this.#availableMs);
  }

  #onFailure(life: AbortController, reason: string, healthyMs: number): void {
    const { clock, logger, definition } = this.#options;
    const required = this.#options.server.login?.required;
    const isOver = required !== undefined || definition.restart === 'never';
    const delayMs = isOver ? undefined : this.#delayAfterFailure(healthyMs);
    this.#lastError = required ?? reason;
    if (delayMs === undefined) {
      this.#set(required === undefined ? 'failed' : 'login_required');
      logger.warn(`gateway: ${definition.name} ${required ?? `failed and is not started again: ${reason}`}`);
      return;
    }
    this.#set('unavailable');
    logger.warn(`gateway: ${definition.name} is unavailable and is started again in ${delayMs / 1000} s: ${reason}`);
    this.#retryMs = clock.elapsedMs() + delayMs;
    void clock.sleep(delayMs, life.signal).then((outcome) => (outcome === 'elapsed' ? this.#attempt(life) : undefined));
  }

  #set(state: ServerState): void {
    if (state !== this.#state) this.#since = this.#options.clock.now();
    this.#state = state;
  }
}

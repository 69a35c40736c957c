import { EVERYTHING, type Rights } from '../../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../../domain/gateway/gateway-tool.ts';
import type { ServerState } from '../../domain/gateway/tool-call-error.ts';
import { untilAborted } from '../async/deadline.ts';
import { Places } from '../async/places.ts';
import { coalesced } from '../async/shared-runs.ts';
import type { ServerConnection, ServerEvents } from '../ports/tool-server.ts';
import type { ServerDefinition } from './server-definition.ts';
import { ServerDescription, type ServerStatus, type SupervisorOptions, toStatus } from './server-description.ts';
import { IdleTimer, LastFailure, type Phase, Restarts, restartGate, StartGate, startServer } from './server-life.ts';
import type { ToolList } from './tool-list.ts';

/** Starts a server when it is needed, keeps its lists, starts it again after a failure, and stops it when it is idle. */
export class ServerSupervisor {
  readonly definition: ServerDefinition;
  readonly fingerprint: string;
  readonly #options: SupervisorOptions;
  /** Limits the calls that run on this server, and the waiting calls of each caller. */
  readonly places: Places;
  /** The tools that the server last listed, also after it was lost. */
  readonly list: ToolList;
  readonly description: ServerDescription;
  readonly #restarts: Restarts;
  #phase: Phase;
  #since: Date;
  #starts = 0;
  readonly failure: LastFailure;
  /** Aborts when the current start, or the wait for the next one, is obsolete. */
  #life = new AbortController();
  /** Settles when the previous process is gone. */
  #closing: Promise<void> = Promise.resolve();
  #forgetLogin: (() => void) | undefined;
  readonly #idle: IdleTimer;

  constructor(options: SupervisorOptions) {
    const { definition, clock } = options;
    this.#options = options;
    this.definition = definition;
    this.fingerprint = options.fingerprint;
    this.description = new ServerDescription(options, this);
    this.list = this.description.tools;
    this.#idle = new IdleTimer(clock, definition.idleMs, () => this.#rest());
    this.#restarts = new Restarts(clock);
    this.failure = new LastFailure(options.isShared === true);
    this.#phase = { kind: this.startsAtOnce ? 'due' : 'idle', settled: new StartGate() };
    this.#since = clock.now();
    this.places = options.places ?? new Places(definition.maxConcurrency, definition.maxConcurrency);
  }

  /** Whether the server starts without a call. */
  get startsAtOnce(): boolean {
    const isUsed = this.#options.perCaller === undefined;
    return isUsed && (this.definition.start === 'at_once' || this.description.known === undefined);
  }

  get connection(): ServerConnection | undefined {
    return this.#phase.kind === 'available' ? this.#phase.connection : undefined;
  }

  /** Whether a request uses the server now. */
  get isUsed(): boolean {
    return this.#idle.isUsed;
  }

  /** Whether a call has to wait for a start. */
  get isIdle(): boolean {
    return this.gate !== undefined;
  }

  /** The tools that callers can use. */
  get tools(): readonly GatewayTool[] {
    return this.description.isOffered ? this.list.current.offered : [];
  }

  /** The tools that are not offered, because they are new or have changed since they were approved. */
  get changed(): readonly GatewayTool[] {
    return this.description.isOffered ? this.list.current.changed : [];
  }

  get status(): ServerStatus {
    return this.statusFor(EVERYTHING);
  }

  /** The state of the server for people and monitoring, with the tools that these rights allow. */
  statusFor(rights: Rights): ServerStatus {
    const { isOffered, known } = this.description;
    const life = {
      state: this.#state,
      since: this.#since,
      starts: this.#starts,
      lastError: this.failure.toText(rights),
      kept: this.connection === undefined && isOffered ? known : undefined,
      leftOut: isOffered ? this.description.leftOut : [],
    };
    return toStatus(this, life, rights);
  }

  /** The time until the server is started again; undefined if no start is scheduled. */
  get retryAfterMs(): number | undefined {
    if (this.#phase.kind !== 'unavailable') return undefined;
    return Math.max(0, this.#phase.startMs - this.#options.clock.elapsedMs());
  }

  /** Starts the server, unless that was requested already. Resolves when the start has settled. */
  start(): Promise<void> {
    if (!this.#hasBegun) void this.#attempt(this.#life);
    return this.#whenSettled;
  }

  /** Resolves when the list of tools is known, or could not be read, or when `signal` aborts. Starts nothing. */
  async whenListed(signal: AbortSignal): Promise<void> {
    const isKnown = this.description.isOffered || this.#options.perCaller !== undefined;
    if (!isKnown) await untilAborted(this.#whenSettled, signal);
  }

  /** Resolves when a start in progress has settled, and the server's description is kept. */
  async whenStarted(signal: AbortSignal): Promise<void> {
    if (this.#phase.kind === 'idle' || this.#phase.kind === 'unavailable') return;
    await untilAborted(this.#whenSettled, signal);
    await untilAborted(this.description.whenLearned, signal);
  }

  /** Runs a task after the start that it needs, or as soon as `signal` aborts. The server is not idle until the task ends. */
  use<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#idle.during(this.isIdle ? () => untilAborted(this.start(), signal).then(task) : task);
  }

  /** Starts the server immediately in any phase except `stopped`, after which nothing would stop it again. */
  restart(): void {
    if (this.#phase.kind === 'stopped') return;
    this.#renew();
    this.#restarts.forget();
    void this.#attempt(this.#life);
  }

  /** Ends the server for good. Resolves when nothing of it is left, and its description is kept or cannot be kept. */
  async stop(): Promise<void> {
    this.#life.abort();
    this.#forgetLogin?.();
    this.#enter({ kind: 'stopped' });
    await Promise.all([this.#closing, this.description.whenKept()]);
  }

  get #state(): ServerState {
    return this.#phase.kind === 'due' ? 'starting' : this.#phase.kind;
  }

  get #hasBegun(): boolean {
    return this.#phase.kind !== 'due' && this.#phase.kind !== 'idle';
  }

  /** Opens when the start has settled for which calls wait; undefined if no call waits. */
  get gate(): StartGate | undefined {
    return 'settled' in this.#phase ? this.#phase.settled : undefined;
  }

  get #whenSettled(): Promise<void> {
    return this.gate?.opened ?? Promise.resolve();
  }

  /** Makes the current start, and the wait for the next one, obsolete. */
  #renew(): void {
    this.#life.abort();
    this.#life = new AbortController();
  }

  /** Opens the gate that only the phase before had, and closes its connection. */
  #enter(phase: Phase): void {
    const left = this.#phase;
    const [state, gate] = [this.#state, this.gate];
    this.#phase = phase;
    if (this.#state !== state) this.#since = this.#options.clock.now();
    if (this.gate !== gate) gate?.open();
    if (left.kind !== 'available') return;
    this.#idle.stop();
    this.#closing = Promise.all([this.#closing, left.connection.close()]).then(() => {});
    this.#options.onToolsChanged();
  }

  /** Stops the server until its next call. */
  #rest(): void {
    const { logger, definition } = this.#options;
    logger.debug(`gateway: ${definition.name} is stopped until its next call (idle_ms)`);
    this.#renew();
    this.#enter({ kind: 'idle', settled: new StartGate() });
  }

  async #attempt(life: AbortController): Promise<void> {
    this.#enter({ kind: 'starting', settled: this.gate ?? restartGate(this.description) });
    await this.#closing;
    if (life.signal.aborted) return;
    this.#starts += 1;
    this.#watchLogin();
    const onStarted = (connection: ServerConnection) => this.#onStarted(life, connection);
    const connecting = startServer({ ...this.#options, list: this.list, onStarted }, life.signal);
    // A start that has become obsolete must be gone before the next one begins.
    this.#closing = connecting.then(() => {});
    const started = await connecting;
    this.#watchLogin();
    if (life.signal.aborted || started.isOk()) return;
    this.failure.lastLine = undefined;
    this.#onFailure(life, started.error, 0);
    this.#options.onToolsChanged();
  }

  /** Starts the server again after a change of its login. An idle server uses the new login with its next start. */
  #watchLogin(): void {
    const { login } = this.#options.server;
    if (this.#phase.kind !== 'stopped') this.#forgetLogin ??= login?.onChanged(() => this.#hasBegun && this.restart());
  }

  #onStarted(life: AbortController, connection: ServerConnection): ServerEvents {
    this.#enter({ kind: 'available', connection, fromMs: this.#options.clock.elapsedMs() });
    this.description.learn();
    this.#idle.start();
    return {
      onToolsChanged: coalesced(() => this.description.readToolsAgain(life.signal)),
      onLost: (reason, lastLine) => this.#onLost(life, connection, reason, lastLine),
    };
  }

  #onLost(life: AbortController, connection: ServerConnection, reason: string, lastLine?: string): void {
    const phase = this.#phase;
    if (phase.kind !== 'available' || phase.connection !== connection) return;
    this.failure.lastLine = lastLine;
    this.#onFailure(life, reason, this.#options.clock.elapsedMs() - phase.fromMs);
  }

  #onFailure(life: AbortController, reason: string, healthyMs: number): void {
    const { clock, logger, definition, server } = this.#options;
    const required = server.login?.required;
    const isOver = required !== undefined || definition.restart === 'never';
    const start = () => void this.#attempt(life);
    const delayMs = isOver ? undefined : this.#restarts.schedule(start, healthyMs, life.signal);
    const isRepeated = this.failure.reason === reason && healthyMs === 0;
    this.failure.reason = required ?? reason;
    this.failure.refusal = server.login?.refusal;
    if (delayMs === undefined) {
      this.#enter({ kind: required === undefined ? 'failed' : 'login_required' });
      logger.warn(`gateway: ${definition.name} ${required ?? `failed and is not started again: ${reason}`}`);
    } else {
      const startMs = clock.elapsedMs() + delayMs;
      this.#enter({ kind: 'unavailable', startMs, settled: restartGate(this.description) });
      const line = `gateway: ${definition.name} is unavailable and is started again in ${delayMs / 1000} s: ${reason}`;
      // A person who reads the reason once needs no line for each further attempt, before the last line.
      if (isRepeated) logger.debug(line);
      else logger.warn(line);
    }
  }
}

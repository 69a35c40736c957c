import { err, ok, type Result } from 'neverthrow';
import type { Rights } from '../../domain/gateway/call-origin.ts';
import { clip } from '../../domain/values/clean-text.ts';
import type { Kind } from '../../domain/values/kind.ts';
import { withDeadline } from '../async/deadline.ts';
import { coalesced } from '../async/shared-runs.ts';
import { GrowingWait } from '../async/waits.ts';
import type { Clock, Services } from '../ports/services.ts';
import type { ChangingList, OnListChanged, ServerConnection, ServerEvents, ToolServer } from '../ports/tool-server.ts';
import { MAX_REASON, type ToolList } from './tool-list.ts';

interface StartOptions extends Pick<Services, 'clock'> {
  readonly definition: { readonly name: string; readonly startupTimeoutMs: number };
  readonly server: ToolServer;
  readonly list: ToolList;
  readonly onListChanged?: OnListChanged | undefined;
  /** Called when the list of tools is known. Returns the receiver of the connection's events, none of which is lost before. */
  readonly onStarted: (connection: ServerConnection) => ServerEvents;
}

/** Connects a server, and reads its list of tools. An error is the reason, for people; nothing of the server remains then. */
export async function startServer(options: StartOptions, signal: AbortSignal): Promise<Result<void, string>> {
  const { server, list, clock, onStarted, definition, onListChanged } = options;
  const { name, startupTimeoutMs: timeoutMs } = definition;
  let events: ServerEvents | undefined;
  let hasChanged = false;
  let lostReason: string | undefined;
  const early: ServerEvents = {
    onToolsChanged: () => {
      hasChanged = true;
      events?.onToolsChanged();
    },
    onListChanged: onListChanged && announcements((list) => onListChanged(name, list), clock, signal),
    onLost: (reason, lastLine) => {
      // Before the first call, the line contains no input.
      lostReason = lastLine === undefined ? reason : `${reason}: ${lastLine}`;
      events?.onLost(reason, lastLine);
    },
  };
  const { outcome, isTimedOut } = await withDeadline(clock, timeoutMs, signal, async (limit) => {
    const connected = await server.connect(early, limit);
    hasChanged = false;
    return { connected, listed: await connected.asyncAndThen((connection) => list.read(connection, limit)) };
  });
  const { connected, listed } = outcome;
  const isOver = isTimedOut || signal.aborted;
  if (connected.isOk() && listed.isOk() && !isOver && lostReason === undefined) {
    events = onStarted(connected.value);
    if (hasChanged) events.onToolsChanged();
    return ok(undefined);
  }
  if (connected.isOk()) await connected.value.close();
  if (isOver) return err(`no list of tools within ${timeoutMs / 1000} s (startup_timeout)`);
  return (lostReason === undefined ? listed : err(lostReason)).mapErr((reason) => clip(reason, MAX_REASON));
}

/** Passes on that a list has changed. A server that says so all the time is passed on ever more rarely, and its last notice is not lost. */
function announcements(announce: (list: ChangingList) => void, clock: Clock, signal: AbortSignal) {
  const announcing = (list: ChangingList) => {
    const wait = new GrowingWait(clock);
    return coalesced(async () => {
      announce(list);
      await clock.sleep(wait.next(), signal);
    });
  };
  const byList = { prompts: announcing('prompts'), resources: announcing('resources') };
  return (list: ChangingList) => byList[list]();
}

/**
 * What a server does. It is `due` if it starts without a call, but has not begun. `settled` opens when the next start has settled; until then, calls
 * wait for it. A server that has never listed its tools has none after a failure: its calls learn the reason at once.
 */
export type Phase =
  | Kind<'due' | 'idle', { settled: StartGate }>
  | Kind<'starting', { settled: StartGate | undefined }>
  | Kind<'available', { connection: ServerConnection; fromMs: number }>
  /** Waits for its next start. */
  | Kind<'unavailable', { startMs: number; settled: StartGate | undefined }>
  | Kind<'failed' | 'login_required' | 'stopped'>;

/** A gate that opens once. Waits end when it opens. */
export class StartGate {
  readonly opened: Promise<void>;
  /** Whether the start replaces a connection that was lost or ended. */
  readonly isRestart: boolean;
  #resolve = (): void => {};

  constructor(isRestart = false) {
    this.isRestart = isRestart;
    this.opened = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  open(): void {
    this.#resolve();
  }
}

/** The gate of a start after a failure or by request; none if the tools of the server are not known. */
export function restartGate({ known }: { readonly known: object | undefined }): StartGate | undefined {
  return known && new StartGate(true);
}

/** The delays before a restart after each failure in a row. After one more failure, the server is not started again. */
const DELAYS_MS = [1000, 2000, 4000, 8000];
/** After this time without a failure, the next failure counts as the first. */
const HEALTHY_MS = 30_000;

/** Starts a server again after its failures. */
export class Restarts {
  readonly #clock: Clock;
  #failures = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lets the next failure count as the first. */
  forget(): void {
    this.#failures = 0;
  }

  /**
   * Starts the server after a delay, unless `signal` aborts. Returns the delay; undefined after too many failures in a row. `healthyMs` is the time
   * for which the server was available before.
   */
  schedule(start: () => void, healthyMs: number, signal: AbortSignal): number | undefined {
    this.#failures = healthyMs >= HEALTHY_MS ? 1 : this.#failures + 1;
    const delayMs = DELAYS_MS[this.#failures - 1];
    if (delayMs === undefined) return undefined;
    void this.#clock.sleep(delayMs, signal).then((outcome) => (outcome === 'elapsed' ? start() : undefined));
    return delayMs;
  }
}

/** Reports when a server has not been used for `idleMs`. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #users = 0;
  #usedMs = 0;
  #cancel = (): void => {};

  /** `idleMs` of 0 means never. */
  constructor(clock: Clock, idleMs: number, onIdle: () => void) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  get isUsed(): boolean {
    return this.#users > 0;
  }

  /** Runs a task, until whose end the server is not idle. */
  async during<T>(task: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await task();
    } finally {
      this.#users -= 1;
      this.#usedMs = this.#clock.elapsedMs();
    }
  }

  /** Called at the start of the server. `stop` ends the timer. */
  start(): void {
    this.stop();
    this.#usedMs = this.#clock.elapsedMs();
    if (this.#idleMs > 0) this.#wait(this.#idleMs);
  }

  stop(): void {
    this.#cancel();
  }

  /** Looks after `ms` whether there were tasks in the meantime, because a timer for each of many tasks costs more. */
  #wait(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      const idleMs = this.#users > 0 ? 0 : this.#clock.elapsedMs() - this.#usedMs;
      if (idleMs < this.#idleMs) this.#wait(this.#idleMs - idleMs);
      else this.#onIdle();
    });
  }
}

/** The reason of a server's last failure. */
export class LastFailure {
  /** Whether callers share the server. Its last line may then contain the input of another caller. */
  readonly #isShared: boolean;
  reason: string | undefined;
  /** Why the issuer refused the login. */
  refusal: string | undefined;
  /** The last line of the process, if it was lost after its start. */
  lastLine: string | undefined;

  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** The reason for a caller with these rights. */
  toText(rights: Rights): string | undefined {
    return this.reason && this.explained(this.reason, rights);
  }

  /** Adds the last line to the reason, for callers who may read the inputs of all others. */
  explained(reason: string, rights: Rights): string {
    if (this.lastLine === undefined) return reason;
    const mayRead = !this.#isShared || (rights.isOperator && !rights.isForEveryone);
    return mayRead ? `${reason}: ${this.lastLine}` : `${reason}; see the log`;
  }
}

import type { Clock } from '../../../application/ports/clock.ts';

/** The longest that one call's Retry-After may hold others back: a wrong one must not stop the server for a day. */
const LONGEST_HOLD_MS = 60_000;

/** What came of waiting for a place. `held` says that the API asked to wait beyond the caller's deadline. */
export type Entry = 'entered' | 'aborted' | 'held';

/** Who wants to go through. A deadline may move while it waits, as others join a search. */
interface Caller {
  readonly deadlineMs: number;
}

interface Waiting {
  readonly caller: Caller;
  readonly settle: (entry: Entry) => void;
}

/**
 * Lets at most so many calls through to the API at a time; the others wait in the order of their arrival. After the API
 * asked to wait, nobody goes through until then, so that a storm ends instead of feeding itself.
 */
export class UpstreamGate {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #queue = new Set<Waiting>();
  #running = 0;
  #heldUntilMs = 0;
  #isHolding = false;

  constructor(most: number, clock: Clock) {
    this.#most = most;
    this.#clock = clock;
  }

  /** How many calls would go first. */
  get ahead(): number {
    return this.#queue.size;
  }

  /** How long nobody goes through, in milliseconds. */
  get heldForMs(): number {
    return Math.max(0, this.#heldUntilMs - this.#clock.elapsedMs());
  }

  get isOpen(): boolean {
    return this.#running < this.#most && this.#queue.size === 0 && this.heldForMs === 0;
  }

  /** Whether nobody goes through before a caller gives up, on the clock's `elapsedMs` scale. */
  isHeldBeyond({ deadlineMs }: Caller): boolean {
    return this.heldForMs > 0 && this.#heldUntilMs >= deadlineMs;
  }

  /** Waits for a place, as long as there may be one before the deadline. Whoever entered gives it back with `leave`. */
  async enter(caller: Caller, signal: AbortSignal): Promise<Entry> {
    if (signal.aborted) return 'aborted';
    if (this.isHeldBeyond(caller)) return 'held';
    if (this.isOpen) {
      this.#running += 1;
      return 'entered';
    }
    return new Promise((resolve) => {
      const onAbort = () => waiting.settle('aborted');
      const waiting: Waiting = {
        caller,
        settle: (entry) => {
          this.#queue.delete(waiting);
          signal.removeEventListener('abort', onAbort);
          resolve(entry);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(waiting);
      this.#admit();
    });
  }

  leave(): void {
    this.#running -= 1;
    this.#admit();
  }

  /** The API asked to wait: all others wait as well, and who cannot wait for so long hears of it at once. */
  holdBack(waitMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#clock.elapsedMs() + Math.min(waitMs, LONGEST_HOLD_MS));
    for (const waiting of this.#queue) {
      if (this.isHeldBeyond(waiting.caller)) waiting.settle('held');
    }
  }

  #admit(): void {
    if (this.#queue.size === 0) return;
    if (this.heldForMs > 0) {
      void this.#admitLater();
      return;
    }
    for (const waiting of this.#queue) {
      if (this.#running >= this.#most) return;
      this.#running += 1;
      waiting.settle('entered');
    }
  }

  async #admitLater(): Promise<void> {
    if (this.#isHolding) return;
    this.#isHolding = true;
    while (this.heldForMs > 0) {
      const until = this.#heldUntilMs;
      await this.#clock.sleep(Math.ceil(this.heldForMs), NEVER);
      // Unless another call was asked to wait longer meanwhile.
      if (this.#heldUntilMs === until) this.#heldUntilMs = 0;
    }
    this.#isHolding = false;
    this.#admit();
  }
}

const NEVER = new AbortController().signal;

import type { Clock } from '../../../application/ports/clock.ts';

/** The longest that one call's Retry-After may hold others back: a wrong one must not stop the server for a day. */
const LONGEST_HOLD_MS = 60_000;

interface Waiting {
  readonly admit: () => void;
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

  /** Waits for a place; false if `signal` aborted before. Whoever got one gives it back with `leave`. */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.isOpen) {
      this.#running += 1;
      return true;
    }
    return new Promise((resolve) => {
      const onAbort = () => {
        this.#queue.delete(waiting);
        resolve(false);
      };
      const waiting: Waiting = {
        admit: () => {
          signal.removeEventListener('abort', onAbort);
          resolve(true);
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

  /** The API asked to wait: new calls wait as well. */
  holdBack(waitMs: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, this.#clock.elapsedMs() + Math.min(waitMs, LONGEST_HOLD_MS));
  }

  #admit(): void {
    if (this.#queue.size === 0) return;
    if (this.heldForMs > 0) {
      void this.#admitLater();
      return;
    }
    for (const waiting of this.#queue) {
      if (this.#running >= this.#most) return;
      this.#queue.delete(waiting);
      this.#running += 1;
      waiting.admit();
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

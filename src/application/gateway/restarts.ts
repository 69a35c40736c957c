import type { Clock } from '../ports/clock.ts';

/** The delays before a restart after each failure in a row. After one more failure, the server is not started again. */
const DELAYS_MS = [1000, 2000, 4000, 8000];
/** After this time without a failure, the next failure counts as the first. */
const HEALTHY_MS = 30_000;

/** Starts a server again after its failures. */
export class Restarts {
  readonly #clock: Clock;
  #failures = 0;
  #startMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The time until the server is started again; undefined if no start is scheduled. */
  get retryAfterMs(): number | undefined {
    return this.#startMs === undefined ? undefined : Math.max(0, this.#startMs - this.#clock.elapsedMs());
  }

  /** Lets the next failure count as the first. */
  forget(): void {
    this.#failures = 0;
  }

  /** Marks that no start is scheduled any more. */
  clear(): void {
    this.#startMs = undefined;
  }

  /**
   * Starts the server after a delay, unless `signal` aborts. Returns the delay; undefined after too many failures in a row. `healthyMs` is the time
   * for which the server was available before.
   */
  schedule(start: () => void, healthyMs: number, signal: AbortSignal): number | undefined {
    this.#failures = healthyMs >= HEALTHY_MS ? 1 : this.#failures + 1;
    const delayMs = DELAYS_MS[this.#failures - 1];
    if (delayMs === undefined) return undefined;
    this.#startMs = this.#clock.elapsedMs() + delayMs;
    void this.#clock.sleep(delayMs, signal).then((outcome) => (outcome === 'elapsed' ? start() : undefined));
    return delayMs;
  }
}

import type { Clock } from '../ports/clock.ts';

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** After this time without a failure, the next counts as the first. */
const HEALTHY_MS = 30_000;
const MAX_FAILURES = 5;

/**
 * When a server that failed is started again: a function that returns the time until then
 * after each failure, and undefined after the last in a row. `healthyMs` is how long the server was available before.
 */
export function restartBackoff(maxFailures = MAX_FAILURES): (healthyMs: number) => number | undefined {
  let failures = 0;
  return (healthyMs) => {
    failures = healthyMs >= HEALTHY_MS ? 1 : failures + 1;
    return failures >= maxFailures ? undefined : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1));
  };
}

/** Starts a server again after its failures. */
export class Restarts {
  readonly #clock: Clock;
  #delayAfterFailure = restartBackoff();
  #startMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long until the server is started again; undefined if no start is scheduled. */
  get retryAfterMs(): number | undefined {
    return this.#startMs === undefined ? undefined : Math.max(0, this.#startMs - this.#clock.elapsedMs());
  }

  /** The next failure is the first. */
  forget(): void {
    this.#delayAfterFailure = restartBackoff();
  }

  /** No start is scheduled any more. */
  clear(): void {
    this.#startMs = undefined;
  }

  /** Starts the server after a delay, which is returned, unless `signal` aborts; undefined after the last failure in a row. */
  schedule(start: () => void, healthyMs: number, signal: AbortSignal): number | undefined {
    const delayMs = this.#delayAfterFailure(healthyMs);
    if (delayMs === undefined) return undefined;
    this.#startMs = this.#clock.elapsedMs() + delayMs;
    void this.#clock.sleep(delayMs, signal).then((outcome) => (outcome === 'elapsed' ? start() : undefined));
    return delayMs;
  }
}

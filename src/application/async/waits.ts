import type { Clock } from '../ports/services.ts';

const MAX_MS = 60_000;

/** The wait before something that happens again and again: after the first few, each is twice as long as the one before, until it was quiet for a minute. */
export class GrowingWait {
  readonly #clock: Clock;
  readonly #firstMs: number;
  readonly #atOnce: number;
  #count = 0;
  #endMs = Number.NEGATIVE_INFINITY;

  /** By default, the first waits are 0, because servers announce several changes while they start. */
  constructor(clock: Clock, firstMs = 10, atOnce = 4) {
    this.#clock = clock;
    this.#firstMs = firstMs;
    this.#atOnce = atOnce;
  }

  /** The length in milliseconds of the next wait, which begins now. */
  next(): number {
    const nowMs = this.#clock.elapsedMs();
    if (nowMs - this.#endMs >= MAX_MS) this.#count = 0;
    const ms = this.#count < this.#atOnce ? 0 : Math.min(MAX_MS, this.#firstMs * 2 ** (this.#count - this.#atOnce));
    this.#count += 1;
    this.#endMs = nowMs + ms;
    return ms;
  }
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** Repeats an attempt until it succeeds or `signal` aborts. The waits grow, because what was away for long is probably away for longer. */
export async function repeatUntil(attempt: () => Promise<boolean>, clock: Clock, signal: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted && !(await attempt())) {
    await clock.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

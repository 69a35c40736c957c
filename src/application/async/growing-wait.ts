import type { Clock } from '../ports/clock.ts';

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

import type { Clock } from '../ports/clock.ts';

/** So many waits are 0, because servers announce several changes while they start. */
const AT_ONCE = 4;
const FIRST_MS = 10;
const MAX_MS = 60_000;

/** The wait before something that others ask for again and again: after the first few, each is twice as long as the one before, until it was quiet for a minute. */
export class GrowingWait {
  readonly #clock: Clock;
  #count = 0;
  #endMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The length in milliseconds of the next wait, which begins now. */
  next(): number {
    const nowMs = this.#clock.elapsedMs();
    if (nowMs - this.#endMs >= MAX_MS) this.#count = 0;
    const ms = this.#count < AT_ONCE ? 0 : Math.min(MAX_MS, FIRST_MS * 2 ** (this.#count - AT_ONCE));
    this.#count += 1;
    this.#endMs = nowMs + ms;
    return ms;
  }
}

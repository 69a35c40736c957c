import { RestartBackoff } from '../../../application/gateway/restart-backoff.ts';
import type { Clock } from '../../../application/ports/clock.ts';

const MAX_DELAY_MS = 60_000;

/** When an event stream that ended is opened again. The delay grows while streams end soon, so that no server sets the pace. */
export class ReopenPace {
  readonly #clock: Clock;
  readonly #backoff = new RestartBackoff(Number.POSITIVE_INFINITY);
  #openedMs: number;

  /** The first stream is opened now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#openedMs = clock.elapsedMs();
  }

  /** The time until the next stream is opened: 1 s to 60 s, and what the server asked for if that lies between. */
  delayMs(askedMs = 0): number {
    const nowMs = this.#clock.elapsedMs();
    const ownMs = this.#backoff.delayAfterFailure(nowMs - this.#openedMs) ?? MAX_DELAY_MS;
    const delayMs = Math.max(ownMs, Math.min(askedMs, MAX_DELAY_MS));
    this.#openedMs = nowMs + delayMs;
    return delayMs;
  }
}

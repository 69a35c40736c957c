import { AbortControllers } from './abort-controllers.ts';
import type { Clock } from './ports/clock.ts';

/** What a limited task resolved with, and whether its time was over. */
export interface Limited<T> {
  readonly outcome: T;
  readonly isTimedOut: boolean;
}

const TIMED_OUT = 'timed out';

/** Gives tasks a signal that aborts with that of the caller, or when their time is over. */
export class TimeLimits {
  readonly #clock: Clock;
  readonly #controllers = new AbortControllers();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The task must leave no listener on its signal when it has ended, and must not use the signal after that. */
  async run<T>(
    timeoutMs: number,
    callerSignal: AbortSignal,
    task: (signal: AbortSignal) => Promise<T>,
  ): Promise<Limited<T>> {
    const limit = this.#controllers.take();
    const onAbort = () => limit.abort(callerSignal.reason);
    if (callerSignal.aborted) onAbort();
    callerSignal.addEventListener('abort', onAbort, { once: true });
    const cancelTimer = this.#clock.after(timeoutMs, () => limit.abort(TIMED_OUT));
    try {
      const outcome = await task(limit.signal);
      return { outcome, isTimedOut: limit.signal.reason === TIMED_OUT };
    } finally {
      cancelTimer();
      callerSignal.removeEventListener('abort', onAbort);
      this.#controllers.giveBack(limit);
    }
  }
}

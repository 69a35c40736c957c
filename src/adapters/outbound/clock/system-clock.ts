import type { Clock } from '../../../application/ports/clock.ts';

/** The longest wait that Node's timers accept; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export class SystemClock implements Clock {
  now(): Date {
    return new Date();
  }

  elapsedMs(): number {
    return performance.now();
  }

  /** Not `timers/promises`: it creates an exception for every wait that is aborted, and every call has one. */
  sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    const untilMs = this.elapsedMs() + ms;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve('aborted');
      let timer: NodeJS.Timeout | undefined;
      const onAbort = () => {
        clearTimeout(timer);
        resolve('aborted');
      };
      // Node's timers may fire up to a millisecond early.
      const waitForRest = () => {
        const leftMs = untilMs - this.elapsedMs();
        if (leftMs > 0) {
          timer = setTimeout(waitForRest, Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS));
          return;
        }
        signal.removeEventListener('abort', onAbort);
        resolve('elapsed');
      };
      signal.addEventListener('abort', onAbort, { once: true });
      waitForRest();
    });
  }
}

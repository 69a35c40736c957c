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

  async sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    const untilMs = this.elapsedMs() + ms;
    // Node's timers may fire up to a millisecond early.
    for (let leftMs = ms; leftMs > 0; leftMs = untilMs - this.elapsedMs()) {
      if ((await wait(Math.min(Math.ceil(leftMs), LONGEST_TIMER_MS), signal)) === 'aborted') return 'aborted';
    }
    return signal.aborted ? 'aborted' : 'elapsed';
  }
}

/** Not `timers/promises`: it creates an exception for every wait that is aborted, and every call has one. */
function wait(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve('aborted');
    const onAbort = () => {
      clearTimeout(timer);
      resolve('aborted');
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve('elapsed');
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

import type { Clock } from '../../../application/ports/clock.ts';

/** The longest wait that Node's timers take; a longer one would fire at once. */
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
    let leftMs = ms;
    while (leftMs > LONGEST_TIMER_MS) {
      if ((await wait(LONGEST_TIMER_MS, signal)) === 'aborted') return 'aborted';
      leftMs -= LONGEST_TIMER_MS;
    }
    return wait(leftMs, signal);
  }
}

function wait(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve('aborted');
      return;
    }
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

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

  sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve('aborted');
      if (ms <= 0) return resolve('elapsed');
      const onAbort = () => {
        cancel();
        resolve('aborted');
      };
      const cancel = this.after(ms, () => {
        signal.removeEventListener('abort', onAbort);
        resolve('elapsed');
      });
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Not `timers/promises`: it creates an exception for every wait that is aborted, and every call has one. */
  after(ms: number, run: () => void): () => void {
    const untilMs = this.elapsedMs() + ms;
    // Node's timers may fire up to a millisecond early.
    const onTimer = () => {
      const leftMs = untilMs - this.elapsedMs();
      if (leftMs > 0) timer = start(leftMs);
      else run();
    };
    const start = (leftMs: number) => setTimeout(onTimer, Math.min(Math.max(0, Math.ceil(leftMs)), LONGEST_TIMER_MS));
    let timer = start(ms);
    return () => clearTimeout(timer);
  }
}

import { untilAborted } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/services.ts';

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
    let cancel = () => {};
    const elapsed = new Promise<'elapsed'>((resolve) => {
      cancel = this.after(ms, () => resolve('elapsed'));
    });
    return untilAborted(elapsed, signal).finally(cancel);
  }

  /** Does not use `timers/promises`, which creates an exception for every aborted wait: every call has one. */
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

import type { Clock } from '../ports/clock.ts';

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

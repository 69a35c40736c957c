import { forwardAbort } from './forward-abort.ts';
import type { Clock } from './ports/clock.ts';

/** Runs `task` with a signal that aborts with `signal`, and after `ms`; `isOver` is whether it did. Leaves no timer and no listener. */
export async function withTimeLimit<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<{ readonly outcome: T; readonly isOver: boolean }> {
  const limit = new AbortController();
  const stopForwarding = forwardAbort(signal, limit);
  void clock.sleep(ms, limit.signal).then((outcome) => {
    if (outcome === 'elapsed') limit.abort();
  });
  const outcome = await task(limit.signal);
  const isOver = limit.signal.aborted;
  limit.abort();
  stopForwarding();
  return { outcome, isOver };
}

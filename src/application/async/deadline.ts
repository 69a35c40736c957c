import type { Clock } from '../ports/services.ts';

/** A signal that never aborts; one for each use, since Node.js warns about more than ten listeners. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

/** The reason of an abort because a time limit has passed. */
export const TIMED_OUT = 'timed out';
/** The reason of an abort because the client cancels the call. After any other reason, a search that takes minutes continues at the API. */
export const CANCELLED = 'cancelled';
/** The reason of an abort because the client has closed the connection. */
export const DISCONNECTED = 'disconnected';

/** Aborts `controller` with `signal`. Returns a function that removes the listener. (`AbortSignal.any` leaks on Node.js 20.) */
export function forwardAbort(signal: AbortSignal, controller: AbortController): () => void {
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** Stops the clock of a time limit. Returns a function that lets it go on. */
export type Pause = () => () => void;

const NO_PAUSE: Pause = () => () => {};

/**
 * Runs `task` with a signal that aborts with `signal`, for the same reason, or after `ms`. `isTimedOut` is true if the time limit passed first.
 * Leaves no timer and no listener. If `ms` is infinite, the task gets `signal` itself. While the task has paused the limit, no time of it passes.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  task: (signal: AbortSignal, pause: Pause) => Promise<T>,
): Promise<{ readonly outcome: T; readonly isTimedOut: boolean }> {
  if (ms === Number.POSITIVE_INFINITY) {
    const outcome = await task(signal, NO_PAUSE);
    return { outcome, isTimedOut: signal.reason === TIMED_OUT };
  }
  const limit = new AbortController();
  const stopForwarding = forwardAbort(signal, limit);
  const timer = new PausableTimer(clock, ms, () => limit.abort(TIMED_OUT));
  try {
    const outcome = await task(limit.signal, () => timer.pause());
    return { outcome, isTimedOut: limit.signal.reason === TIMED_OUT };
  } finally {
    timer.end();
    stopForwarding();
  }
}

class PausableTimer {
  readonly #clock: Clock;
  readonly #onElapsed: () => void;
  #leftMs: number;
  #sinceMs = 0;
  #pauses = 0;
  #isEnded = false;
  #cancel = (): void => {};

  constructor(clock: Clock, ms: number, onElapsed: () => void) {
    this.#clock = clock;
    this.#leftMs = ms;
    this.#onElapsed = onElapsed;
    this.#run();
  }

  /** Several pauses end with the last of them. */
  pause(): () => void {
    this.#pauses += 1;
    if (this.#pauses === 1) {
      this.#cancel();
      this.#leftMs -= this.#clock.elapsedMs() - this.#sinceMs;
    }
    return () => {
      this.#pauses -= 1;
      if (this.#pauses === 0 && !this.#isEnded) this.#run();
    };
  }

  end(): void {
    this.#isEnded = true;
    this.#cancel();
  }

  #run(): void {
    this.#sinceMs = this.#clock.elapsedMs();
    this.#cancel = this.#clock.after(Math.max(0, this.#leftMs), this.#onElapsed);
  }
}

/** The outcome of `promise`, or `aborted` as soon as `signal` aborts. Leaves no listener. Rejects if `promise` does. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) {
    // Nothing else handles the rejection of the promise.
    promise.catch(() => {});
    return 'aborted';
  }
  let onAbort = () => {};
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => resolve('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Resolves when each of `tasks`, which never reject, has settled and was removed from the set, or after `maxMs`. */
export async function whenSettled(
  tasks: Iterable<Promise<unknown>> & { readonly size: number },
  clock: Clock,
  maxMs: number,
): Promise<void> {
  const waitForAll = async () => {
    while (tasks.size > 0) await Promise.all(tasks);
  };
  await withDeadline(clock, maxMs, never(), (limit) => untilAborted(waitForAll(), limit));
}

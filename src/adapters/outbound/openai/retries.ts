import { err, ok, type Result } from 'neverthrow';
import type { Clock } from '../../../application/ports/clock.ts';
import type { SearchObserver } from '../../../application/ports/llm-search.ts';
import type { SearchError } from '../../../domain/answer-error.ts';
import type { Failure } from './failure.ts';

export interface RetryOptions {
  /** Maximum number of attempts after the first. */
  readonly maxRetries: number;
  readonly clock: Clock;
  /** 0 to 1; spreads the retries of concurrent callers. */
  readonly random: () => number;
  /** Changes the wait after an attempt, in milliseconds. */
  readonly waitFor?: (number: number, waitMs: number) => number;
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8000;

/**
 * Calls `attempt` with the numbers 1, 2, ... until it succeeds, fails permanently, or no retry is left. This is the only
 * layer that retries (ruling 12). A failure with `changed` does not count, and must not be returned without end. It fails at once if the wait would exceed `deadlineMs`, on the clock's `elapsedMs` scale.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<Result<T, Failure>>,
  { maxRetries, clock, random, waitFor = (_, waitMs) => waitMs }: RetryOptions,
  request: { readonly deadlineMs: number },
  observer: SearchObserver,
  signal: AbortSignal,
): Promise<Result<T, SearchError>> {
  let changes = 0;
  for (let number = 1; ; number += 1) {
    if (signal.aborted) return err({ kind: 'aborted' });
    const outcome = await attempt(number);
    if (signal.aborted) return err({ kind: 'aborted' });
    if (outcome.isOk()) return ok(outcome.value);

    const { error, retry, retryAfterMs } = outcome.error;
    if (retry === 'changed') {
      changes += 1;
      continue;
    }
    if (retry === 'never' || number - changes > maxRetries) return err(error);
    if (retry === 'immediately') continue;
    const waitMs = Math.ceil(waitFor(number - changes, retryAfterMs ?? backoffMs(number - changes, random())));
    if (clock.elapsedMs() + waitMs >= request.deadlineMs) return err(error);
    observer.onProgress({ kind: 'retrying', reason: error.kind, waitMs, attempt: number + 1 });
    await clock.sleep(waitMs, signal);
  }
}

/** The wait after an attempt, in milliseconds. */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)) * (0.75 + random / 4);
}

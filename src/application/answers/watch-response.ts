import { err } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';
import type { SearchObserver, SearchOutcome, SearchRequest, StartedResponses } from '../ports/llm-search.ts';
import type { Clock } from '../ports/services.ts';

/** The intervals between looks at a response, in the first minute and later. */
const EVERY_MS = 5000;
const LATER_MS = 15_000;
const FIRST_MS = 60_000;

/** How long before the time limit of a call the response is looked at once more, so that an answer that just came is not left for the next call. */
const LAST_LOOK_MS = 2000;

/** The time until the next look before one of the time limits, on the scale of `elapsedMs`; infinite if none is left. */
export function untilLastLook(deadlines: Iterable<number>, clock: Clock): number {
  const left = [...deadlines].map((deadlineMs) => deadlineMs - LAST_LOOK_MS - clock.elapsedMs());
  return Math.min(...left.filter((ms) => ms > 0));
}

interface WatchObserver extends SearchObserver {
  readonly onLook: (searches: number) => void;
  /** Waits between two looks, at most this long. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<'elapsed' | 'aborted'>;
}

/**
 * Looks at a response until it has ended, or `signal` aborts. If a look fails for a temporary reason, looking continues, and the failure is reported
 * as a retry. `onLook` gets the number of searches so far.
 */
export async function watchResponse(
  { id, request }: { readonly id: string; readonly request: Pick<SearchRequest, 'profile' | 'timeZone'> },
  { responses, clock }: { readonly responses: StartedResponses; readonly clock: Clock },
  observer: WatchObserver,
  signal: AbortSignal,
): Promise<SearchOutcome> {
  const startedMs = clock.elapsedMs();
  for (let attempt = 2; ; attempt += 1) {
    const look = await responses.look(id, request, signal);
    if (signal.aborted) return err({ kind: 'aborted' });
    const waitMs = clock.elapsedMs() - startedMs < FIRST_MS ? EVERY_MS : LATER_MS;
    if (look.isOk()) {
      observer.onLook(look.value.searches);
      if (look.value.outcome !== undefined) return look.value.outcome;
    } else {
      const { error } = look;
      if (error.kind === 'unknown_response') return err({ kind: 'unknown_answer' });
      if (!error.isPassing) return err(interrupted(error.error));
      observer.onProgress({ kind: 'retrying', reason: error.error.kind, waitMs, attempt });
    }
    if ((await observer.pause(waitMs, signal)) === 'aborted') return err({ kind: 'aborted' });
  }
}

/** The outcome if the response continues, but cannot be looked at. */
function interrupted(reason: SearchError): SearchError {
  return reason.kind === 'aborted' ? reason : { kind: 'interrupted', reason };
}

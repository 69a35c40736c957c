import { err, ok, type Result } from 'neverthrow';
import type { SearchError } from '../../domain/answers/answer-error.ts';
import { DETACHED } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { LlmSearch, SearchObserver, SearchOutcome, SearchRequest, StartedResponse } from '../ports/llm-search.ts';
import type { Look, LookError, StartedResponses } from '../ports/started-responses.ts';

/** How often a response is looked at in its first minute, and later (ruling K9). */
const EVERY_MS = 5000;
const LATER_MS = 15_000;
const FIRST_MS = 60_000;
/** How many looks may fail in a row while a person waits (ruling K24). */
const MAX_FAILURES = 3;

interface Dependencies {
  readonly responses: StartedResponses;
  readonly clock: Clock;
}

/**
 * Looks at a response at once and again and again, until it has ended, or `signal` aborts. `onLook` gets each look. What may pass does not
 * end it, unless a person waits, who can look again.
 */
export async function watchResponse(
  id: string,
  asked: Pick<SearchRequest, 'profile' | 'timeZone' | 'isUnlimited'>,
  { responses, clock }: Dependencies,
  onLook: (look: Result<Look, LookError>) => void,
  signal: AbortSignal,
): Promise<SearchOutcome> {
  const startedMs = clock.elapsedMs();
  let failures = 0;
  for (;;) {
    const look = await responses.look(id, asked, signal);
    onLook(look);
    failures = look.isErr() ? failures + 1 : 0;
    const isPatient = asked.isUnlimited !== true || failures < MAX_FAILURES;
    const mayPass = look.isErr() && look.error.kind === 'not_looked' && look.error.isPassing && isPatient;
    const outcome = mayPass ? undefined : toOutcome(look);
    if (outcome !== undefined && look.isErr() && asked.isUnlimited === true)
      return outcome.mapErr((reason) => (reason.kind === 'aborted' ? reason : { kind: 'interrupted', reason }));
    if (outcome !== undefined) return outcome;
    const everyMs = clock.elapsedMs() - startedMs < FIRST_MS ? EVERY_MS : LATER_MS;
    if ((await clock.sleep(everyMs, signal)) === 'aborted') return err({ kind: 'aborted' });
  }
}

/** What a look says about the outcome of a search; undefined while the response is not finished. */
export function toOutcome(look: Result<Look, LookError>): SearchOutcome | undefined {
  if (look.isErr()) return err(look.error.kind === 'not_looked' ? look.error.error : UNKNOWN_RESPONSE);
  const { value } = look;
  switch (value.state) {
    case 'working':
      return undefined;
    case 'completed':
      return ok(value.reply);
    case 'cancelled':
      return err({ kind: 'search_cancelled' });
    case 'failed':
      return err(value.error);
  }
}

const UNKNOWN_RESPONSE: SearchError = { kind: 'failed', detail: 'the API no longer has the response' };

/** Continues a long search with looks when its stream breaks for good (ruling K9). */
export class WatchedSearch implements LlmSearch {
  readonly #deps: Dependencies & { readonly llmSearch: LlmSearch };

  constructor(deps: Dependencies & { readonly llmSearch: LlmSearch }) {
    this.#deps = deps;
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    const { llmSearch, responses } = this.#deps;
    let started: StartedResponse | undefined;
    const watched: SearchObserver = {
      ...observer,
      onCreated: (response) => {
        started = response;
        observer.onCreated?.(response);
      },
    };
    const outcome = await llmSearch.search(request, watched, signal);
    if (started === undefined || outcome.isOk() || outcome.error.kind !== 'interrupted') return outcome;
    const { id } = started;
    const searched = await watchResponse(id, request, this.#deps, () => {}, signal);
    if (searched.isOk()) {
      const { usage, searches } = searched.value.report;
      observer.onUsed?.({ searches, ...(usage && { usage }) });
    }
    // It was not cancelled where the stream was read.
    if (signal.aborted && signal.reason !== DETACHED) await responses.cancel(id);
    return searched;
  }
}

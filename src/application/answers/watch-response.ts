import { err, ok, type Result } from 'neverthrow';
import type { AnswerError, SearchError } from '../../domain/answers/answer-error.ts';
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

/** The end of a response, and why it is not known: `signal` aborted, or no look can show it. */
export type Ended = Result<Exclude<Look, { readonly state: 'working' }>, LookError>;

/**
 * Looks at a response at once and again and again, until it has ended, or `signal` aborts. `onLook` gets each look that shows neither. What
 * may pass does not end it, unless a person waits.
 */
export async function watchResponse(
  id: string,
  asked: Pick<SearchRequest, 'profile' | 'timeZone' | 'isUnlimited'>,
  { responses, clock }: Dependencies,
  onLook: (look: Result<Look, LookError>) => void,
  signal: AbortSignal,
): Promise<Ended> {
  const startedMs = clock.elapsedMs();
  let failures = 0;
  for (;;) {
    const look = await responses.look(id, asked, signal);
    if (look.isOk() && look.value.state !== 'working') return look as Ended;
    failures = look.isErr() ? failures + 1 : 0;
    const isPatient = asked.isUnlimited !== true || failures < MAX_FAILURES;
    if (look.isErr() && !(look.error.kind === 'not_looked' && look.error.isPassing && isPatient))
      return err(look.error);
    onLook(look);
    const everyMs = clock.elapsedMs() - startedMs < FIRST_MS ? EVERY_MS : LATER_MS;
    if ((await clock.sleep(everyMs, signal)) === 'aborted') return err(ABORTED);
  }
}

const ABORTED: LookError = { kind: 'not_looked', error: { kind: 'aborted' }, isPassing: false };

/** Continues a long search with looks when its stream breaks for good (ruling K9). */
export class WatchedSearch implements LlmSearch {
  readonly #deps: Dependencies & { readonly llmSearch: LlmSearch };

  constructor(deps: Dependencies & { readonly llmSearch: LlmSearch }) {
    this.#deps = deps;
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    let started: StartedResponse | undefined;
    const watched: SearchObserver = {
      onProgress: (progress) => observer.onProgress(progress),
      onUsed: (use) => observer.onUsed?.(use),
      onCreated: (response) => {
        started = response;
        observer.onCreated?.(response);
      },
      onOrdinary: (reason) => observer.onOrdinary?.(reason),
    };
    const outcome = await this.#deps.llmSearch.search(request, watched, signal);
    if (started === undefined || outcome.isOk() || outcome.error.kind !== 'interrupted') return outcome;
    const { id } = started;
    const searched = toOutcome(await watchResponse(id, request, this.#deps, () => {}, signal), request);
    if (searched.isOk()) {
      const { usage, searches } = searched.value.report;
      observer.onUsed?.({ searches, ...(usage && { usage }) });
    }
    // It was not cancelled where the stream was read.
    if (signal.aborted && signal.reason !== DETACHED) await this.#deps.responses.cancel(id);
    return searched;
  }
}

/** What the end of a response is as the outcome of a search. A person can look again if a look failed. */
export function toOutcome(ended: Ended, { isUnlimited }: Pick<SearchRequest, 'isUnlimited'> = {}): SearchOutcome {
  if (ended.isErr()) {
    const error: SearchError =
      ended.error.kind === 'not_looked'
        ? ended.error.error
        : { kind: 'failed', detail: 'the API no longer has the response' };
    return err(isUnlimited === true && error.kind !== 'aborted' ? { kind: 'interrupted', reason: error } : error);
  }
  const { value } = ended;
  if (value.state === 'failed') return err(value.error);
  if (value.state === 'cancelled') return err({ kind: 'search_cancelled' });
  return ok(value.reply);
}

export function toAnswerError(error: SearchError): AnswerError {
  return error.kind === 'aborted' ? { kind: 'cancelled' } : error;
}

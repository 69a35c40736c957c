import { err } from 'neverthrow';
import { untilAborted } from '../async/deadline.ts';
import type { LlmSearch, SearchObserver, SearchOutcome, SearchProgress, SearchRequest } from '../ports/llm-search.ts';

/** A search in flight, and the observers of the callers that wait for it. */
interface InFlight {
  readonly waiting: Set<SearchObserver>;
  readonly controller: AbortController;
  readonly outcome: Promise<SearchOutcome>;
  latest: SearchProgress | undefined;
}

/**
 * Lets a caller who repeats a question join its search, for example after a time-out of the client. Each call has its own progress and
 * can abort on its own; the search ends when no call waits for it. Questions with own tools are never shared, because their calls may have effects.
 */
export class CoalescingSearch implements LlmSearch {
  readonly #llmSearch: LlmSearch;
  readonly #inFlight = new Map<string, InFlight>();

  constructor(llmSearch: LlmSearch) {
    this.#llmSearch = llmSearch;
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    if (signal.aborted) return err({ kind: 'aborted' });
    const { by, question, profile, today, mode } = request;
    if (mode !== 'web') return this.#llmSearch.search(request, observer, signal);
    const key = JSON.stringify([by.caller, question, profile, today]);
    const search = this.#inFlight.get(key) ?? this.#start(key, request);
    // One object per call, because the same observer may wait twice.
    const call: SearchObserver = {
      onProgress: (progress) => observer.onProgress(progress),
      onUsed: (use) => observer.onUsed?.(use),
    };
    search.waiting.add(call);
    // Removed at once, so that a caller who cancels and asks again starts a new search.
    const leave = () => {
      search.waiting.delete(call);
      if (search.waiting.size > 0) return;
      this.#forget(key, search);
      search.controller.abort();
    };
    signal.addEventListener('abort', leave, { once: true });
    if (search.latest !== undefined) observer.onProgress(search.latest);
    const outcome = await untilAborted(search.outcome, signal);
    signal.removeEventListener('abort', leave);
    const [first] = search.waiting;
    if (outcome === 'aborted') return err({ kind: 'aborted' });
    if (first === call) return outcome;
    return outcome.map((reply) => ({ ...reply, report: { ...reply.report, isShared: true as const } }));
  }

  #start(key: string, request: SearchRequest): InFlight {
    const waiting = new Set<SearchObserver>();
    const controller = new AbortController();
    const observer: SearchObserver = {
      onProgress: (progress) => {
        search.latest = progress;
        for (const call of waiting) call.onProgress(progress);
      },
      // Only one of the calls accounts for the use.
      onUsed: (use) => [...waiting][0]?.onUsed?.(use),
    };
    // Starts in a microtask, after the first call was added.
    const outcome = Promise.resolve()
      .then(() => this.#llmSearch.search(request, observer, controller.signal))
      .finally(() => this.#forget(key, search));
    const search: InFlight = { waiting, controller, outcome, latest: undefined };
    this.#inFlight.set(key, search);
    return search;
  }

  /** Forgets a search, so that later calls start a new one. */
  #forget(key: string, search: InFlight): void {
    if (this.#inFlight.get(key) === search) this.#inFlight.delete(key);
  }
}

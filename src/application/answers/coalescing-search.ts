import { err } from 'neverthrow';
import type { LlmSearch, SearchObserver, SearchOutcome, SearchProgress, SearchRequest } from '../ports/llm-search.ts';

/** A call that waits for a search. */
interface WaitingCall {
  readonly observer: SearchObserver;
  readonly settle: (outcome: SearchOutcome) => void;
  readonly fail: (bug: unknown) => void;
}

/** A search in flight, and the calls that wait for it. */
interface InFlight {
  readonly waiting: Set<WaitingCall>;
  readonly controller: AbortController;
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
    const key = JSON.stringify([by.caller, by.subject, question, profile, today]);
    const known = this.#inFlight.get(key);
    const search: InFlight = known ?? { waiting: new Set(), controller: new AbortController(), latest: undefined };
    this.#inFlight.set(key, search);
    let leave = () => {};
    const outcome = new Promise<SearchOutcome>((settle, fail) => {
      const call: WaitingCall = { observer, settle, fail };
      search.waiting.add(call);
      // Removed at once, so that a caller who cancels and asks again starts a new search.
      leave = () => {
        search.waiting.delete(call);
        settle(err({ kind: 'aborted' }));
        if (search.waiting.size > 0) return;
        this.#forget(key, search);
        search.controller.abort();
      };
    });
    signal.addEventListener('abort', leave, { once: true });
    if (known === undefined) void this.#run(key, search, request);
    else if (search.latest !== undefined) observer.onProgress(search.latest);
    try {
      return await outcome;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Searches for the calls that wait. Only the first of them accounts for the use. */
  async #run(key: string, search: InFlight, request: SearchRequest): Promise<void> {
    const { waiting, controller } = search;
    const observer: SearchObserver = {
      onProgress: (progress) => {
        search.latest = progress;
        for (const call of waiting) call.observer.onProgress(progress);
      },
      onUsed: (use) => [...waiting][0]?.observer.onUsed?.(use),
    };
    try {
      const outcome = await this.#llmSearch.search(request, observer, controller.signal);
      const [first] = waiting;
      const shared = outcome.map((reply) => ({ ...reply, report: { ...reply.report, isShared: true as const } }));
      for (const call of waiting) call.settle(call === first ? outcome : shared);
    } catch (bug) {
      for (const call of waiting) call.fail(bug);
    } finally {
      this.#forget(key, search);
    }
  }

  /** Forgets a search, so that later calls start a new one. */
  #forget(key: string, search: InFlight): void {
    if (this.#inFlight.get(key) === search) this.#inFlight.delete(key);
  }
}

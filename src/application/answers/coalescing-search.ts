import { err } from 'neverthrow';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchProgress,
  SearchReply,
  SearchRequest,
} from '../ports/llm-search.ts';

/** A search in flight, and the observers of the callers that wait for it. */
interface InFlight {
  readonly subscribers: Set<SearchObserver>;
  readonly controller: AbortController;
  readonly reply: Promise<SearchOutcome>;
  latest: SearchProgress | undefined;
  /** The latest of its callers. */
  deadlineMs: SearchRequest['deadlineMs'];
}

/**
 * Coalesces identical requests: a question for which the same caller already has a search in flight joins that search, for
 * example when a client times out and repeats its call. Every subscriber gets progress and the reply, and can abort on its
 * own; the search is aborted when no subscriber is left.
 */
export class CoalescingSearch implements LlmSearch {
  readonly #llmSearch: LlmSearch;
  readonly #isShareable: (request: SearchRequest) => boolean;
  readonly #inFlight = new Map<string, InFlight>();

  constructor(llmSearch: LlmSearch, isShareable: (request: SearchRequest) => boolean = () => true) {
    this.#llmSearch = llmSearch;
    this.#isShareable = isShareable;
  }

  async search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<SearchOutcome> {
    if (signal.aborted) return err({ kind: 'aborted' });
    if (!this.#isShareable(request)) return this.#llmSearch.search(request, observer, signal);
    const { by, isWebOnly, question, profile, today } = request;
    const key = JSON.stringify([by.caller, by.rights().key, isWebOnly, question, profile, today]);
    const search = this.#inFlight.get(key) ?? this.#start(key, request);
    // One object per call: the same observer may subscribe twice.
    const subscriber: SearchObserver = {
      onProgress: (progress) => observer.onProgress(progress),
      onUsed: (use) => observer.onUsed?.(use),
    };
    search.subscribers.add(subscriber);
    // The latest deadline applies, and later calls have later ones.
    search.deadlineMs = request.deadlineMs;
    if (search.latest !== undefined) observer.onProgress(search.latest);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        search.subscribers.delete(subscriber);
        if (search.subscribers.size === 0) {
          this.#forget(key, search);
          search.controller.abort();
        }
        resolve(err({ kind: 'aborted' }));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      search.reply
        .finally(() => signal.removeEventListener('abort', onAbort))
        .then((reply) => {
          const [first] = search.subscribers;
          const toShared = (reply: SearchReply) => ({ ...reply, report: { ...reply.report, isShared: true as const } });
          resolve(first === subscriber ? reply : reply.map(toShared));
        }, reject);
    });
  }

  #start(key: string, request: SearchRequest): InFlight {
    const subscribers = new Set<SearchObserver>();
    const controller = new AbortController();
    const shared: SearchRequest = { ...request, deadlineMs: () => search.deadlineMs() };
    const observer: SearchObserver = {
      onProgress: (progress) => {
        search.latest = progress;
        for (const subscriber of subscribers) subscriber.onProgress(progress);
      },
      // What is used is accounted to one subscriber that is left.
      onUsed: (use) => {
        const [first] = subscribers;
        first?.onUsed?.(use);
      },
    };
    const search: InFlight = {
      subscribers,
      controller,
      deadlineMs: request.deadlineMs,
      latest: undefined,
      // Started in a microtask, after the first subscriber was added.
      reply: Promise.resolve()
        .then(() => this.#llmSearch.search(shared, observer, controller.signal))
        .finally(() => this.#forget(key, search)),
    };
    this.#inFlight.set(key, search);
    return search;
  }

  /** Later requests start a new search. */
  #forget(key: string, search: InFlight): void {
    if (this.#inFlight.get(key) === search) this.#inFlight.delete(key);
  }
}

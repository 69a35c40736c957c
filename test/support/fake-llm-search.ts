import { err, ok, type Result } from 'neverthrow';
import type {
  LlmSearch,
  SearchObserver,
  SearchProgress,
  SearchReply,
  SearchRequest,
} from '../../src/application/ports/llm-search.ts';
import type { SearchError } from '../../src/domain/answer-error.ts';

type Outcome = Result<SearchReply, SearchError>;
type Told = (observer: SearchObserver, signal: AbortSignal) => Promise<Outcome>;

/** Replies as it was told, in order; remembers what it was asked; fails loudly when asked too often. */
export class FakeLlmSearch implements LlmSearch {
  readonly requests: SearchRequest[] = [];
  readonly signals: AbortSignal[] = [];
  readonly #told: readonly Told[];

  constructor(...told: readonly Told[]) {
    this.#told = told;
  }

  search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<Outcome> {
    const told = this.#told[this.requests.length];
    this.requests.push(request);
    this.signals.push(signal);
    if (told === undefined) throw new Error(`FakeLlmSearch was told ${this.#told.length} replies and asked for more`);
    return told(observer, signal);
  }
}

/** A reply that comes at once, with whatever the test is about. */
export function replies(over: Partial<SearchReply> = {}): Told {
  return async () => ok(searchReply(over));
}

export function fails(error: SearchError): Told {
  return async () => err(error);
}

/** Tells of its progress, then replies. */
export function progresses(...steps: readonly SearchProgress[]): Told {
  return async (observer) => {
    for (const step of steps) observer.onProgress(step);
    return ok(searchReply());
  };
}

/** Hangs until it is aborted, as the port promises, and leaves no listener. */
export const hangs: Told = (_observer, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(err({ kind: 'aborted' }));
    else signal.addEventListener('abort', () => resolve(err({ kind: 'aborted' })), { once: true });
  });

/** Hangs until the test lets it settle, aborted or not: a reply that was already on its way. */
export function hangsUntilTold(): { readonly told: Told; readonly settle: (outcome: Outcome) => void } {
  const { promise, settle } = deferred<Outcome>();
  return { told: () => promise, settle };
}

export function searchReply(over: Partial<SearchReply> = {}): SearchReply {
  return {
    text: 'Not Found.',
    ending: { kind: 'complete' },
    searched: false,
    sources: { cited: [], consulted: [], opened: [] },
    report: { queries: [], searches: 0, attempts: 1 },
    ...over,
  };
}

export function deferred<T>(): { readonly promise: Promise<T>; readonly settle: (value: T) => void } {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}

import { err, ok, type Result } from 'neverthrow';
import type {
  Conversation,
  FunctionCall,
  LlmSearch,
  SearchObserver,
  SearchProgress,
  SearchReply,
  SearchRequest,
} from '../../src/application/ports/llm-search.ts';
import type { SearchError } from '../../src/domain/answers/answer-error.ts';

type Outcome = Result<SearchReply, SearchError>;
export type ConfiguredReply = (observer: SearchObserver, signal: AbortSignal) => Promise<Outcome>;
/** A reply that depends on the request. */
export type ConfiguredRound = (...asked: [...Parameters<ConfiguredReply>, SearchRequest]) => Promise<Outcome>;

/** Returns its configured replies in order, records its requests, and throws if it is called too often. */
export class FakeLlmSearch implements LlmSearch {
  readonly requests: SearchRequest[] = [];
  readonly signals: AbortSignal[] = [];
  readonly #configured: readonly ConfiguredRound[];

  constructor(...configured: readonly ConfiguredRound[]) {
    this.#configured = configured;
  }

  /** Those of the requests that have one. */
  get conversations(): readonly Conversation[] {
    return this.requests.flatMap(({ mode }) => (typeof mode === 'object' ? [mode] : []));
  }

  search(request: SearchRequest, observer: SearchObserver, signal: AbortSignal): Promise<Outcome> {
    const reply = this.#configured[this.requests.length];
    this.requests.push(request);
    this.signals.push(signal);
    if (reply === undefined) throw new Error(`FakeLlmSearch has ${this.#configured.length} replies and needs more`);
    return reply(observer, signal, request).then((outcome) => {
      if (outcome.isOk()) observer.onUsed?.(outcome.value.report);
      return outcome;
    });
  }
}

/** Reports its progress, then replies, unless the signal aborts first. */
export function replies(over: Partial<SearchReply> = {}, progress: readonly SearchProgress[] = []): ConfiguredReply {
  return async (observer, signal) => {
    for (const step of progress) if (!signal.aborted) observer.onProgress(step);
    return unlessAborted(signal, ok(searchReply(over)));
  };
}

/** In background mode, first reports the ID of the response, or that it has none. */
export function starts(id: string | undefined, reply: ConfiguredReply): ConfiguredRound {
  return async (observer, signal, { mode }) => {
    if (mode === 'background' && !signal.aborted) observer.onStarted?.(id);
    return reply(observer, signal);
  };
}

/** As `replies`, for tests about progress alone. */
export function progresses(...progress: readonly SearchProgress[]): ConfiguredReply {
  return replies({}, progress);
}

/** A call as the model writes it; the arguments are an object, or a text that may be anything. */
export function calls(name: string, args: object | string = {}, over: Partial<FunctionCall> = {}): FunctionCall {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return { callId: `call_${name}`, name, arguments: text, isIncomplete: false, ...over };
}

/** A response with these calls, after which it can be recognized by its items. */
export function asks(...calls: readonly FunctionCall[]): ConfiguredReply {
  return asksWith({}, ...calls);
}

export function asksWith(reply: Partial<SearchReply>, ...calls: readonly FunctionCall[]): ConfiguredReply {
  return replies({ items: calls.map((call) => ({ item: call })), calls, text: '', ...reply });
}

/** The answer, in a response without calls. */
export function says(text: string, over: Partial<SearchReply> = {}): ConfiguredReply {
  return replies({ text, items: [{ message: text }], ...over });
}

export function fails(error: SearchError): ConfiguredReply {
  return (_observer, signal) => unlessAborted(signal, err(error));
}

/** Waits until the signal aborts. */
export const hangs: ConfiguredReply = (_observer, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(err({ kind: 'aborted' }));
    else signal.addEventListener('abort', () => resolve(err({ kind: 'aborted' })), { once: true });
  });

/**
 * Waits until the test settles it. Unlike the others, it ignores the signal: its reply may come too late, as one does that
 * was already received when the signal aborted.
 */
export function repliesLate(): { readonly configured: ConfiguredReply; readonly settle: (outcome: Outcome) => void } {
  const { promise, settle } = deferred<Outcome>();
  return { configured: () => promise, settle };
}

export function searchReply(over: Partial<SearchReply> = {}): SearchReply {
  return {
    text: 'Not Found.',
    ending: { kind: 'complete' },
    searched: false,
    sources: { cited: [], consulted: [], opened: [] },
    items: [],
    calls: [],
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

/** The outcome, one microtask later, so that an abort on the line after the call is not missed. */
async function unlessAborted(signal: AbortSignal, outcome: Outcome): Promise<Outcome> {
  await Promise.resolve();
  return signal.aborted ? err({ kind: 'aborted' }) : outcome;
}

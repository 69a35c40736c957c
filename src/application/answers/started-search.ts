import { err } from 'neverthrow';
import { type Language, languageOf } from '../../domain/answers/language.ts';
import { CANCELLED, untilAborted } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { LlmSearch, SearchObserver, SearchOutcome, SearchProgress, SearchRequest } from '../ports/llm-search.ts';
import type { StartedResponses } from '../ports/started-responses.ts';
import { watchResponse } from './watch-response.ts';

/** How long a request that no call waits for may take until the ID of its response is known. */
const ID_MS = 10_000;

export interface StartedSearchOptions {
  readonly llmSearch: LlmSearch;
  readonly responses: StartedResponses;
  readonly clock: Clock;
}

interface Started extends StartedSearchOptions {
  readonly request: SearchRequest;
  /** The ID of a response that another process began. */
  readonly foreignId?: string;
  /** There is no response that a later call could follow. */
  readonly onOver: () => void;
  /** Gets what is in progress at the API, which never rejects for an expected failure. */
  readonly track: (promise: Promise<unknown>) => void;
}

/** Reads a response while calls wait for it. */
interface Following {
  readonly controller: AbortController;
  readonly outcome: Promise<SearchOutcome>;
}

/** One response of the API, and the calls that follow it: they read its stream together, and look at it if that breaks. It keeps no answer. */
export class StartedSearch {
  /** Of the texts of this program about it. */
  readonly language: Language;
  readonly startedMs: number;
  readonly #options: Started;
  readonly #waiting = new Set<SearchObserver>();
  #following: Following | undefined;
  #latest: SearchProgress | undefined;
  #stopTimer = (): void => {};
  #isOrdinary = false;
  #isCancelled = false;
  #isCounted: boolean;
  /** The ID of the response, as soon as it is known. */
  id: string | undefined;
  /** The number of searches of the web so far. */
  searches = 0;

  constructor(options: Started) {
    this.#options = options;
    this.id = options.foreignId;
    this.#isCounted = options.foreignId !== undefined;
    this.language = languageOf(options.request.question.query);
    this.startedMs = options.clock.elapsedMs();
  }

  /**
   * Waits for the reply, or until `signal` aborts. The response then continues, unless this was the last call, it began with a question, and
   * the reason is a cancellation.
   */
  async wait(observer: SearchObserver, mayCancel: boolean, signal: AbortSignal): Promise<SearchOutcome> {
    // One object per call: the same observer may wait twice.
    const waiting: SearchObserver = {
      onProgress: (progress) => {
        if (!signal.aborted) observer.onProgress(progress);
      },
      onUsed: (use) => observer.onUsed?.(use),
      onStarted: (id) => observer.onStarted?.(id),
    };
    this.#stopTimer();
    this.#waiting.add(waiting);
    if (this.#latest !== undefined) observer.onProgress(this.#latest);
    this.#following ??= this.#follow();
    const outcome = await untilAborted(this.#following.outcome, signal);
    this.#waiting.delete(waiting);
    if (outcome !== 'aborted') return outcome;
    if (this.#waiting.size === 0) this.#onLeft(mayCancel && signal.reason === CANCELLED);
    return err({ kind: 'aborted' });
  }

  /** Stops reading. */
  stop(): void {
    this.#stopTimer();
    this.#following?.controller.abort();
    this.#following = undefined;
    if (this.id === undefined || this.#isOrdinary) this.#options.onOver();
  }

  #follow(): Following {
    const controller = new AbortController();
    // Begins in a microtask, after the first call was added.
    const outcome = Promise.resolve().then(() => this.#read(controller.signal));
    const following = { controller, outcome };
    const forget = () => {
      if (this.#following === following) this.#following = undefined;
    };
    this.#options.track(outcome.then(forget, forget));
    return following;
  }

  async #read(signal: AbortSignal): Promise<SearchOutcome> {
    const { llmSearch, request, onOver } = this.#options;
    const observer: Required<SearchObserver> = {
      onProgress: (progress) => this.#onProgress(progress),
      onStarted: (id) => this.#onStarted(id),
      onUsed: (use) => {
        this.#isCounted = true;
        this.#first?.onUsed?.(use);
      },
    };
    const isFirst = this.id === undefined;
    const streamed = isFirst ? await llmSearch.search(request, observer, signal) : undefined;
    const isBroken = streamed?.isErr() && streamed.error.kind === 'interrupted';
    const outcome = streamed !== undefined && !isBroken ? streamed : await this.#watch(observer, signal);
    // A failure is not followed again, but a look that fails is no failure of the response.
    if (outcome.isErr() && !/^(?:aborted|interrupted)$/.test(outcome.error.kind)) onOver();
    return outcome;
  }

  async #watch(observer: Required<SearchObserver>, signal: AbortSignal): Promise<SearchOutcome> {
    const { id } = this;
    if (id === undefined) return err({ kind: 'aborted' });
    // Clients with an idle timeout need some progress.
    observer.onProgress({ kind: 'thinking' });
    const onLook = (searches: number) => {
      this.searches = searches;
    };
    const outcome = await watchResponse(id, this.#options.request, this.#options, { ...observer, onLook }, signal);
    if (outcome.isOk() && !this.#isCounted) {
      const { usage, searches } = outcome.value.report;
      observer.onUsed({ searches, ...(usage && { usage }) });
    }
    return outcome;
  }

  /** One of the calls, which accounts for what is used. */
  get #first(): SearchObserver | undefined {
    const [first] = this.#waiting;
    return first;
  }

  #onProgress(progress: SearchProgress): void {
    if (progress.kind === 'searching' && progress.query === undefined) this.searches += 1;
    this.#latest = progress;
    for (const call of this.#waiting) call.onProgress(progress);
    // The request was refused: for no call, it is not sent again.
    if (this.#waiting.size === 0 && progress.kind === 'retrying') this.stop();
  }

  #onStarted(id: string | undefined): void {
    this.id = id;
    this.#isOrdinary = id === undefined;
    this.#first?.onStarted?.(id);
    if (this.#waiting.size === 0) this.#leave();
  }

  #onLeft(isCancelled: boolean): void {
    if (isCancelled) {
      this.#isCancelled = true;
      this.#options.onOver();
    }
    // What waits was not sent, or was refused.
    const isSent = this.#latest?.kind !== 'waiting' && this.#latest?.kind !== 'retrying';
    if (this.id !== undefined || this.#isOrdinary || !isSent) this.#leave();
    else this.#stopTimer = this.#options.clock.after(ID_MS, () => this.#leave());
  }

  /** Leaves the response to the API, or cancels it there. */
  #leave(): void {
    this.stop();
    if (this.#isCancelled && this.id !== undefined) this.#options.track(this.#options.responses.cancel(this.id));
  }
}

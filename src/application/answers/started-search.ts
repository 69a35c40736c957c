import { err } from 'neverthrow';
import { type Language, languageOf } from '../../domain/answers/question.ts';
import type { Kind } from '../../domain/values/kind.ts';
import { CANCELLED, forwardAbort, untilAborted } from '../async/deadline.ts';
import type {
  LlmSearch,
  SearchObserver,
  SearchOutcome,
  SearchProgress,
  SearchRequest,
  StartedResponses,
} from '../ports/llm-search.ts';
import type { Services } from '../ports/services.ts';
import { untilLastLook, watchResponse } from './watch-response.ts';

/** How long a request that no call waits for may take until the ID of its response is known. */
const ID_MS = 10_000;

export interface StartedSearchOptions extends Pick<Services, 'clock'> {
  readonly llmSearch: LlmSearch;
  readonly responses: StartedResponses;
}

interface Started extends StartedSearchOptions {
  readonly request: SearchRequest;
  /** The ID of a response that another process started. */
  readonly foreignId?: string;
  /** Called when no later call can follow the response any more. */
  readonly onOver: () => void;
  /** Gets the promises of requests in progress, which never reject for an expected failure. */
  readonly track: (promise: Promise<unknown>) => void;
}

/** The reading of a response, by its stream or by looks at it. */
interface Reading {
  readonly controller: AbortController;
  readonly outcome: Promise<SearchOutcome>;
}

/** A call that waits for the reply. */
interface WaitingCall {
  readonly observer: SearchObserver;
  readonly onCancel: Ending;
  /** When the call gives up, on the scale of `elapsedMs`. */
  readonly deadlineMs: number;
}

/** What happens to a response for which no call waits: it is cancelled at the API, or left to it. */
export type Ending = 'cancel' | 'leave';

type Phase =
  /** The response is requested, and its ID is not known yet. */
  | Kind<'asking', { reading: Reading }>
  /** Asking, but no call waits any more: the ID is awaited for a limited time. */
  | Kind<'abandoned', { reading: Reading; stopTimer: () => void; ending: Ending }>
  /** The response has an ID, or ends with its connection. */
  | Kind<'followed', { reading: Reading }>
  /** Nothing is read. The response, if there is one, continues at the API, and a later call can follow it. */
  | Kind<'left'>
  /** Nothing is read, and there was no ID with which a later call could follow the response. */
  | Kind<'over', { ending: Ending }>;

/** One response of the API and the calls that follow it. They share its stream or, if that breaks, the looks at the response. Keeps no answer. */
export class StartedSearch {
  /** The language of this program's texts about the search. */
  readonly language: Language;
  readonly startedMs: number;
  readonly #options: Started;
  /** The calls that wait, with their time limits. */
  readonly #waiting = new Map<SearchObserver, number>();
  /** Ends the wait before the next look. */
  #pause = new AbortController();
  #phase: Phase = { kind: 'left' };
  #latest: SearchProgress | undefined;
  /** Whether the use of the response was reported, by this process or by the one that started it. */
  #isCounted: boolean;
  /** The ID of the response; undefined until it is known. */
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
   * Waits for the reply, or until `signal` aborts. Even then the response continues, unless the last call that waits for it is cancelled, and
   * cancels it.
   */
  async wait({ observer, onCancel, deadlineMs }: WaitingCall, signal: AbortSignal): Promise<SearchOutcome> {
    // One object per call, because the same observer may wait twice.
    const waiting: SearchObserver = {
      onProgress: (progress) => {
        if (!signal.aborted) observer.onProgress(progress);
      },
      onUsed: (use) => observer.onUsed?.(use),
      onStarted: (id) => observer.onStarted?.(id),
    };
    this.#waiting.set(waiting, deadlineMs);
    // The time limit of this call may come before the next look.
    this.#pause.abort();
    if (this.#latest !== undefined) observer.onProgress(this.#latest);
    const outcome = await untilAborted(this.#join().outcome, signal);
    this.#waiting.delete(waiting);
    if (outcome !== 'aborted') return outcome;
    if (this.#waiting.size === 0) this.#onLeft(signal.reason === CANCELLED ? onCancel : 'leave');
    return err({ kind: 'aborted' });
  }

  /** Stops reading. */
  stop(): void {
    this.#end('ending' in this.#phase ? this.#phase.ending : 'leave');
  }

  #end(ending: Ending): void {
    const phase = this.#phase;
    this.#phase = this.id === undefined ? { kind: 'over', ending } : { kind: 'left' };
    if (phase.kind === 'abandoned') phase.stopTimer();
    if ('reading' in phase) phase.reading.controller.abort();
    if (this.id === undefined) this.#options.onOver();
  }

  /** The reading in progress, or a new one. */
  #join(): Reading {
    const phase = this.#phase;
    if (phase.kind === 'abandoned') phase.stopTimer();
    const reading = 'reading' in phase ? phase.reading : this.#start();
    this.#phase = { kind: phase.kind === 'followed' || this.id !== undefined ? 'followed' : 'asking', reading };
    return reading;
  }

  #start(): Reading {
    const controller = new AbortController();
    // Starts in a microtask, after the first call was added.
    const outcome = Promise.resolve().then(() => this.#read(controller.signal));
    const reading = { controller, outcome };
    const forget = () => {
      const phase = this.#phase;
      if (!('reading' in phase) || phase.reading !== reading) return;
      if (phase.kind === 'abandoned') phase.stopTimer();
      this.#phase = { kind: 'left' };
    };
    this.#options.track(outcome.then(forget, forget));
    return reading;
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
    // A response that failed is not followed again. A failed look is no failure of the response.
    if (outcome.isErr() && !/^(?:aborted|interrupted)$/.test(outcome.error.kind)) onOver();
    return outcome;
  }

  async #watch(observer: Required<SearchObserver>, signal: AbortSignal): Promise<SearchOutcome> {
    const { id } = this;
    const { request } = this.#options;
    if (id === undefined) return err({ kind: 'aborted' });
    // Clients with an idle timeout need some progress.
    observer.onProgress({ kind: 'thinking' });
    const onLook = (searches: number) => {
      this.searches = searches;
    };
    const pause = (ms: number, signal: AbortSignal) => this.#pauseFor(ms, signal);
    const outcome = await watchResponse({ id, request }, this.#options, { ...observer, onLook, pause }, signal);
    if (outcome.isOk() && !this.#isCounted) {
      const { usage, searches } = outcome.value.report;
      observer.onUsed({ searches, ...(usage && { usage }) });
    }
    return outcome;
  }

  /** Waits between two looks: not beyond the last one before a time limit, nor when another call joins. */
  async #pauseFor(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'> {
    const { clock } = this.#options;
    this.#pause = new AbortController();
    const stopForwarding = forwardAbort(signal, this.#pause);
    await clock.sleep(Math.min(ms, untilLastLook(this.#waiting.values(), clock)), this.#pause.signal);
    stopForwarding();
    return signal.aborted ? 'aborted' : 'elapsed';
  }

  /** The call that accounts for the use. */
  get #first(): SearchObserver | undefined {
    const [first] = this.#waiting.keys();
    return first;
  }

  #onProgress(progress: SearchProgress): void {
    if (progress.kind === 'searching' && progress.query === undefined) this.searches += 1;
    this.#latest = progress;
    for (const call of this.#waiting.keys()) call.onProgress(progress);
    // The API refused the request, which is not sent again if no call waits for it.
    if (this.#waiting.size === 0 && progress.kind === 'retrying') this.stop();
  }

  #onStarted(id: string | undefined): void {
    const phase = this.#phase;
    this.id = id;
    this.#first?.onStarted?.(id);
    if ('ending' in phase) this.#leave(phase.ending);
    else if (phase.kind === 'asking') this.#phase = { ...phase, kind: 'followed' };
  }

  #onLeft(ending: Ending): void {
    const phase = this.#phase;
    if (ending === 'cancel') this.#options.onOver();
    // The request still waits: it was not sent, or was refused.
    const isSent = this.#latest?.kind !== 'waiting' && this.#latest?.kind !== 'retrying';
    if (phase.kind === 'asking' && isSent) {
      const stopTimer = this.#options.clock.after(ID_MS, () => this.#leave(ending));
      this.#phase = { kind: 'abandoned', reading: phase.reading, stopTimer, ending };
    } else {
      this.#leave(ending);
    }
  }

  /** Leaves the response to the API, or cancels it there. */
  #leave(ending: Ending): void {
    this.#end(ending);
    if (ending === 'cancel' && this.id !== undefined) this.#options.track(this.#options.responses.cancel(this.id));
  }
}

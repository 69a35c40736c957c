import { err, type Result } from 'neverthrow';
import type { AnswerError, SearchError } from '../../domain/answers/answer-error.ts';
import type { Language } from '../../domain/answers/language.ts';
import type { ToolName } from '../../domain/answers/tool-name.ts';
import { CLIENT_TIMED_OUT, DETACHED, DISCONNECTED, TIMED_OUT, untilAborted, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { Config, LongAnswersConfig } from '../ports/config.ts';
import type { SearchObserver, SearchProgress, StartedResponse } from '../ports/llm-search.ts';
import type { Answer } from './answer.ts';
import type { LongPlaces } from './long-places.ts';

/** How the last call left a search that continues: as a task, with a handle, timed out by its client, or by a closed connection. */
export type DetachCause = 'task' | 'unfinished' | 'timeout' | 'disconnect';

export type Outcome = Result<Answer, AnswerError>;

/** What a search reports beside what it used, which the call that began it accounts for. */
export type LongObserver = Required<Omit<SearchObserver, 'onUsed'>>;

/** What applies to all searches. */
export interface LongSearchContext {
  readonly clock: Clock;
  readonly config: Pick<Config, 'timeoutMs' | 'citationCheck'> & {
    readonly longAnswers: LongAnswersConfig;
    readonly maxConcurrency?: number | undefined;
  };
}

export interface LongSearchOptions extends LongSearchContext {
  readonly places: LongPlaces;
  /** Answers, or looks at a response until it has ended. An abort ends it at the API, unless its reason is `DETACHED`. */
  readonly run: (observer: LongObserver, signal: AbortSignal) => Promise<Outcome>;
  readonly tool: ToolName;
  /** Of the texts of this program about it. */
  readonly language: Language;
  /** The same question of the same owner has the same key (ruling K5). */
  readonly key?: string;
  /** The response of a search that began in another process, so that it is only looked at (ruling K13). */
  readonly foreignId?: string;
  /** No call waits for it any longer, and it continues. */
  readonly onDetached: (cause: DetachCause) => void;
  /** The search has ended, or nothing looks at it any longer. */
  readonly onOver: () => void;
}

/** One response of the API, which does not depend on the calls that wait for it (rulings K5 and K7). */
export class LongSearch {
  readonly options: LongSearchOptions;
  readonly #controller = new AbortController();
  readonly #waiting = new Set<{ readonly observer: SearchObserver }>();
  /** Rejects only for a bug. */
  readonly ended: Promise<Outcome>;
  #onEnded: (outcome: Outcome) => void = () => {};
  /** Resolves when it is known whether it can be found again. */
  readonly #begun: Promise<'created' | 'ordinary'>;
  #onBegun: (how: 'created' | 'ordinary') => void = () => {};
  /** Resolves when the calls that wait must be answered. */
  readonly #waitsEnd: Promise<'aborted'>;
  #endWaits = (): void => {};
  #cancelOrphan = (): void => {};
  /** It ends with its last call, because it could not be found again (ruling K4). */
  isOrdinary = false;
  isCancelled = false;
  /** The latest progress, and when it was made. */
  latest: SearchProgress | undefined;
  updatedAt: Date;
  /** The number of searches of the web so far. */
  searches = 0;
  started: StartedResponse | undefined;
  /** How its handle became known to a client, which can find it again. Only `tasks/cancel` ends a task (ruling K18). */
  handedOut: 'task' | 'unfinished' | undefined;
  /** Whether a task has returned its answer. */
  isReturned = false;
  outcome: Outcome | undefined;
  /** When it ended, and when its answer was last delivered, on the scale of `elapsedMs`. */
  endedMs = 0;
  deliveredMs: number | undefined;
  /** Why the latest look showed nothing. */
  lookError: Exclude<SearchError, { kind: 'aborted' }> | undefined;
  /** The size of its answer in UTF-8. */
  bytes = 0;

  constructor(options: LongSearchOptions) {
    this.options = options;
    this.updatedAt = options.clock.now();
    this.#begun = new Promise((resolve) => {
      this.#onBegun = resolve;
    });
    this.#waitsEnd = new Promise((resolve) => {
      this.#endWaits = () => resolve('aborted');
    });
    this.ended = new Promise((resolve, reject) => {
      this.#onEnded = resolve;
      // Begins in a microtask, after the first call waits for it.
      Promise.resolve()
        .then(() => this.#run())
        .catch(reject);
    });
  }

  /**
   * Waits for the answer, for at most `maxMs`. `unfinished`: the time is over, and the search continues. What else becomes of the search
   * when a call leaves it says ruling K7. A call that `takesTask` also waits until the response is known, and calls of an ordinary search for
   * its end, both until `timeoutMs`.
   */
  async wait(
    observer: SearchObserver,
    maxMs: number,
    takesTask: boolean,
    signal: AbortSignal,
  ): Promise<Outcome | 'unfinished'> {
    const { clock, config, places } = this.options;
    const { timeoutMs } = config;
    const waiting = { observer };
    this.#cancelOrphan();
    this.#waiting.add(waiting);
    places.onJoined(this);
    if (this.latest !== undefined) observer.onProgress(this.latest);
    const startedMs = clock.elapsedMs();
    const within = async (ms: number, ...others: Promise<'aborted' | 'created' | 'ordinary'>[]) => {
      const first = Promise.race([this.ended, ...others]);
      const leftMs = startedMs + ms - clock.elapsedMs();
      return (await withDeadline(clock, leftMs, signal, (limit) => untilAborted(first, limit))).outcome;
    };
    let outcome = await within(maxMs, this.#waitsEnd, this.#begun);
    if (outcome === 'created') outcome = await within(maxMs, this.#waitsEnd);
    else if (outcome === 'aborted' && takesTask) outcome = await within(timeoutMs, this.#begun);
    if (outcome === 'ordinary') outcome = await within(timeoutMs);
    this.#waiting.delete(waiting);
    if (typeof outcome === 'object') {
      this.deliveredMs = clock.elapsedMs();
      return outcome;
    }
    if (signal.aborted) {
      const hasEnded = this.outcome !== undefined;
      const cause = CAUSES.get(signal.reason);
      const isLost = takesTask && cause === 'disconnect' && this.handedOut === undefined;
      this.#onLeft(isLost ? undefined : cause);
      const isDetached = !hasEnded && (this.isForeign || !this.isCancelled);
      return err({ kind: 'cancelled', ...(isDetached && { isDetached }) });
    }
    // A search that began elsewhere can be looked at again; any other is lost without its ID.
    if (this.started !== undefined && this.handedOut !== 'task') this.handedOut = takesTask ? 'task' : 'unfinished';
    this.#onLeft(this.handedOut);
    return this.handedOut === undefined ? err({ kind: 'timed_out', timeoutMs }) : 'unfinished';
  }

  /** Ends what waits as if its time were over, if the search can be found again. Returns whether something waited. */
  endWaits(): boolean {
    if (this.started === undefined || this.outcome !== undefined) return false;
    this.#endWaits();
    return this.#waiting.size > 0;
  }

  /** The ID of the response, as soon as it is known. */
  get id(): string | undefined {
    return this.options.foreignId ?? this.started?.id;
  }

  /** Whether it began in another process. */
  get isForeign(): boolean {
    return this.options.foreignId !== undefined;
  }

  /** Why there is no answer. */
  get failure(): AnswerError['kind'] | undefined {
    return this.outcome?.isErr() ? this.outcome.error.kind : undefined;
  }

  /** Ends the search at the API, or, if it began elsewhere, only the looks. */
  cancel(): void {
    this.isCancelled = true;
    this.#controller.abort();
    if (this.isForeign) this.end(err({ kind: 'cancelled' }));
  }

  /** The process is about to exit: leaves running what a client can find again (ruling K8). */
  close(): void {
    this.#controller.abort(this.handedOut && DETACHED);
  }

  /** Sets the outcome, which is final; it may also come from a look that the search did not make. */
  end(outcome: Outcome): void {
    if (this.outcome !== undefined) return;
    const { clock, places, onOver } = this.options;
    this.#cancelOrphan();
    this.outcome = outcome;
    this.endedMs = clock.elapsedMs();
    this.updatedAt = clock.now();
    this.bytes = outcome.isOk() ? new TextEncoder().encode(JSON.stringify(outcome.value.result)).length : 0;
    places.onEnded(this);
    onOver();
    this.#onEnded(outcome);
    // Ends the looks.
    this.#controller.abort();
  }

  async #run(): Promise<void> {
    const observer: LongObserver = {
      onProgress: (progress) => this.#onProgress(progress),
      onCreated: (response) => {
        if (this.isOrdinary) return;
        this.started = response;
        this.#onBegun('created');
      },
      onOrdinary: () => {
        this.isOrdinary = true;
        this.#onBegun('ordinary');
        if (this.#waiting.size === 0) this.cancel();
      },
    };
    this.end(await this.options.run(observer, this.#controller.signal));
  }

  #onProgress(progress: SearchProgress): void {
    if (progress.kind === 'searching' && progress.query === undefined) this.searches += 1;
    this.latest = progress;
    this.updatedAt = this.options.clock.now();
    for (const { observer } of this.#waiting) observer.onProgress(progress);
  }

  /** A call that has timed out, or is disconnected, may come back. */
  #onLeft(cause: DetachCause | undefined): void {
    const { clock, config, places, onDetached } = this.options;
    if (this.#waiting.size > 0 || this.outcome !== undefined) return;
    // What waits in the queue is never sent.
    const isLost = this.handedOut !== 'task' && (cause === undefined || this.latest?.kind === 'waiting');
    if (this.isForeign || this.isOrdinary || isLost) {
      this.cancel();
      return;
    }
    if (cause === 'disconnect' && this.handedOut === undefined)
      this.#cancelOrphan = clock.after(config.longAnswers.orphanMs, () => this.cancel());
    places.onDetached(this);
    onDetached(cause ?? 'task');
  }
}

/** By the reason of an abort; after any other, the search is cancelled. */
const CAUSES = new Map<unknown, DetachCause>([
  [TIMED_OUT, 'timeout'],
  [CLIENT_TIMED_OUT, 'timeout'],
  [DISCONNECTED, 'disconnect'],
]);

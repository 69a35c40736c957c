import { err, type Result } from 'neverthrow';
import type { AnswerError, SearchError } from '../../domain/answers/answer-error.ts';
import type { Language } from '../../domain/answers/language.ts';
import type { ToolName } from '../../domain/answers/tool-name.ts';
import { unfinishedAnswer } from '../../domain/answers/unfinished-answer.ts';
import { CLIENT_TIMED_OUT, DETACHED, DISCONNECTED, TIMED_OUT, untilAborted, withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { SearchObserver, SearchProgress, SearchRequest, SearchUse, StartedResponse } from '../ports/llm-search.ts';
import type { Answer } from './answer.ts';

/** How the last call left a search that continues: as a task, with a handle, timed out by its client, or by a closed connection. */
export type DetachCause = 'task' | 'unfinished' | 'timeout' | 'disconnect';

export type Outcome = Result<Answer, AnswerError>;

/** Answers, for as long as the signal permits. */
export type LongRun = (
  observer: Required<SearchObserver>,
  signal: AbortSignal,
  onPlace: SearchRequest['onPlace'],
  isOrdinary: () => boolean,
) => Promise<Outcome>;

export interface LongSearchOptions {
  readonly clock: Clock;
  /** Answers, or looks at a response until it has ended. An abort ends it at the API, unless its reason is `DETACHED`. */
  readonly run: (observer: Required<SearchObserver>, signal: AbortSignal) => Promise<Outcome>;
  readonly tool: ToolName;
  /** Of the texts of this program about it. */
  readonly language: Language;
  /** The response of a search that began in another process, so that it is only looked at (ruling K13). */
  readonly foreignId?: string | undefined;
  /** How long it continues after the last call has disconnected. */
  readonly orphanMs: number;
  /** The time limit of a call, for its error. */
  readonly timeoutMs: number;
  readonly onCreated: (response: StartedResponse) => void;
  /** A call waits for it. */
  readonly onJoined: () => void;
  /** No call waits for it any longer, and it continues. */
  readonly onDetached: (cause: DetachCause) => void;
  /** The search has ended, or nothing looks at it any longer. */
  readonly onOver: (outcome: Outcome) => void;
}

/** One response of the API, which does not depend on the calls that wait for it (rulings K5 and K7). */
export class LongSearch {
  readonly tool: ToolName;
  readonly language: Language;
  readonly #options: LongSearchOptions;
  readonly #controller = new AbortController();
  readonly #waiting = new Set<SearchObserver & { endWait: () => void }>();
  readonly #ended: Promise<Outcome>;
  /** Resolves when it is known whether it can be found again. */
  readonly #begun: Promise<'created' | 'ordinary'>;
  #onBegun: (how: 'created' | 'ordinary') => void = () => {};
  /** It ends with its last call, because it could not be found again (ruling K4). */
  isOrdinary = false;
  /** The latest progress, and when it was made. */
  latest: SearchProgress | undefined;
  updatedAt: Date;
  #cancelOrphan = (): void => {};
  /** The number of searches of the web so far. */
  searches = 0;
  started: StartedResponse | undefined;
  /** Whether its handle is known to a client, so that it can be found again. */
  isHandedOut = false;
  /** Whether it was handed out as a task: then only `tasks/cancel` ends it (ruling K18). */
  isTask = false;
  /** Whether a task has returned its answer. */
  isReturned = false;
  outcome: Outcome | undefined;
  /** When it ended, and when its answer was last delivered, on the scale of `elapsedMs`. */
  endedMs: number | undefined;
  deliveredMs: number | undefined;
  /** Why the latest look showed nothing. */
  lookError: Exclude<SearchError, { kind: 'aborted' }> | undefined;
  /** The size of its answer in UTF-8. */
  bytes = 0;

  /** `first` observes what is used: the call that begins the search accounts for it. */
  constructor(options: LongSearchOptions, first: SearchObserver) {
    const { run, onCreated, onOver, clock } = options;
    this.#options = options;
    this.tool = options.tool;
    this.language = options.language;
    this.updatedAt = clock.now();
    this.#begun = new Promise((resolve) => {
      this.#onBegun = resolve;
    });
    const observer = {
      onProgress: (progress: SearchProgress) => this.#onProgress(progress),
      onUsed: (use: SearchUse) => first.onUsed?.(use),
      onCreated: (response: StartedResponse) => {
        if (this.isOrdinary) return;
        this.started = response;
        onCreated(response);
        this.#onBegun('created');
      },
      onOrdinary: () => {
        this.isOrdinary = true;
        this.#onBegun('ordinary');
        if (this.#waiting.size === 0) this.cancel();
      },
    };
    // Begins in a microtask, after the first call waits for it.
    this.#ended = Promise.resolve()
      .then(() => run(observer, this.#controller.signal))
      .then((outcome) => {
        this.#cancelOrphan();
        this.outcome = outcome;
        this.endedMs = clock.elapsedMs();
        this.updatedAt = clock.now();
        this.bytes = outcome.isOk() ? new TextEncoder().encode(JSON.stringify(outcome.value.result)).length : 0;
        onOver(outcome);
        return outcome;
      });
  }

  /**
   * Waits for the answer, for at most `maxMs`. `unfinished`: the time is over, and the search continues. What else becomes of the search
   * when a call leaves it says ruling K7. A call that `takesTask` also waits until the response is known, for at most its own limit if the
   * search began elsewhere. Calls of an ordinary search wait until that limit.
   */
  async wait(
    observer: SearchObserver,
    maxMs: number,
    takesTask: boolean,
    signal: AbortSignal,
  ): Promise<Outcome | 'unfinished'> {
    const { clock, timeoutMs } = this.#options;
    const waiting = { onProgress: (progress: SearchProgress) => observer.onProgress(progress), endWait: () => {} };
    const waitEnds = new Promise<'aborted'>((resolve) => {
      waiting.endWait = () => resolve('aborted');
    });
    this.#cancelOrphan();
    this.#waiting.add(waiting);
    this.#options.onJoined();
    if (this.latest !== undefined) waiting.onProgress(this.latest);
    const startedMs = clock.elapsedMs();
    const within = async (ms: number, ...others: Promise<'aborted' | 'created' | 'ordinary'>[]) => {
      const first = Promise.race([this.#ended, ...others]);
      const leftMs = startedMs + ms - clock.elapsedMs();
      return (await withDeadline(clock, leftMs, signal, (limit) => untilAborted(first, limit))).outcome;
    };
    let outcome = await within(maxMs, waitEnds, this.#begun);
    if (outcome === 'created') outcome = await within(maxMs, waitEnds);
    else if (outcome === 'aborted' && takesTask)
      outcome = await within(this.isForeign ? timeoutMs : Number.POSITIVE_INFINITY, this.#begun);
    if (outcome === 'ordinary') outcome = await within(timeoutMs);
    this.#waiting.delete(waiting);
    if (typeof outcome === 'object') {
      this.deliveredMs = clock.elapsedMs();
      return outcome;
    }
    if (signal.aborted) {
      const cause = CAUSES.get(signal.reason);
      this.#onLeft(takesTask && cause === 'disconnect' && !this.isHandedOut ? undefined : cause);
      const hasEnded = (this.isCancelled && !this.isForeign) || this.outcome !== undefined;
      return err({ kind: 'cancelled', ...(!hasEnded && { isDetached: true }) });
    }
    // A search that began elsewhere can be looked at again; any other is lost without its ID.
    this.isHandedOut = this.started !== undefined;
    this.isTask ||= takesTask && this.isHandedOut;
    const cause = this.isTask ? 'task' : 'unfinished';
    this.#onLeft(this.isHandedOut ? cause : undefined);
    return this.isHandedOut ? 'unfinished' : err({ kind: 'timed_out', timeoutMs });
  }

  /** Ends what waits as if its time were over, if the search can be found again. Returns whether something waited. */
  endWaits(): boolean {
    if (this.started === undefined || this.outcome !== undefined) return false;
    for (const { endWait } of this.#waiting) endWait();
    return this.#waiting.size > 0;
  }

  /** What a caller gets whose time is up (ruling K19). */
  unfinished(handle: string, model: string): Answer {
    const { started, language, searches } = this;
    const { clock } = this.#options;
    const now = clock.now();
    const seconds = Math.max(0, now.getTime() - (started?.createdAt ?? now).getTime()) / 1000;
    const answer = unfinishedAnswer({ language, handle, seconds, searches });
    const result = { answer, used_search: false, citations: [], model };
    return { result, report: { queries: [], searches, attempts: 1, seconds, state: 'unfinished', handle } };
  }

  whenEnded(): Promise<Outcome> {
    return this.#ended;
  }

  get isCancelled(): boolean {
    return this.#controller.signal.aborted;
  }

  /** The ID of the response, as soon as it is known. */
  get id(): string | undefined {
    return this.#options.foreignId ?? this.started?.id;
  }

  /** Whether it began in another process. */
  get isForeign(): boolean {
    return this.#options.foreignId !== undefined;
  }

  /** Ends the search at the API, or, if it began elsewhere, only the looks. */
  cancel(): void {
    this.#controller.abort();
  }

  /** The process is about to exit: leaves running what a client can find again (ruling K8). */
  close(): void {
    this.#controller.abort(this.isHandedOut ? DETACHED : undefined);
  }

  #onProgress(progress: SearchProgress): void {
    if (progress.kind === 'searching' && progress.query === undefined) this.searches += 1;
    this.latest = progress;
    this.updatedAt = this.#options.clock.now();
    for (const waiting of this.#waiting) waiting.onProgress(progress);
  }

  /** A call that has timed out, or is disconnected, may come back. */
  #onLeft(cause: DetachCause | undefined): void {
    const { clock, orphanMs, onDetached } = this.#options;
    if (this.#waiting.size > 0 || this.outcome !== undefined) return;
    // What waits in the queue is never sent.
    const isLost = !this.isTask && (cause === undefined || this.latest?.kind === 'waiting');
    if (this.isForeign || this.isOrdinary || isLost) {
      this.cancel();
      return;
    }
    if (cause === 'disconnect' && !this.isHandedOut) this.#cancelOrphan = clock.after(orphanMs, () => this.cancel());
    onDetached(cause ?? 'task');
  }
}

/** By the reason of an abort; after any other, the search is cancelled. */
const CAUSES = new Map<unknown, DetachCause>([
  [TIMED_OUT, 'timeout'],
  [CLIENT_TIMED_OUT, 'timeout'],
  [DISCONNECTED, 'disconnect'],
]);

/** Why there is no answer. */
export function errorKind(outcome: Outcome | undefined): AnswerError['kind'] | undefined {
  return outcome?.isErr() ? outcome.error.kind : undefined;
}

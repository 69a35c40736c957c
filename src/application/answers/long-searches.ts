import type { AnswerHandle } from '../../domain/answers/answer-handle.ts';
import { never, untilAborted, withDeadline } from '../async/deadline.ts';
import { LongPlaces } from './long-places.ts';
import { LongSearch, type LongSearchContext, type LongSearchOptions, type Outcome } from './long-search.ts';

/** How long after a delivery the same question gets the same answer: the client may have given up before it was read (ruling K20). */
const REPEATED_MS = 600_000;
/** What a process keeps of answers (ruling K25). */
const MAX_KEPT = 100;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
/** How long the exit may take. */
const CLOSE_MS = 1000;

/** The searches that calls can find: those that work, and the latest of those that have ended. */
export class LongSearches {
  readonly #options: LongSearchContext;
  readonly #places: LongPlaces;
  /** At most one per response. Those that have ended are in the order of their ends. */
  readonly #known = new Set<LongSearch>();
  readonly #ended = { completed: 0, failed: 0, cancelled: 0, expired: 0 };
  readonly #detached = { task: 0, unfinished: 0, timeout: 0, disconnect: 0 };
  /** How calls got the answers of searches that other calls began, or by handles. */
  readonly returned = { task: 0, joined: 0, kept: 0, handle: 0 };

  constructor(options: LongSearchContext) {
    this.#options = options;
    this.#places = new LongPlaces(options.config.maxConcurrency);
  }

  /** The search that the same question gets (ruling K20). */
  currentFor(key: string): LongSearch | undefined {
    this.#dropOld();
    return [...this.#known].findLast((search) => search.options.key === key && this.#isCurrent(search));
  }

  /** The search with this response. */
  of(responseId: string): LongSearch | undefined {
    this.#dropOld();
    return [...this.#known].find(({ id }) => id === responseId);
  }

  begin(begun: Pick<LongSearchOptions, 'tool' | 'language' | 'key' | 'foreignId' | 'run'>): LongSearch {
    const search: LongSearch = new LongSearch({
      ...begun,
      ...this.#options,
      places: this.#places,
      onDetached: (cause) => {
        this.#detached[cause] += 1;
      },
      onOver: () => this.#onOver(search),
    });
    this.#known.add(search);
    return search;
  }

  /** A client has got from its task what there is. An answer counts once, however often a client asks. */
  onTaskReturned(search: LongSearch): void {
    if (search.outcome === undefined) return;
    search.deliveredMs = this.#options.clock.elapsedMs();
    if (search.outcome.isOk() && !search.isReturned) this.returned.task += 1;
    search.isReturned = true;
  }

  /** Keeps the end of a search that began elsewhere. */
  remember({ tool, responseId }: AnswerHandle, createdAt: Date | undefined, outcome: Outcome): LongSearch {
    const run = async () => outcome;
    const search = this.of(responseId) ?? this.begin({ tool, language: 'en', foreignId: responseId, run });
    if (createdAt !== undefined) search.started ??= { id: responseId, createdAt };
    search.end(outcome);
    return search;
  }

  /** The process will exit soon: calls get the handles of their searches. Returns whether there were any (ruling K7). */
  endWaits(): boolean {
    return this.#working.filter((search) => search.endWaits()).length > 0;
  }

  /** Ends the searches that no client can find again, and waits a limited time until the API has the cancellations (ruling K8). */
  async close(): Promise<void> {
    const working = this.#working;
    for (const search of working) search.close();
    const ended = Promise.all(working.map(({ ended }) => ended));
    await withDeadline(this.#options.clock, CLOSE_MS, never(), (limit) => untilAborted(ended, limit));
  }

  /** By the names of the metrics and the values of their labels (ruling K26). */
  get counts() {
    this.#dropOld();
    const working = this.#working;
    const own = working.filter(({ isForeign }) => !isForeign);
    return {
      long_answers: { working: own.length, kept: this.#known.size - working.length },
      long_answers_total: this.#ended,
      long_answers_detached_total: this.#detached,
      long_answers_returned_total: this.returned,
    };
  }

  get #working(): readonly LongSearch[] {
    return [...this.#known].filter(({ outcome }) => outcome === undefined);
  }

  /** Makes a search the latest that has ended. Looks that failed, or were stopped, are not kept: the next call looks again. */
  #onOver(search: LongSearch): void {
    const { id, isForeign, failure } = search;
    if (!isForeign) this.#ended[failure === undefined ? 'completed' : (ENDS.get(failure) ?? 'failed')] += 1;
    this.#known.delete(search);
    const isShown = failure === undefined || failure === 'search_cancelled';
    if (id !== undefined && (!isForeign || isShown)) this.#known.add(search);
    this.#dropOld();
    this.#options.clock.after(this.#options.config.longAnswers.keepMs, () => this.#dropOld());
  }

  #isCurrent({ outcome, deliveredMs, isCancelled }: LongSearch): boolean {
    if (outcome === undefined) return !isCancelled;
    if (outcome.isErr()) return false;
    return deliveredMs === undefined || this.#options.clock.elapsedMs() - deliveredMs < REPEATED_MS;
  }

  #dropOld(): void {
    const sinceMs = this.#options.clock.elapsedMs() - this.#options.config.longAnswers.keepMs;
    const kept = [...this.#known].filter(({ outcome }) => outcome !== undefined).reverse();
    let bytes = 0;
    for (const [index, search] of kept.entries()) {
      bytes += search.bytes;
      if (index >= MAX_KEPT || bytes > MAX_KEPT_BYTES || search.endedMs <= sinceMs) this.#known.delete(search);
    }
  }
}

const ENDS = new Map<string, 'cancelled' | 'expired'>([
  ['cancelled', 'cancelled'],
  ['search_cancelled', 'cancelled'],
  ['timed_out', 'expired'],
]);

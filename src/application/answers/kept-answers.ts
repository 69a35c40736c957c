import type { Clock } from '../ports/clock.ts';
import { errorKind, type LongSearch } from './long-search.ts';

/** How long after a delivery the same question gets the same answer: the client may have given up before it was read (ruling K20). */
const REPEATED_MS = 600_000;
/** What a process keeps of answers (ruling K25). */
const MAX_KEPT = 100;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** The searches that calls can find: those in progress, and the latest of those that have ended. */
export class KeptAnswers {
  readonly #clock: Clock;
  readonly #keepMs: number;
  /** By owner, question and profile. */
  readonly #byQuestion = new Map<string, LongSearch>();
  /** By the ID of the response. Those that have ended are in the order of their ends. */
  readonly #byId = new Map<string, LongSearch>();

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** The number of those that have ended. */
  get count(): number {
    this.#dropOld();
    return [...this.#byId.values()].filter(({ outcome }) => outcome !== undefined).length;
  }

  /** The search that the same question gets (ruling K20). */
  currentFor(key: string): LongSearch | undefined {
    this.#dropOld();
    const search = this.#byQuestion.get(key);
    return search !== undefined && this.#isCurrent(search) ? search : undefined;
  }

  /** The search with this response. */
  of(responseId: string): LongSearch | undefined {
    this.#dropOld();
    return this.#byId.get(responseId);
  }

  onAsked(key: string, search: LongSearch): void {
    this.#byQuestion.set(key, search);
  }

  onCreated(responseId: string, search: LongSearch): void {
    this.#byId.set(responseId, search);
  }

  /** Makes a search that has ended the latest of those. Looks that failed, or were stopped, are not kept: the next call looks again. */
  onOver(search: LongSearch): void {
    const { id, isForeign, outcome } = search;
    if (id !== undefined && (this.#byId.get(id) ?? search) === search) {
      this.#byId.delete(id);
      if (!isForeign || outcome?.isOk() || errorKind(outcome) === 'search_cancelled') this.#byId.set(id, search);
    }
    this.#dropOld();
    this.#clock.after(this.#keepMs, () => this.#dropOld());
  }

  #isCurrent({ id, outcome, deliveredMs, isCancelled }: LongSearch): boolean {
    if (outcome === undefined) return !isCancelled;
    if (outcome.isErr() || id === undefined || !this.#byId.has(id)) return false;
    return deliveredMs === undefined || this.#clock.elapsedMs() - deliveredMs < REPEATED_MS;
  }

  #dropOld(): void {
    const sinceMs = this.#clock.elapsedMs() - this.#keepMs;
    const kept = [...this.#byId].filter(([, { outcome }]) => outcome !== undefined).reverse();
    let bytes = 0;
    for (const [index, [id, search]] of kept.entries()) {
      const { endedMs = Number.POSITIVE_INFINITY } = search;
      bytes += search.bytes;
      if (index >= MAX_KEPT || bytes > MAX_KEPT_BYTES || endedMs <= sinceMs) this.#byId.delete(id);
    }
    for (const [key, { id, outcome }] of this.#byQuestion)
      if (outcome !== undefined && (id === undefined || !this.#byId.has(id))) this.#byQuestion.delete(key);
  }
}

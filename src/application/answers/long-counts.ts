import type { Outcome } from './long-search.ts';

/** What is counted about searches that take minutes, by the names of the metrics and the values of their labels (ruling K26). */
export class LongCounts {
  readonly long_answers_total = { completed: 0, failed: 0, cancelled: 0, expired: 0 };
  readonly long_answers_detached_total = { task: 0, unfinished: 0, timeout: 0, disconnect: 0 };
  readonly long_answers_returned_total = { task: 0, joined: 0, kept: 0, handle: 0 };

  onEnded(outcome: Outcome): void {
    this.long_answers_total[outcome.isOk() ? 'completed' : (ENDS.get(outcome.error.kind) ?? 'failed')] += 1;
  }
}

const ENDS = new Map<string, 'cancelled' | 'expired'>([
  ['cancelled', 'cancelled'],
  ['search_cancelled', 'cancelled'],
  ['timed_out', 'expired'],
]);

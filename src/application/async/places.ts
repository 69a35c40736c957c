import type { SearchProgress } from '../ports/llm-search.ts';
import { Tally } from './tally.ts';

/** The position of a call in the queue; `ahead` is the current number of calls that get a place earlier. */
type QueuePosition = Extract<SearchProgress, { readonly kind: 'waiting' }>;

interface Waiter {
  readonly onMoved: (() => void) | undefined;
  readonly take: () => void;
}

/** How many waiters are notified when the queue moves; the others read their position when they need it. */
const NOTIFIED = 16;

/**
 * Bounds what runs at the same time. The others wait: callers take turns, and the calls of one caller keep their order. While another
 * caller waits, no caller gets the last place that the others could use: its calls may take very long.
 */
export class Places {
  readonly #max: number;
  readonly #maxWaiting: number;
  /** The waiting calls of each caller that has any; the callers are in the order of their turns. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  /** The number of places of each caller. */
  readonly #taken = new Tally();
  readonly #onIdle: (() => void)[] = [];
  #running = 0;
  /** Whether a call asked for its position: to find out those of all takes time. */
  #isWatched = false;

  /** `maxWaiting` is how many calls of one caller may wait. */
  constructor(max: number, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#max = max;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for a place, which the caller gives back with `release`, or until `signal` aborts. If there is no free place, `onQueued` is called
   * at once, and again when the position changes near the head of the queue.
   */
  async acquire(
    caller: string,
    onQueued: ((position: QueuePosition) => void) | undefined,
    signal: AbortSignal,
  ): Promise<'acquired' | 'aborted' | 'full'> {
    if (signal.aborted) return 'aborted';
    if (this.#running < this.#max) {
      this.#occupy(caller);
      return 'acquired';
    }
    const waiting = this.#waiting.get(caller) ?? new Set();
    if (waiting.size >= this.#maxWaiting) return 'full';
    this.#waiting.set(caller, waiting);
    return new Promise((resolve) => {
      const ahead = () => Math.max(0, [...this.#inOrder()].indexOf(waiter));
      const position: QueuePosition = {
        kind: 'waiting',
        get ahead() {
          return ahead();
        },
      };
      const onAbort = () => {
        waiting.delete(waiter);
        if (waiting.size === 0) this.#waiting.delete(caller);
        resolve('aborted');
        this.#notify();
      };
      const waiter: Waiter = {
        onMoved: onQueued && (() => onQueued(position)),
        take: () => {
          signal.removeEventListener('abort', onAbort);
          resolve('acquired');
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(waiter);
      this.#isWatched ||= onQueued !== undefined;
      waiter.onMoved?.();
    });
  }

  /** Gives a place back, which the next call gets. */
  release(caller: string): void {
    this.#taken.add(caller, -1);
    this.#running -= 1;
    const [next] = this.#turns();
    if (next !== undefined) this.#passTo(...next);
    if (this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Resolves when nothing is running. */
  async whenIdle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #occupy(caller: string): void {
    this.#running += 1;
    this.#taken.add(caller, 1);
  }

  #passTo(caller: string, waiting: Set<Waiter>): void {
    const [first] = waiting;
    if (first !== undefined) waiting.delete(first);
    // The next turn of this caller comes after those of the others.
    this.#waiting.delete(caller);
    if (waiting.size > 0) this.#waiting.set(caller, waiting);
    this.#occupy(caller);
    first?.take();
    this.#notify();
  }

  #notify(): void {
    if (!this.#isWatched) return;
    let notified = 0;
    for (const waiter of this.#inOrder()) {
      if (notified === NOTIFIED) return;
      waiter.onMoved?.();
      notified += 1;
    }
  }

  /** The waiting calls in the order in which they get places, if no other call arrives and no caller reaches the limit. */
  *#inOrder(): Iterable<Waiter> {
    const rows = new Set(this.#turns().map(([, waiting]) => waiting.values()));
    while (rows.size > 0) {
      for (const row of rows) {
        const next = row.next();
        if (next.done === true) rows.delete(row);
        else yield next.value;
      }
    }
  }

  /** The waiting callers in the order of their turns. Those that have as many places as one caller may have come last. */
  #turns(): readonly [string, Set<Waiter>][] {
    const isAtLimit = ([caller]: [string, unknown]) => this.#taken.of(caller) >= this.#max - 1;
    return [...this.#waiting].sort((a, b) => Number(isAtLimit(a)) - Number(isAtLimit(b)));
  }
}

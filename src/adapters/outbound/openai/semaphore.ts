import type { SearchProgress } from '../../../application/ports/llm-search.ts';

/** The position of a call in the queue; `ahead` is the current number of calls that get a slot earlier. */
type QueuePosition = Extract<SearchProgress, { readonly kind: 'waiting' }>;

interface Waiter {
  readonly onMoved: () => void;
  readonly settle: (outcome: 'acquired' | 'aborted') => void;
}

/** How many waiters are notified when the queue moves; the others read their position when they need it. */
const NOTIFIED = 16;

/** Bounds the number of calls that run at the same time. The others wait in the order of their arrival (ruling 12). */
export class Semaphore {
  readonly #slots: number;
  readonly #queue = new Set<Waiter>();
  #running = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * Waits for a slot, which the caller gives back with `release`, or until `signal` aborts. If there is no free slot,
   * `onQueued` is called at once, and again when the position changes near the head of the queue.
   */
  async acquire(onQueued: (position: QueuePosition) => void, signal: AbortSignal): Promise<'acquired' | 'aborted'> {
    if (signal.aborted) return 'aborted';
    if (this.#running < this.#slots) {
      this.#running += 1;
      return 'acquired';
    }
    return new Promise((resolve) => {
      const queue = this.#queue;
      const position: QueuePosition = {
        kind: 'waiting',
        get ahead() {
          return Math.max(0, [...queue].indexOf(waiter));
        },
      };
      const onAbort = () => {
        waiter.settle('aborted');
        this.#notify();
      };
      const waiter: Waiter = {
        onMoved: () => onQueued(position),
        settle: (outcome) => {
          queue.delete(waiter);
          signal.removeEventListener('abort', onAbort);
          resolve(outcome);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      queue.add(waiter);
      waiter.onMoved();
    });
  }

  /** Gives a slot back. The next call gets it in the same turn of the event loop, so that several calls start together. */
  release(): void {
    if (this.#queue.size === 0) this.#running -= 1;
    else setImmediate(() => this.#passOn());
  }

  #passOn(): void {
    const [next] = this.#queue;
    if (next === undefined) this.#running -= 1;
    next?.settle('acquired');
    this.#notify();
  }

  #notify(): void {
    for (const waiter of [...this.#queue].slice(0, NOTIFIED)) waiter.onMoved();
  }
}

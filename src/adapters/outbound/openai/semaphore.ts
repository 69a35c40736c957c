import { FairQueue } from '../../../application/fair-queue.ts';
import type { SearchProgress } from '../../../application/ports/llm-search.ts';

/** The position of a call in the queue; `ahead` is the current number of calls that get a slot earlier. */
type QueuePosition = Extract<SearchProgress, { readonly kind: 'waiting' }>;

interface Waiter {
  readonly onMoved: () => void;
  readonly settle: (outcome: 'acquired' | 'aborted') => void;
}

/** How many waiters are notified when the queue moves; the others read their position when they need it. */
const NOTIFIED = 16;

/** Bounds the number of calls that run at the same time. The others wait; their callers take turns (ruling 12). */
export class Semaphore {
  readonly #slots: number;
  readonly #queue: FairQueue<Waiter>;
  #running = 0;

  constructor(slots: number) {
    this.#slots = slots;
    this.#queue = new FairQueue(slots);
  }

  /**
   * Waits for a slot, which the caller gives back with `release`, or until `signal` aborts. If there is no free slot,
   * `onQueued` is called at once, and again when the position changes near the head of the queue.
   */
  async acquire(
    caller: string,
    onQueued: (position: QueuePosition) => void,
    signal: AbortSignal,
  ): Promise<'acquired' | 'aborted'> {
    if (signal.aborted) return 'aborted';
    const queue = this.#queue;
    if (this.#running < this.#slots) {
      this.#running += 1;
      queue.occupy(caller);
      return 'acquired';
    }
    return new Promise((resolve) => {
      const position: QueuePosition = {
        kind: 'waiting',
        get ahead() {
          let ahead = 0;
          for (const other of queue.inOrder()) {
            if (other === waiter) return ahead;
            ahead += 1;
          }
          return 0;
        },
      };
      const onAbort = () => {
        queue.remove(caller, waiter);
        waiter.settle('aborted');
        this.#notify();
      };
      const waiter: Waiter = {
        onMoved: () => onQueued(position),
        settle: (outcome) => {
          signal.removeEventListener('abort', onAbort);
          resolve(outcome);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      queue.add(caller, waiter);
      waiter.onMoved();
    });
  }

  /** Gives a slot back. The next call gets it in the same turn of the event loop, so that several calls start together. */
  release(caller: string): void {
    this.#queue.vacate(caller);
    if (this.#queue.isEmpty) this.#running -= 1;
    else setImmediate(() => this.#passOn());
  }

  #passOn(): void {
    const next = this.#queue.take();
    if (next === undefined) this.#running -= 1;
    next?.settle('acquired');
    this.#notify();
  }

  #notify(): void {
    let notified = 0;
    for (const waiter of this.#queue.inOrder()) {
      if (notified === NOTIFIED) return;
      waiter.onMoved();
      notified += 1;
    }
  }
}

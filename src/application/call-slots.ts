import { FairQueue } from './fair-queue.ts';

type Slot = 'acquired' | 'aborted' | 'full';

interface Waiter {
  readonly onMoved: (ahead: number) => void;
  readonly take: () => void;
}

/**
 * Bounds the calls that run at the same time, on a server or at the API (rulings 12 and G1). The others wait, `maxWaiting` of each caller, and their
 * callers take turns.
 */
export class CallSlots {
  readonly #max: number;
  readonly #maxWaiting: number;
  readonly #queue: FairQueue<Waiter>;
  readonly #onIdle = new Set<() => void>();
  #running = 0;

  constructor(max: number, maxWaiting = max) {
    this.#max = max;
    this.#maxWaiting = maxWaiting;
    this.#queue = new FairQueue(max);
  }

  /** Resolves when no call is running, or when `signal` aborts. */
  async whenIdle(signal: AbortSignal): Promise<void> {
    if (this.#running === 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        signal.removeEventListener('abort', settle);
        this.#onIdle.delete(settle);
        resolve();
      };
      signal.addEventListener('abort', settle, { once: true });
      this.#onIdle.add(settle);
    });
  }

  /** Waits for a slot, which the caller gives back with `release`. */
  acquire(caller: string, signal: AbortSignal): Promise<Slot> {
    return this.acquireWithProgress(caller, () => {}, signal);
  }

  /** `onMoved` gets the number of calls that get a slot earlier: if there is no free slot, at once, and again when the queue moves. */
  async acquireWithProgress(caller: string, onMoved: Waiter['onMoved'], signal: AbortSignal): Promise<Slot> {
    if (signal.aborted) return 'aborted';
    if (this.#running < this.#max) {
      this.#running += 1;
      this.#queue.occupy(caller);
      return 'acquired';
    }
    if (this.#queue.waitingOf(caller) >= this.#maxWaiting) return 'full';
    return new Promise((resolve) => {
      const onAbort = () => {
        this.#queue.remove(caller, waiter);
        resolve('aborted');
        this.#notify();
      };
      const waiter: Waiter = {
        onMoved,
        take: () => {
          signal.removeEventListener('abort', onAbort);
          resolve('acquired');
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(caller, waiter);
      onMoved([...this.#queue.inOrder()].indexOf(waiter));
    });
  }

  release(caller: string): void {
    this.#queue.vacate(caller);
    const next = this.#queue.take();
    if (next !== undefined) {
      next.take();
      this.#notify();
      return;
    }
    this.#running -= 1;
    if (this.#running === 0) for (const settle of [...this.#onIdle]) settle();
  }

  #notify(): void {
    let ahead = 0;
    for (const { onMoved } of this.#queue.inOrder()) {
      onMoved(ahead);
      ahead += 1;
    }
  }
}

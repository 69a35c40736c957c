import { FairQueue } from './fair-queue.ts';

/**
 * Bounds the calls that run on a server at the same time (ruling G1). The others wait, as many again of each caller, and their callers
 * take turns.
 */
export class CallSlots {
  readonly #max: number;
  readonly #queue: FairQueue<() => void>;
  readonly #onIdle = new Set<() => void>();
  #running = 0;

  constructor(max: number) {
    this.#max = max;
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
  async acquire(caller: string, signal: AbortSignal): Promise<'acquired' | 'aborted' | 'full'> {
    if (signal.aborted) return 'aborted';
    if (this.#running < this.#max) {
      this.#running += 1;
      this.#queue.occupy(caller);
      return 'acquired';
    }
    if (this.#queue.waitingOf(caller) >= this.#max) return 'full';
    return new Promise((resolve) => {
      const take = () => {
        signal.removeEventListener('abort', onAbort);
        resolve('acquired');
      };
      const onAbort = () => {
        this.#queue.remove(caller, take);
        resolve('aborted');
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(caller, take);
    });
  }

  release(caller: string): void {
    this.#queue.vacate(caller);
    const next = this.#queue.take();
    if (next !== undefined) {
      next();
      return;
    }
    this.#running -= 1;
    if (this.#running === 0) for (const settle of [...this.#onIdle]) settle();
  }
}

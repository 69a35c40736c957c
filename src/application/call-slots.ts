/** Bounds the calls that run on a server at the same time. As many again may wait, in the order of their arrival (ruling G1). */
export class CallSlots {
  readonly #max: number;
  readonly #queue = new Set<() => void>();
  readonly #onIdle = new Set<() => void>();
  #running = 0;

  constructor(max: number) {
    this.#max = max;
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
  async acquire(signal: AbortSignal): Promise<'acquired' | 'aborted' | 'full'> {
    if (signal.aborted) return 'aborted';
    if (this.#running < this.#max) {
      this.#running += 1;
      return 'acquired';
    }
    if (this.#queue.size >= this.#max) return 'full';
    return new Promise((resolve) => {
      const take = () => {
        signal.removeEventListener('abort', onAbort);
        resolve('acquired');
      };
      const onAbort = () => {
        this.#queue.delete(take);
        resolve('aborted');
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(take);
    });
  }

  release(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#running -= 1;
      if (this.#running === 0) for (const settle of [...this.#onIdle]) settle();
      return;
    }
    this.#queue.delete(next);
    next();
  }
}

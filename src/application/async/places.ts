/** A call that waits for a place. */
type Waiter = () => void;

/** Limits the number of calls that run at the same time. Waiting callers take turns, and the calls of one caller keep their order. */
export class Places {
  readonly #max: number;
  readonly #maxWaiting: number;
  /** The waiting calls of each caller that has any, with the callers in the order of their turns. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  readonly #onIdle: (() => void)[] = [];
  #running = 0;

  /** `maxWaiting` limits the waiting calls of one caller. */
  constructor(max: number, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#max = max;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Waits for a place, which `release` gives back, or until `signal` aborts. If no place is free, `onQueued` gets the number of calls whose
   * turn is before this one, or in the same round.
   */
  async acquire(
    caller: string,
    onQueued: ((ahead: number) => void) | undefined,
    signal: AbortSignal,
  ): Promise<'acquired' | 'aborted' | 'full'> {
    if (signal.aborted) return 'aborted';
    if (this.#running < this.#max) {
      this.#running += 1;
      return 'acquired';
    }
    const waiting = this.#waiting.get(caller) ?? new Set();
    if (waiting.size >= this.#maxWaiting) return 'full';
    const turn = waiting.size;
    onQueued?.([...this.#waiting.values()].reduce((sum, { size }) => sum + Math.min(size, turn + 1), 0));
    this.#waiting.set(caller, waiting);
    return new Promise((resolve) => {
      const onAbort = () => {
        waiting.delete(take);
        if (waiting.size === 0) this.#waiting.delete(caller);
        resolve('aborted');
      };
      const take = () => {
        signal.removeEventListener('abort', onAbort);
        resolve('acquired');
      };
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.add(take);
    });
  }

  /** Gives a place back, which passes to the next call. */
  release(): void {
    this.#running -= 1;
    const [next] = this.#waiting;
    if (next !== undefined) this.#passTo(...next);
    if (this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** Resolves when nothing is running. */
  async whenIdle(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #passTo(caller: string, waiting: Set<Waiter>): void {
    const [first] = waiting;
    if (first !== undefined) waiting.delete(first);
    // The next turn of this caller comes after the turns of all others.
    this.#waiting.delete(caller);
    if (waiting.size > 0) this.#waiting.set(caller, waiting);
    this.#running += 1;
    first?.();
  }
}

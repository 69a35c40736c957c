/** Bounds the calls in flight of each caller, over MCP and REST together. */
export class CallerSlots {
  readonly #max: number;
  readonly #inFlight = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the call, or returns undefined if the caller has too many in flight. */
  async run<T>(caller: string, call: () => Promise<T>): Promise<T | undefined> {
    const inFlight = this.#inFlight.get(caller) ?? 0;
    if (inFlight >= this.#max) return undefined;
    this.#inFlight.set(caller, inFlight + 1);
    try {
      return await call();
    } finally {
      const left = (this.#inFlight.get(caller) ?? 1) - 1;
      if (left === 0) this.#inFlight.delete(caller);
      else this.#inFlight.set(caller, left);
    }
  }
}

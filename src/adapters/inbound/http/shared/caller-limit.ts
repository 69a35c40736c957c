/** Bounds what the requests in progress of each caller use, over MCP and REST together: places, or bytes. */
export class CallerLimit {
  readonly max: number;
  readonly #used = new Map<string, number>();

  constructor(max: number) {
    this.max = max;
  }

  /**
   * Uses more until the response was sent, or its connection is closed; false, and nothing is used, if it is too much. The first of a caller
   * is never too much. Each function in `held` frees what the request uses of a limit.
   */
  hold({ caller, held }: { readonly caller: string; readonly held: (() => void)[] }, amount: number): boolean {
    const used = this.#used.get(caller) ?? 0;
    if (used > 0 && used + amount > this.max) return false;
    this.#used.set(caller, used + amount);
    held.push(() => {
      const left = (this.#used.get(caller) ?? 0) - amount;
      if (left > 0) this.#used.set(caller, left);
      else this.#used.delete(caller);
    });
    return true;
  }
}

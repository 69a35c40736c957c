import { Tally } from '../../../../application/async/tally.ts';

/** Bounds what the requests in progress of each caller use, over MCP and REST together: places, or bytes. */
export class CallerLimit {
  readonly max: number;
  readonly #used = new Tally();

  constructor(max: number) {
    this.max = max;
  }

  /** Uses more until the functions in `held` are called; false, and nothing is used, if it is too much. The first of a caller never is. */
  hold({ caller, held }: { readonly caller: string; readonly held: (() => void)[] }, amount: number): boolean {
    const used = this.#used.of(caller);
    if (used > 0 && used + amount > this.max) return false;
    this.#used.add(caller, amount);
    held.push(() => this.#used.add(caller, -amount));
    return true;
  }
}

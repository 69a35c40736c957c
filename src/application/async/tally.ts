/** How many keys without a count are kept: to remove each at once has the cost that `InProgress` describes. */
const MAX_SIZE = 1000;

/** Counts for each key, which is 0 at first. */
export class Tally {
  readonly #counts = new Map<string, number>();

  /** The number of keys that it keeps. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: string, amount: number): void {
    const total = this.of(key) + amount;
    this.#counts.set(key, total);
    if (total !== 0 || this.#counts.size <= MAX_SIZE) return;
    for (const [other, count] of this.#counts) if (count === 0) this.#counts.delete(other);
  }
}

import type { LongTurn } from '../ports/llm-search.ts';

/** Limits the places of long searches for which no call waits: other questions need places, too (ruling K6). */
export class LongPlaces {
  readonly #half: number;
  /** What gives back the place of each search that has one. */
  readonly #held = new Map<object, () => void>();
  readonly #detached = new Set<object>();
  /** Searches that must not start yet, in the order in which they came. */
  readonly #waiting = new Map<object, () => void>();

  constructor(maxConcurrency = Number.POSITIVE_INFINITY) {
    this.#half = Math.floor(maxConcurrency / 2);
  }

  /** A search has got a place. Returns what it waits for if it must not start yet. */
  onPlace(search: object, giveBack: () => void): LongTurn | undefined {
    if (this.#detached.size < this.#half) {
      this.#held.set(search, giveBack);
      return undefined;
    }
    return { ahead: this.#waiting.size, comes: new Promise((resolve) => this.#waiting.set(search, resolve)) };
  }

  onDetached(search: object): void {
    this.#detached.add(search);
    const holding = [...this.#detached].filter((detached) => this.#held.has(detached));
    if (holding.length <= this.#half) return;
    this.#held.get(search)?.();
    this.#held.delete(search);
  }

  onJoined(search: object): void {
    this.#detached.delete(search);
    if (this.#detached.size >= this.#half) return;
    for (const resolve of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  onEnded(search: object): void {
    this.#held.get(search)?.();
    this.#held.delete(search);
    this.#waiting.delete(search);
    this.onJoined(search);
  }
}

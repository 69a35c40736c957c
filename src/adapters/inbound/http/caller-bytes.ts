const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Bounds the bytes of each caller's bodies whose requests are in progress, over MCP and REST together. A value needs up to 21 times as
 * much memory as its JSON. One body of the configured size is always accepted.
 */
export class CallerBytes {
  readonly #max: number;
  readonly #inFlight = new Map<string, number>();

  constructor(maxBodyBytes: number) {
    this.#max = Math.max(MAX_BYTES, maxBodyBytes);
  }

  /** Counts bytes that arrive; false, and nothing is counted, if there are too many. */
  take(caller: string, bytes: number): boolean {
    const inFlight = (this.#inFlight.get(caller) ?? 0) + bytes;
    if (inFlight > this.#max) return false;
    this.#inFlight.set(caller, inFlight);
    return true;
  }

  give(caller: string, bytes: number): void {
    const left = (this.#inFlight.get(caller) ?? 0) - bytes;
    if (left > 0) this.#inFlight.set(caller, left);
    else this.#inFlight.delete(caller);
  }
}

/** Bounds how many calls each caller has in flight. */
export class CallLimit {
  readonly #most: number;
  readonly #inFlight = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** False if the caller has as many as it may; else it gives the place back with `leave`. */
  enter(caller: string): boolean {
    const count = this.#inFlight.get(caller) ?? 0;
    if (count >= this.#most) return false;
    this.#inFlight.set(caller, count + 1);
    return true;
  }

  leave(caller: string): void {
    this.#inFlight.set(caller, (this.#inFlight.get(caller) ?? 0) - 1);
  }
}

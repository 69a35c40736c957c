/**
 * Calls that wait for one of a number of places. Callers take turns, and the calls of one caller keep their order. While another caller
 * waits, no caller gets the last place that the others could use: its calls may take very long.
 */
export class FairQueue<Call> {
  readonly #limit: number;
  /** The waiting calls of each caller that has any; the callers are in the order of their turns. */
  readonly #waiting = new Map<string, Set<Call>>();
  /** The places of each caller that has any. */
  readonly #places = new Map<string, number>();

  constructor(places: number) {
    this.#limit = places - 1;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** The number of calls of a caller that wait. */
  waitingOf(caller: string): number {
    return this.#waiting.get(caller)?.size ?? 0;
  }

  add(caller: string, call: Call): void {
    const calls = this.#waiting.get(caller);
    if (calls === undefined) this.#waiting.set(caller, new Set([call]));
    else calls.add(call);
  }

  remove(caller: string, call: Call): void {
    const calls = this.#waiting.get(caller);
    calls?.delete(call);
    if (calls?.size === 0) this.#waiting.delete(caller);
  }

  /** Takes the next call out of the queue, and counts its place. */
  take(): Call | undefined {
    if (this.isEmpty) return undefined;
    const [caller] = this.#turns();
    const calls = caller === undefined ? undefined : this.#waiting.get(caller);
    if (caller === undefined || calls === undefined) return undefined;
    const [call] = calls;
    this.#waiting.delete(caller);
    if (calls.size > 1) this.#waiting.set(caller, calls);
    calls.delete(call as Call);
    this.occupy(caller);
    return call;
  }

  /** Counts the place of a call that did not wait. */
  occupy(caller: string): void {
    this.#places.set(caller, (this.#places.get(caller) ?? 0) + 1);
  }

  /** Counts a place that was given back. */
  vacate(caller: string): void {
    const left = (this.#places.get(caller) ?? 0) - 1;
    if (left > 0) this.#places.set(caller, left);
    else this.#places.delete(caller);
  }

  /** The waiting calls in the order in which they get places, if no other call arrives and no caller reaches the limit. */
  *inOrder(): Iterable<Call> {
    const rows = new Set(this.#turns().map((caller) => (this.#waiting.get(caller) ?? new Set<Call>()).values()));
    while (rows.size > 0) {
      for (const row of rows) {
        const next = row.next();
        if (next.done === true) rows.delete(row);
        else yield next.value;
      }
    }
  }

  /** The waiting callers in the order of their turns. Those that have as many places as one caller may have come last. */
  #turns(): readonly string[] {
    const callers = [...this.#waiting.keys()];
    if (callers.length < 2) return callers;
    const isAtLimit = (caller: string) => (this.#places.get(caller) ?? 0) >= this.#limit;
    return [...callers.filter((caller) => !isAtLimit(caller)), ...callers.filter(isAtLimit)];
  }
}

/** The source of time of the core. Adapters may have timers of their own for connections and processes. */
export interface Clock {
  now(): Date;

  /** Milliseconds since a fixed instant; never decreases. */
  elapsedMs(): number;

  /**
   * Resolves with `elapsed` when `elapsedMs` has advanced by `ms` and never earlier, or with `aborted` as soon as `signal`
   * aborts. `ms` may be any number of milliseconds. Leaves no timer and no listener.
   */
  sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'>;

  /**
   * Calls `run` once, in a later turn, when `elapsedMs` has advanced by `ms` and never earlier. The returned function prevents that. For
   * time limits that are rarely reached: it costs less than a sleep that is aborted.
   */
  after(ms: number, run: () => void): () => void;
}

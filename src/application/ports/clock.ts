/** Tells the time, and waits. Nothing else in the program looks at a clock. */
export interface Clock {
  now(): Date;

  /** Milliseconds since some fixed instant; never runs backwards. */
  elapsedMs(): number;

  /**
   * Resolves with `elapsed` when `ms` have passed by `elapsedMs` and never before, or with `aborted` as soon as `signal`
   * aborts. Any whole number of milliseconds may be waited for. Leaves no timer and no listener behind.
   */
  sleep(ms: number, signal: AbortSignal): Promise<'elapsed' | 'aborted'>;
}

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** After this time without a failure, the next counts as the first. */
const HEALTHY_MS = 30_000;
const MAX_FAILURES = 5;

/** When a server that failed is started again (ruling G6), or a stream that ended is opened again. */
export class RestartBackoff {
  readonly #maxFailures: number;
  #failures = 0;

  constructor(maxFailures = MAX_FAILURES) {
    this.#maxFailures = maxFailures;
  }

  /** The time until the next start; undefined after the last failure in a row. `healthyMs`: how long the server was available before. */
  delayAfterFailure(healthyMs: number): number | undefined {
    this.#failures = healthyMs >= HEALTHY_MS ? 1 : this.#failures + 1;
    if (this.#failures >= this.#maxFailures) return undefined;
    return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.#failures - 1));
  }

  reset(): void {
    this.#failures = 0;
  }
}

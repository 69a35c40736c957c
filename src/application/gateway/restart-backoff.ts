const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
/** After this time without a failure, the next counts as the first. */
const HEALTHY_MS = 30_000;
const MAX_FAILURES = 5;

/**
 * When a server that failed is started again (ruling G6), or a stream that ended is opened again: a function that returns the time until then
 * after each failure, and undefined after the last in a row. `healthyMs` is how long the server was available before.
 */
export function restartBackoff(maxFailures = MAX_FAILURES): (healthyMs: number) => number | undefined {
  let failures = 0;
  return (healthyMs) => {
    failures = healthyMs >= HEALTHY_MS ? 1 : failures + 1;
    return failures >= maxFailures ? undefined : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1));
  };
}

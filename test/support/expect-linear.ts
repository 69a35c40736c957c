import { expect } from 'vitest';

const MIN_RUNS = 3;
const MAX_RUNS = 20;
/** A shorter run would measure the timer and the garbage collector. */
const MIN_RUN_MS = 5;
/** Twice the input takes twice the time if the work is linear, and four times if it is quadratic. */
const MAX_RATIO = 3.5;
/** In so short a time, other processes and the garbage collector decide the ratio; quadratic work takes far longer. */
const NOISE_MS = 20;

/**
 * Asserts that `work(2 * n)` takes about twice as long as `work(n)`, on a machine of any speed. Choose `n` so large that
 * quadratic work would take most of the time.
 */
export function expectLinear(work: (n: number) => void, n: number): void {
  const timeOf = (n: number, times: number) => {
    const startedMs = performance.now();
    for (let time = 0; time < times; time += 1) work(n);
    return performance.now() - startedMs;
  };
  const warmMs = Math.min(timeOf(n, 1), timeOf(n, 1), timeOf(n, 1));
  const times = Math.ceil(MIN_RUN_MS / Math.max(warmMs, 0.001));
  let [single, double] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  // The fastest run of each is the one that other processes disturbed least.
  for (
    let run = 0;
    run < MIN_RUNS || (run < MAX_RUNS && double >= NOISE_MS && double / single >= MAX_RATIO);
    run += 1
  ) {
    single = Math.min(single, timeOf(n, times));
    double = Math.min(double, timeOf(2 * n, times));
  }
  if (double < NOISE_MS) return;
  expect(double / single, `${2 * n} took ${double} ms, ${n} took ${single} ms`).toBeLessThan(MAX_RATIO);
}

import { expect } from 'vitest';
import { cpuMs } from './cpu-time.ts';

const MIN_RUNS = 3;
const MAX_RUNS = 10;
/** A shorter run would measure the timer and the garbage collector. */
const MIN_RUN_MS = 5;
/** Twice the input takes twice the time if the work is linear, and four times if it is quadratic. */
const MAX_RATIO = 3.5;
/** In so short a time, the garbage collector decides the ratio; quadratic work takes far longer. */
const NOISE_MS = 20;

/**
 * Asserts that `work(2 * n)` takes about twice as long as `work(n)`, on a machine of any speed. Choose `n` so large that
 * quadratic work would take most of the time. A slow comparison is repeated with twice as much, because the garbage collector may have disturbed it.
 */
export function expectLinear(work: (n: number) => void, n: number): void {
  if (compare(work, n).ratio < MAX_RATIO) return;
  const { ratio, times } = compare(work, 2 * n);
  expect(ratio, times).toBeLessThan(MAX_RATIO);
}

function compare(work: (n: number) => void, n: number) {
  const timeOf = (n: number, times: number) =>
    cpuMs(() => {
      for (let time = 0; time < times; time += 1) work(n);
    });
  const warmMs = cpuMs(() => work(n), 3);
  const times = Math.ceil(MIN_RUN_MS / Math.max(warmMs, 0.001));
  let [single, double] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const isSlow = () => double >= NOISE_MS && double / single >= MAX_RATIO;
  for (let run = 0; run < MIN_RUNS || (run < MAX_RUNS && isSlow()); run += 1) {
    single = Math.min(single, timeOf(n, times));
    double = Math.min(double, timeOf(2 * n, times));
  }
  return { ratio: isSlow() ? double / single : 1, times: `${2 * n} took ${double} ms, ${n} took ${single} ms` };
}

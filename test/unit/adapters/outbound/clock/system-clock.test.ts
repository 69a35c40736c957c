import { afterEach, expect, test, vi } from 'vitest';
import { SystemClock } from '../../../../../src/adapters/outbound/clock/system-clock.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a timer that fires early is set again, and each gets a time that Node.js accepts', () => {
  const timers: { readonly run: () => void; readonly ms: number }[] = [];
  let nowMs = 0.3;
  vi.stubGlobal('performance', { now: () => nowMs });
  vi.stubGlobal('setTimeout', (run: () => void, ms: number) => timers.push({ run, ms }));
  let runs = 0;
  const count = () => {
    runs += 1;
  };
  new SystemClock().after(2, count);
  nowMs += 1.2;
  timers[0]?.run();
  expect(runs).toBe(0);
  nowMs += 0.8;
  timers[1]?.run();
  expect(runs).toBe(1);
  for (const ms of [-50, 2 ** 40]) new SystemClock().after(ms, count);
  expect(timers.map(({ ms }) => ms)).toEqual([2, 1, 0, 2 ** 31 - 1]);
});

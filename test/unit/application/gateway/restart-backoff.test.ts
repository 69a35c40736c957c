import { array, assert, constantFrom, property } from 'fast-check';
import { expect, test } from 'vitest';
import { restartBackoff } from '../../../../src/application/gateway/restart-backoff.ts';

test('waits 1, 2, 4 and 8 s, and gives up after the fifth failure in a row', () => {
  const delayAfter = restartBackoff();
  expect([0, 1, 2, 3, 4].map(() => delayAfter(0))).toEqual([1000, 2000, 4000, 8000, undefined]);
});

test('begins again after 30 s of health, and not before', () => {
  const delayAfter = restartBackoff();
  delayAfter(0);
  expect(delayAfter(29_999)).toBe(2000);
  expect(delayAfter(30_000)).toBe(1000);
  expect(delayAfter(0)).toBe(2000);
});

test('never waits longer than 60 s, and gives up exactly at the fifth failure since the last health', () => {
  const healthyMs = constantFrom(0, 1, 29_999, 30_000, 3_600_000);
  assert(
    property(array(healthyMs, { minLength: 1, maxLength: 20 }), (times) => {
      const delayAfter = restartBackoff();
      let inARow = 0;
      for (const ms of times) {
        inARow = ms >= 30_000 ? 1 : inARow + 1;
        const delay = delayAfter(ms);
        expect(delay).toBe(inARow >= 5 ? undefined : Math.min(60_000, 1000 * 2 ** (inARow - 1)));
      }
    }),
  );
});

import { expect, test } from 'vitest';
import { Restarts } from '../../../../src/application/gateway/restarts.ts';
import { never } from '../../../contract/search-kit.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function newRestarts() {
  const restarts = new Restarts(new FakeClock());
  return { restarts, delayAfter: (healthyMs: number) => restarts.schedule(() => {}, healthyMs, never()) };
}

test('waits 1, 2, 4 and 8 s, and gives up after the fifth failure in a row', () => {
  const { delayAfter } = newRestarts();
  expect([0, 1, 2, 3, 4].map(() => delayAfter(0))).toEqual([1000, 2000, 4000, 8000, undefined]);
});

test('begins again after 30 s of health, and not before', () => {
  const { delayAfter } = newRestarts();
  delayAfter(0);
  expect(delayAfter(29_999)).toBe(2000);
  expect(delayAfter(30_000)).toBe(1000);
  expect(delayAfter(0)).toBe(2000);
});

test('begins again after a restart by hand', () => {
  const { restarts, delayAfter } = newRestarts();
  delayAfter(0);
  restarts.forget();
  expect(delayAfter(0)).toBe(1000);
});

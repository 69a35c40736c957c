import { expect, test } from 'vitest';
import { Tally } from '../../../../src/application/async/tally.ts';

test('counts for each key', () => {
  const tally = new Tally();
  tally.add('alice', 2);
  tally.add('bob', 1);
  tally.add('alice', -1);
  expect(['alice', 'bob', 'carol'].map((key) => tally.of(key))).toEqual([1, 1, 0]);
});

test('keys without a count do not fill the memory, and the others are kept', () => {
  const tally = new Tally();
  tally.add('alice', 1);
  for (let key = 0; key < 5000; key += 1) {
    tally.add(`caller ${key}`, 1);
    tally.add(`caller ${key}`, -1);
    expect(tally.size).toBeLessThanOrEqual(1001);
  }
  expect(tally.of('alice')).toBe(1);
});

import { expect, test } from 'vitest';
import { BoundedSet } from '../../../../src/domain/values/bounded-set.ts';

test('keeps the last 1,000 values', () => {
  const set = new BoundedSet();
  for (let value = 0; value < 1000; value += 1) set.add(`${value}`);
  set.add('999');
  expect([set.size, set.has('0')]).toEqual([1000, true]);
  set.add('1000');
  expect([set.size, set.has('0'), set.has('1'), set.has('1000')]).toEqual([1000, false, true, true]);
});

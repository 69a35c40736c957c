import { expect, test } from 'vitest';
import { BoundedMap } from '../../../../src/domain/values/bounded-map.ts';

test('keeps the values that were set last', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ]);
});

import { expect, test } from 'vitest';
import { jsonExtent } from '../../../../src/domain/values/json-extent.ts';

test.each<readonly [unknown, number, number, number]>([
  ['text', 1, 4, 0],
  [12, 1, 0, 0],
  [null, 1, 0, 0],
  [undefined, 1, 0, 0],
  [['a', []], 3, 1, 0],
  [{ ab: { c: 'de' } }, 3, 5, 2],
])('%j has %i values, %i characters, and %i in its longest name', (value, values, characters, longestName) => {
  expect(jsonExtent(value, 100)).toEqual({ values, characters, longestName });
});

test('counting ends soon above the maximum', () => {
  expect(jsonExtent(Array(1_000_000).fill([1]), 10).values).toBe(11);
});

test('a value that nests more deeply than messages may has infinitely many values', () => {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown;
  expect(jsonExtent(nested(1000), 10_000).values).toBe(1000);
  expect(jsonExtent(nested(100_000), 1_000_000).values).toBe(Number.POSITIVE_INFINITY);
});

import { expect, test } from 'vitest';
import { latest } from '../../../../src/domain/values/latest.ts';

test('computes again only if the input differs from the latest', () => {
  const computed: unknown[] = [];
  const double = latest((input: number | undefined) => {
    computed.push(input);
    return (input ?? 0) * 2;
  });
  expect([1, 1, 2, 1, undefined, undefined].map(double)).toEqual([2, 2, 4, 2, 0, 0]);
  expect(computed).toEqual([1, 2, 1, undefined]);
});

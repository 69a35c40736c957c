import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNestedDeeper } from '../../../../src/domain/values/json.ts';
import { runs } from '../../../support/sized.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('law: a value nests deeper than any number below its depth, and no other', () => {
  const law = fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(6), (value, max) => {
    expect(isNestedDeeper(value, max)).toBe(depthOf(value) > max);
  });
  fc.assert(law, { numRuns: runs(500) });
});

test('a value that nests a million levels deep needs no more stack than the limit', () => {
  expect(isNestedDeeper(JSON.parse(`${'['.repeat(1e6)}${']'.repeat(1e6)}`), 1000)).toBe(true);
});

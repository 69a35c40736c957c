import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonNesting, nestsDeeper } from '../../../src/domain/json-nesting.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('nestsDeeper', () => {
  test.for([
    ['', false],
    ['1', false],
    ['[[1]]', false],
    ['[[[1]]]', true],
    ['{"a":{"b":1},"c":{"d":2}}', false],
    ['{"a":{"b":[]}}', true],
    ['[['.repeat(1000), true],
    ['[[]]'.repeat(1000), false],
    ['{"a":"[[[[[[[["}', false],
    [String.raw`{"a\"[[[[":"\\"}`, false],
    [String.raw`{"a":"\\",  "b":[[]]}`, true],
    ['{"日本":["["]}', false],
  ] as const)('%s at most 2 deep: %s', ([json, expected]) => {
    expect(nestsDeeper(bytes(json), 2)).toBe(expected);
  });
});

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('law: the depth is that of the value, however the bytes are split', () => {
  const law = fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(5), fc.nat(200), (value, max, at) => {
    const json = bytes(JSON.stringify(value));
    const nesting = new JsonNesting(max);
    const isExceeded = nesting.exceeds(json.subarray(0, at)) || nesting.exceeds(json.subarray(at));
    expect(isExceeded).toBe(depthOf(value) > max);
    expect(nestsDeeper(json, max)).toBe(isExceeded);
  });
  fc.assert(law, { numRuns: 500 });
});

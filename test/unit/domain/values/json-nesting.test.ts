import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonNesting, nestsDeeper } from '../../../../src/domain/values/json-nesting.ts';
import { runs } from '../../../support/sized.ts';

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
  fc.assert(law, { numRuns: runs(500) });
});

describe('the parts', () => {
  const partsOf = (json: string, at = 0) => {
    const nesting = new JsonNesting(10);
    for (const part of [bytes(json).subarray(0, at), bytes(json).subarray(at)]) nesting.exceeds(part);
    return nesting.parts;
  };

  test('are objects, lists and members', () => {
    expect(partsOf('{"a":[1,2,{"b":":"}]}')).toBe(5);
  });

  test('of many members count more if their names are new, however the bytes are split', () => {
    const rows = (nameOf: (row: number) => string) =>
      `[${Array.from({ length: 20_000 }, (_, row) => `{"${nameOf(row)}":1}`).join()}]`;
    const [same, different] = [rows(() => 'name'), rows((row) => `name ${row}`)];
    expect(partsOf(same) - 40_001).toBeLessThan(10);
    expect(partsOf(different)).toBeGreaterThan(90_000);
    for (const at of [100, 123_456, 123_457]) expect(partsOf(different, at)).toBe(partsOf(different));
  });
});

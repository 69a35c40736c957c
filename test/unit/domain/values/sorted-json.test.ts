import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortedJson } from '../../../../src/domain/values/json.ts';

const json = fc.jsonValue({ maxDepth: 4 });

test('sorts keys at every level', () => {
  const value = { b: [{ y: [], x: {} }], c: 1, a: 'ü' };
  expect(sortedJson(value)).toBe('{"a":"ü","b":[{"x":{},"y":[]}],"c":1}');
  expect(sortedJson({ b: [1, {}], a: {} }, 2)).toBe('{\n  "a": {},\n  "b": [\n    1,\n    {}\n  ]\n}');
});

test('is the JSON of the value, with any indent', () => {
  fc.assert(
    fc.property(json, fc.nat(4), (value, indent) => {
      const text = sortedJson(value, indent);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(sortedJson(JSON.parse(text), indent)).toBe(text);
    }),
  );
});

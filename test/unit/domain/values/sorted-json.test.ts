import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sortedJson } from '../../../../src/domain/values/sorted-json.ts';

const json = fc.jsonValue({ maxDepth: 4 });

test('sorts keys as texts at every level, also those that are numbers', () => {
  const value = { b: [{ y: [], x: {} }], '10': 1, '9': null, a: 'ü' };
  expect(sortedJson(value)).toBe('{"10":1,"9":null,"a":"ü","b":[{"x":{},"y":[]}]}');
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

test('has the layout of JSON.stringify', () => {
  const sorted = fc.oneof(
    fc.array(fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null))),
    fc.constant({ a: [{ b: 1, c: [] }], d: {} }),
  );
  fc.assert(
    fc.property(sorted, fc.nat(4), (value, indent) => {
      expect(sortedJson(value, indent)).toBe(JSON.stringify(value, undefined, indent));
    }),
  );
});

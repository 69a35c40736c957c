import { expect, test } from 'vitest';
import { compileSchema } from '../../../../../src/adapters/outbound/mcp-client/compile-schema.ts';
import type { JsonObject } from '../../../../../src/domain/values/json.ts';

test.each<readonly [JsonObject, unknown, string]>([
  [{ required: ['message'] }, {}, '/message is required'],
  [{ properties: { a: { required: ['b/c~d'] } } }, { a: {} }, '/a/b~1c~0d is required'],
  [{ properties: {}, additionalProperties: false }, { x: 1 }, '/x is not allowed'],
  [{ unevaluatedProperties: false }, { x: 1 }, '/x is not allowed'],
  [{ properties: { x: false } }, { x: 1 }, '/x is not allowed'],
  [{ dependentRequired: { a: ['b'] } }, { a: 1 }, '/b is required with a'],
  [{ properties: { n: { type: 'integer' } } }, { n: '1' }, '/n must be integer'],
  [{ properties: { n: { enum: ['a', 1] } } }, { n: 2 }, '/n must be one of "a", 1'],
  [{ properties: { n: { const: 'a' } } }, { n: 2 }, '/n must be "a"'],
  [{ properties: { n: { maxLength: 2 } } }, { n: 'abc' }, '/n must NOT have more than 2 characters'],
  [{ items: { type: 'string' } }, ['a', 1], '/1 must be string'],
  [{ type: 'object' }, [], ' must be object'],
])('%j: %j is reported as %s', (schema, value, expected) => {
  const errors = compileSchema(schema, false)(value);
  expect(errors.map(({ path, message }) => `${path} ${message}`)).toEqual([expected]);
});

test('every problem is reported', () => {
  const schema = { required: ['a', 'b'], properties: { c: { type: 'string' } } };
  const errors = compileSchema(schema, false)({ c: 1 });
  expect(errors.map(({ path }) => path)).toEqual(['/a', '/b', '/c']);
});

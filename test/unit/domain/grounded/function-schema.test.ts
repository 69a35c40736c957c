import { describe, expect, test } from 'vitest';
import { toFunctionSchema } from '../../../../src/domain/grounded/function-schema.ts';
import type { JsonObject } from '../../../../src/domain/values/json.ts';

const KEPT = { type: 'object', properties: { a: { enum: [1] } }, required: ['a'], additionalProperties: false };
const parametersOf = (schema: JsonObject) => toFunctionSchema(schema)?.parameters;

describe('the schema of a function', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['has a type and properties', {}, { type: 'object', properties: {} }],
    ['is an object', { type: ['object', 'null'] }, { type: 'object', properties: {} }],
    [
      'has no $schema and no $id',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'x', type: 'object', properties: { a: {} } },
      { type: 'object', properties: { a: {} } },
    ],
    ['keeps everything else', KEPT, KEPT],
    [
      'has nothing at the top level that the API refuses',
      { type: 'object', properties: {}, oneOf: [], anyOf: [], allOf: [], enum: [], not: {} },
      { type: 'object', properties: {} },
    ],
  ])('%s', (_, schema, expected) => {
    const before = structuredClone(schema);
    expect(parametersOf(schema)).toEqual(expected);
    expect(schema).toEqual(before);
  });

  test('what was removed is described', () => {
    const schema = { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] };
    expect(toFunctionSchema(schema)?.note).toBe('Constraints: {"anyOf":[{"required":["a"]},{"required":["b"]}]}');
    expect(toFunctionSchema({})?.note).toBe('');
  });
});

describe('a schema that is too large is none', () => {
  /** `depth` levels below the root. */
  const nested = (depth: number): JsonObject => (depth === 0 ? {} : { a: nested(depth - 1) });
  /** Four bytes per letter, and 18 around them. */
  const long = (letters: number): JsonObject => ({ description: '😀'.repeat(letters) });

  test.each<[string, JsonObject, JsonObject]>([
    ['32 levels', nested(32), nested(33)],
    ['64 KiB', long(16_379), long(16_380)],
  ])('%s are accepted, more are not', (_, accepted, refused) => {
    expect(toFunctionSchema(accepted)).toBeDefined();
    expect(toFunctionSchema(refused)).toBeUndefined();
  });

  test('however deep it is', () => {
    const deep = JSON.parse(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as JsonObject;
    expect(toFunctionSchema(deep)).toBeUndefined();
  });
});

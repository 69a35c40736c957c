import { describe, expect, test } from 'vitest';
import { toObjectSchema } from '../../../../src/domain/gateway/served-schema.ts';

// S77
describe('a schema', () => {
  test('that is right is the same object, with every null of its values', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', default: null, enum: ['x', null], const: null } },
      required: ['a'],
      additionalProperties: false,
      'x-order': 1,
    };
    expect(toObjectSchema(schema)).toBe(schema);
  });

  test.each([
    [undefined, { type: 'object' }],
    [true, { type: 'object' }],
    [[], { type: 'object' }],
    [{ properties: {} }, { type: 'object', properties: {} }],
    [{ type: '' }, { type: 'object' }],
    [{ type: null }, { type: 'object' }],
    [{ type: 'OBJECT' }, { type: 'object' }],
    [{ type: ['object', 'null'] }, { type: 'object' }],
    [{ properties: null, required: null, description: null }, { type: 'object' }],
    [
      { properties: [], required: {} },
      { type: 'object', properties: {} },
    ],
    [{ required: ['a', 1, null] }, { type: 'object', required: ['a'] }],
    [{ $schema: 7, 'x-a': null }, { type: 'object' }],
    [
      { properties: { a: true, b: false, c: null, d: 'text' } },
      { type: 'object', properties: { a: {}, b: { not: {} }, c: {}, d: {} } },
    ],
    [
      { properties: { a: { items: true }, b: { items: [false], properties: { c: true } } } },
      { type: 'object', properties: { a: { items: {} }, b: { items: [{ not: {} }], properties: { c: {} } } } },
    ],
    [
      { $defs: { a: true }, anyOf: [true, null, { not: false }], additionalProperties: { items: true } },
      { type: 'object', $defs: { a: {} }, anyOf: [{}, { not: { not: {} } }], additionalProperties: { items: {} } },
    ],
  ])('is repaired: %j', (schema, served) => {
    expect(toObjectSchema(schema)).toEqual(served);
  });

  test.each([false, 'object', 1, [1], { type: 'array' }, { type: 'string' }, { type: ['array'] }, { type: 5 }])(
    'that is none of objects cannot be repaired: %j',
    (schema) => {
      expect(toObjectSchema(schema)).toBeUndefined();
    },
  );
});

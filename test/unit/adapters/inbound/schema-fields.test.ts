import { expect, test } from 'vitest';
import { type Field, fieldsOf, skeletonOf } from '../../../../src/adapters/inbound/schema-fields.ts';
import type { JsonObject } from '../../../../src/domain/values/json.ts';

/** The only field of a form. */
function field(property: unknown, more: JsonObject = {}, name = 'a'): Field | undefined {
  return fieldsOf({ type: 'object', properties: { [name]: property }, ...more })?.[0];
}

const REQUIRED = { required: ['a'] };
const choices = (...values: readonly unknown[]) => values.map((value) => ({ value, label: String(value) }));
const NO_LIMITS = { step: 'any', min: '', max: '' };

test.each([
  [{ type: 'string' }, { kind: 'text', preset: '', isLong: false }],
  [
    { type: 'string', default: 'x\ny' },
    { kind: 'text', preset: 'x\ny', isLong: true },
  ],
  [
    { type: 'string', maxLength: 500 },
    { kind: 'text', preset: '', isLong: true },
  ],
  [
    { type: 'string', default: { toString: 1 } },
    { kind: 'text', preset: '', isLong: false },
  ],
  [
    { type: ['number', 'null'], default: 0.5 },
    { kind: 'number', preset: 0.5, limits: NO_LIMITS },
  ],
  [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, { kind: 'number', preset: undefined, limits: NO_LIMITS }],
  [
    { type: 'integer', minimum: 1, maximum: 9 },
    { kind: 'number', preset: undefined, limits: { step: '1', min: '1', max: '9' } },
  ],
  [
    { type: 'boolean', default: true },
    { kind: 'checkbox', preset: true },
  ],
  [{ type: 'boolean' }, { kind: 'choice', preset: -1, choices: choices(true, false) }],
  [
    { enum: ['red', 'green'], default: 'green' },
    { kind: 'choice', preset: 1, choices: choices('red', 'green') },
  ],
  [
    { oneOf: [{ const: 1, title: 'small' }, { const: 2 }] },
    { kind: 'choice', preset: -1, choices: [{ value: 1, label: 'small' }, ...choices(2)] },
  ],
  [{ $ref: '#/$defs/size' }, { kind: 'choice', preset: -1, choices: choices('s', 'm') }],
  [
    { type: 'array', items: {} },
    { kind: 'json', preset: undefined, skeleton: [null] },
  ],
  [{ type: ['string', 'array'] }, { kind: 'json', preset: undefined, skeleton: '' }],
  [{ $ref: '#/%' }, { kind: 'json', preset: undefined, skeleton: null }],
  [true, { kind: 'json', preset: undefined, skeleton: null }],
])('the schema %j has its control', (schema, control) => {
  expect(field(schema, { $defs: { size: { enum: ['s', 'm'] } } })?.control).toEqual(control);
});

test.each([
  [{ type: 'boolean' }, { kind: 'checkbox', preset: false }],
  [{ const: 'fixed' }, { kind: 'choice', preset: 0, choices: choices('fixed') }],
  [
    { type: 'array', items: { type: 'object', properties: { x: { type: 'number' } } } },
    { kind: 'json', preset: [{ x: 0 }], skeleton: [{ x: 0 }] },
  ],
])('a required %j starts with a value', (schema, control) => {
  expect(field(schema, REQUIRED)).toMatchObject({ isRequired: true, control });
});

test.each(['body', 'userPrompt', 'sql_query'])('%s is a text of several lines', (name) => {
  expect(field({ type: 'string' }, {}, name)?.control).toMatchObject({ isLong: true });
});

test('the hint is the title and the description, if they are texts', () => {
  expect(field({ type: 'string', title: 'T', description: 'D' })?.hint).toBe('T: D');
  expect(field({ type: 'string', title: { x: 1 }, description: 'D' })?.hint).toBe('D');
});

test.each([
  ['no properties', { type: 'object' }, 0],
  ['properties without a type', { properties: { a: {} } }, 1],
  ['a wrong list of required properties', { type: 'object', properties: { a: {} }, required: 'a' }, 1],
  ['any properties', { type: 'object', additionalProperties: true }, undefined],
  ['a union', { anyOf: [{ type: 'object' }, { type: 'array' }] }, undefined],
])('the form of a schema with %s has fields, or is one for JSON', (_, schema, fields) => {
  expect(fieldsOf(schema)?.length).toBe(fields);
});

const NODE = { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['next'] };

test.each([
  [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['b'] }, { b: 0 }],
  [{ properties: { a: { type: 'boolean' }, b: { type: 'null' } } }, { a: false, b: null }],
  [{ type: 'array', items: { type: 'array', items: { type: 'integer', minimum: 3 } } }, [[3]]],
  [{ type: 'array' }, []],
  [{ oneOf: [{ type: 'object', properties: { x: { const: 1 } } }, { type: 'string' }] }, { x: 1 }],
  [{ enum: ['a', 'b'] }, 'a'],
  [{ type: 'object', default: { x: 2 } }, { x: 2 }],
  // As pydantic writes an optional list.
  [{ anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }], default: null }, ['']],
  [{ $ref: '#/$defs/node' }, { next: { next: { next: { next: { next: {} } } } } }],
])('the skeleton of %j is %j', (schema, skeleton) => {
  expect(skeletonOf(schema, { $defs: { node: NODE } })).toEqual(skeleton);
});

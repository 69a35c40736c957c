import { expect, test } from 'vitest';
import { costOf } from '../../../../../src/adapters/outbound/mcp-client/check-cost.ts';
import type { JsonObject } from '../../../../../src/domain/values/json.ts';

test.each<readonly [unknown, number, number, number?]>([
  [true, 1, 0],
  [{}, 1, 0],
  [{ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', title: 'x', default: { a: [1] } }, 2, 0],
  [{ properties: { a: { type: 'string', maxLength: 9 }, b: false }, required: ['a'] }, 8.046875, 1],
  [{ additionalProperties: false }, 2, 0],
  [{ additionalProperties: { type: 'string' } }, 3, 0, 4],
  [{ additionalProperties: { properties: { a: { minLength: 1 } }, additionalProperties: {} } }, 6.015625, 1, 12.03125],
  [{ items: { anyOf: [{ type: ['string', 'null'] }, { minimum: 1 }] }, required: [] }, 7, 0],
])('%j costs %d steps per value and %i per character', (schema, perValue, perCharacter, perNameCharacter = 0) => {
  expect(costOf(schema)).toEqual({ perValue, perCharacter, perNameCharacter });
});

test.each<JsonObject>([
  { pattern: 'x' },
  { patternProperties: {} },
  { format: 'date' },
  { uniqueItems: true },
  { $ref: '#' },
  { $async: true },
  { properties: { a: { $ref: '#' } } },
  { items: [{}] },
  { anyOf: [] },
  { anyOf: [{ pattern: 'x' }] },
  { enum: [] },
  { enum: [{}] },
  { type: 'x' },
  { type: ['string', 'string'] },
  { type: [] },
  { required: ['a', 'a'] },
  { required: true },
  { minLength: -1 },
  { exclusiveMinimum: true },
  { title: 1 },
  { constructor: {} },
  { $schema: 'http://json-schema.org/draft-04/schema#' },
  { required: Array.from({ length: 101 }, (_, at) => `${at}`) },
  { enum: ['x'.repeat(10_000)] },
])('%j is not plain', (schema) => {
  expect(costOf(schema)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { withUsableOutputs } from '../../../../../src/adapters/outbound/mcp-client/usable-outputs.ts';

const tool = { server: 'a', name: 'b', description: '', inputSchema: { type: 'object' } };
const object = (of: object, more = {}) => ({ type: 'object', properties: { of }, ...more });

// S77
test.each([
  ['a pattern of another language', object({ pattern: '(?i)x' })],
  ['a reference without a target', object({ $ref: '#/$defs/none' })],
  ['a reference to another document', object({ $ref: 'https://example.com/schema.json' })],
  ['a type that JSON Schema does not have', object({ type: 'any' })],
  ['a boolean of draft-04', object({ type: 'number', minimum: 0, exclusiveMinimum: true })],
  ['a dialect that clients do not know', object({}, { $schema: 'http://json-schema.org/draft-04/schema#' })],
])('an output schema with %s is left out, and its tool stays', async (_, outputSchema) => {
  expect(await withUsableOutputs([{ ...tool, outputSchema }, tool])).toEqual({ tools: [tool, tool], unusable: ['b'] });
});

test.each([
  {},
  object({ type: 'string', format: 'int64' }),
  object(
    { type: 'array', prefixItems: [{ type: 'string' }] },
    { $schema: 'https://json-schema.org/draft/2020-12/schema' },
  ),
  object({ $ref: '#/definitions/a' }, { $schema: 'http://json-schema.org/draft-07/schema#', definitions: { a: {} } }),
  object({ 'x-of-the-server': 1, pattern: '^a$' }),
])('any other output schema stays: %j', async (outputSchema) => {
  const listed = [{ ...tool, outputSchema }];
  expect(await withUsableOutputs(listed)).toEqual({ tools: listed, unusable: [] });
});

test('tools may share the `$id` of an output schema', async () => {
  const outputSchema = () => object({ type: 'string' }, { $id: 'https://example.com/result' });
  const listed = ['b', 'c'].map((name) => ({ ...tool, name, outputSchema: outputSchema() }));
  expect(await withUsableOutputs(listed)).toEqual({ tools: listed, unusable: [] });
});

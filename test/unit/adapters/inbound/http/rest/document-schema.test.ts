import { expect, test } from 'vitest';
import { toDocumentSchema } from '../../../../../../src/adapters/inbound/http/rest/document-schema.ts';

const nested = (levels: number): object => (levels === 0 ? {} : { items: nested(levels - 1) });

test.each([
  ['a name of a million characters, and many parts in it', () => many('x'.repeat(1_000_000))],
  ['very many levels', () => ({ items: JSON.parse(`${'{"items":'.repeat(50_000)}{}${'}'.repeat(50_000)}`) })],
])('leaves out what a schema with %s says: it would fill the memory', (_, schema) => {
  expect(toDocumentSchema(schema(), '#/components/schemas/x')).toEqual({});
});

test('keeps a schema of usual size', () => {
  const schema = { properties: { a: nested(100) } };
  expect(toDocumentSchema(schema, '#/components/schemas/x')).toEqual(schema);
});

function many(name: string) {
  const parts = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`p${index}`, {}]));
  return { properties: { [name]: { properties: parts } } };
}

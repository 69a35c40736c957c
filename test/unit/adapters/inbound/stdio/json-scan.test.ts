import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonScan } from '../../../../../src/adapters/inbound/stdio/json-scan.ts';

/** Whether no byte is refused, though each comes alone. */
function accepts(text: string): boolean {
  const scan = new JsonScan();
  return [...Buffer.from(text)].every((byte) => scan.accepts(Uint8Array.of(byte)));
}

test('nothing that is JSON is ever refused', () => {
  const value = fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' });
  fc.assert(
    fc.property(
      value,
      fc.constantFrom(undefined, 1, '\t'),
      fc.constantFrom('', '\uFEFF', ' \r\n\t'),
      (value, indent, before) => {
        expect(accepts(`${before}${JSON.stringify(value, undefined, indent)}\n`)).toBe(true);
      },
    ),
    { numRuns: 1000 },
  );
});

test('a text nested thousands deep is followed to its end', () => {
  expect(accepts(`${'[{"a":'.repeat(5000)}1${'}]'.repeat(5000)}`)).toBe(true);
});

test.each([
  '{}{',
  '[]]',
  '[}',
  '{]',
  '{1',
  '{,',
  '[,',
  '["a" "b"',
  '{"a" 1',
  '{"a"::',
  '{"a":1 2',
  '1 2',
  '"\n',
  'C',
  '[1,]',
  '{"a":1,}',
])('%j cannot become JSON', (text) => {
  expect(accepts(text)).toBe(false);
});

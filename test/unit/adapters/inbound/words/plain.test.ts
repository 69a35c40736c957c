import { expect, test } from 'vitest';
import { excerpt } from '../../../../../src/adapters/inbound/words/plain.ts';

test('is the text, or its beginning, of at most 80 characters', () => {
  expect(excerpt('あ'.repeat(80))).toBe('あ'.repeat(80));
  expect(excerpt('x'.repeat(81))).toBe(`${'x'.repeat(79)}…`);
  expect(excerpt('😀'.repeat(50))).toBe(`${'😀'.repeat(39)}…`);
});

import { expect, test } from 'vitest';
import { excerpt } from '../../../../../src/adapters/inbound/words/plain.ts';

test('is the text, or its first 80 characters', () => {
  expect(excerpt('')).toBe('');
  expect(excerpt('あ'.repeat(80))).toBe('あ'.repeat(80));
  expect(excerpt('x'.repeat(81))).toBe(`${'x'.repeat(80)}…`);
  expect(excerpt('😀'.repeat(80))).toBe('😀'.repeat(80));
  expect(excerpt('😀'.repeat(1_000_000))).toBe(`${'😀'.repeat(80)}…`);
});

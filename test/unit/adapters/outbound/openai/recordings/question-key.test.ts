import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { questionKey } from '../../../../../../src/adapters/outbound/openai/recordings/question-key.ts';

describe('the same question', () => {
  test.each([
    ['in another case', 'What is MCP?', 'what is mcp?'],
    ['with other spaces', 'What is MCP?', '  What  is\n\tMCP ?  '],
    ['with full-width letters', 'HTTP 404 の意味は？', 'ＨＴＴＰ　４０４の意味は?'],
    ['in another Unicode form', 'café', 'cafe\u0301'],
    ['without its mark', 'What is MCP?', 'What is MCP'],
    ['with marks and spaces', 'What is MCP?', 'What is MCP ?! '],
    ['on another day', '本日 2025-08-09 の東京の天気は？', '本日 2026-01-05 の東京の天気は？'],
    ['without the day, in Japanese', '本日、2026-11-20、の東京の天気は？', '本日の東京の天気は？'],
    ['on another day, in full width', '2025-08-09 の天気', '２０２６-０１-０５ の天気'],
  ])('%s', (_, one, other) => {
    expect(questionKey(one)).toBe(questionKey(other));
  });
});

describe('another question', () => {
  test.each([
    ['of other words', 'What is MCP?', 'What was MCP?'],
    ['of another number', 'HTTP 404', 'HTTP 403'],
    ['of marks inside', 'a.b', 'ab'],
  ])('%s', (_, one, other) => {
    expect(questionKey(one)).not.toBe(questionKey(other));
  });
});

test('ignores case and surrounding whitespace', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'é', '東', '1', '-', '?', ' ', '。') });
  const spaces = fc.string({ unit: fc.constantFrom(' ', '\n', '\t', '\u3000') });
  fc.assert(
    fc.property(words, spaces, spaces, (words, before, after) => {
      expect(questionKey(`${before}${words.toUpperCase()}${after}`)).toBe(questionKey(words));
    }),
  );
});

test('reads a long run of closing marks', () => {
  // Quadratic work would take minutes, and end with the time limit of tests.
  expect(questionKey(`${'.'.repeat(1_000_000)}x`)).toMatch(/x$/);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { handleIn, toHandle } from '../../../../src/domain/answers/answer-handle.ts';
import { TOOL_NAMES } from '../../../../src/domain/answers/question.ts';

const SIGNATURE = 'AbCdEfGhIjKlMnOpQr-_12';
const HANDLE = `la1.d.resp_1.${SIGNATURE}`;
const PARSED = { tool: 'answer_detailed', responseId: 'resp_1', signature: SIGNATURE };

const character = fc.constantFrom(...'ABCXYZabcxyz0189-_');
const word = (minLength: number, maxLength: number) => fc.string({ unit: character, minLength, maxLength });
const parts = fc.tuple(fc.constantFrom(...TOOL_NAMES), word(1, 90), word(22, 22));
const wrapping = fc.string({ unit: fc.constantFrom(...' \n\t"\'`<>“”「」'), maxLength: 5 });

test.each([
  ['answer', `la1.a.resp_1.${SIGNATURE}`],
  ['answer_detailed', HANDLE],
  ['answer_quick', `la1.q.resp_1.${SIGNATURE}`],
] as const)('the handle of %s is %s', (tool, handle) => {
  expect(toHandle({ tool, responseId: 'resp_1', signature: SIGNATURE })).toBe(handle);
  expect(handleIn(handle)).toEqual({ ...PARSED, tool });
});

test('every handle is at most 128 characters of the alphabet, and is understood', () => {
  fc.assert(
    fc.property(parts, ([tool, responseId, signature]) => {
      const handle = toHandle({ tool, responseId, signature });
      expect(handle).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
      expect(handleIn(handle)).toEqual({ tool, responseId, signature });
    }),
  );
});

test('what surrounds a handle, and one full stop after it, is ignored', () => {
  fc.assert(
    fc.property(wrapping, wrapping, fc.constantFrom('', '.', '。'), wrapping, (before, after, stop, end) => {
      expect(handleIn(`${before}${HANDLE}${after}${stop}${end}`)).toEqual(PARSED);
    }),
  );
});

describe('malformed', () => {
  test.each([
    ['nothing but the beginning', 'la1.a.'],
    ['no signature', 'la1.d.resp_1'],
    ['a short signature', HANDLE.slice(0, -1)],
    ['another character', HANDLE.replace('_1', '+1')],
    ['another part', `${HANDLE}.x`],
    ['two full stops', `${HANDLE}..`],
    ['an ID of 91 characters', `la1.d.${'x'.repeat(91)}.${SIGNATURE}`],
    ['something that follows without a blank', `"${HANDLE}"?`],
    ['two handles in one word', `${HANDLE},${HANDLE}`],
    ['thousands of characters', `la1.q.${'x'.repeat(30_000)}`],
  ])('%s', (_, query) => {
    expect(handleIn(query)).toBe('malformed');
  });

  test('or a handle is every word that begins like one', () => {
    fc.assert(
      fc.property(fc.constantFrom('a', 'd', 'q'), fc.string(), (letter, rest) => {
        fc.pre(!/\s/.test(rest));
        expect(handleIn(`la1.${letter}.${rest}`)).toBeDefined();
      }),
    );
  });
});

describe('a question', () => {
  test.each([
    ['a handle in a sentence', `What is ${HANDLE}?`],
    ['two handles', `${HANDLE} ${HANDLE}`],
    ['a capital letter', HANDLE.replace('la1', 'La1')],
    ['another tool', HANDLE.replace('.d.', '.x.')],
    ['the beginning without its full stop', 'la1.d'],
    ['a bracket of another kind', `(${HANDLE})`],
    ['nothing', ''],
  ])('%s', (_, query) => {
    expect(handleIn(query)).toBeUndefined();
  });

  test('is every text that begins in another way', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(handleIn(`?${text}`)).toBeUndefined();
      }),
    );
  });
});

test.each([
  ['quotes after it', (n: number) => `${HANDLE}${'"'.repeat(n)}x`],
  ['full stops after it', (n: number) => `${HANDLE}${'. '.repeat(n)}`],
])('a query with a million %s is read', (_, query) => {
  // Quadratic work would take minutes, and end with the time limit of tests.
  handleIn(query(1_000_000));
});

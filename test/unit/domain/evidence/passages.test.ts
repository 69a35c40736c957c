import { describe, expect, test } from 'vitest';
import { passagesFor } from '../../../../src/domain/evidence/passages.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

const MAX_CHARS = 300_000;
const CLAIMS = Array.from({ length: 20 }, (_, claim) => claim);
const pageOf = (part: string) => part.repeat(Math.ceil(MAX_CHARS / part.length)).slice(0, MAX_CHARS);

/** 60 words for each claim, all of which begin with the same two letters. */
const letters = (id: number) => [id / 676, id / 26, id].map((value) => String.fromCharCode(97 + (value % 26))).join('');
const words = (claim: number, start = 'aa') =>
  Array.from({ length: 60 }, (_, word) => `${start}${letters(claim * 60 + word)}`).join(' ');
const han = (claim: number) =>
  Array.from({ length: 400 }, (_, at) => String.fromCharCode(0x4e00 + ((at * (claim + 1)) % 401))).join('');

describe('the search of 20 claims in any content is short', () => {
  test.each([
    ['long words', words, `the of and was is ${'a'.repeat(60)} `],
    ['short words', words, 'aa '],
    ['words with marks', words, `the of and was is ${'aa,'.repeat(60)} `],
    ['words with accents', (claim: number) => words(claim, 'éa'), `the ${'éa'.repeat(60)} `],
    ['words that are like theirs', words, `${words(3)} the `],
    ['a word of many parts', (claim: number) => `${'a-'.repeat(198)}${letters(claim)}`, 'a-'],
    ['the same words', () => words(0), `${words(0)} `],
    ['the same pairs of characters', () => han(0), han(0)],
    ['other pairs of the same characters', han, CLAIMS.map(han).join('')],
  ])('%s', (_name, claimOf, part) => {
    const [claims, visible] = [CLAIMS.map((claim) => claimOf(claim)), pageOf(part)];
    // The limit is 150 ms; a busy machine takes longer.
    expect(cpuMs(() => passagesFor(claims, visible, 'en'), 10, 300)).toBeLessThan(300);
  });
});

test('only of a page that takes too long to search, nothing is said', () => {
  const claim = words(0);
  expect(passagesFor([claim], `${claim}. ${pageOf('the other words ')}`, 'en')).toMatchObject([
    { share: 1, quote: expect.stringContaining(words(0).slice(60, 90)) },
  ]);
  expect(
    passagesFor(
      CLAIMS.map((claim) => words(claim)),
      pageOf('aa '),
      'en',
    ),
  ).toBeUndefined();
});

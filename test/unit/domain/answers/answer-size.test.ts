import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutAtParagraph } from '../../../../src/domain/answers/answer-result.ts';
import type { Reply } from '../../../../src/domain/answers/reply.ts';
import { anyCharacter } from '../../../support/any-text.ts';
import { runs } from '../../../support/sized.ts';
import { answerTo, searched } from '../../../support/to-answer.ts';

test.each([
  ['nowhere, if it fits', 'One.', 4, 'One.'],
  ['at a paragraph', 'One.\n\nTwo.\n\nThree.', 16, 'One.\n\nTwo.'],
  ['else at a line', 'One.\nTwo.\nThree.', 12, 'One.\nTwo.'],
  ['else after a sentence', 'One. Two. Three.', 12, 'One. Two.'],
  ['else after a Japanese sentence', '晴れ。雨。くもり', 6, '晴れ。雨。'],
  ['else at the limit', 'OneTwoThree', 6, 'OneTwo'],
  ['at the limit rather than far before it', 'One. TwoThreeFourFiveSix', 20, 'One. TwoThreeFourFiv'],
  ['never inside a character', '😀😀', 3, '😀'],
  ['to nothing', 'One.', 0, ''],
])('a text is cut %s', (_, text, max, cut) => {
  expect(cutAtParagraph(text, max)).toBe(cut);
});

test('a text of many sentences can be cut', () => {
  expect(cutAtParagraph('a. '.repeat(300_000), 800_001)).toMatch(/a\.$/);
});

describe('for any text', () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 12 }),
    fc.constantFrom('\n\n', '\n', '. ', '。', '😀', ' ', 'word ', '東京'),
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));

  test('the result is its beginning, no longer than allowed, without half a character', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: -5, max: 200 }), (text, max) => {
        const cut = cutAtParagraph(text, max);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(Math.max(0, max));
        expect(cut.isWellFormed()).toBe(true);
        if (text.length <= max) expect(cut).toBe(text);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('at least half of what fits is kept', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 200 }), (text, max) => {
        const most = text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
        // Whitespace at its end does not count.
        const kept = cutAtParagraph(text, max).length;
        expect(kept).toBeGreaterThanOrEqual(Math.min(most.trimEnd().length, lengthOfFirstHalf(most)));
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('an answer', () => {
  const url = fc.nat(50).map((n) => `https://example.com/${'page/'.repeat(n % 7)}${n}`);
  const words = fc.constantFrom('Sunny. ', '晴れ。', '😀', '\n\n', '\n', 'x'.repeat(300), '- a list\n', '**bold** ');
  const body = fc
    .tuple(fc.array(words, { minLength: 1, maxLength: 60 }), fc.constantFrom(1, 1, 5, 30))
    .map(([pieces, times]) => pieces.join('').repeat(times));
  const listed = fc.array(
    url.map((to) => `- ${to} (2026-01-01)`),
    { maxLength: 20 },
  );
  const reply = fc
    .record({
      body: body.filter((text) => text.trim() !== ''),
      listed,
      cited: fc.array(url, { maxLength: 10 }),
      consulted: fc.constantFrom([], ['oai-weather']),
      searched: fc.boolean(),
      isCut: fc.boolean(),
    })
    .map(
      ({ body, listed, cited, consulted, searched, isCut }): Reply => ({
        text: listed.length === 0 ? body : `${body}\n\nSources:\n${listed.join('\n')}`,
        ending: isCut ? { kind: 'incomplete', reason: 'max_output_tokens' } : { kind: 'complete' },
        searched,
        sources: { cited: cited.map((url) => ({ url })), consulted, opened: [] },
      }),
    );
  const max = fc.oneof(fc.integer({ min: 1000, max: 6000 }), fc.constant(1000));
  const UNBOUNDED = 10_000_000;

  // S41
  test('is never longer than configured, and keeps its citations and Sources: complete', () => {
    fc.assert(
      fc.property(reply, max, fc.boolean(), (reply, maxAnswerChars, isJapanese) => {
        const over = { query: isJapanese ? '天気は？' : 'The weather?', maxCitations: 10 };
        const unbounded = answerTo(reply, { ...over, maxAnswerChars: UNBOUNDED });
        const { answer, citations, used_search } = answerTo(reply, { ...over, maxAnswerChars });
        expect(answer.length).toBeLessThanOrEqual(maxAnswerChars);
        expect(answer.isWellFormed()).toBe(true);
        expect(citations).toEqual(unbounded.citations);
        expect(used_search).toBe(unbounded.used_search);
        if (used_search) {
          const below = answer.slice(answer.lastIndexOf('\nSources:\n'));
          expect(below).toMatch(/^\nSources:(?:\n- .*\d{4}-\d{2}-\d{2}.*)+$/);
          for (const { url } of citations) expect(below).toContain(url);
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  test('that fits is unchanged', () => {
    fc.assert(
      fc.property(reply, (reply) => {
        const unbounded = answerTo(reply, { maxAnswerChars: UNBOUNDED });
        const maxAnswerChars = Math.max(1000, unbounded.answer.length);
        expect(answerTo(reply, { maxAnswerChars })).toEqual(unbounded);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('whose text was cut says so, in the language of the question', () => {
    fc.assert(
      fc.property(reply, max, fc.boolean(), (reply, maxAnswerChars, isJapanese) => {
        const over = { query: isJapanese ? '天気は？' : 'The weather?', maxCitations: 10 };
        const unbounded = answerTo(reply, { ...over, maxAnswerChars: UNBOUNDED }).answer;
        const { answer } = answerTo(reply, { ...over, maxAnswerChars });
        if (bodyOf(unbounded).length <= maxAnswerChars) return;
        const note = isJapanese ? /（全 \d+ 文字のうち \d+ 文字）/ : /cut here: \d+ of \d+ characters are shown/;
        expect(bodyOf(answer)).toMatch(note);
      }),
    );
  });

  test('that is incomplete as well has both notes before Sources:', () => {
    const text = 'A paragraph that says something.\n\n'.repeat(100);
    const ending = { kind: 'incomplete', reason: 'max_output_tokens' } as const;
    const { answer } = answerTo({ ...searched(text, 'https://a.com'), ending }, { maxAnswerChars: 2000 });
    expect(answer).toMatch(
      /something\.\n\n\[The answer is too long [^\]]+\]\n\n\[The answer was cut [^\]]+\]\n\nSources:\n- https:\/\/a\.com \(2026-01-05\)$/,
    );
    expect(answer.length).toBeLessThanOrEqual(2000);
  });

  test('states how many characters of how many it shows', () => {
    const text = 'A paragraph that says something.\n\n'.repeat(100).trim();
    const { answer } = answerTo({ ...searched(text), searched: false }, { maxAnswerChars: 1000 });
    const note = /\[The answer is too long and was cut here: (\d+) of (\d+) characters are shown\.\]$/;
    const [, shown, all] = note.exec(answer) ?? [];
    expect(Number(all)).toBe(text.length);
    expect(answer.indexOf('\n\n[The answer is too long')).toBe(Number(shown));
    expect(Number(shown)).toBeGreaterThan(800);
  });
});

/** The text before `Sources:`. */
function bodyOf(answer: string): string {
  const at = answer.lastIndexOf('\nSources:\n');
  return at === -1 ? answer : answer.slice(0, at).trimEnd();
}

function lengthOfFirstHalf(text: string): number {
  return text.slice(0, Math.ceil(text.length / 2)).trimEnd().length;
}

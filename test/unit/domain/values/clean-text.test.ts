import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanLine, cleanText } from '../../../../src/domain/values/clean-text.ts';
import { anyCharacter } from '../../../support/any-text.ts';
import { runs } from '../../../support/sized.ts';

describe('citation marks', () => {
  test.each([
    ['a mark of two sources', 'Sunny.\uE200cite\uE202turn0search1\uE202turn0search2\uE201', 'Sunny.'],
    ['a name', '\uE200entity\uE202["company","Acme Corp","maker"]\uE201 sold 5.', 'Acme Corp sold 5.'],
    ['a name in an object', 'By \uE200entity\uE202{"name":"Acme"}\uE201.', 'By Acme.'],
    ['a label', 'See \uE200url\uE202the report\uE202turn0search3\uE201 for more.', 'See the report for more.'],
    ['a label of an unknown kind', 'A \uE200video\uE202Film\uE202turn0youtube1\uE201.', 'A Film.'],
    [
      'a name and a citation',
      '\uE200entity\uE202["a","Acme"]\uE201\uE200cite\uE202turn0search0\uE201 sold.',
      'Acme sold.',
    ],
    ['references of an unknown kind', 'A \uE200i\uE202turn0image1\uE202turn0image2turn0image3\uE201.', 'A.'],
    ['a file and its lines', 'A \uE200filecite\uE202turn0file0\uE202L1-L9\uE201.', 'A.'],
    ['a mark that is cut at the end of the text', 'Sunny.\uE200cite\uE202turn0sea', 'Sunny.'],
    ['a mark between spaces', 'Sunny \uE200cite\uE202a\uE201 in Tokyo.', 'Sunny in Tokyo.'],
    ['a mark before a full stop', 'Sunny \uE200cite\uE202a\uE201.', 'Sunny.'],
    ['marks between spaces', 'Sunny \uE200cite\uE202a\uE201 \uE200cite\uE202b\uE201 in Tokyo.', 'Sunny in Tokyo.'],
    ['a mark between words', 'Sunny \uE200cite\uE202a\uE201in Tokyo.', 'Sunny in Tokyo.'],
  ])('%s is removed', (_, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });
});

describe('utm_source=openai', () => {
  test.each([
    ['first', 'https://a.com/x?utm_source=openai&a=1', 'https://a.com/x?a=1'],
    ['in the middle', 'https://a.com/x?a=1&utm_source=openai&b=2', 'https://a.com/x?a=1&b=2'],
    ['as HTML writes it', 'https://a.com/x?a=1&amp;utm_source=openai', 'https://a.com/x?a=1'],
    ['before a fragment', 'https://a.com/x?utm_source=openai#top', 'https://a.com/x#top'],
    ['in a link in Japanese', '（https://a.com/x?utm_source=openai）。', '（https://a.com/x）。'],
    ['twice', 'https://a.com?utm_source=openai https://b.com?utm_source=openai', 'https://a.com https://b.com'],
    ['after itself', 'https://a.com/?utm_source=openai&utm_source=openai', 'https://a.com/'],
  ])('%s is removed', (_, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  test.each([
    'https://a.com/x?utm_source=openai-news',
    'https://a.com/x?utm_source=openai.com',
    'https://a.com/x?my_utm_source=openai',
    'Add ?utm_source=openai to a link.',
  ])('%s is kept', (text) => {
    expect(cleanText(text)).toBe(text);
  });
});

describe('characters that hide or reorder text or control a terminal', () => {
  test.each([
    ['a colour', 'a\u001B[31mb\u001B[0m', 'ab'],
    ['a window title', 'a\u001B]0;title\u0007b', 'ab'],
    ['a bell and a null', 'a\u0007\u0000b', 'ab'],
    ['a C1 colour', 'a\u009B31mb', 'ab'],
    ['a C1 control', 'a\u0085b', 'ab'],
    ['a bidi override', 'a\u202Eb\u202C', 'ab'],
    ['direction marks', 'a\u200E\u200F\u061Cb', 'ab'],
    ['tag characters', 'a\u{E0049}\u{E0067}\u{E006E}b', 'ab'],
    ['a carriage return before a line feed', 'a\r\nb', 'a\nb'],
    ['a lone surrogate', 'a\uD83Db', 'a\uFFFDb'],
  ])('%s is removed', (_, text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });

  test.each(['tab\tand\nline', '👨‍👩‍👧 ☀️', 'می‌خواهم', '葛\u{E0100}飾区', 'ភាសា\u200Bខ្មែរ'])('%j is kept', (text) => {
    expect(cleanText(text)).toBe(text);
  });

  // S7
  test('no such character remains in any text, and cleaning is idempotent', () => {
    const piece = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.constantFrom('\uD83D', '\uDE00', '\uDB40', '\uDC41', '\u200E', '\u202E', '\u{E0041}', '\u001B', '\r', '\n'),
      fc.constantFrom('\uE200', 'cite', '\uE201', '\uE202', '\u200B', '\uFE0F', '\u{E0101}', '葛', 'ก'),
      fc.constantFrom('https://a.com', '/', '?', '&', '&amp;', 'utm_source=openai', '='),
    );
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (text) => {
          const clean = cleanText(text);
          expect(clean.isWellFormed()).toBe(true);
          expect(clean).not.toMatch(
            /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uE200-\uE202\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]/u,
          );
          expect(cleanText(clean)).toBe(clean);
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  test('parts of a tag character do not join when the text between them is removed', () => {
    expect(cleanText('a\uDB40\u200E\uDC41b')).not.toMatch(/[\u{E0000}-\u{E007F}]/u);
  });
});

test('a line remains one line', () => {
  expect(cleanLine('  Weather\r\n\tin  Tokyo\u3000')).toBe('Weather in Tokyo');
});

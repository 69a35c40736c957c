import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanText, withoutUnsafeCharacters } from '../../../../src/domain/values/clean-text.ts';
import { withoutHiddenCharacters } from '../../../../src/domain/values/hidden-characters.ts';
import { cpuMs } from '../../../support/cpu-time.ts';
import { runs } from '../../../support/sized.ts';

describe('a character without a visible effect is removed', () => {
  test.each([
    ['joiners between Latin letters', 'a\u200C\u200Db\u200Cc', 'abc'],
    ['a joiner between Japanese letters', '東\u200D京', '東京'],
    ['a second joiner', 'می\u200C\u200C\u200Dخواهم', 'می\u200Cخواهم'],
    ['a joiner between an emoji and a letter', '👩\u200Da', '👩a'],
    ['a joiner at the beginning and at the end', '\u200Dab\u200C', 'ab'],
    ['fillers of Hangul', 'a\u3164\uFFA0\u115F\u1160b', 'ab'],
    ['a grapheme joiner', 'a\u034Fb', 'ab'],
    ['vowel separators and selectors of Mongolian', 'a\u180B\u180C\u180D\u180E\u180Fb', 'ab'],
    ['inherent vowels of Khmer', 'a\u17B4\u17B5b', 'ab'],
    ['controls of musical notation and of shorthand', 'a\u{1D173}\u{1BCA0}b', 'ab'],
    ['controls of hieroglyphs', 'a\u{13430}b', 'ab'],
    ['characters that are reserved for tags and invisible operators', 'a\u{E0FFF}\u{E01F0}\u2065\uFFF0b', 'ab'],
    ['selectors after Latin letters', 'a\uFE00b\uFE0Fc\u{E0101}d', 'abcd'],
    ['a selector after a digit that is no keycap', '1\uFE0F2', '12'],
    ['a second selector', '☀\uFE0F\uFE0E葛\u{E0100}\u{E0101}', '☀\uFE0F葛\u{E0100}'],
    ['a selector that the character does not have', '☀\uFE01東\uFE0F', '☀東'],
    ['tags after another flag, and tags that are no flag', '🇯🇵\u{E0067}\u{E007F}🏴\u{E0061}\u{E007F}', '🇯🇵🏴'],
    ['line breaks between Latin letters', 'a\u200Bb', 'ab'],
    ['blanks of Braille, which become spaces', '⠓\u2800⠊ a\u2800b', '⠓ ⠊ a b'],
  ])('%s', (_, text, visible) => {
    expect(withoutHiddenCharacters(text)).toBe(visible);
    expect(withoutUnsafeCharacters(text)).toBe(visible);
    expect(cleanText(text)).toBe(visible);
  });
});

describe('a character that a script or an emoji uses is kept', () => {
  test.each([
    ['Persian', 'می\u200Cخواهم کتاب\u200Cها را'],
    ['Persian after a vowel sign', 'کِ\u200Cتاب'],
    ['Persian after a Latin word', 'PDF\u200Cها'],
    ['the Hijri year', '۱۴۰۳ ه\u200D.ش'],
    ['Hindi', 'क्\u200Dष और क्\u200Cष'],
    ['Bengali', 'র\u200D্যাব'],
    ['Malayalam, at the end of a word', 'അവന്\u200D വന്നു'],
    ['Sinhala', 'ශ්\u200Dරී ලංකාව'],
    ['Kannada', 'ರ\u200D್ಯಾಂಕ್'],
    ['Khmer', 'ភាសា\u200Bខ្មែរ'],
    ['Thai', 'ภาษา\u200Bไทย'],
    ['Myanmar', 'မြန်မာ\u200Bဘာသာ'],
    ['Mongolian', 'ᠬᠠᠷ\u180Eᠠ ᠤ\u180Bᠯ'],
    ['Hangul', '한국어 ᄒᆞᆫ글'],
    ['a name of a place in Japan', '葛\u{E0100}飾区 葛\u{E0101}城市'],
    ['punctuation of East Asia', '漢字，\uFE00漢字'],
    ['a sign of mathematics', '∩\uFE00'],
    ['hearts and the sun as emoji and as text', '❤\uFE0F ☀\uFE0F ☎\uFE0E ©\uFE0F'],
    ['keycaps', '1\uFE0F\u20E3 #\uFE0F\u20E3 *\uFE0F\u20E3'],
    ['a family', '👨\u200D👩\u200D👧\u200D👦'],
    ['people with a profession and a skin tone', '👩🏽\u200D💻 🧑🏿\u200D🚒'],
    ['couples and hearts on fire', '👩\u200D❤\uFE0F\u200D👩 ❤\uFE0F\u200D🔥'],
    ['a person who runs to the right', '🏃🏽\u200D♀\uFE0F\u200D➡\uFE0F'],
    ['flags', '🇯🇵🇺🇳 🏳\uFE0F\u200D🌈 🏴\u200D☠\uFE0F'],
    ['the flags of England, Scotland and Wales', '🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿🏴󠁧󠁢󠁷󠁬󠁳󠁿'],
    ['letters with marks', 'cafe\u0301 naïve Ελλάδα עִבְרִית العَرَبِيَّة'],
  ])('%s', (_, text) => {
    expect(cleanText(text)).toBe(text);
    expect(withoutUnsafeCharacters(text)).toBe(text);
  });
});

describe('in any text', () => {
  const invisible = fc.oneof(
    fc.constantFrom(...'\u200B\u200C\u200D\u180B\u180E\uFE00\uFE0E\uFE0F\u{E0100}\u{E01EF}\u3164\u034F\u{E0041}'),
    fc.integer({ min: 0xe0000, max: 0xe0fff }).map((point) => String.fromCodePoint(point)),
  );
  const base = fc.constantFrom(...'aZ1# .東한❤👩☀♀🇯🏽🏴اक्ᠬខ\u20E3∩，');

  test('nothing is hidden between Latin letters', () => {
    const letter = fc.constantFrom(...'aeimnostz ');
    fc.assert(
      fc.property(fc.array(fc.oneof(letter, invisible)), (characters) => {
        const visible = characters.filter((character) => /[a-z ]/.test(character)).join('');
        expect(withoutHiddenCharacters(characters.join(''))).toBe(visible);
      }),
    );
  });

  test('after a visible character, at most one selector and one joiner remain', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(base, invisible)), (characters) => {
        const clean = withoutHiddenCharacters(characters.join(''));
        const withoutFlags = clean.replace(/\u{1F3F4}[\u{E0061}-\u{E007F}]+/gu, '');
        expect(withoutFlags).not.toMatch(
          /[\u180B-\u180D\uFE00-\uFE0F\u{E0100}-\u{E01EF}]{2}|[\u180E\u200B-\u200D]{2}|\p{DI}{3}/u,
        );
        expect(withoutHiddenCharacters(clean)).toBe(clean);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('every visible character is kept', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(base, invisible)), (characters) => {
        const visible = (text: string) => text.replace(/\p{DI}/gu, '');
        expect(visible(withoutHiddenCharacters(characters.join('')))).toBe(visible(characters.join('')));
      }),
    );
  });
});

test.each([
  ['one run', (n: number) => '\u200D'.repeat(n)],
  ['joiners between letters', (n: number) => 'a\u200D'.repeat(n / 2)],
  ['joiners between letters that use them', (n: number) => 'ا\u200C'.repeat(n / 2)],
  ['emoji', (n: number) => '👩\u200D'.repeat(n / 3)],
  ['beginnings of flags', (n: number) => '🏴\u{E0067}\u{E0062}\u{E0065}'.repeat(n / 8)],
  ['beginnings of controls', (n: number) => '\u001B[0'.repeat(n / 3)],
  ['beginnings of titles', (n: number) => '\u001B]x'.repeat(n / 3)],
  ['beginnings of marks', (n: number) => '\uE200\uE202a'.repeat(n / 3)],
  ['beginnings of URLs', (n: number) => 'https://?utm_source=openai&'.repeat(n / 27)],
])('%s of a megabyte take less than a few seconds', (_, text) => {
  const hostile = text(1_000_000);
  // Quadratic work would take minutes.
  expect(cpuMs(() => cleanText(hostile))).toBeLessThan(5000);
});

import { numberWordsIn } from './number-words.ts';
import { type Reading, toReading } from './numerals.ts';

/** Years of a text. Each part must be on the page, in one of its readings. */
export interface Years {
  readonly start: number;
  readonly end: number;
  readonly parts: readonly (readonly Reading[])[];
}

const SEASON = /(?<![\d.,/-])(?<from>(?:1\d|20)\d\d) ?[-/] ?(?<to>\d\d)(?![\d.,/-]*\d)/g;
const DECADE = /(?<![\d.,])(?<decade>(?:1\d|20)?\d0)(?:'?s(?![a-z])| ?年代)/g;

const CENTURY =
  /(?<![\w.,])(?:(?<century>\d{1,2})(?:st|nd|rd|th)|(?<word>[a-z]{5,11}(?:-[a-z]{5,6})?))[ -]centur(?:y|ies)|(?<![\d.,〇一二三四五六七八九十])(?<kanji>[\d〇一二三四五六七八九十]{1,3}) ?世紀/g;

/** Seasons (`2023-24`), decades (`1880s`, 1880年代) and centuries (`19th century`) of a folded text. */
export function yearsIn(text: string): readonly Years[] {
  const seasons = [...text.matchAll(SEASON)].flatMap(
    ({ 0: shown, index: start, groups: { from = '', to = '' } = {} }) => {
      const first = Number(from);
      const last = Number(to);
      const later = first - (first % 100) + last + (last < first % 100 ? 100 : 0);
      // `2023-04` is a month, `2023-11` may be one.
      if (later - first > 50) return [];
      const readings = last <= 12 ? [later, last] : [later];
      return [{ start, end: start + shown.length, parts: [[year(first)], readings.map((value) => year(value))] }];
    },
  );
  const decades = [...text.matchAll(DECADE)].map(({ 0: shown, index: start, groups: { decade = '' } = {} }) => {
    const first = Number(decade);
    const values = first < 100 ? [first, 1900 + first] : [first];
    // The 1800s may be a century.
    const length = first % 100 === 0 ? 100 : 10;
    return {
      start,
      end: start + shown.length,
      parts: [values.map((value) => ({ value, place: 0, until: value + length }))],
    };
  });
  return [...seasons, ...decades, ...centuriesIn(text)];
}

/** The centuries of a text, from the eleventh. A page may name the century, or a year in it. */
function centuriesIn(text: string): readonly Years[] {
  if (!/centur|世紀/.test(text)) return [];
  return [...text.matchAll(CENTURY)].flatMap((match) => {
    const { century, kanji, word = '' } = match.groups ?? {};
    const number = toReading(century ?? kanji ?? '').value || (numberWordsIn(word)[0]?.readings[0]?.value ?? 0);
    if (number < 11 || number > 21) return [];
    const first = 100 * number - 100;
    const period = { value: first, place: 0, until: first + 101 };
    return [{ start: match.index, end: match.index + match[0].length, parts: [[year(number), period]] }];
  });
}

function year(value: number): Reading {
  return { value, place: 0 };
}

import { numberWordsIn } from './number-words.ts';
import { type Reading, toReading } from './numerals.ts';

/** A part of a whole, such as two thirds. `isPart`: whether it certainly is one: "three quarters" may be nine months. */
export interface Fraction {
  readonly start: number;
  readonly end: number;
  readonly isPart: boolean;
  /** As a number, and in per cent. */
  readonly readings: readonly Reading[];
}

const PARTS = new Map<string, number>(
  Object.entries({ half: 2, halve: 2, third: 3, quarter: 4, fourth: 4, fifth: 5, sixth: 6, eighth: 8, tenth: 10 }),
);
const PART = `(?<part>${[...PARTS.keys()].join('|')})s?(?![a-z])`;
const WORDS = new RegExp(
  `(?<![a-z\\d.,-])(?<count>an?|one|two|three|four|five|six|seven|eight|nine|\\d{1,2})[ -]${PART}`,
  'g',
);
const PART_ALONE = new RegExp(`(?<![a-z])${PART}`, 'g');
const DIGITS =
  /(?<![\d./,]|\d[ -])(?<up>\d{1,2})\/(?<down>[234568]|10|16)(?![\d/.,])|(?<below>[\d一二三四五六七八九十百]{1,3}) ?分の ?(?<above>[\d一二三四五六七八九十百]{1,3})/g;
/** Numbers of which one may be a part of the other: `4 out of 5`. */
const RATIO = /(?<![\d.,])(\d{1,3}) ?(?:\/|of|in|out of) ?(\d{1,3})(?![\d.,])/g;

/** The fractions of a folded text: `3/4`, "two thirds", 5分の4. */
export function fractionsIn(text: string): readonly Fraction[] {
  const words = [...text.matchAll(WORDS)].map(({ 0: shown, index: start, groups: { count = '', part = '' } = {} }) => {
    const up = /\d/.test(count) ? Number(count) : (numberWordsIn(count)[0]?.readings[0]?.value ?? 1);
    const end = start + shown.length;
    const readings = readingsOf(up, PARTS.get(part));
    const isPart = isBelowOne(readings) && /^ (?:of|majority)(?![a-z])/.test(text.slice(end, end + 10));
    return { start, end, isPart, readings };
  });
  const digits = [...text.matchAll(DIGITS)].map(
    ({ 0: shown, index: start, groups: { up, down, above, below } = {} }) => {
      const readings = readingsOf(toReading(up ?? above ?? '').value, toReading(down ?? below ?? '').value);
      return { start, end: start + shown.length, isPart: true, readings };
    },
  );
  return [...words, ...digits.filter(({ readings }) => isBelowOne(readings))];
}

/** Further fractions that a page may mean: `4 out of 5`, "half". */
export function possibleFractionsIn(text: string): readonly Reading[] {
  return [
    ...[...text.matchAll(PART_ALONE)].flatMap(({ groups: { part = '' } = {} }) => readingsOf(1, PARTS.get(part))),
    ...[...text.matchAll(RATIO)].flatMap(([, up, down]) => readingsOf(Number(up), Number(down))),
  ];
}

function isBelowOne([first]: readonly Reading[]): boolean {
  return first !== undefined && first.value < 1;
}

function readingsOf(up: number, down = 0): readonly Reading[] {
  if (down === 0) return [];
  const value = up / down;
  return [
    { value, place: 0.01 },
    { value: 100 * value, place: 1 },
  ];
}

import { type DateParts, datesIn } from './dates.ts';
import { fold } from './folded-text.ts';
import { fractionsIn, possibleFractionsIn } from './fractions.ts';
import { isAccess, isLabel, isPublication } from './labels.ts';
import { numberWordsIn } from './number-words.ts';
import { numeralsIn, type Reading } from './numerals.ts';
import { scaledValuesIn } from './scaled-tables.ts';
import { possibleTimesIn, timesIn } from './times.ts';
import { yearsIn } from './years.ts';

/** The figures of claims that are not on a page, as the claims write them; at most ten. */
export function missingFigures(claims: readonly string[], index: FigureIndex): string[] {
  return [...new Set(claims.flatMap((claim) => missingIn(claim, index)))].slice(0, 10);
}

export function hasFigures(claim: string): boolean {
  return figuresIn(claim).length > 0;
}

function missingIn(claim: string, index: FigureIndex): string[] {
  return figuresIn(claim)
    .filter((figure) => !figure.isOn(index))
    .sort((a, b) => a.start - b.start)
    .map(({ start, end }) => claim.slice(start, end).trim() + (PERCENT.exec(claim.slice(end))?.[0] ?? ''));
}

/** What every date, time and number that is not in words has, in a folded text. */
const DIGIT = /[\d〇一二三四五六七八九十百千¼-¾⅐-⅞]/;

/** A figure of a claim. */
interface Figure {
  readonly start: number;
  readonly end: number;
  readonly isOn: (index: FigureIndex) => boolean;
}

/** The figures of a claim. What is part of a longer form is no figure of its own: the 30 of 14:30. */
function figuresIn(claim: string): readonly Figure[] {
  const text = fold(claim);
  const hasNumber =
    (readings: readonly Reading[], start = 0) =>
    (index: FigureIndex) =>
      readings.some((reading) => isNear(index, reading, isHedged(text, start)));
  const found: (Figure & { readonly isNone?: boolean })[] = [];
  const add = (some: readonly (Figure & { readonly isNone?: boolean })[]) => {
    for (const one of some) if (!found.some(({ start, end }) => one.start < end && start < one.end)) found.push(one);
  };
  // Without a digit, only words can be figures.
  const hasDigit = DIGIT.test(text);
  if (hasDigit) {
    add(
      datesIn(text)
        .filter(({ start, end, dates }) => isDate(claim.slice(start, end), dates[0]))
        .map(({ dates, ...at }) => ({
          ...at,
          isOn: (index) => dates.some((date) => hasDate(index, date)),
          isNone: isAccess(text, at.start, at.end),
        })),
    );
    add(
      timesIn(text).map(({ seconds, ...at }) => ({
        ...at,
        isOn: ({ times }) => seconds.some((one) => times.has(one)),
      })),
    );
  }
  add(
    yearsIn(text).map(({ parts, ...at }) => ({
      ...at,
      isOn: (index) => parts.every((part) => hasNumber(part)(index)),
    })),
  );
  add(fractionsIn(text).map(({ readings, isPart, ...at }) => ({ ...at, isOn: hasNumber(readings), isNone: !isPart })));
  add(
    numberWordsIn(text).map(({ readings, isLoose, ...at }) => ({
      ...at,
      isOn: hasNumber(readings, at.start),
      isNone: isLoose || (readings[0]?.value ?? 0) <= MAX_SMALL || isLabel(text, at.start, at.end),
    })),
  );
  if (hasDigit)
    add(
      numeralsIn(text).map(({ version, readings, ...at }) => ({
        ...at,
        isOn: version === undefined ? hasNumber(readings, at.start) : ({ text }) => text.includes(version),
        isNone: !isFigure(text, at.start, at.end, readings[0]) || isPublication(claim, at.start, at.end),
      })),
    );
  return found.filter(({ isNone = false }) => !isNone);
}

const HEDGE =
  /(?:(?<![a-z])(?:about|around|approx\.|approximately|roughly|nearly|almost|some|over|more than|less than|up to|circa|ca?\.) ?|(?:^|\s)-|約|およそ|ほぼ|概ね)[$€£¥₹]?$/;

/** Whether a claim gives the number at a place as a rough one. */
function isHedged(text: string, start: number): boolean {
  return HEDGE.test(text.slice(Math.max(0, start - 20), start));
}

const PERCENT = /^\s?(?:[%％]|per ?cent|パーセント)/i;

/** Whether a date is compared as one. A year alone is compared as a number, and `may` and `march` may be verbs. */
function isDate(shown: string, { year, month, day }: Partial<DateParts> = {}): boolean {
  if (month === undefined) return false;
  return !/[a-z]/i.test(shown) || (/[A-Z]/.test(shown) && (year ?? day) !== undefined);
}

/** Whole numbers up to this are everywhere. */
const MAX_SMALL = 3;

/** Whether the page should have this number. Small numbers are everywhere, a single kanji is often part of a word, and digits in names such as `IPv6` belong to the name. */
function isFigure(text: string, start: number, end: number, reading: Reading | undefined): boolean {
  if (isLabel(text, start, end)) return false;
  if (reading === undefined) return true;
  if (/^\D$/.test(text.slice(start, end))) return false;
  const isWhole = Number.isInteger(reading.value);
  const before = text.slice(Math.max(0, start - 3), start);
  if ((isWhole && reading.value <= MAX_SMALL) || /[数何幾]$/.test(before)) return false;
  return !isWhole || !/[a-z]$/.test(before) || /(?:^|[^a-z])v$|[^a-z]us$/.test(before);
}

type FigureIndex = ReturnType<typeof figureIndex>;

/** The figures of a page. Its dates are `2024-10-1`, `2024-10`, and `*-10-1` (of any year); its times are seconds from midnight. */
export function figureIndex(page: string) {
  const text = fold(page);
  const numerals = numeralsIn(text);
  const numbers = new Set(scaledValuesIn(text, numerals));
  const readings = [
    ...[...numerals, ...numberWordsIn(text), ...fractionsIn(text)].flatMap((one) => one.readings),
    ...yearsIn(text).flatMap(({ parts }) => parts.flat()),
    ...possibleFractionsIn(text),
  ];
  for (const { value } of readings) numbers.add(value);
  // `5.28` is the beginning of a version; `1 226` may be two numbers, `1.226` may be 1,226, and `12,5` may be 12.5.
  for (const [shown] of text.matchAll(/(?<!\d)\d{1,20}(?:[.,' ]\d{1,20}){1,6}/g)) {
    const parts = shown.split(/[.,' ]/);
    for (const part of [...parts, parts.slice(0, 2).join('.')]) numbers.add(Number(part));
    if (/^\d{1,3}(?:\.\d{3})+$/.test(shown)) numbers.add(Number(parts.join('')));
  }
  const times = new Set([...timesIn(text).flatMap(({ seconds }) => seconds), ...possibleTimesIn(text)]);
  // A time is also one without its seconds.
  for (const time of [...times]) times.add(time - (time % 60));
  const keys = new Set<string>();
  for (const { dates } of datesIn(text)) {
    for (const { year, month, day } of dates) {
      if (year !== undefined) numbers.add(year);
      for (const period of [year, '*']) keys.add(`${period}-${month}`).add(`${period}-${month}-${day}`);
    }
  }
  return { text, numbers, ascending: Float64Array.from(numbers).sort(), keys, times };
}

/** Whether the page has the date. The page may name its year elsewhere. */
function hasDate({ numbers, keys }: FigureIndex, { year, month, day }: DateParts): boolean {
  const date = day === undefined ? `${month}` : `${month}-${day}`;
  const years = year === undefined ? ['*'] : [year, ...(numbers.has(year) ? [undefined] : [])];
  return years.some((year) => keys.has(`${year}-${date}`));
}

/** Whether the page has the number, or one that becomes it when rounded or cut to the same number of places. */
function isNear({ numbers, ascending }: FigureIndex, { value, place, until }: Reading, isRough: boolean): boolean {
  if (numbers.has(value)) return true;
  if (until !== undefined) return (firstFrom(ascending, value) ?? until) < until;
  let step = place;
  // The zeros of 1,200 may come from rounding, too, and that of "about 60".
  while (value >= (isRough ? 10 : 100) && step >= 1 && value % (step * 10) === 0) step *= 10;
  // A small number such as 7 is not 6.5 or 7.9 rounded.
  const below = Math.min(step / 2, value * 0.05) + step * 1e-6;
  const above = Math.min(step, value * 0.05);
  const nearest = firstFrom(ascending, value - below);
  return nearest !== undefined && nearest < value + above;
}

/** The first of ascending numbers that is at least `least`. */
function firstFrom(ascending: Float64Array, least: number): number | undefined {
  let [from, to] = [0, ascending.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ascending[middle] ?? 0) < least) from = middle + 1;
    else to = middle;
  }
  return ascending[from];
}

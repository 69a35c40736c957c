import { type DateParts, datesIn } from './dates.ts';
import { fold } from './folded-text.ts';
import { numeralsIn, type Reading } from './numerals.ts';

/** The figures of claims that are not on a page, as the claims write them; at most ten. */
export function missingFigures(claims: readonly string[], index: FigureIndex): string[] {
  return [...new Set(claims.flatMap((claim) => missingIn(claim, index)))].slice(0, 10);
}

function missingIn(claim: string, index: FigureIndex): string[] {
  const text = fold(claim);
  const dates = datesIn(text).filter(({ start, end, dates }) => isDate(claim.slice(start, end), dates[0]));
  const numbers = numeralsIn(text).filter(
    (one) =>
      isFigure(text, one.start, one.end, one.readings[0]) &&
      !dates.some(({ start, end }) => one.start < end && start < one.end),
  );
  const absent = [
    ...dates.filter(({ dates }) => !dates.some((date) => hasDate(index, date))),
    ...numbers.filter(({ version, readings }) =>
      version === undefined ? !readings.some((reading) => isNear(index, reading)) : !index.text.includes(version),
    ),
  ];
  return absent
    .sort((a, b) => a.start - b.start)
    .map(({ start, end }) => claim.slice(start, end).trim() + (PERCENT.exec(claim.slice(end))?.[0] ?? ''));
}

const PERCENT = /^\s?(?:[%％]|per ?cent|パーセント)/i;

/** Whether a date is compared as one. A year alone is compared as a number, and `may` and `march` may be verbs. */
function isDate(shown: string, { year, month, day }: Partial<DateParts> = {}): boolean {
  if (month === undefined) return false;
  return !/[a-z]/i.test(shown) || (/[A-Z]/.test(shown) && (year ?? day) !== undefined);
}

/** Whether the page should have this number. Small numbers are everywhere, a single kanji is often part of a word, and digits in names such as `IPv6` belong to the name. */
function isFigure(text: string, start: number, end: number, reading: Reading | undefined): boolean {
  if (reading === undefined) return true;
  if (/^\D$/.test(text.slice(start, end))) return false;
  const isWhole = Number.isInteger(reading.value);
  const before = text.slice(Math.max(0, start - 3), start);
  if ((isWhole && reading.value <= 3) || text.startsWith('分の', end) || /[数何幾]$/.test(before)) return false;
  return !isWhole || !/[a-z]$/.test(before) || /(?:^|[^a-z])v$|[^a-z]us$/.test(before);
}

type FigureIndex = ReturnType<typeof figureIndex>;

/** The figures of a page. Its dates are `2024-10-1`, `2024-10`, and `*-10-1` (of any year). */
export function figureIndex(page: string) {
  const text = fold(page);
  const numbers = new Set<number>();
  const keys = new Set<string>();
  for (const { readings } of numeralsIn(text)) for (const { value } of readings) numbers.add(value);
  // `5.28` is the beginning of a version; `1 226` may be two numbers.
  for (const [shown] of text.matchAll(/(?<!\d)\d{1,20}(?:[.,' ]\d{1,20}){1,6}/g)) {
    const parts = shown.split(/[.,' ]/);
    for (const part of [...parts, parts.slice(0, 2).join('.')]) numbers.add(Number(part));
  }
  for (const { dates } of datesIn(text)) {
    for (const { year, month, day } of dates) {
      if (year !== undefined) numbers.add(year);
      for (const period of [year, '*']) keys.add(`${period}-${month}`).add(`${period}-${month}-${day}`);
    }
  }
  return { text, numbers, ascending: Float64Array.from(numbers).sort(), keys };
}

/** Whether the page has the date. The page may name its year elsewhere. */
function hasDate({ numbers, keys }: FigureIndex, { year, month, day }: DateParts): boolean {
  const date = day === undefined ? `${month}` : `${month}-${day}`;
  const years = year === undefined ? ['*'] : [year, ...(numbers.has(year) ? [undefined] : [])];
  return years.some((year) => keys.has(`${year}-${date}`));
}

/** Whether the page has the number, or one that becomes it when rounded or cut to the same number of places. */
function isNear({ numbers, ascending }: FigureIndex, { value, place }: Reading): boolean {
  if (numbers.has(value)) return true;
  let step = place;
  // The zeros of 1,200 may come from rounding, too.
  while (value >= 100 && step >= 1 && value % (step * 10) === 0) step *= 10;
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

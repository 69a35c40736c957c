import { datesIn, type WrittenDate } from './dates.ts';
import { fold } from './folded-text.ts';
import { looseNumbersIn, type Numeral, numeralsIn, type Reading } from './numerals.ts';

/** What a page has: numbers (of versions also their beginnings), and dates as keys, `2024-10-1`, with `?` for what is not given. */
interface FigureIndex {
  readonly numbers: ReadonlySet<number>;
  readonly sorted: Float64Array;
  readonly versions: ReadonlySet<string>;
  readonly dates: ReadonlySet<string>;
  readonly isLoose: boolean;
}

const MAX_MISSING = 10;

/**
 * The figures of claims that a page does not have in any form, as the claims write them (ruling E10). Only digits are compared if the page is
 * in another language than the forms are known for (`isLoose`).
 */
export function missingFigures(claims: readonly string[], page: string, isLoose: boolean): string[] {
  const index = indexOf(page, isLoose);
  const missing = claims.flatMap((claim) => missingIn(claim, index));
  return [...new Set(missing)].slice(0, MAX_MISSING);
}

function missingIn(claim: string, index: FigureIndex): string[] {
  const text = fold(claim);
  const dates = [...datesIn(text)].filter((date) => isDate(claim, date));
  // Of two readings of a date, either counts.
  const absent = dates.filter(
    ({ start, day }) =>
      !dates.some(
        (date) => date.start === start && (isNumeric(claim, date) || date.day === day) && hasDate(index, date),
      ),
  );
  const numerals = [...numeralsIn(text)].filter(
    (numeral) => isFigure(text, numeral) && !dates.some(({ start, end }) => numeral.start < end && start < numeral.end),
  );
  const unknown = numerals
    .filter((numeral) => !hasNumber(index, numeral))
    .map(({ start, end }) => ({ start, end: end + unitAfter(text, end) }));
  return [...absent, ...unknown]
    .sort((a, b) => a.start - b.start)
    .map(({ start, end }) => claim.slice(start, end).trim());
}

const UNIT = /\s?(?:%|percent|per cent|パーセント)/y;

function unitAfter(text: string, end: number): number {
  UNIT.lastIndex = end;
  return UNIT.exec(text)?.[0].length ?? 0;
}

function isNumeric(text: string, { start, end }: WrittenDate): boolean {
  return /^[\d/.-]+$/.test(text.slice(start, end));
}

/** `may` and `march` without a capital are verbs; a month alone is checked only where a word shows that it is one. */
function isDate(claim: string, { start, end, year, day }: WrittenDate): boolean {
  const shown = claim.slice(start, end);
  if (!/[a-z]/i.test(shown)) return true;
  if (!/[A-Z]/.test(shown)) return false;
  return (
    (year ?? day) !== undefined || /\b(?:in|since|until|by|from|to|early|late|mid|of)[ -]$/i.test(claim.slice(0, start))
  );
}

const MAX_TRIVIAL = 3;

/** Whether the page should have this number (ruling E10). Digits in names, such as `IPv6`, belong to the name. */
function isFigure(text: string, { kind, start, end, readings, version }: Numeral): boolean {
  if (version !== undefined) return true;
  const [{ value, place } = { value: 0, place: 1 }] = readings;
  if (
    kind === 'ordinal word' ||
    !Number.isFinite(value) ||
    (Number.isInteger(value) && place <= 1 && value <= MAX_TRIVIAL)
  )
    return false;
  if (text.startsWith('分の', end) || /[数何幾]$/.test(text.slice(0, start))) return false;
  return place < 1 || !/[a-z]$/.test(text.slice(0, start)) || /(?:^|[^a-z])v$|[^a-z]us$/.test(text.slice(0, start));
}

function indexOf(page: string, isLoose: boolean): FigureIndex {
  const text = fold(page);
  const numbers = new Set<number>();
  const versions = new Set<string>();
  const dates = new Set<string>();
  for (const { readings, version, parts = [] } of numeralsIn(text)) {
    for (const { value } of readings) numbers.add(value);
    for (const part of parts) numbers.add(part);
    if (version === undefined) continue;
    const places = version.split('.', 5);
    numbers.add(Number(places[0])).add(Number(`${places[0]}.${places[1]}`));
    for (let length = 3; length <= places.length; length += 1) versions.add(places.slice(0, length).join('.'));
  }
  if (isLoose) for (const number of looseNumbersIn(text)) numbers.add(number);
  for (const { year, month, day } of datesIn(text)) {
    if (year !== undefined) numbers.add(year);
    if (month !== undefined) for (const y of [year ?? '?', '*']) dates.add(`${y}-${month}`).add(`${y}-${month}-${day}`);
  }
  return { numbers, versions, dates, isLoose, sorted: Float64Array.from(numbers).sort() };
}

function hasDate({ numbers, dates, isLoose }: FigureIndex, { year, month, day }: WrittenDate): boolean {
  if (isLoose || month === undefined) return [year, day].every((number) => number === undefined || numbers.has(number));
  const rest = day === undefined ? `${month}` : `${month}-${day}`;
  if (year === undefined) return dates.has(`*-${rest}`);
  // The year may be written elsewhere on the page.
  return dates.has(`${year}-${rest}`) || (dates.has(`?-${rest}`) && numbers.has(year));
}

function hasNumber(index: FigureIndex, { kind, readings, version, parts }: Numeral): boolean {
  const { numbers, versions, isLoose } = index;
  if (version !== undefined) {
    const shorter = version.replace(/(?:\.0)+$/, '');
    return (
      versions.has(version) ||
      versions.has(shorter) ||
      (/^\d+(?:\.\d+)?$/.test(shorter) && numbers.has(Number(shorter)))
    );
  }
  if (isLoose && kind.endsWith('word')) return true;
  const scales = isLoose ? [1, 1e3, 1e6, 1e9] : [1];
  const candidates = readings.flatMap(({ value, place }) =>
    scales.map((scale) => ({ value: value / scale, place: place / scale })),
  );
  return (
    candidates.some((reading) => isNear(index, reading)) ||
    (parts?.every((part) => part <= MAX_TRIVIAL || numbers.has(part)) ?? false)
  );
}

/** Whether the page has the number, or one that gives it when it is rounded or cut to the places that are shown. */
function isNear({ numbers, sorted }: FigureIndex, { value, place }: Reading): boolean {
  if (numbers.has(value)) return true;
  const isYear = place === 1 && value >= 1000 && value <= 2100;
  const step = isYear ? 1 : Math.max(place, trailing(value, place));
  // Floating point: 0.1 + 0.2 is more than 0.3.
  const slack = step * 1e-6;
  const low = value - Math.min(step / 2, value * 0.05) - slack;
  const high = value + Math.min(step, Math.max(step / 2, value * 0.05)) + slack;
  const next = sorted[firstAtLeast(sorted, low)];
  return next !== undefined && next <= high;
}

/** 100 for 1,200: the zeros may be rounded. Smaller numbers are too seldom rounded. */
function trailing(value: number, place: number): number {
  if (value < 100 || place < 1) return place;
  let step = place;
  while (value % (step * 10) === 0) step *= 10;
  return step;
}

function firstAtLeast(sorted: Float64Array, value: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? 0) < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

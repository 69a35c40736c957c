import { type DateParts, datesIn, type WrittenDate } from './dates.ts';
import { fold } from './folded-text.ts';
import { looseNumbersIn, type Numeral, numeralsIn, type Reading } from './numerals.ts';

/** Numbers; versions and their beginnings; dates as `2024-10-1`, `2024-10`, `?-10-1` (no year), `*-10-1` (any year), and `1` (a day alone). */
interface FigureIndex {
  readonly numbers: ReadonlySet<number>;
  readonly sorted: Float64Array;
  readonly keys: ReadonlySet<string>;
  readonly isLoose: boolean;
}

const MAX_MISSING = 10;
/** A page with more would take too long. */
const MAX_FIGURES = 20_000;

/** The figures of claims that a page lacks, as they write them (ruling E10); undefined if it has too many. `isLoose`: not all its forms are known. */
export function missingFigures(claims: readonly string[], page: string, isLoose: boolean): string[] | undefined {
  const index = indexOf(page, isLoose);
  const missing = index && claims.flatMap((claim) => missingIn(claim, index));
  return missing && [...new Set(missing)].slice(0, MAX_MISSING);
}

function missingIn(claim: string, index: FigureIndex): string[] {
  const text = fold(claim);
  const isKnown = (date: DateParts) => hasDate(index, date);
  const isAbsent = ({ dates, kind }: WrittenDate) => !(kind === 'all' ? dates.every(isKnown) : dates.some(isKnown));
  const dates = [...datesIn(text)].filter((date) => isDate(claim, date) && !(date.kind === 'maybe' && isAbsent(date)));
  const absent = dates.filter(isAbsent);
  const isInDate = (one: Numeral) => dates.some(({ start, end }) => one.start < end && start < one.end);
  const unknown = [...numeralsIn(text)].filter(
    (one) => isFigure(text, one) && !isInDate(one) && !hasNumber(index, one),
  );
  return [...absent, ...unknown]
    .sort((a, b) => a.start - b.start)
    .map(({ start, end }) => claim.slice(start, end).trim() + (PERCENT.exec(claim.slice(end))?.[0] ?? ''));
}

const PERCENT = /^\s?(?:[%％]|per ?cent|パーセント)/i;

/** `may` and `march` without a capital are verbs; a month alone is checked only where a word shows that it is one. */
function isDate(claim: string, { start, end, dates: [date] }: WrittenDate): boolean {
  if (date?.month === undefined && (date?.year === undefined || date.day !== undefined)) return false;
  const shown = claim.slice(start, end);
  if (!/[a-z]/i.test(shown)) return true;
  if (!/[A-Z]/.test(shown)) return false;
  const isMonth = (date.year ?? date.day) === undefined;
  return !isMonth || /\b(?:in|since|until|by|from|to|early|late|mid|of)[ -]$/i.test(claim.slice(0, start));
}

const MAX_TRIVIAL = 3;
const SCALE_ALONE = /^(?:dozen|hundred|thousand|million|billion|trillion)$/;

/** Whether the page should have this number (ruling E10). Digits in names, such as `IPv6`, belong to the name. */
function isFigure(text: string, { start, end, readings: [reading], isOrdinal }: Numeral): boolean {
  if (reading === undefined) return true;
  const { value } = reading;
  const isTrivial = Number.isInteger(value) && value <= MAX_TRIVIAL;
  if (isOrdinal || isTrivial || !Number.isFinite(value) || text.startsWith('分の', end)) return false;
  const before = text.slice(0, start);
  if (/[数何幾]$/.test(before)) return false;
  // `half a million`, `parts per million`: the number is elsewhere, or none.
  if (SCALE_ALONE.test(text.slice(start, end)) && !/(?<!half )\ba $/.test(before)) return false;
  return !Number.isInteger(value) || !/[a-z]$/.test(before) || /(?:^|[^a-z])v$|[^a-z]us$/.test(before);
}

function indexOf(page: string, isLoose: boolean): FigureIndex | undefined {
  const text = fold(page);
  const numbers = new Set<number>();
  const keys = new Set<string>();
  let left = MAX_FIGURES;
  for (const { readings, version, parts } of numeralsIn(text)) {
    left -= 1;
    if (left < 0) return undefined;
    for (const { value } of readings) numbers.add(value);
    for (const part of parts) numbers.add(part);
    if (version === undefined) continue;
    const places = version.split('.', 5);
    numbers.add(Number(places[0])).add(Number(`${places[0]}.${places[1]}`));
    for (let length = 3; length <= places.length; length += 1) keys.add(places.slice(0, length).join('.'));
  }
  if (isLoose) for (const number of looseNumbersIn(text)) numbers.add(number);
  for (const { dates } of datesIn(text)) {
    left -= 1;
    if (left < 0) return undefined;
    for (const { year = '?', month, day } of dates) {
      if (year !== '?') numbers.add(year);
      if (month === undefined) keys.add(`${day}`);
      else for (const known of [year, '*']) keys.add(`${known}-${month}`).add(`${known}-${month}-${day}`);
    }
  }
  return { numbers, keys, isLoose, sorted: Float64Array.from(numbers).sort() };
}

/** The year may be written elsewhere on the page, and the day without its month: `the 16th`. */
function hasDate({ numbers, keys, isLoose }: FigureIndex, { year, month, day }: DateParts): boolean {
  if (isLoose || month === undefined) return [year, day].every((number) => number === undefined || numbers.has(number));
  const years = year === undefined ? ['*'] : numbers.has(year) ? [year, '?'] : [];
  const isDayAlone = day !== undefined && keys.has(`${day}`);
  return years.some(
    (year) =>
      keys.has(`${year}-${month}-${day}`) || ((day === undefined || isDayAlone) && keys.has(`${year}-${month}`)),
  );
}

function hasNumber(index: FigureIndex, { readings, version, parts, isWord }: Numeral): boolean {
  const { numbers, keys, isLoose } = index;
  if (version !== undefined) {
    const shorter = version.replace(/(?:\.0)+$/, '');
    return keys.has(version) || keys.has(shorter) || (/^\d+(?:\.\d+)?$/.test(shorter) && numbers.has(Number(shorter)));
  }
  if (isLoose && isWord) return true;
  const scales = isLoose ? [1, 1e3, 1e6, 1e9] : [1];
  const areParts = parts.length > 0 && parts.every((part) => part <= MAX_TRIVIAL || numbers.has(part));
  const isFound = ({ value, place }: Reading) =>
    scales.some((scale) => isNear(index, { value: value / scale, place: place / scale }));
  return areParts || readings.some(isFound);
}

/** Whether the page has the number, or one that gives it when it is rounded or cut to the places that are shown. */
function isNear({ numbers, sorted }: FigureIndex, { value, place }: Reading): boolean {
  if (numbers.has(value)) return true;
  const step = trailing(value, place);
  // Floating point: 0.1 + 0.2 is more than 0.3.
  const slack = step * 1e-6;
  const below = Math.min(step / 2, value * 0.05);
  const low = value - below - slack;
  // Zeros at the end may be shown, or rounded: then by no more than that.
  const above = step > place ? below : Math.min(step, Math.max(step / 2, value * 0.05));
  // 43 is not 42 that was cut, but 42.9 is.
  const high = value + (above < step ? above + slack : step - slack);
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

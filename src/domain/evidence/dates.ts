import { toReading } from './numerals.ts';

/** A day, month or year; what a text does not give is undefined. */
export type DateParts = Readonly<Record<'year' | 'month' | 'day', number | undefined>>;

/**
 * A place of a folded text that gives dates: all of them, such as several days of a month; `either`, if the order of day and month is not
 * known; or `maybe` one: `2020/5` may be a ratio, `2011-12` two years.
 */
export interface WrittenDate {
  readonly start: number;
  readonly end: number;
  readonly dates: readonly DateParts[];
  readonly kind: 'all' | 'either' | 'maybe';
}

const ERAS = new Map(Object.entries({ 令和: 2018, 平成: 1988, 昭和: 1925, 大正: 1911, 明治: 1867, 慶応: 1864 }));
const D = '[\\d〇一二三四五六七八九十]';
const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const DAY = '\\d{1,2}(?:st|nd|rd|th)?(?![\\d:%])';
const DAYS = `${DAY}(?:\\s?(?:-|,|&|and|to|through|until|or)\\s?${DAY}){0,3}`;

const ERA_YEAR = `(${[...ERAS.keys()].join('|')})\\s?(${D}{1,3}|元)`;
const YEAR = `(?<!${D})(${D}{4}|千[一二三四五六七八九十百]{1,8})`;
const MONTH_AND_DAYS = `(?<!${D})(${D}{1,3})\\s?月(?:\\s?(${D}{1,3}\\s?日(?:\\s?(?:-|、|,|・|と|から|及び|および)\\s?${D}{1,3}\\s?日){0,9}))?`;
const JAPANESE = new RegExp(
  `(?:${ERA_YEAR}|${YEAR})\\s?年(?:\\s?\\([^()\\n]{1,12}\\))?(?:\\s?${MONTH_AND_DAYS})?|${MONTH_AND_DAYS}|(${D}{1,3}日)(?!間)`,
  'g',
);
const ENGLISH = new RegExp(
  `(?:(?<!\\d)(?<before>${DAYS})(?:\\s?-|\\sof)?\\s?)?(?<![a-z])(?<name>${MONTH})(?![a-z])\\.?(?:[,-]?\\s?(?<after>${DAYS}))?(?:(?:,|,?\\sof|-)?\\s?(?<year>\\d{4})(?!\\d))?`,
  'g',
);
const THE_DAY = /(?:on|by|until|from|to|of|before|after)\sthe\s(\d{1,2}(?:st|nd|rd|th))(?![a-z])/g;
const NUMERIC =
  /(?<![\d.])(?:(?<year>\d{4})(?<a>[-/.])(?<month>\d\d?)\k<a>(?<day>\d\d?)|(?<first>\d\d?)(?<b>[-/.])(?<second>\d\d?)\k<b>(?<last>\d{4}))(?!\d)/g;

const SHORT =
  /(?<![\d.,/-])(?:(?<year>(?:1[5-9]|20)\d\d)[-/](?<month>\d\d?)|(?<first>\d\d?)\/(?<last>(?:1[5-9]|20)\d\d|\d\d?))(?![\d/-]|[.,]\d)/g;

/** The dates of a folded text, in the forms of ruling E10. */
export function* datesIn(text: string): Generator<WrittenDate> {
  for (const match of text.matchAll(JAPANESE)) {
    const [, era, eraYear = '', year, month = match[6], days = match[7] ?? match[8]] = match;
    const since = ERAS.get(era ?? '');
    const inEra = eraYear === '元' ? 1 : toReading(eraYear).value;
    yield* written(match, toDates(since === undefined ? year : `${since + inEra}`, month, days));
  }
  for (const match of text.matchAll(ENGLISH)) {
    const { before, after, name = '', year } = match.groups ?? {};
    yield* written(match, toDates(year, `${MONTHS.indexOf(name.slice(0, 3)) + 1}`, after ?? before));
  }
  for (const match of text.matchAll(THE_DAY)) yield* written(match, toDates(undefined, undefined, match[1]));
  for (const match of text.matchAll(NUMERIC)) {
    const { year, month, day, first, second, last } = match.groups ?? {};
    const either = [...toDates(last, first, second), ...toDates(last, second, first)];
    yield* written(match, year === undefined ? either : toDates(year, month, day), 'either');
  }
  for (const match of text.matchAll(SHORT)) {
    const { first, last = '', year = last.length > 2 ? last : undefined, month = first } = match.groups ?? {};
    const either = [...toDates(undefined, first, last), ...toDates(undefined, last, first)];
    yield* written(match, year === undefined ? either : toDates(year, month), 'maybe');
  }
}

function* written(match: RegExpExecArray, dates: readonly DateParts[], kind: WrittenDate['kind'] = 'all') {
  if (dates.length > 0) yield { start: match.index, end: match.index + match[0].length, dates, kind };
}

/** One date for each day in a text; none if they are impossible. */
function toDates(year?: string, month?: string, days?: string): readonly DateParts[] {
  const toNumber = (text: string | undefined) => (text === undefined ? undefined : toReading(text).value);
  const shown = days?.match(/[\d〇一二三四五六七八九十]+/g) ?? [undefined];
  return shown
    .map((day) => ({ year: toNumber(year), month: toNumber(month), day: toNumber(day) }))
    .filter(({ month = 1, day = 1 }) => month >= 1 && month <= 12 && day >= 1 && day <= 31);
}

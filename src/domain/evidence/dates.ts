import { inKanji } from './numerals.ts';

/** A date in a folded text; what it does not give is undefined. */
export interface WrittenDate {
  readonly start: number;
  readonly end: number;
  readonly year: number | undefined;
  readonly month: number | undefined;
  readonly day: number | undefined;
}

const ERAS = new Map(Object.entries({ 令和: 2018, 平成: 1988, 昭和: 1925, 大正: 1911, 明治: 1867, 慶応: 1864 }));
const D = '[\\d〇一二三四五六七八九十]';
const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const DAY = '\\d{1,2}(?:st|nd|rd|th)?(?![\\d:%])';
const DAYS = `${DAY}(?:\\s?(?:-|,|&|and|to|through|until|or)\\s?${DAY}){0,9}`;

const ERA_YEAR = `(${[...ERAS.keys()].join('|')})\\s?(${D}{1,3}|元)`;
const YEAR = `(?<!${D})(${D}{4}|千[一二三四五六七八九十百]{1,8})`;
const MONTH_AND_DAYS = `(?<!${D})(${D}{1,3})\\s?月(?:\\s?(${D}{1,3}\\s?日(?:\\s?(?:-|、|,|・|と|から|及び|および)\\s?${D}{1,3}\\s?日){0,9}))?`;
const JAPANESE = new RegExp(
  `(?:${ERA_YEAR}|${YEAR})\\s?年(?:\\s?\\([^()\\n]{1,12}\\))?(?:\\s?${MONTH_AND_DAYS})?|${MONTH_AND_DAYS}`,
  'g',
);
const ENGLISH = new RegExp(
  `(?:(?<!\\d)(?<before>${DAYS})(?:\\s?-|\\sof)?\\s?)?(?<![a-z])(?<name>${MONTH})(?![a-z])\\.?(?:[,-]?\\s?(?<after>${DAYS}))?(?:(?:,|,?\\sof|-)?\\s?(?<year>\\d{4})(?!\\d))?`,
  'g',
);
const NUMERIC =
  /(?<![\d.])(?:(?<year>\d{4})(?<a>[-/.])(?<month>\d\d?)\k<a>(?<day>\d\d?)|(?<first>\d\d?)(?<b>[-/.])(?<second>\d\d?)\k<b>(?<last>\d{4}))(?!\d)/g;

/** The dates of a folded text, in the forms of ruling E10. One that gives several days is several dates. */
export function* datesIn(text: string): Generator<WrittenDate> {
  for (const match of text.matchAll(JAPANESE)) {
    const [, era, eraYear = '', year, month = match[6], days = match[7]] = match;
    const since = ERAS.get(era ?? '');
    const inEra = eraYear === '元' ? 1 : inKanji(eraYear).value;
    yield* toDates(match, since === undefined ? year : `${since + inEra}`, month, days);
  }
  for (const match of text.matchAll(ENGLISH)) {
    const { before, after, name = '', year } = match.groups ?? {};
    yield* toDates(match, year, `${MONTHS.indexOf(name.slice(0, 3)) + 1}`, after ?? before);
  }
  for (const match of text.matchAll(NUMERIC)) {
    const { year, month, day, first, second, last } = match.groups ?? {};
    if (year !== undefined) yield* toDates(match, year, month, day);
    // The order of day and month depends on the country.
    yield* toDates(match, last, first, second);
    yield* toDates(match, last, second, first);
  }
}

function* toDates(match: RegExpExecArray, year?: string, month?: string, days = ''): Generator<WrittenDate> {
  const toNumber = (text: string | undefined) => (text === undefined ? undefined : inKanji(text).value);
  const span = { start: match.index, end: match.index + match[0].length, year: toNumber(year), month: toNumber(month) };
  if ((span.month ?? 1) < 1 || (span.month ?? 1) > 12) return;
  const shown = days.match(/[\d〇一二三四五六七八九十]+/g)?.map(toNumber) ?? [];
  if (shown.length === 0 && (year ?? month) !== undefined) yield { ...span, day: undefined };
  for (const day of shown) if (day !== undefined && day >= 1 && day <= 31) yield { ...span, day };
}

import { toReading } from './numerals.ts';

/** A date. Parts that a text does not give are undefined. */
export type DateParts = Readonly<Record<'year' | 'month' | 'day', number | undefined>>;

const ERAS = new Map(Object.entries({ 令和: 2018, 平成: 1988, 昭和: 1925, 大正: 1911, 明治: 1867 }));
const D = '[\\d〇一二三四五六七八九十]';
const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const DAY = '\\d{1,2}(?:st|nd|rd|th)?(?![\\d:%])';
const DAYS = `${DAY}(?:\\s?(?:-|,|&|and|to|through)\\s?${DAY}){0,3}`;

const ERA_YEAR = `(${[...ERAS.keys()].join('|')})\\s?(${D}{1,3}|元)`;
const YEAR = `(?<!${D})(${D}{4}|千[一二三四五六七八九十百]{1,8})`;
const MONTH_AND_DAYS = `(?<!${D})(${D}{1,3})\\s?月(?:\\s?(${D}{1,3}\\s?日(?:\\s?(?:-|、|・|と|から)\\s?${D}{1,3}\\s?日){0,9}))?`;
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

/** The places of dates in a folded text. A place has several dates if it lists days of a month, or if the order of day and month is not known. */
export function datesIn(text: string) {
  const japanese = (/[年月]/.test(text) ? [...text.matchAll(JAPANESE)] : []).map((match) => {
    const [, era, eraYear = '', year, month = match[6], days = match[7]] = match;
    const since = ERAS.get(era ?? '');
    const inEra = eraYear === '元' ? 1 : toReading(eraYear).value;
    return written(match, toDates(since === undefined ? year : `${since + inEra}`, month, days));
  });
  const english = [...text.matchAll(ENGLISH)].map((match) => {
    const { before, after, name = '', year } = match.groups ?? {};
    return written(match, toDates(year, `${MONTHS.indexOf(name.slice(0, 3)) + 1}`, after ?? before));
  });
  const numeric = [...text.matchAll(NUMERIC)].map((match) => {
    const { year, month, day, first, second, last } = match.groups ?? {};
    return written(match, [...toDates(year ?? last, month ?? first, day ?? second), ...toDates(last, second, first)]);
  });
  return [...japanese, ...english, ...numeric];
}

function written(match: RegExpExecArray, dates: readonly DateParts[]) {
  return { start: match.index, end: match.index + match[0].length, dates };
}

/** One date for each day of a place; none if the date is impossible. */
function toDates(year?: string, month?: string, days?: string): readonly DateParts[] {
  const toNumber = (text: string | undefined) => (text === undefined ? undefined : toReading(text).value);
  const shown = days?.match(/[\d〇一二三四五六七八九十]+/g) ?? [undefined];
  return shown
    .map((day) => ({ year: toNumber(year), month: toNumber(month), day: toNumber(day) }))
    .filter(({ month = 1, day = 1 }) => month >= 1 && month <= 12 && day >= 1 && day <= 31);
}

import { toReading } from './numerals.ts';

/** A time of a day. `seconds`: from midnight; two if half the day is not given. */
export interface TimeOfDay {
  readonly start: number;
  readonly end: number;
  readonly seconds: readonly number[];
}

const HALF = "(?:[ap]\\.?m\\.?(?![a-z])|uhr(?![a-z])|in the (?:morning|afternoon|evening)|at night|o'clock)";
const ENGLISH = new RegExp(
  `(?<![\\d:.,])(?:(?<hour>\\d{1,2}(?:[:.][0-5]\\d)?) ?(?<half>${HALF})|(?<clock>\\d{1,2}:[0-5]\\d(?::[0-5]\\d)?)(?!:?\\d))`,
  'g',
);
/** The beginning of a range, such as `8 to 9 p.m.`. */
const FROM = /(?<![\d:.,])(\d{1,2}(?:[:.][0-5]\d)?) ?(?:-|to|and|until) ?$/;
const MAX_FROM = 20;
const D = '[\\d〇一二三四五六七八九十]';
const JAPANESE = new RegExp(
  `(?<half>午前|午後|朝|夕方|夜)?の? ?(?<hour>(?<!${D})${D}{1,3}) ?時(?![間代点])(?: ?(?<minute>${D}{1,3}) ?分|(?<isHalf>半))?`,
  'g',
);

/** The times of a folded text: `14:30`, `2:30 p.m.`, `8 to 9 pm`, `17 Uhr`, 午後2時半. */
export function timesIn(text: string): readonly TimeOfDay[] {
  const times: TimeOfDay[] = [];
  const add = (start: number, shown: string, seconds: readonly number[]) => {
    if (seconds.length > 0) times.push({ start, end: start + shown.length, seconds });
  };
  for (const { 0: shown, index, groups: { hour, half, clock = hour ?? '' } = {} } of text.matchAll(ENGLISH)) {
    const before = text.slice(Math.max(0, index - MAX_FROM), index);
    const from = half === undefined ? null : FROM.exec(before);
    if (from?.[1] !== undefined) add(index - before.length + from.index, from[1], secondsOf(from[1]));
    add(index, shown, secondsOf(clock, half));
  }
  if (!text.includes('時')) return times;
  for (const { 0: shown, index, groups: { half = '', hour = '', minute = '0', isHalf } = {} } of text.matchAll(
    JAPANESE,
  )) {
    const minutes = isHalf === undefined ? toReading(minute).value : 30;
    add(index, shown, secondsOf(`${toReading(hour).value}:${minutes}`, half));
  }
  return times;
}

/** Further times that a page may mean: `14.30`, `14h30`, noon. */
export function possibleTimesIn(text: string): readonly number[] {
  const clocks = [...text.matchAll(/(?<![\d.,])\d{1,2}(?:\.|h ?)[0-5]\d(?![\d.,])/g)];
  const words = [/noon|正午/.test(text) ? [DAY / 2] : [], /midnight|真夜中/.test(text) ? [0] : []];
  return [...clocks.flatMap(([shown]) => secondsOf(shown.replace(/h ?/, '.'))), ...words.flat()];
}

const DAY = 86_400;

function secondsOf(clock: string, half = ''): readonly number[] {
  const [hour = 0, minute = 0, second = 0] = clock.split(/[:.]/).map(Number);
  if (hour > 24 || minute > 59) return [];
  const inHour = minute * 60 + second;
  const isHalved = hour >= 1 && hour <= 12;
  if (!isHalved) return [(hour * 3600 + inHour) % DAY];
  const [morning, afternoon] = [(hour % 12) * 3600 + inHour, ((hour % 12) + 12) * 3600 + inHour];
  if (/^(?:a|in the m|午前|朝)/.test(half) && !half.startsWith('at')) return [morning];
  return /^(?:p|in the|午後|夕方)/.test(half) ? [afternoon] : [morning, afternoon];
}

/**
 * A way to read a number. `place` is the value of its last digit's place: 100,000 for `1.4 million`; 0 for a year, which is not rounded. `until`: the end of
 * a range of values, such as a decade.
 */
export interface Reading {
  readonly value: number;
  readonly place: number;
  readonly until?: number;
}

const KANJI_DIGITS = '〇一二三四五六七八九';
const VULGAR = '¼-¾⅐-⅞';
const POWERS = new Map<string, number>([
  ...Object.entries({ 割: 10, 十: 10, 百: 100, 千: 1e3, 万: 1e4, 億: 1e8, 兆: 1e12 }),
  ...Object.entries({ hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }),
  ...Object.entries({ k: 1e3, m: 1e6, mn: 1e6, mln: 1e6, b: 1e9, bn: 1e9, tn: 1e12, dozen: 12 }),
  ...Object.entries({ lakh: 1e5, lac: 1e5, crore: 1e7, cr: 1e7 }),
]);
/** Units that multiply everything before them. Others multiply only the last number. */
const isGreat = (power: string) => /[a-z万億兆]/.test(power);

const TOKEN = new RegExp(
  `\\d{1,2} ?[/⁄] ?\\d{1,2}|[${VULGAR}]|\\d[\\d,.']*(?: \\d{3}(?!\\d)(?:,\\d{1,2}(?!\\d))?)*|[${KANJI_DIGITS}]+|[a-z]+|[割十百千万億兆]`,
  'g',
);
/** Groups of three digits, of India (`12,34,567`) and with a comma as the decimal sign, and `5 1/2`. */
const DIGITS = [
  '(?:\\d{1,3}(?:\\.\\d{3}){1,6},\\d{1,2}(?![\\d.])',
  '\\d{1,2}(?:,\\d\\d){1,6},\\d{3}(?![\\d,])(?:\\.\\d{1,9})?',
  '(?<![\\d,.])\\d{1,3}(?: \\d{3}){0,6},\\d{1,2}(?!,?\\d|\\.\\d)',
  `(?:\\d{1,3}[ -])?\\d{1,2} ?⁄ ?\\d{1,2}(?!\\d)|(?<![\\d.,])\\d{1,3}[ -]\\d/(?:[23458]|16)(?![\\d/.,])|\\d{0,9} ?[${VULGAR}]`,
  "(?:\\d{1,3}(?:[,' ]\\d{3}){1,6}(?!\\d)|\\d{1,20})(?:\\.\\d{1,9})?)",
].join('|');
const POWER = '(?:hundred|thousand|million|billion|trillion|dozen|lakh|lac|crore)s?|cr|mln|[mbt]n|[kmb]';
const PLAIN = `(?:${DIGITS}|[${KANJI_DIGITS}]{1,9})`;
/** Repetitions are bounded or cannot overlap, so that matching takes linear time. */
const NUMERAL = new RegExp(
  `(?=[\\d${KANJI_DIGITS}十百千${VULGAR}])(?:${[
    '\\d{1,9}(?:\\.\\d{1,9}){2,9}(?!\\.?\\d|,\\d)',
    `(?:${PLAIN}?[割十百千万億兆]){1,12}(?:${PLAIN}(?![\\d年月]))?`,
    `${DIGITS}(?:[ -]?(?:${POWER})(?![a-z])){0,2}`,
    `[${KANJI_DIGITS}]{1,9}`,
  ].join('|')})`,
  'g',
);
/** The numbers of a folded text, in digits and kanji. `5m` has two readings, a `version` such as `5.28.3` has none. */
export function numeralsIn(text: string) {
  return [...text.matchAll(NUMERAL)].flatMap(({ 0: shown, index: start }) => {
    const end = start + shown.length;
    const version = /^[\d.]*\.\d+\.\d+$/.test(shown) ? shown : undefined;
    // A letter may also be a unit: metres, kilobytes.
    const unit = /(?:[ -]|(?<=\d))[a-z]{1,2}$/.exec(shown)?.[0].length ?? 0;
    const readings = unit === 0 ? [shown] : [shown, shown.slice(0, -unit)];
    return { start, end, version, readings: version === undefined ? readings.map(toReading) : [] };
  });
}

/** A number in digits or kanji: `1,226.5`, `1億2380万`, `千二百二十六`, `一九七〇`, `4.2 million`. */
export function toReading(shown: string): Reading {
  let [total, section, place] = [0, 0, 1];
  let current: number | undefined;
  for (const [token] of shown.matchAll(TOKEN)) {
    const power = POWERS.get(token.replace(/s$/, ''));
    if (power === undefined) {
      const number = plain(token);
      current = (current ?? 0) + number.value;
      place = number.place;
    } else if (isGreat(token) && total > 0 && section === 0 && current === undefined && /[a-z]/.test(token)) {
      [total, place] = [total * power, place * power];
    } else if (isGreat(token)) {
      total += (section + (current ?? 0) || 1) * power;
      [section, current, place] = [0, undefined, place * power];
    } else {
      section += (current ?? 1) * power;
      [current, place] = [undefined, (current === undefined ? 1 : place) * power];
    }
  }
  const value = total + section + (current ?? 0);
  const isYear = /^[\d〇一二三四五六七八九]{4}$/.test(shown) && value >= 1000 && value < 2100;
  return { value, place: isYear ? 0 : place };
}

/** The number of a token of digits, or of a fraction. */
function plain(token: string): Reading {
  const [, up, down] = /^(\d+)[/⁄](\d+)$/.exec(token.normalize('NFKC').replaceAll(' ', '')) ?? [];
  if (up !== undefined) return { value: Number(up) / Number(down), place: 0.01 };
  const decimal = /\..*,|^[\d ]+,\d\d?$/.test(token) ? token.replaceAll('.', '').replace(',', '.') : token;
  const digits = decimal.replace(/[,' ]/g, '').replace(/[^\d.]/g, (kanji) => `${KANJI_DIGITS.indexOf(kanji)}`);
  return { value: Number(digits), place: 10 ** -(digits.split('.')[1]?.length ?? 0) };
}

/** A way to read a number. `place` is the value of its last digit's place: 100,000 for `1.4 million`; 0 for a year, which is not rounded. */
export interface Reading {
  readonly value: number;
  readonly place: number;
}

const KANJI_DIGITS = '〇一二三四五六七八九';
const POWERS = new Map<string, number>([
  ...Object.entries({ 割: 10, 十: 10, 百: 100, 千: 1e3, 万: 1e4, 億: 1e8, 兆: 1e12 }),
  ...Object.entries({ hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }),
  ...Object.entries({ k: 1e3, m: 1e6, mn: 1e6, b: 1e9, bn: 1e9 }),
]);
/** Units that multiply everything before them. Others multiply only the last number. */
const isGreat = (power: string) => /[a-z万億兆]/.test(power);

const TOKEN = new RegExp(`\\d[\\d,' ]*(?:\\.\\d+)?|[${KANJI_DIGITS}]+|[a-z]+|[割十百千万億兆]`, 'g');
const DIGITS = "(?:\\d{1,3}(?:[,' ]\\d{3}){1,6}(?!\\d)|\\d{1,20})(?:\\.\\d{1,9})?";
const PLAIN = `(?:${DIGITS}|[${KANJI_DIGITS}]{1,9})`;
/** Repetitions are bounded or cannot overlap, so that matching takes linear time. */
const NUMERAL = new RegExp(
  [
    '\\d{1,9}(?:\\.\\d{1,9}){2,9}',
    `(?:${PLAIN}?[割十百千万億兆]){1,12}(?:${PLAIN}(?![\\d年月]))?`,
    `${DIGITS}[ -]?(?:hundred|thousand|million|billion|trillion|[mb]n|[kmb])(?![a-z])`,
    PLAIN,
  ].join('|'),
  'g',
);
/** The numbers of a folded text, in digits and kanji. `5m` has two readings, a `version` such as `5.28.3` has none. */
export function numeralsIn(text: string) {
  return [...text.matchAll(NUMERAL)].flatMap(({ 0: shown, index: start }) => {
    const end = start + shown.length;
    if (/^[割万億兆]/.test(shown)) return [];
    const version = /\..*\./.test(shown) ? shown : undefined;
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
    const power = POWERS.get(token);
    if (power === undefined) {
      const digits = token.replace(/[,' ]/g, '').replace(/[^\d.]/g, (kanji) => `${KANJI_DIGITS.indexOf(kanji)}`);
      current = Number(digits);
      place = 10 ** -(digits.split('.')[1]?.length ?? 0);
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

/** A way to read a number. `place` is that of the last digit shown: 100,000 for `1.4 million`; 0 for a year, which is not rounded. */
export interface Reading {
  readonly value: number;
  readonly place: number;
}

export interface Numeral {
  readonly start: number;
  readonly end: number;
  readonly readings: readonly Reading[];
  /** `5.28.3`: it has more than one point, and no readings. */
  readonly version?: string;
  /** `1` and `226`, in case `1 226` are two numbers. */
  readonly parts: readonly number[];
  /** In English words; an ordinal one is never missing. */
  readonly isWord: boolean;
  readonly isOrdinal: boolean;
}

const ONES =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety';
const CARDINALS = [
  ...ONES.split(' ').map((word, at) => [word, at] as const),
  ...TENS.split(' ').map((word, at) => [word, at * 10 + 20] as const),
];
const ORDINALS = new Map<string, number>([
  ...Object.entries({ first: 1, second: 2, third: 3 }),
  // `fifth`, `twelfth`, `ninth`, `eighth`, `twentieth`.
  ...CARDINALS.map(
    ([word, value]) => [`${word.replace(/ve$/, 'f').replace(/[et]$/, '').replace(/y$/, 'ie')}th`, value] as const,
  ),
]);
const UNITS = new Map<string, number>([...CARDINALS, ...ORDINALS]);
const POWERS = new Map<string, number>([
  ...Object.entries({ 厘: 0.1, 分: 1, 割: 10, 十: 10, 百: 100, 千: 1e3, 万: 1e4, 億: 1e8, 兆: 1e12 }),
  ...Object.entries({ dozen: 12, hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }),
  ...Object.entries({ k: 1e3, m: 1e6, mn: 1e6, mln: 1e6, b: 1e9, bn: 1e9, t: 1e12, tn: 1e12 }),
]);
/** They multiply all that is before them, others only the last number. */
const isGreat = (power: string) => /[a-z万億兆]/.test(power) && !/dozen|hundred/.test(power);

const TOKEN = /\d[\d,' ]*(?:\.\d+)?|\.\d+|[〇一二三四五六七八九]+|[a-z]+|[割分厘十百千万億兆]/g;
const KANJI_DIGITS = '〇一二三四五六七八九';
const SCALE = '(?:hundred|thousand|million|billion|trillion|dozen)(?![a-z])';
const BELOW_100 = `(?:(?:${TENS.replaceAll(' ', '|')})[ -])?(?:${[...UNITS.keys()].join('|')})(?![a-z])`;
const BEFORE_POWER = '(?:\\d{1,3}(?:,\\d{3}){1,6}|\\d{1,20})(?:\\.\\d{1,9})?';
const KANJI = `[${KANJI_DIGITS}十百千万億兆]`;
/** All repetitions are bounded, or cannot overlap: the time is linear. */
const NUMERAL = new RegExp(
  [
    `(?<kanji>(?:${BEFORE_POWER}[十百千万億兆]|(?![万億兆])${KANJI})${KANJI}*(?:${BEFORE_POWER}[十百千万億兆]${KANJI}*){0,5}` +
      `(?:(?<=[千万億兆])(?:\\d,\\d{3}|\\d{1,4})(?![\\d年月]|[.,]\\d))?(?:割(?:[${KANJI_DIGITS}]分(?:[${KANJI_DIGITS}]厘)?)?)?)`,
    "(?<digits>\\d{1,3}(?:[,' ]\\d{3}){1,6}(?!\\d)(?:\\.\\d+)?|\\d+(?:\\.\\d+)*|(?<![\\da-z.])\\.\\d{1,9}(?![\\d.]))" +
      `(?:割(?:\\d分(?:\\d厘)?)?|[ -]?(?:${SCALE}|(?:mln|mn|bn|tn|[kmbt])(?![a-z])))?`,
    `(?<![a-z])(?:(?:(?:${BELOW_100}[ -])?${SCALE})(?:(?: and)?[ -](?:${BELOW_100}|${SCALE}))*|${BELOW_100})`,
  ].join('|'),
  'g',
);
/** One kanji is often a part of a word, and a number only before one of these. */
const COUNTER =
  /[円人年月日回個件番位社か箇ヶケカ歳才名本台枚点時度倍票章区校館階号世代種つ語週曲冊戦勝敗試%]|都市|(?<!十)分|パーセント/y;
const DECADE = /'?s(?![a-z])|年代/y;
/** `2019-21`: the years to 2021. */
const RANGE = /(?<!\d)(1[5-9]|20)\d\d[-/]$/;
const AFTERNOON = /(?::\d\d)? ?(?:pm|p\.m)(?![a-z])/y;

/** The numbers of a folded text, in the forms of English and Japanese (ruling E10). */
export function* numeralsIn(text: string): Generator<Numeral> {
  for (const match of text.matchAll(NUMERAL)) {
    const { 0: shown, index: start, groups: { kanji = '', digits = '' } = {} } = match;
    const end = start + shown.length;
    const isFollowedBy = (pattern: RegExp) => {
      pattern.lastIndex = end;
      return pattern.test(text);
    };
    if (kanji.length === 1 && !isFollowedBy(COUNTER)) continue;

    const isVersion = /\..*\./.test(digits);
    const readings = isVersion ? [] : [toReading(shown)];
    // Letters may also be a unit: metres, kilobytes.
    if (!isVersion && /\d[ -]?[a-z]{1,3}$/.test(shown)) readings.push(toReading(digits));
    const [{ value, place } = { value: 0, place: 0 }] = readings;
    // A share, as in averages of baseball: `.355`.
    if (shown.includes('割')) readings.push({ value: value / 100, place: place / 100 });
    const isAfternoon = value < 12 && (text.startsWith('午後', start - 2) || isFollowedBy(AFTERNOON));
    const [, century] = (shown.length === 2 && RANGE.exec(text.slice(Math.max(0, start - 6), start))) || [];
    const isDecade = value >= 10 && value < 100 && isFollowedBy(DECADE);
    const more = century ? [Number(century) * 100] : isDecade ? [1900, 2000] : isAfternoon ? [12] : [];
    const parts = digits.includes(' ') ? digits.split(' ').map(Number) : [];
    readings.push(...more.map((more) => ({ value: value + more, place })));
    const isWord = kanji === '' && digits === '';
    const isOrdinal = isWord && ORDINALS.has(/[a-z]*$/.exec(shown)?.[0] ?? '');
    yield { start, end, readings, parts, isWord, isOrdinal, ...(isVersion && { version: digits }) };
  }
}

/** The numbers of a text in another language: `7.310` is 7.31 or 7310, `42,5` is 42.5 or two numbers. */
export function* looseNumbersIn(text: string): Generator<number> {
  for (const [shown] of text.matchAll(/\d+(?:[.,' ]\d+){0,6}/g)) {
    const parts = shown.split(/[.,' ]/);
    yield* parts.map(Number);
    yield Number(parts.join(''));
    yield Number(`${parts.slice(0, -1).join('')}.${parts.at(-1)}`);
  }
}

/** A number in digits, kanji or words: `1,226.5`, `1億2380万`, `千二百二十六`, `一九七〇`, `3割5分5厘`, `two hundred and fifty`. */
export function toReading(shown: string): Reading {
  let [total, section, place] = [0, 0, 1];
  let current: number | undefined;
  for (const [token] of shown.matchAll(TOKEN)) {
    const power = POWERS.get(token);
    const factor = power ?? 1;
    if (power === undefined) {
      const digits = token.replace(/[,' ]/g, '').replace(/[^\w.]/g, (kanji) => `${KANJI_DIGITS.indexOf(kanji)}`);
      current = (current ?? 0) + (UNITS.get(token) ?? (token === 'and' ? 0 : Number(digits)));
      place = 10 ** -(digits.split('.')[1]?.length ?? 0);
    } else if (isGreat(token)) {
      total += (section + (current ?? 0) || 1) * factor;
      [section, current, place] = [0, undefined, place * factor];
    } else {
      section += (current ?? 1) * factor;
      [current, place] = [undefined, (current === undefined ? 1 : place) * factor];
    }
  }
  const value = total + section + (current ?? 0);
  const isYear = /^[\d〇一二三四五六七八九]{4}$/.test(shown) && value >= 1000 && value < 2100;
  return { value, place: isYear ? 0 : place };
}

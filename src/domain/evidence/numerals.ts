/** A way to read a number. `place` is that of the last digit shown: 100,000 for `1.4 million`. */
export interface Reading {
  readonly value: number;
  readonly place: number;
}

/** A number in a folded text: `start` and `end` include a scale that follows it. */
export interface Numeral {
  readonly kind: 'digits' | 'kanji' | 'word' | 'ordinal word';
  readonly start: number;
  readonly end: number;
  readonly readings: readonly Reading[];
  /** `5.28.3`: it has more than one point, and no readings. */
  readonly version?: string;
  /** `1` and `226`, in case `1 226` are two numbers. */
  readonly parts?: readonly number[];
}

const UP_TO_19 =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen';
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety';
const CARDINALS = [
  ...UP_TO_19.split(' ').map((word, value) => [word, value] as const),
  ...TENS.split(' ').map((word, at) => [word, at * 10 + 20] as const),
];
/** `fifth`, `twelfth`, `ninth`, `eighth`, `twentieth`. */
const toOrdinal = (word: string) => `${word.replace(/ve$/, 'f').replace(/[et]$/, '').replace(/y$/, 'ie')}th`;
const ORDINALS = new Map<string, number>([
  ...CARDINALS.map(([word, value]) => [toOrdinal(word), value] as const),
  ...Object.entries({ first: 1, second: 2, third: 3 }),
]);
const UNITS = new Map<string, number>([...CARDINALS, ...ORDINALS]);
const SCALES = new Map(Object.entries({ hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 }));
for (const [short, value] of Object.entries({
  k: 1e3,
  m: 1e6,
  mn: 1e6,
  mln: 1e6,
  b: 1e9,
  bn: 1e9,
  tn: 1e12,
  dozen: 12,
})) {
  SCALES.set(short, value);
}
const POWERS = new Map(Object.entries({ 十: 10, 百: 100, 千: 1e3, 万: 1e4, 億: 1e8, 兆: 1e12 }));
const KANJI_DIGITS = '〇一二三四五六七八九';

const SCALE_WORD = 'hundred|thousand|million|billion|trillion|dozen';
const WORD = `(?:(?:${[...UNITS.keys()].join('|')})|(?:${SCALE_WORD})(?: and(?= ))?)(?![a-z])`;
const BEFORE_POWER = '(?:\\d{1,3}(?:,\\d{3}){1,6}|\\d{1,20})(?:\\.\\d{1,9})?';
const KANJI = `[零${KANJI_DIGITS}十百千万億兆]`;
/** All repetitions are bounded or cannot overlap: the time is linear. */
const NUMERAL = new RegExp(
  [
    `(?<kanji>(?:${BEFORE_POWER}[十百千万億兆]|(?![万億兆])${KANJI})${KANJI}*(?:${BEFORE_POWER}[十百千万億兆]${KANJI}*){0,5}(?:(?<=[千万億兆])\\d{1,4}(?![\\d.,年月]))?)`,
    "(?<digits>\\d{1,3}(?:[,' ]\\d{3}){1,6}(?!\\d)(?:\\.\\d+)?|\\d+(?:\\.\\d+)*)",
    `(?<words>(?<![a-z])${WORD}(?:[ -]${WORD})*)`,
  ].join('|'),
  'g',
);
/** One kanji is often a part of a word, and a number only before one of these. */
const COUNTER =
  /[人年月日回個件番位社か箇ヶケカ歳才名本台枚点割時度倍票章区校館階号世代種つ語週曲冊戦勝敗試%]|都市|(?<!十)分|パーセント/y;
const SCALE = new RegExp(`[ -]?(${SCALE_WORD}|mln|mn|bn|tn|[kmb])(?![a-z])`, 'y');
const TENTHS = /割(?:([\d一二三四五六七八九])分)?/y;
const DECADE = /'?s(?![a-z])|年代/y;
const AFTERNOON = /(?::\d\d)? ?(?:pm|p\.m)(?![a-z])/y;

/** The numbers of a folded text, in the forms of English and Japanese (ruling E10). */
export function* numeralsIn(text: string): Generator<Numeral> {
  for (const match of text.matchAll(NUMERAL)) {
    const { kanji, digits, words } = match.groups ?? {};
    const [shown, start] = [match[0], match.index];
    const end = start + shown.length;
    if (words !== undefined) yield* inWords(words, start);
    else if (/\..*\./.test(digits ?? '')) yield { kind: 'digits', start, end, readings: [], version: shown };
    else if (digits !== undefined) {
      const parts = digits.split(/[, ]/).map(Number);
      const numeral = withSuffix(text, 'digits', start, end, toReading(digits));
      yield parts.length > 1 ? { ...numeral, parts } : numeral;
    } else if (kanji !== undefined && (kanji.length > 1 || after(COUNTER, text, end) !== null)) {
      yield withSuffix(text, 'kanji', start, end, inKanji(kanji));
    }
  }
}

/** The numbers of a text in another language: `7.310` is 7.31 or 7310, `42,5` is 42.5 or two numbers. */
export function* looseNumbersIn(text: string): Generator<number> {
  for (const [shown] of text.matchAll(/\d+(?:[.,' ]\d+)*/g)) {
    const parts = shown.split(/[.,' ]/);
    yield* parts.map(Number);
    if (parts.length === 1 || parts.length > 7) continue;
    yield Number(parts.join(''));
    yield Number(`${parts.slice(0, -1).join('')}.${parts.at(-1)}`);
  }
}

function after(pattern: RegExp, text: string, at: number) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function toReading(shown: string): Reading {
  const digits = shown.replace(/[,' ]/g, '');
  return { value: Number(digits), place: 10 ** -(digits.split('.')[1]?.length ?? 0) };
}

/** What follows may change a number: a scale, 割, a decade without its century, an hour of the afternoon. */
function withSuffix(text: string, kind: Numeral['kind'], start: number, end: number, own: Reading): Numeral {
  const { value, place } = own;
  const scale = after(SCALE, text, end);
  if (scale !== null) {
    const factor = SCALES.get(scale[1] ?? '') ?? 1;
    const scaled = { value: value * factor, place: place * factor };
    // Letters may be a unit: metres, kilobytes.
    const isWord = (scale[1]?.length ?? 0) > 3;
    return { kind, start, end: end + scale[0].length, readings: isWord ? [scaled] : [scaled, own] };
  }
  const tenths = after(TENTHS, text, end);
  if (tenths !== null) {
    const hundredths = tenths[1] === undefined ? 0 : inKanji(tenths[1]).value;
    return { kind, start, end: end + tenths[0].length, readings: [{ value: value * 10 + hundredths, place: 1 }] };
  }
  const isDecade = value >= 10 && value < 100 && after(DECADE, text, end) !== null;
  if (isDecade)
    return { kind, start, end, readings: [own, { value: 1900 + value, place }, { value: 2000 + value, place }] };
  const isAfternoon = value < 12 && (text.slice(start - 2, start) === '午後' || after(AFTERNOON, text, end) !== null);
  return { kind, start, end, readings: isAfternoon ? [own, { value: value + 12, place }] : [own] };
}

/** `1億2380万`, `千二百二十六`, `一九七〇`. */
export function inKanji(run: string): Reading {
  let [total, section, place] = [0, 0, 1];
  let current: Reading | undefined;
  for (const [token] of run.matchAll(/[\d.,]+|[〇零一二三四五六七八九]+|./g)) {
    const power = POWERS.get(token);
    if (power === undefined) {
      current = toReading(
        token.replace(/\D/g, (kanji) => (/[.,]/.test(kanji) ? kanji : `${Math.max(0, KANJI_DIGITS.indexOf(kanji))}`)),
      );
      place = current.place;
    } else if (power < 1e4) {
      section += (current?.value ?? 1) * power;
      place = (current?.place ?? 1) * power;
      current = undefined;
    } else {
      total += (section + (current?.value ?? 0) || 1) * power;
      place = (current?.place ?? 1) * power;
      [section, current] = [0, undefined];
    }
  }
  return { value: total + section + (current?.value ?? 0), place };
}

/** `two hundred and fifty` is one number, `five six` are two. */
function* inWords(words: string, start: number): Generator<Numeral> {
  let [from, to, total, section, place, last] = [0, 0, 0, 0, 1, Number.POSITIVE_INFINITY];
  let isOrdinal = false;
  const numeral = (): Numeral => ({
    kind: isOrdinal ? 'ordinal word' : 'word',
    start: start + from,
    end: start + to,
    readings: [{ value: total + section, place }],
  });
  for (const { 0: word, index } of words.matchAll(/[a-z]+/g)) {
    if (word === 'and') continue;
    const unit = UNITS.get(word);
    if (unit !== undefined) {
      const continues = last >= 100 || (last >= 20 && unit < 10);
      if (!continues || isOrdinal) {
        yield numeral();
        [from, total, section] = [index, 0, 0];
      }
      section += unit;
      [place, last, isOrdinal] = [1, unit, ORDINALS.has(word)];
    } else {
      const scale = SCALES.get(word) ?? 1;
      section = (section || 1) * scale;
      if (scale >= 1000) [total, section] = [total + section, 0];
      [place, last] = [scale, scale];
    }
    to = index + word.length;
  }
  yield numeral();
}

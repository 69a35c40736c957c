import type { Reading } from './numerals.ts';

const UNITS = 'zero one two three four five six seven eight nine'.split(' ');
const TEENS = 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const SCALES = {
  hundred: 100,
  thousand: 1e3,
  million: 1e6,
  billion: 1e9,
  trillion: 1e12,
  dozen: 12,
  lakh: 1e5,
  crore: 1e7,
};

const VALUES = new Map<string, number>([
  ...[...UNITS, ...TEENS].map((word, value) => [word, value] as const),
  ...TENS.map((word, index) => [word, 20 + 10 * index] as const),
  ...Object.entries(SCALES),
]);
/** Ordinals that are not the number and `th`. */
const ORDINALS = new Map(Object.entries({ first: 1, second: 2, third: 3, fifth: 5, eighth: 8, ninth: 9, twelfth: 12 }));

const SMALL = `(?:(?:${TENS.join('|')})(?:[ -](?:${UNITS.slice(1).join('|')})(?![a-z]))?|${[...TEENS, ...UNITS].join('|')})`;
const HAS_SMALL = new RegExp(SMALL);
const SCALE = `(?:${Object.keys(SCALES).join('|')})`;
const PART = `${SMALL}(?:[ -]and[ -]a[ -]half)?(?:[ -]${SCALE}){0,4}`;
const ORDINAL = `(?:(?:${TENS.join('|')})[ -])?(?:${[...ORDINALS.keys()].join('|')}|(?:${[...UNITS, ...TEENS].join('|')})th)|(?:${TENS.map((word) => word.slice(0, -1)).join('|')})ieth`;
/** Further parts follow a scale only, so that "four and five" are two numbers. */
const WORDS = new RegExp(
  `(?<![a-z])(?=[a-z])(?:(?<ordinal>${ORDINAL})|(?:(?<few>half an?|an?)(?:[ -]${SCALE}){1,2}|${PART})(?:(?<=${SCALE})(?: and |[ -])${PART}){0,4})(?![a-z])`,
  'g',
);

/** A number of a text. `isLoose`: a phrase such as "a hundred", which is rarely meant exactly. */
export interface NumberWord {
  readonly start: number;
  readonly end: number;
  readonly isLoose: boolean;
  readonly readings: readonly Reading[];
}

/** The numbers of a folded text in English words: `forty-two`, `two hundred and fifty`, `seventh`, `half a million`. */
export function numberWordsIn(text: string): readonly NumberWord[] {
  return [...text.matchAll(WORDS)].map(({ 0: shown, index: start, groups: { ordinal, few } = {} }) => {
    const value = ordinal === undefined ? cardinalOf(shown) : ordinalOf(ordinal);
    const isLoose = few !== undefined && !HAS_SMALL.test(shown);
    return { start, end: start + shown.length, isLoose, readings: [{ value, place: 1 }] };
  });
}

function cardinalOf(shown: string): number {
  const words = shown.replace(/and[ -]a[ -]half/g, 'half').match(/[a-z]+/g) ?? [];
  let [total, section, last] = [0, 0, ''];
  for (const word of words) {
    const value = VALUES.get(word);
    const isScale = word in SCALES;
    if (word === 'half') section += 0.5;
    else if (value === undefined) continue;
    else if (!isScale) section += value;
    else if (section === 0 && last in SCALES) total *= value;
    else if (value <= 100) section = (section || 1) * value;
    else [total, section] = [total + (section || 1) * value, 0];
    last = word;
  }
  return total + section;
}

function ordinalOf(shown: string): number {
  const words = shown.split(/[ -]/).map((word) => {
    const cardinal = word.replace(/ieth$/, 'y').replace(/th$/, '');
    return ORDINALS.get(word) ?? VALUES.get(cardinal) ?? 0;
  });
  return words.reduce((sum, value) => sum + value, 0);
}

import { toReading } from './numerals.ts';

/** Maximum length of a line that names the unit of a table, and of a line of the table. A longer line is prose, which ends the table. */
const MAX_LINE = 200;
const scale = (name: string) => `(?<${name}>hundred|thousand|million|billion|trillion|lakh|crore)s?`;
/** `in thousands`, `($ million)`, `(£m)`, `('000)`, `単位：百万円`. */
const UNIT = new RegExp(
  [
    `(?<![a-z])in (?:[a-z$€£¥₹]{1,10} )?${scale('inWords')}(?![a-z])`,
    `[(\\[,:] ?(?:[a-z$€£¥₹]{1,10} )?${scale('inBrackets')}(?![a-z])`,
    `[(\\[,:] ?(?:us)?[$€£¥₹] ?(?<letter>k|m|mn|bn|b)[)\\]]`,
    "(?<zeros>(?<!\\d)'?000s?)(?![\\d,.])",
    '(?:単位 ?[:は]? ?|[(\\[] ?)(?<kanji>[十百千]{0,2}[万億兆]|[百千])(?=\\p{Script=Han}|\\p{Script=Katakana}|[)\\]])',
  ].join('|'),
  'gu',
);
/** A line of nothing but a unit. */
const UNIT_ALONE = new RegExp(
  `^[^a-z\\d]{0,5}(?:[a-z$€£¥₹]{1,5} )?${scale('alone')}(?: [a-z$€£]{1,20}){0,3}[^a-z\\d]{0,5}$`,
);

/** The values of the numbers in tables of a folded text whose unit is above the table, such as "in thousands". `numerals`: the numbers of the text, in its order. */
export function scaledValuesIn(
  text: string,
  numerals: readonly { readonly start: number; readonly readings: readonly { readonly value: number }[] }[],
): readonly number[] {
  const values: number[] = [];
  let [scales, next, start]: [readonly number[], number, number] = [[], 0, 0];
  for (const line of text.split('\n')) {
    const end = start + line.length;
    const units = line.length > MAX_LINE ? [] : unitsIn(line);
    if (units.length > 0 || line.length > MAX_LINE) scales = units;
    for (; (numerals[next]?.start ?? Number.POSITIVE_INFINITY) < end; next += 1)
      for (const { value } of numerals[next]?.readings ?? []) for (const scale of scales) values.push(value * scale);
    start = end + 1;
  }
  return values;
}

function unitsIn(line: string): readonly number[] {
  const found = [...line.matchAll(UNIT)].map(({ groups = {} }) => groups);
  const alone = UNIT_ALONE.exec(line)?.groups?.alone;
  const units = found.map(({ inWords, inBrackets, letter, zeros, kanji }) => {
    if (zeros !== undefined) return 1000;
    return toReading(kanji ?? `1 ${inWords ?? inBrackets ?? letter}`).value;
  });
  return alone === undefined ? units : [...units, toReading(`1 ${alone}`).value];
}

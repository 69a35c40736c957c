import { isJapaneseScript } from '../evidence/quote-form.ts';
import { cleanLine } from '../values/clean-text.ts';
import type { MarkedText } from './marked-text.ts';

/** A passage in quotation marks. */
export interface QuotedPassage {
  readonly text: string;
  /** The index of its opening mark. */
  readonly start: number;
  /** The index after its closing mark. */
  readonly end: number;
}

/** The marks that open quotations, with those that close them. */
const CLOSING: Readonly<Record<string, string>> = {
  '“': '”',
  '"': '"',
  '«': '»',
  '»': '«',
  '„': '“”',
  '「': '」',
  '『': '』',
};
const MARK = new RegExp(`[${Object.entries(CLOSING).flat().join('')}]`, 'g');
/** Shorter passages are names, titles and terms. */
const [MIN_CHARS, MIN_JAPANESE] = [25, 12];
/** Maximum length of a passage. A mark that is not closed within it opens nothing. */
const MAX_CHARS = 3000;

/** The passages of a block in quotation marks that are long enough to be quotations. */
export function quotedPassages({ text, codes, placeOf }: MarkedText): readonly QuotedPassage[] {
  const passages: QuotedPassage[] = [];
  const marks = [...text.matchAll(MARK)].map(({ index }) => index);
  if (marks.length === 0) return passages;
  const inCode = new Set(codes.flatMap(({ at, end }) => Array.from({ length: end - at }, (_, index) => at + index)));
  const ends = closingMarks(
    text,
    marks.filter((index) => !inCode.has(placeOf(index))),
  );
  let read = 0;
  for (const start of marks) {
    const last = ends.get(start);
    if (last === undefined || start < read) continue;
    const quoted = withoutMarks(text.slice(start + 1, last));
    if (isQuotation(quoted)) passages.push({ text: quoted, start, end: last + 1 });
    read = last + 1;
  }
  return passages;
}

/** A text without the marks of links, as one line. The labels of links stay. */
export function withoutMarks(text: string): string {
  return cleanLine(text.replace(/\uE000\d+\uE001|[\uE000-\uE003]/g, ''));
}

function isQuotation(text: string): boolean {
  return text.length >= (isJapaneseScript(text) ? MIN_JAPANESE : MIN_CHARS);
}

/** The index of the closing mark by that of each opening mark, in one pass over the marks for each kind. */
function closingMarks(text: string, marks: readonly number[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  for (const [opening, closing] of Object.entries(CLOSING)) {
    const ofKind = marks.filter((at) => text.charAt(at) === opening || closing.includes(text.charAt(at)));
    addPairs(ends, text, opening, ofKind);
  }
  return ends;
}

/** Adds the pairs of one kind of marks. Marks of the same kind are nested, but straight ones are not. */
function addPairs(ends: Map<number, number>, text: string, opening: string, marks: readonly number[]): void {
  const isStraight = CLOSING[opening] === opening;
  const open: number[] = [];
  for (const at of marks) {
    const start = open.at(-1);
    const isNear = start !== undefined && at - start < MAX_CHARS;
    const isOpening = text.charAt(at) === opening;
    if (start !== undefined && (isStraight ? closes(text, at) : !isOpening)) {
      open.pop();
      if (isNear) ends.set(start, at);
    } else if (isOpening && opens(text, at) && !(isStraight && isNear)) {
      // A straight mark that was not closed in time opens nothing.
      if (isStraight) open.length = 0;
      open.push(at);
    }
  }
}

const LATIN = /[\p{Script=Latin}\p{N}]/u;

/** Whether a mark may open a quotation. A straight one after a number is the sign for inches. */
function opens(text: string, at: number): boolean {
  if (text.charAt(at) !== '"') return true;
  return !LATIN.test(text.charAt(at - 1)) && /\S/.test(text.charAt(at + 1));
}

function closes(text: string, at: number): boolean {
  return !LATIN.test(text.charAt(at + 1)) && /\S/.test(text.charAt(at - 1));
}

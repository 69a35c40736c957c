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
const ANY = new RegExp(`[${Object.keys(CLOSING).join('')}]`);
/** Shorter passages are names, titles and terms. */
const [MIN_CHARS, MIN_JAPANESE] = [25, 12];
/** Maximum length of a passage. A mark that is not closed within it opens nothing. */
const MAX_CHARS = 3000;

/** The passages of a block in quotation marks that are long enough to be quotations. */
export function quotedPassages({ text, codes, placeOf }: MarkedText): readonly QuotedPassage[] {
  const passages: QuotedPassage[] = [];
  if (!ANY.test(text)) return passages;
  const inCode = new Set(codes.flatMap(({ at, end }) => Array.from({ length: end - at }, (_, index) => at + index)));
  const ends = closingMarks(text, (index) => inCode.has(placeOf(index)));
  for (let start = 0; start < text.length; start += 1) {
    const last = ends.get(start);
    if (last === undefined) continue;
    const quoted = withoutMarks(text.slice(start + 1, last));
    if (isQuotation(quoted)) passages.push({ text: quoted, start, end: last + 1 });
    start = last;
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

/** The index of the closing mark by that of each opening mark, in one pass for each kind of marks. */
function closingMarks(text: string, isCode: (index: number) => boolean): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  for (const [opening, closing] of Object.entries(CLOSING)) {
    const isMark = (at: number) => (text.charAt(at) === opening || closing.includes(text.charAt(at))) && !isCode(at);
    if (text.includes(opening)) addPairs(ends, text, opening, isMark);
  }
  return ends;
}

/** Adds the pairs of one kind of marks. Marks of the same kind are nested, but straight ones are not. */
function addPairs(ends: Map<number, number>, text: string, opening: string, isMark: (index: number) => boolean): void {
  const isStraight = CLOSING[opening] === opening;
  const open: number[] = [];
  for (let at = text.indexOf(opening); at < text.length; at += 1) {
    if (!isMark(at)) continue;
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

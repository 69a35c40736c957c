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
/** Shorter passages are names, titles and terms. */
const [MIN_CHARS, MIN_JAPANESE] = [25, 12];
/** Maximum length of a passage. A mark that is not closed within it opens nothing. */
const MAX_CHARS = 3000;

/** The passages of a block in quotation marks that are long enough to be quotations. */
export function quotedPassages({ text, codes, placeOf }: MarkedText): readonly QuotedPassage[] {
  const passages: QuotedPassage[] = [];
  const isCode = (index: number) => {
    const at = placeOf(index);
    return codes.some((code) => at >= code.at && at < code.end);
  };
  for (let start = 0; start < text.length; start += 1) {
    const closing = CLOSING[text.charAt(start)];
    if (closing === undefined || isCode(start) || !opens(text, start)) continue;
    const last = closingMark(text, start, closing, isCode);
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

/** The index of the mark that closes a quotation. Marks of the same kind within it are nested. */
function closingMark(
  text: string,
  start: number,
  closing: string,
  isCode: (index: number) => boolean,
): number | undefined {
  const opening = text.charAt(start);
  let depth = 1;
  const end = Math.min(text.length, start + MAX_CHARS);
  for (let at = start + 1; at < end; at += 1) {
    const character = text.charAt(at);
    if (closing.includes(character)) {
      if ((opening === '"' && !closes(text, at)) || isCode(at)) continue;
      depth -= 1;
      if (depth === 0) return at;
    } else if (character === opening) depth += 1;
  }
  return undefined;
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

import { withoutEnd, withoutUnsafeCharacters } from '../values/clean-text.ts';

const MAX_CLAIM_CHARS = 400;
/** The number or the mark at the start of an item. */
const ITEM = /^[\s>|*_#+•・-]*(?:\[[ x]\]\s|\(?\d{1,3}[.)．）](?=[\s*_\p{L}]))?/iu;
/** Emphasis, which stays in the text when it is read. */
const EMPHASIS = /\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|(?<![\p{L}\p{N}_])_{1,3}(?=\S)|(?<=\S)_{1,3}(?![\p{L}\p{N}_])/gu;

/** The text of a claim as one line, without marks of items, emphasis and notes, and not longer than a sentence may be. */
export function toClaim(segment: string): string {
  const line = withoutUnsafeCharacters(segment.slice(-10 * MAX_CLAIM_CHARS))
    .replace(/(?<=[^\x00-\xff])\n(?=[^\x00-\xff])/g, '')
    .replace(ITEM, ' ');
  // Most claims have no emphasis, and looking for it takes longer than all the rest.
  const shown = (/[*~_]/.test(line) ? line.replace(EMPHASIS, '') : line)
    .replace(/\[\^?\d{1,3}\]|\|{1,3}/g, ' ')
    .replace(/\s{2,}|[^\S ]/g, ' ');
  const text = withoutEnd(shown, /[\s([（【「]/).trim();
  if (text.length <= MAX_CLAIM_CHARS) return text;
  // Removes the part of a word or number that was cut.
  return text
    .slice(-MAX_CLAIM_CHARS)
    .replace(/^[\d.,]+|^\p{L}{0,20}\s/u, '')
    .trim();
}

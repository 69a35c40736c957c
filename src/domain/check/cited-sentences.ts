import { toClaim } from '../evidence/claims.ts';
import { hasFigures } from '../evidence/evidence.ts';

/** Characters that represent links, and enclose their labels, while a text is split into sentences. */
export const MARKS = /[\uE000-\uE003]/g;
const LABEL = '(?:\uE002[^\uE002\uE003]*\uE003)';
const MARK = '\uE000\\d+\uE001';
/** Abbreviations before a name or a number, whose full stop ends no sentence. */
const ABBREVIATION = '\\b(?:vs|approx|ca|cf|e\\.g|i\\.e|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|Vol|pp)\\.';
/**
 * Matches a sentence with the links after its end, unless such a link begins the next sentence. A bracket with links has no other bracket in it, so that
 * brackets that do not close are read once.
 */
const SENTENCE = new RegExp(
  `[\\s\\S]+?(?:(?:\\.(?<!${ABBREVIATION})|[!?])["')\\]”’*_]{0,3}(?!\\s+\\p{Ll})(?=\\s|$|${LABEL}|${MARK}|[(（［【])|[。！？][」』）]{0,2}|$)(?:\\s*${MARK}|${LABEL}${MARK}(?![ぁ-ん])|\\s+${LABEL}${MARK}(?=\\s*(?:$|[.。])|\\s+\\p{Lu})|\\s*[(（［【](?:[^\\p{L}\\p{N}\uE002()（）［］【】]|${LABEL}|${MARK})*[)）］】])*`,
  'gu',
);

/** A claim, and the number of the link that cites a page for it. */
interface CitedClaim {
  readonly at: number;
  readonly claim: string;
}

/** The claims of a paragraph whose links were replaced by marks. */
export function citedClaims(marked: string): readonly CitedClaim[] {
  return (marked.match(SENTENCE) ?? []).flatMap(claimsIn);
}

function claimsIn(sentence: string): readonly CitedClaim[] {
  const parts = sentence.split(/\uE000(\d+)\uE001/);
  const segments = parts.filter((_, index) => index % 2 === 0);
  const links = parts.filter((_, index) => index % 2 === 1).map(Number);
  if (!segments.some(hasText)) return [];
  const isShared = !segments.slice(1, -1).some(hasText);
  const [first = '', last = ''] = [segments[0], segments.at(-1)];
  // In "A says 4 %, while B says 5 %", it is not known which part each name is cited for.
  const isProse = !hasText(first) || (sentence.includes('\uE002') && hasFigures(toText(last)));
  if (!isShared && isProse) return [];
  let claim = isShared ? toText(segments.join('')) : '';
  return links.map((at, index) => {
    const segment = segments[index] ?? '';
    if (!isShared && hasText(segment)) claim = toText(segment);
    return { at, claim };
  });
}

/** Whether a text has more than labels of links, and a word such as "Source". */
function hasText(segment: string): boolean {
  const text = segment.replace(/\uE002[^\uE002\uE003]*\uE003/g, '');
  const isSource = text.length <= MAX_SOURCE && /^\W*(?:sources?|via|see|出典|参照)\W*$/i.test(text);
  return !isSource && /[\p{L}\p{N}]/u.test(text);
}

const MAX_SOURCE = 60;

/** Removes the brackets of links from a claim, and labels after its end. */
function toText(segment: string): string {
  const inBrackets = /[(（［【](?:[\s,;、・/]|\uE002[^\uE002\uE003]*\uE003)*[)）］】]/g;
  const afterEnd = /([.!?。！？]["')\]”’」』）]{0,3})(?:[\s,、]*\uE002[^\uE002\uE003]*\uE003)+\s*$/;
  const text = segment.replace(inBrackets, '').replace(afterEnd, '$1').replace(MARKS, '');
  const claim = toClaim(text).replace(/\s+(?=[.,;。、])/g, '');
  // A full stop may end the part before the link to which it belongs.
  return claim.replace(/^[\s)\]）］】,;:、。—–]+/, '');
}

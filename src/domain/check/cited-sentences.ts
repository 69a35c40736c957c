import { hasFigures } from '../evidence/figures.ts';
import { toClaim } from './claim-text.ts';
import { BEFORE_NUMBER, MARKS } from './marked-text.ts';

const LABEL = '(?:\uE002[^\uE002\uE003]*\uE003)';
const MARK = '\uE000\\d+\uE001';
/** Abbreviations before a name or a number, and ordinals before a German month, whose full stop ends no sentence. */
const ABBREVIATION =
  '(?:\\b(?:vs|approx|ca|cf|e\\.g|i\\.e|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|Vol|pp|Mio|Mrd|Tsd|bzw|Nr|Abs)\\.|\\b\\d{1,2}\\.(?=\\s(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))';
/** A full stop that may end a sentence, and not one of several initials. */
const STOP = `\\.(?<!${ABBREVIATION})(?<!\\b[A-Z]\\.\\s[A-Z]\\.)(?!(?<=${BEFORE_NUMBER})\\s?[\\d§])(?!(?<=\\b[A-Z]\\.)\\s[A-Z]\\.)`;
const SOURCE = '(?:[Ss]ources?|[Vv]ia|[Ss]ee|[Qq]uelle|出典|引用元?|参照元?|情報源)';
/** A source in brackets, such as `(Source: a page)`. */
const IN_BRACKETS = `[(（［【]\\s?${SOURCE}\\s?[:：]?[^()（）［］【】]{0,300}[)）］】]`;
/**
 * Matches a sentence with the links after its end, unless such a link begins the next sentence. A bracket with links has no other bracket in it, so that
 * brackets that do not close are read once.
 */
const SENTENCE = new RegExp(
  `[\\s\\S]+?(?:(?:${STOP}|[!?])["')\\]”’*_]{0,3}(?!\\s+\\p{Ll})(?=\\s|$|${LABEL}|${MARK}|[(（［【])|[。！？][」』）]{0,2}|$)(?:\\s*${MARK}|${LABEL}${MARK}(?![ぁ-ん])|\\s+${LABEL}${MARK}(?=\\s*(?:$|[.。])|\\s+\\p{Lu})|\\s*[(（［【](?:[^\\p{L}\\p{N}\uE002()（）［］【】]|${LABEL}|${MARK})*[)）］】]|\\s*${IN_BRACKETS})*`,
  'gu',
);

/** A claim of a paragraph. */
export interface CitedClaim {
  readonly claim: string;
  /** The index of the beginning of its part of the paragraph. */
  readonly from: number;
  /** The marks of the links that cite pages for it. */
  readonly marks: readonly number[];
}

/** A sentence of a paragraph. */
export interface Sentence {
  readonly claims: readonly CitedClaim[];
  /** The marks of a sentence that only names the source of the text before it. */
  readonly sources: readonly number[];
  /** Whether it is not known for which part of the sentence each page is cited. */
  readonly isUnclear: boolean;
}

/** The sentences of a paragraph whose links were replaced by marks. */
export function sentencesIn(marked: string): readonly Sentence[] {
  return [...marked.matchAll(SENTENCE)].map(({ 0: sentence, index }) => toSentence(sentence, index));
}

function toSentence(sentence: string, at: number): Sentence {
  const parts = sentence.split(/\uE000(\d+)\uE001/);
  const segments = parts.filter((_, index) => index % 2 === 0);
  const marks = parts.filter((_, index) => index % 2 === 1).map(Number);
  const whole = { claim: toText(segments.join('')), from: at };
  if (marks.length > 0 && (!segments.some(hasText) || LEAD.test(sentence)))
    return { claims: [], sources: marks, isUnclear: false };
  if (!segments.slice(1, -1).some(hasText)) return { claims: [{ ...whole, marks }], sources: [], isUnclear: false };
  const [first = '', last = ''] = [segments[0], segments.at(-1)];
  // In "A says 4 %, while B says 5 %", it is not known which part each name is cited for.
  const isProse = !hasText(first) || (sentence.includes('\uE002') && hasFigures(toText(last)));
  if (isProse) return { claims: [{ ...whole, marks: [] }], sources: [], isUnclear: true };
  return { claims: [...partsOf(segments, marks, at)], sources: [], isUnclear: false };
}

/** The parts of a sentence, each before the links that cite pages for it. */
function partsOf(segments: readonly string[], marks: readonly number[], at: number): readonly CitedClaim[] {
  const claims: (CitedClaim & { readonly marks: number[] })[] = [];
  let from = at;
  for (const [index, mark] of marks.entries()) {
    const segment = segments[index] ?? '';
    if (hasText(segment) || claims.length === 0) claims.push({ claim: toText(segment), from, marks: [] });
    claims.at(-1)?.marks.push(mark);
    from += segment.length + `${mark}`.length + 2;
  }
  return claims;
}

const LEAD = new RegExp(`^[\\s([（［【*_]{0,9}${SOURCE}\\s{0,3}[*_]{0,3}[:：]`);

/** Whether a text has more than labels of links, and a word such as "Source". */
function hasText(segment: string): boolean {
  const text = segment.replace(/\uE002[^\uE002\uE003]*\uE003/g, '');
  const isSource = text.length <= MAX_SOURCE && IS_SOURCE.test(text);
  return !isSource && /[\p{L}\p{N}]/u.test(text);
}

const MAX_SOURCE = 60;
const IS_SOURCE = new RegExp(`^[^\\p{L}\\p{N}]*${SOURCE}[^\\p{L}\\p{N}]*$`, 'u');
/** What is left of a source in brackets without its links. */
const SOURCE_IN_BRACKETS = new RegExp(
  `${IN_BRACKETS}|[(（［【]\\s?(?:${SOURCE}[^\\p{L}\\p{N}\uE002]{0,20}${LABEL}?|${LABEL})$`,
  'gu',
);

/** Removes the brackets of links from a claim, and labels after its end. */
function toText(segment: string): string {
  const inBrackets = /[[(（［【](?:[\s,;、・/]|\uE002[^\uE002\uE003]*\uE003)*[\])）］】]/g;
  const afterEnd = /([.!?。！？]["')\]”’」』）]{0,3})(?:[\s,、]*\uE002[^\uE002\uE003]*\uE003)+\s*$/;
  const text = segment
    .replace(SOURCE_IN_BRACKETS, '')
    .replace(inBrackets, '')
    .replace(afterEnd, '$1')
    .replace(MARKS, '');
  const claim = toClaim(text).replace(/\s+(?=[.,;。、])/g, '');
  // A full stop may end the part before the link to which it belongs.
  return claim.replace(/^[\s)\]）］】,;:、。—–]+/, '');
}

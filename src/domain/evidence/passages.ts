import type { Language } from '../answers/language.ts';
import { cleanLine } from '../values/clean-text.ts';
import { fold } from './folded-text.ts';

const WINDOW_CHARS: Readonly<Record<Language, number>> = { en: 450, ja: 180 };
const MAX_QUOTE = 300;
/** Of a word that is everywhere, more places say nothing more. */
const MAX_PLACES = 4_000;
/** A search takes at most so many comparisons, so that no page holds the process up (ruling E17). A place costs several. */
const MAX_STEPS = 1_000_000;
const STEPS_PER_PLACE = 5;
/** The rest of a longer word does not count. */
const MAX_TERM = 30;
/** A word is rare or frequent in relation to passages of this length. */
const PASSAGE_CHARS = 120;

const FUNCTION_WORDS = new Set(
  `a an and are as at be been before but by can for from had has have he her his if in into is it its more no not of on only or she so some
  such than that the their then there these they this to was were what when which while who will with would about after all also any between
  during each most other our out over up we you your it's until since where how may now new first used using use did do does said`.split(
    /\s+/,
  ),
);

/**
 * The passages of a page that resemble claims most, one for each claim, in their order. `share`: how much of the claim's words a passage has, by
 * weight; 1 if the claim has none. Undefined if the page takes too long to search.
 */
export function passagesFor(claims: readonly string[], visible: string, language: Language) {
  const text = fold(visible);
  const termsOf = claims.map((claim) => termsIn(fold(claim)));
  const places = placesOf(termsOf, text);
  const passages = text.length / PASSAGE_CHARS + 1;
  return places?.map((own, claim) => {
    const terms = termsOf[claim] ?? [];
    const counts = new Map<string, number>();
    for (const { term } of own) counts.set(term, (counts.get(term) ?? 0) + 1);
    const weights = new Map(terms.map((term) => [term, Math.log(1 + passages / ((counts.get(term) ?? 0) + 0.5))]));
    const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
    const best = bestWindow(own, weights, WINDOW_CHARS[language]);
    const { places: core } = bestWindow(best.places, weights, MAX_QUOTE - 20);
    const [first] = core;
    return {
      share: total === 0 ? 1 : best.weight / total,
      quote: first === undefined ? '' : quoteAround(visible, first.at, endOf(core.at(-1))),
    };
  });
}

/** What is looked for: stems of Latin words, and pairs of Japanese characters. Hiragana between other characters is grammar. */
function termsIn(claim: string): string[] {
  const terms = new Set<string>();
  for (const [word] of claim.matchAll(
    /[\p{Script=Latin}\d]+(?:[.,'-][\p{Script=Latin}\d]+)*|[\p{Script=Han}々〇]{2,}|\p{Script=Han}\p{Script=Hiragana}|[\p{Script=Katakana}ー]{2,}|\p{Script=Hiragana}{4,}/gu,
  )) {
    if (/^[\p{Script=Latin}\d]/u.test(word)) {
      if (word.length > 1 && !FUNCTION_WORDS.has(word)) terms.add(stem(word).slice(0, MAX_TERM));
    } else for (let at = 0; at + 2 <= word.length; at += 1) terms.add(word.slice(at, at + 2));
  }
  return [...terms];
}

function stem(word: string): string {
  const stripped = word.replace(/'s?$/, '').replace(/(?:ies|ied|y)$/, 'i');
  const short = stripped.replace(/(?:ations?|ments?|ings?|edly|ed|ers?|ions?|es|ly|s|e|i)$/, '');
  return short.length >= 3 && !/\d/.test(word) ? short : word;
}

interface Place {
  readonly at: number;
  readonly term: string;
}

const WORD = /[\p{Script=Latin}\d]/u;

/** Where the terms of each claim are, in one pass over the page, unless it takes too long. Latin words count at their start only. */
function placesOf(termsOf: readonly (readonly string[])[], text: string): Place[][] | undefined {
  const keyAt = (of: string, at: number) => (of.charCodeAt(at) << 16) | of.charCodeAt(at + 1);
  const places = termsOf.map((): Place[] => []);
  const byStart = new Map<number, Map<string, { readonly claims: Place[][]; left: number }>>();
  termsOf.forEach((terms, claim) => {
    for (const term of terms) {
      const key = keyAt(term, 0);
      const bucket = byStart.get(key) ?? new Map();
      const sought = bucket.get(term) ?? { claims: [], left: MAX_PLACES };
      sought.claims.push(places[claim]);
      byStart.set(key, bucket.set(term, sought));
    }
  });
  let steps = 0;
  for (let at = 0; at + 1 < text.length; at += 1) {
    const bucket = byStart.get(keyAt(text, at));
    if (bucket === undefined || (WORD.test(text.charAt(at)) && WORD.test(text.charAt(at - 1)))) continue;
    steps += bucket.size;
    for (const [term, sought] of bucket) {
      if (sought.left === 0 || !text.startsWith(term, at)) continue;
      sought.left -= 1;
      steps += sought.claims.length * STEPS_PER_PLACE;
      for (const found of sought.claims) found.push({ at, term });
    }
    if (steps > MAX_STEPS) return undefined;
  }
  return places;
}

function endOf(place: Place | undefined): number {
  return place === undefined ? 0 : place.at + place.term.length;
}

/** The places within `chars` whose different terms weigh most. */
function bestWindow(places: readonly Place[], weights: ReadonlyMap<string, number>, chars: number) {
  const inside = new Map<string, number>();
  let best = { from: 0, to: 0, weight: 0 };
  let [from, weight] = [0, 0];
  const add = (term: string, count: number) => {
    const before = inside.get(term) ?? 0;
    inside.set(term, before + count);
    if (Math.min(before, before + count) === 0) weight += count * (weights.get(term) ?? 0);
  };
  places.forEach((place, index) => {
    add(place.term, 1);
    for (let first = places[from]; first !== undefined && endOf(place) - first.at > chars; first = places[from]) {
      add(first.term, -1);
      from += 1;
    }
    if (weight > best.weight + 1e-9) best = { from, to: index + 1, weight };
  });
  return { weight: best.weight, places: places.slice(best.from, best.to) };
}

const SENTENCE_END = /[。！？\n]|[.!?](?=\s)/g;

/** The sentences around a range, or as much of them as fits, with `…` where a sentence is cut. */
function quoteAround(visible: string, start: number, end: number): string {
  const before = visible.slice(Math.max(0, start - MAX_QUOTE), start);
  const after = visible.slice(end, end + MAX_QUOTE);
  const opening = [...before.matchAll(SENTENCE_END)].at(-1);
  const ending = after.matchAll(SENTENCE_END).next().value;
  const lead = before.slice(opening === undefined ? 0 : opening.index + 1).trimStart();
  const tail = after.slice(0, ending === undefined ? MAX_QUOTE : ending.index + 1).trimEnd();
  const room = MAX_QUOTE - 2 - (end - start);
  const leadRoom = Math.max(room - tail.length, room >> 1);
  const tailRoom = room - Math.min(lead.length, leadRoom);
  // The cut is between words if there are words.
  const cutLead = lead.length > leadRoom ? lead.slice(lead.length - leadRoom).replace(/^\S{0,20}\s/, '') : lead;
  const cutTail = tail.length > tailRoom ? tail.slice(0, tailRoom).replace(/\s\S{0,20}$/, '') : tail;
  const isLeadCut = cutLead !== lead || (opening === undefined && start > MAX_QUOTE);
  const isTailCut = cutTail !== tail || (ending === undefined && end + MAX_QUOTE < visible.length);
  return `${isLeadCut ? '…' : ''}${cleanLine(cutLead + visible.slice(start, end) + cutTail)}${isTailCut ? '…' : ''}`;
}

import { cleanLine } from '../values/clean-text.ts';
import { fold } from './folded-text.ts';
import { FUNCTION_WORDS } from './text-language.ts';

/** Maximum lengths of a passage and of its quote, in UTF-16 code units. */
const MAX_PASSAGE = 280;
const MAX_QUOTE = 300;
/** Maximum number of places of a word that are used. More places of a frequent word add nothing. */
const MAX_PLACES = 400;
/** The length of the passages in which the frequency of a word is measured. */
const PASSAGE_CHARS = 120;

/** A passage of a page as it is shown, and the number of its page in a PDF. */
export interface Passage {
  readonly text: string;
  readonly page?: number;
}

/** The number of the page of a PDF at an index of its text; undefined for a text without pages. `starts`: the indexes at which pages begin. */
export function pageAt(index: number, starts: readonly number[] | undefined): number | undefined {
  return starts?.filter((start) => start <= index).length;
}

/** The passage of a page that is most similar to a claim. `share`: the weight of the claim's words that it has, from 0 to 1; 1 if the claim has none. `middle`: the index of its middle. */
export function passageFor(claim: string, visible: string) {
  const text = fold(visible);
  const weights = new Map<string, number>();
  const places: Place[] = [];
  for (const term of termsIn(fold(claim))) {
    const found = placesOf(term, text);
    for (const at of found) places.push({ at, end: at + term.length, term });
    weights.set(term, Math.log(1 + (text.length / PASSAGE_CHARS + 1) / (found.length + 0.5)));
  }
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  places.sort((a, b) => a.at - b.at);
  const best = bestWindow(places, weights);
  const share = total === 0 ? 1 : best.weight / total;
  return {
    share,
    middle: (best.start + best.end) >> 1,
    quote: best.end === 0 ? '' : quoteAround(visible, best.start, best.end),
  };
}

type Place = Readonly<{ at: number; end: number; term: string }>;

const TERM =
  /[\p{Script=Latin}\d]+(?:[.,'-][\p{Script=Latin}\d]+)*|[\p{Script=Han}々〇]{2,}|\p{Script=Han}\p{Script=Hiragana}|[\p{Script=Katakana}ー]{2,}|\p{Script=Hiragana}{4,}/gu;
const LATIN = /[\p{Script=Latin}\d]/u;

/** The search terms of a claim: stems of Latin words, and pairs of Japanese characters. Hiragana between other characters is grammar, and left out. */
function termsIn(claim: string): ReadonlySet<string> {
  const terms = new Set<string>();
  for (const [word] of claim.matchAll(TERM)) {
    if (!LATIN.test(word.charAt(0))) for (let at = 0; at + 2 <= word.length; at += 1) terms.add(word.slice(at, at + 2));
    else if (word.length > 1 && !FUNCTION_WORDS.has(word)) terms.add(stem(word));
  }
  return terms;
}

function stem(word: string): string {
  const stripped = word.replace(/'s?$/, '').replace(/(?:ies|ied|y)$/, 'i');
  const short = stripped.replace(/(?:ations?|ments?|ings?|edly|ed|ers?|ions?|es|ly|s|e|i)$/, '');
  return short.length >= 3 && !/\d/.test(word) ? short : word;
}

/** The places of a term. Latin terms match only at the start of a word. */
function placesOf(term: string, text: string): number[] {
  const places: number[] = [];
  const isWord = LATIN.test(term.charAt(0));
  for (let at = text.indexOf(term); at !== -1 && places.length < MAX_PLACES; at = text.indexOf(term, at + 1))
    if (!isWord || !LATIN.test(text.charAt(at - 1))) places.push(at);
  return places;
}

/** The passage whose different terms have the largest weight. It is moved from place to place, so that each place is added and removed once. */
function bestWindow(places: readonly Place[], weights: ReadonlyMap<string, number>) {
  const inside = new Map<string, number>();
  let [weight, next] = [0, 0];
  let best = { start: 0, end: 0, weight: 0 };
  const add = (term: string, count: number) => {
    const before = inside.get(term) ?? 0;
    inside.set(term, before + count);
    if (before === 0 || before + count === 0) weight += count * (weights.get(term) ?? 0);
  };
  for (const [index, { at: start, term: first }] of places.entries()) {
    // As much in fewer characters: without a heading that has the same words.
    const last = places[next - 1];
    if (last !== undefined && next > index && weight > best.weight - 1e-9 && last.end - start < best.end - best.start)
      best = { start, end: last.end, weight };
    for (let place = places[next]; place !== undefined && place.end - start <= MAX_PASSAGE; place = places[next]) {
      add(place.term, 1);
      next += 1;
      if (weight > best.weight + 1e-9) best = { start, end: place.end, weight };
    }
    // A word that is longer than a passage was not added.
    if (next > index) add(first, -1);
    else next += 1;
  }
  return best;
}

const SENTENCE_END = /[。！？\n]|[.!?](?=\s)/g;

/** The sentences around a range, or as much of them as fits. `…` shows a cut, which is between words where possible. */
function quoteAround(visible: string, start: number, end: number): string {
  const room = (MAX_QUOTE - 2 - (end - start)) >> 1;
  const page = `\n${visible}\n`;
  const before = page.slice(Math.max(0, start + 1 - room), start + 1);
  const after = page.slice(end + 1, end + 1 + room);
  const opening = [...before.matchAll(SENTENCE_END)].at(-1);
  const [ending] = after.matchAll(SENTENCE_END);
  const lead = opening ? before.slice(opening.index + 1) : `…${before.replace(/^\S{0,20}\s/, '')}`;
  const tail = ending ? after.slice(0, ending.index + 1) : `${after.replace(/\s\S{0,20}$/, '')}…`;
  return cleanLine(`${lead}${visible.slice(start, end)}${tail}`);
}

import { withoutUndefined } from '../values/json.ts';
import type { PageText } from './evidence.ts';
import { type Passage, pageAt, passageFor } from './passages.ts';
import { isJapaneseScript, quoteForm, withoutNotes } from './quote-form.ts';

/** Whether a quotation is on a page word for word, and the most similar passage if it is not. */
export interface QuoteFinding {
  /** `unknown`: the page was cut, and its beginning does not have it. */
  readonly state: 'found' | 'missing' | 'unknown';
  readonly passage?: Passage;
}

/** Looks for quotations on a page, one finding for each. */
export function quotesOn(quotes: readonly string[], page: PageText): readonly QuoteFinding[] {
  const { visible, other, isCut } = page;
  const forms = [visible, withoutNotes(visible), other.join('\n')].map(quoteForm);
  return quotes.map((quote): QuoteFinding => {
    const chains = chainsOf(quote);
    if (forms.some((form) => hasChains(form, chains))) return { state: 'found' };
    if (isCut) return { state: 'unknown' };
    const { quote: text, middle } = passageFor(quote, visible);
    if (text === '') return { state: 'missing' };
    return { state: 'missing', passage: withoutUndefined({ text, page: pageAt(middle, page.pages) }) };
  });
}

const DOTS = '(?:…+|\\.{3,}|\\. \\. \\.|・{3,}|中略)';
/** What a quotation leaves out. */
const GAP = new RegExp(`\\[\\s?${DOTS}\\s?\\]|[(（［〔]\\s?${DOTS}\\s?[)）］〕]|…+|\\.{3,}|\\. \\. \\.|・{3,}`, 'g');
/** A word of the person who quotes, or a letter whose case was changed. */
const INSERTION = /[[［〔](?:(?<letter>\p{L})[\]］〕](?=\p{L})|[^[\]［］〔〕]{1,80}[\]］〕])/gu;
const [LEFT_OUT, INSERTED] = ['\uE000', '\uE001'];

/** The parts of a quotation, in chains between which text was left out. Within a chain, words were inserted, perhaps in place of a few others. */
function chainsOf(quote: string): readonly (readonly string[])[] {
  const marked = withoutNoteMarks(quote)
    .replace(/[\uE000\uE001]/g, '')
    .replace(GAP, LEFT_OUT)
    .replace(INSERTION, (_, letter: string | undefined) => `${INSERTED}${letter ?? ''}`);
  return marked
    .split(LEFT_OUT)
    .map((chain) =>
      chain
        .split(INSERTED)
        .map(toPart)
        .filter((part) => part !== '')
        .slice(0, MAX_PARTS),
    )
    .filter((chain) => chain.length > 0);
}

function withoutNoteMarks(quote: string): string {
  return quote.replace(/\[\d{1,3}\]/g, '');
}

/** Punctuation at the end of a quotation, or beside what it leaves out, belongs to the person who quotes. */
function toPart(text: string): string {
  return quoteForm(text)
    .slice(0, MAX_PART)
    .replace(/^[\s,.;:、。，-]+/, '')
    .replace(/[\s,.;:!?、。，．！？-]{1,20}$/, '');
}

const MAX_PART = 10_000;
/** More insertions than a quotation has between what it leaves out. */
const MAX_PARTS = 20;
/** Maximum number of characters that an insertion replaces. */
const MAX_REPLACED = 60;

/** Whether a page has chains in their order. */
function hasChains(page: string, chains: readonly (readonly string[])[]): boolean {
  let from = 0;
  for (const chain of chains) {
    const end = endOfChain(page, chain, from);
    if (end === undefined) return false;
    from = end;
  }
  return true;
}

/** The end of the first place of a chain. */
function endOfChain(page: string, [first = '', ...others]: readonly string[], from: number): number | undefined {
  for (let at = placeOf(page, first, from); at !== -1; at = placeOf(page, first, at + 1)) {
    let end: number | undefined = at + first.length;
    for (const part of others) {
      // The characters around a place decide whether it is within a word.
      const begin: number = Math.max(0, end - 2);
      const near = page.slice(begin, end + MAX_REPLACED + part.length + 2);
      const next: number = placeOf(near, part, end - begin);
      end = next === -1 ? undefined : begin + next + part.length;
      if (end === undefined) break;
    }
    if (end !== undefined) return end;
  }
  return undefined;
}

/** The next place of a part, as complete words. The case of its first letter is no difference. */
function placeOf(page: string, part: string, from: number): number {
  const first = part.charAt(0);
  const variants = [...new Set([first.toLowerCase(), first.toUpperCase()])].map((letter) => letter + part.slice(1));
  const next = variants.map((variant) => placeOfVariant(page, variant, from)).filter((at) => at !== -1);
  return next.length === 0 ? -1 : Math.min(...next);
}

function placeOfVariant(page: string, part: string, from: number): number {
  for (let at = page.indexOf(part, from); at !== -1; at = page.indexOf(part, at + 1))
    if (!isInWord(page, at) && !isInWord(page, at + part.length)) return at;
  return -1;
}

/** Whether a place is within a word or a number. */
function isInWord(page: string, at: number): boolean {
  const around = page.slice(Math.max(0, at - 2), at + 2);
  const [before, after] = [page.charAt(at - 1), page.charAt(at)];
  if (isWord(before) && isWord(after)) return true;
  const split = at - Math.max(0, at - 2);
  const isBetween = (signs: RegExp, of: RegExp) =>
    (signs.test(after) && of.test(before) && of.test(around.charAt(split + 1))) ||
    (signs.test(before) && of.test(after) && of.test(around.charAt(split - 2)));
  return isBetween(/[.,]/, /\d/) || isBetween(/'/, /\p{L}/u);
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character) && !isJapaneseScript(character);
}

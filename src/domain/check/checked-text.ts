import { hasFigures } from '../evidence/figures.ts';
import type { Kind } from '../values/kind.ts';
import { type CitedClaim, sentencesIn } from './cited-sentences.ts';
import { ignoredLines } from './ignored-lines.ts';
import type { Mark, MarkedText } from './marked-text.ts';
import { type ReadBlock, readBlocks } from './text-notes.ts';
import type { TextPiece } from './text-piece.ts';
import { type Place, placesIn } from './text-places.ts';
import { type CitedQuote, citedQuotes, type ReadQuotable } from './text-quotes.ts';
import { type LinkedPage, linkedPage, type SkippedUrl, shownUrl, type WrittenUrl } from './written-url.ts';

/** Maximum length of a text without its HTML, in UTF-16 code units. */
export const MAX_TEXT_CHARS = 200_000;
/** Maximum number of links that are read of a text. Each occurrence of a link counts. */
const MAX_SEEN = 2000;

/** A web page that a text links to. */
export interface TextLink {
  readonly url: string;
  readonly places: readonly Place[];
  /** Why the page is not requested. The URL of a page that is too long was cut to be shown, and a user name was removed. */
  readonly refusal?: 'too_long' | 'user_name';
}

/** A claim with figures, and the pages that it cites. */
export interface TextClaim {
  readonly claim: string;
  readonly place: Place;
  readonly urls: readonly string[];
  /** Why it has no pages: it cites nothing, or a source without a link, or it is not known for which part of its sentence each page is cited. */
  readonly uncited?: 'nothing' | 'no_page' | 'unclear' | undefined;
}

/** A quotation, and the pages that are cited for it. It must be on one of them. */
export interface TextQuote {
  readonly quote: string;
  readonly place: Place;
  readonly urls: readonly string[];
}

export interface ReadText {
  readonly links: readonly TextLink[];
  readonly skipped: readonly (Pick<SkippedUrl, 'url' | 'reason'> & { readonly place: Place })[];
  readonly claims: readonly TextClaim[];
  readonly quotes: readonly TextQuote[];
  /** The number of links after the first 2,000, which are not read. */
  readonly further: number;
}

/** What a text has to be checked, or the length of a text that is too long. */
export type CheckedText = Kind<'text', ReadText> | Kind<'too_long', { readonly characters: number }>;

/** Reads a text by its pieces. `source`: the text itself, for its lines. */
export function checkedText(source: string, pieces: readonly TextPiece[]): CheckedText {
  const characters = pieces.reduce((sum, piece) => sum + ('text' in piece ? piece.text.length : 0), 0);
  if (characters > MAX_TEXT_CHARS) return { kind: 'too_long', characters };
  return { kind: 'text', ...new Reading(source, pieces).result() };
}

class Reading {
  readonly #placeOf: (at: number) => Place;
  readonly #isIgnored: (at: number) => boolean;
  readonly #links = new Map<string, TextLink & { readonly places: Place[] }>();
  readonly #skipped: SkippedUrl[] = [];
  readonly #claims = new Map<string, TextClaim & { readonly urls: string[] }>();
  readonly #blocks: (Omit<ReadQuotable, 'sentences'> & { readonly sentences: readonly ReadSentence[] })[] = [];
  /** The pages by URLs as they are written: many references may have one. */
  readonly #pagesByUrl = new Map<string, LinkedPage>();
  #seen = 0;

  constructor(source: string, pieces: readonly TextPiece[]) {
    this.#placeOf = placesIn(source);
    this.#isIgnored = ignoredLines(source, pieces, this.#placeOf);
    const { blocks, definitions } = readBlocks(pieces);
    let before: readonly string[] = [];
    for (const block of blocks) before = this.#block(block, before);
    for (const definition of definitions) this.#cite(definition);
  }

  result(): ReadText {
    const skipped = this.#skipped
      .filter(({ url }) => url !== '')
      .sort((a, b) => a.at - b.at)
      .map(({ url, at, reason }) => ({ url: shownUrl(url), reason, place: this.#placeOf(at) }));
    const byPlace = (a: Place, b: Place) => a.line - b.line || a.column - b.column;
    const quotes = this.#quotes();
    const quoted = new Set(quotes.flatMap(({ blocks }) => blocks.flatMap((block) => this.#keysOf(block))));
    const links = [...this.#links.values()].map((link) => ({ ...link, places: link.places.sort(byPlace) }));
    return {
      links: links.sort((a, b) => byPlace(a.places[0] ?? NOWHERE, b.places[0] ?? NOWHERE)),
      skipped,
      claims: [...this.#claims]
        .filter(([key, { claim, urls }]) => (urls.length > 0 || !quoted.has(key)) && hasFigures(claim))
        .map(([_, { uncited, ...claim }]) => (claim.urls.length > 0 ? claim : { ...claim, uncited })),
      quotes: quotes
        .filter(({ at }) => !this.#isIgnored(at))
        .map(({ text: quote, at, urls }) => ({ quote, place: this.#placeOf(at), urls })),
      further: Math.max(0, this.#seen - MAX_SEEN),
    };
  }

  /** Reads a block, and returns the keys of the claims of its last sentence, whose source the next block may name. */
  #block({ isSource, pagesOf, ...block }: ReadBlock, before: readonly string[]): readonly string[] {
    const { marked } = block;
    for (const one of marked.skipped) this.#skipped.push(one);
    const urls = marked.marks.map((mark) => this.#pages(mark, pagesOf));
    const sentences: ReadSentence[] = [];
    this.#blocks.push({ ...block, pages: urls, sentences });
    if (!block.isProse) return [];
    let last = before;
    for (const [index, { claims, sources, isUnclear }] of sentencesIn(marked.text).entries()) {
      const pagesFor = (marks: readonly number[]) => marks.flatMap((mark) => urls[mark] ?? []);
      if (sources.length > 0) {
        if (index > 0 || isSource) this.#citeForAll(last, pagesFor(sources));
        continue;
      }
      last = claims.map((claim) => this.#claim(claim, marked, isUnclear));
      for (const [at, { marks }] of claims.entries()) this.#citeFor(last[at], pagesFor(marks));
      sentences.push({ from: claims[0]?.from ?? 0, keys: last });
    }
    return last;
  }

  /** The quotations with pages, by the sentences whose sources are known. */
  #quotes(): readonly CitedQuote[] {
    const urlsOf = (keys: readonly string[]) => keys.flatMap((key) => this.#claims.get(key)?.urls ?? []);
    const blocks = this.#blocks.map(({ sentences, ...block }) => ({
      ...block,
      sentences: sentences.map(({ from, keys }) => ({ from, urls: urlsOf(keys) })),
    }));
    return citedQuotes(blocks);
  }

  /** The keys of the claims of a block. Those in a quotation that is compared as a whole need no source of their own. */
  #keysOf(block: number): readonly string[] {
    return this.#blocks[block]?.sentences.flatMap(({ keys }) => keys) ?? [];
  }

  /** Counts a claim, and returns its key. */
  #claim({ claim, from, marks }: CitedClaim, marked: MarkedText, isUnclear: boolean): string {
    const at = marked.placeOf(wordAt(marked.text, from, claim));
    const key = `${at}`;
    const isIgnored = this.#isIgnored(at) || marks.some((mark) => this.#isIgnored(marked.marks[mark]?.at ?? 0));
    const uncited = isUnclear ? 'unclear' : marks.length > 0 ? 'no_page' : 'nothing';
    if (claim !== '' && !isIgnored) this.#claims.set(key, { claim, place: this.#placeOf(at), urls: [], uncited });
    return key;
  }

  /** Adds the pages that are named after claims. Links after a claim that introduces them are a list, and no sources of it. */
  #citeForAll(keys: readonly string[], urls: readonly string[]): void {
    const isIntroduction = (key: string) => /[:：]$/.test(this.#claims.get(key)?.claim ?? '');
    for (const key of keys) if (!isIntroduction(key)) this.#citeFor(key, urls);
  }

  #citeFor(key: string | undefined, urls: readonly string[]): void {
    const claim = this.#claims.get(key ?? '');
    for (const url of urls) if (claim?.urls.includes(url) === false) claim.urls.push(url);
  }

  /** The pages of a mark. */
  #pages(mark: Mark, pagesOf: ReadBlock['pagesOf']): readonly string[] {
    const { url, names = [], at } = mark;
    const written = url !== undefined ? [{ url, at }] : names.flatMap(pagesOf);
    return written.flatMap((one) => this.#cite(one, url === undefined));
  }

  /** Adds a link, and returns the URL by which its page is known. `isReference`: only its note has the URL. */
  #cite({ url: found, at }: WrittenUrl, isReference = false): readonly string[] {
    const link = this.#pagesByUrl.get(found) ?? linkedPage(found);
    this.#pagesByUrl.set(found, link);
    if (link.kind === 'skipped') {
      if (!isReference) this.#skipped.push({ url: found, at, reason: link.reason });
      return [];
    }
    if (this.#isIgnored(at)) {
      if (!isReference) this.#skipped.push({ url: link.url, at, reason: 'ignored' });
      return [];
    }
    this.#seen += 1;
    if (this.#seen > MAX_SEEN) return [];
    const { key, url, refusal } = link;
    const page = this.#links.get(key) ?? { url, places: [], ...(refusal && { refusal }) };
    this.#links.set(key, page);
    if (!isReference) page.places.push(this.#placeOf(at));
    return [page.url];
  }
}

/** A sentence, from its index in its block, with the keys of its claims. */
interface ReadSentence {
  readonly from: number;
  readonly keys: readonly string[];
}

const NOWHERE: Place = { line: 0, column: 0 };

/** The index of the first word of a claim. */
function wordAt(text: string, from: number, claim: string): number {
  const [word = ''] = /[\p{L}\p{N}]+/u.exec(claim) ?? [];
  return Math.max(from, text.indexOf(word, from));
}

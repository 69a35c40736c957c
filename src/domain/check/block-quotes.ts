import type { MarkedText } from './marked-text.ts';
import { withoutMarks } from './quoted-passages.ts';
import type { BlockRole } from './text-piece.ts';

/** A block of a text, with the pages of each of its marks. */
export interface QuotableBlock {
  readonly marked: MarkedText;
  readonly role: BlockRole;
  readonly quote: number | undefined;
  readonly isNested: boolean;
  readonly pages: readonly (readonly string[])[];
}

/** A quotation as one or several blocks, and the pages that are cited for it. */
export interface BlockQuote {
  /** The indexes of its blocks. */
  readonly blocks: readonly number[];
  readonly text: string;
  readonly at: number;
  readonly urls: readonly string[];
}

const LABEL = '\uE002[^\uE002\uE003]*\uE003';
const MARK = '\uE000\\d+\uE001';
const SOURCE = '(?:sources?|via|from|see|quelle|出典|引用元?|参照元?|情報源)';
/** How a quotation names its source at the end of a block. */
const SOURCES_AT_END = [
  // After a word or a dash, at the beginning of a line or after a sentence.
  `(?:^|\\n)\\s*[(（［【*_]{0,3}${SOURCE}\\s?[*_]{0,3}[:：][^\\n]{0,300}$`,
  `(?:^|\\n|(?<=[.!?。！？"'”’」』]{1,3})\\s*)(?:[—–―]|--|-(?=\\s))[^\\n]{0,300}$`,
  // In brackets, or after the sentence, or a link without a text.
  `\\s*[(（［【[][^()（）［］【】]{0,300}[)）］】\\]][.。]?\\s*$`,
  `(?<=[.!?。！？]["'”’」』)]{0,2})\\s*(?:${LABEL})?${MARK}[.。]?\\s*$`,
  `(?<!\uE003)${MARK}[.。]?\\s*$`,
].map((pattern) => new RegExp(pattern, 'iu'));
/** Maximum length of the source of a quotation. */
const MAX_SOURCE = 700;
const WHOLE_LABEL = new RegExp(`^\\s*[*_]{0,3}(${LABEL})${MARK}[*_]{0,3}\\s*$`, 'u');
const MARK_NUMBER = /\uE000(\d+)\uE001/g;

/** The mark of an alert of GitHub, or the word with which texts begin one that other sites show, too. */
const ALERT =
  /^\s*(?:\[!\w{1,20}\]|\P{L}{0,6}(?:note|tip|important|warning|caution|attention|hint|tl[;,]?dr)(?:\*\*|__|:)|\P{L}{0,6}(?:注意|注記|補足)[*_：:])/iu;

/** The block quotes of a text for which it cites pages. A link in the running words of a quotation belongs to what it says. */
export function blockQuotes(blocks: readonly QuotableBlock[]): readonly BlockQuote[] {
  const quotes: BlockQuote[] = [];
  for (let first = 0; first < blocks.length; first += 1) {
    const { quote } = blocks[first] ?? {};
    if (quote === undefined) continue;
    let next = first + 1;
    while (blocks[next]?.quote === quote) next += 1;
    const found = quotation(blocks, first, next);
    if (found !== undefined) quotes.push(found);
    first = next - 1;
  }
  return quotes;
}

function quotation(blocks: readonly QuotableBlock[], first: number, next: number): BlockQuote | undefined {
  const own = blocks.slice(first, next);
  if (ALERT.test(own[0]?.marked.text ?? '')) return undefined;
  const parts = own.map((block) => ({ block, ...withoutSource(block, own.length > 1) }));
  const words = parts.filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const text = words.map((part) => withoutMarks(part.text)).join(' … ');
  if (text === '') return undefined;
  const named = parts.flatMap(({ sources, block }) => sources.flatMap((mark) => block.pages[mark] ?? []));
  const isAside = words.some((part) => part.text.includes('\uE000'));
  const urls = named.length > 0 || isAside ? named : [...pagesBefore(blocks, first), ...pagesAfter(blocks[next])];
  const at = words[0]?.block.marked.placeOf(wordIn(words[0].block.marked.text)) ?? 0;
  const indexes = Array.from({ length: next - first }, (_, index) => first + index);
  return urls.length === 0 ? undefined : { blocks: indexes, text, at, urls: [...new Set(urls)] };
}

/** The pages of the paragraph that introduces a quotation: its last sentence has a link, or leads to the quotation. */
function pagesBefore(blocks: readonly QuotableBlock[], first: number): readonly string[] {
  const [before, quote] = [blocks[first - 1], blocks[first]];
  if (before === undefined || (before.role === 'item' && quote?.isNested !== true)) return [];
  const text = before.marked.text.trim();
  const last =
    text
      .slice(-MAX_SOURCE)
      .split(/(?<=[.!?。！？])\s+(?=[^\s\uE002\uE000])/)
      .at(-1) ?? '';
  return /[:：]$/.test(text) || last.includes('\uE000') ? pagesOf(before) : [];
}

/** The pages of the paragraph after a quotation, which names its source and says little else. */
function pagesAfter(after: QuotableBlock | undefined): readonly string[] {
  const text = after?.marked.text ?? '';
  const words = text.replace(/\uE002[^\uE002\uE003]*\uE003|\uE000\d+\uE001/g, '').trim();
  return words.length <= MAX_WORDS || /^(?:[—–―-]|--)/.test(words) ? pagesOf(after) : [];
}

/** Maximum length of the words beside the links of a source. */
const MAX_WORDS = 60;

/** The pages of the paragraph beside a quotation. A link around an image, such as a badge, cites nothing. */
function pagesOf(block: QuotableBlock | undefined): readonly string[] {
  if (block === undefined || block.quote !== undefined || !/^(?:paragraph|item)$/.test(block.role)) return [];
  const { pages, marked } = block;
  return pages.filter((_, mark) => marked.marks[mark]?.isEmpty !== true).flat();
}

/** The words of a block, and the marks of the sources that it names. A link that is all of a block names the source of the others. */
function withoutSource({ marked }: QuotableBlock, hasOthers: boolean) {
  let text = marked.text.replace(/\s+/g, (blanks) => (blanks.includes('\n') ? '\n' : ' '));
  const sources: number[] = [];
  const whole = WHOLE_LABEL.exec(text);
  if (whole !== null) {
    sources.push(0);
    return { text: hasOthers ? '' : (whole[1] ?? ''), sources };
  }
  for (let isFound = true; isFound; ) {
    isFound = false;
    for (const pattern of SOURCES_AT_END) {
      const start = Math.max(0, text.length - MAX_SOURCE);
      const { 0: shown, index } = pattern.exec(text.slice(start)) ?? { 0: '', index: 0 };
      const numbers = [...shown.matchAll(MARK_NUMBER)].map(([, mark]) => Number(mark));
      const isDash = /^\s*[—–―-]/.test(shown);
      if (shown.trim() === '' || (numbers.length === 0 && !isDash)) continue;
      text = text.slice(0, start + index);
      sources.push(...numbers);
      isFound = true;
    }
  }
  return { text, sources };
}

/** The index of the first word of a text. */
function wordIn(text: string): number {
  return Math.max(0, text.replace(/[\uE000-\uE003]/g, ' ').search(/[\p{L}\p{N}]/u));
}

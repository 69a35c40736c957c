import { blockQuotes, type QuotableBlock } from './block-quotes.ts';
import { type QuotedPassage, quotedPassages } from './quoted-passages.ts';

/** A block whose sentences are known, with the pages that each of them cites. */
export interface ReadQuotable extends QuotableBlock {
  /** Headings, notes and lists of sources quote nothing. */
  readonly isProse: boolean;
  /** `from`: the index at which a sentence begins. */
  readonly sentences: readonly { readonly from: number; readonly urls: readonly string[] }[];
}

/** A quotation, and the pages that are cited for it: it must be on one of them. */
export interface CitedQuote {
  readonly text: string;
  readonly at: number;
  readonly urls: readonly string[];
  /** The indexes of the blocks of which it is all. */
  readonly blocks: readonly number[];
}

/** The quotations of a text for which it cites pages. */
export function citedQuotes(blocks: readonly ReadQuotable[]): readonly CitedQuote[] {
  const cited = blockQuotes(blocks);
  const read = new Set(cited.flatMap((quote) => quote.blocks));
  const inMarks = blocks.flatMap((block, index) => (read.has(index) || !block.isProse ? [] : passagesOf(block)));
  return [...cited, ...inMarks].sort((a, b) => a.at - b.at);
}

function passagesOf(block: ReadQuotable): readonly CitedQuote[] {
  const { marked, pages, sentences } = block;
  const passages = quotedPassages(marked);
  if (passages.length === 0) return [];
  // A link around an image, such as a badge, cites nothing.
  const ofBlock = new Set(pages.filter((_, mark) => marked.marks[mark]?.isEmpty !== true).flat());
  const badges = new Set(pages.flat().filter((url) => !ofBlock.has(url)));
  const cited = (urls: readonly string[]) => {
    const known = new Set(urls.filter((url) => !badges.has(url)));
    return [...(known.size > 0 ? known : ofBlock)];
  };
  // The pages of a sentence are one list for all of its quotations.
  let ofSentence = cited([]);
  let next = 0;
  return passages.flatMap((passage) => {
    const from = next;
    while ((sentences[next]?.from ?? passage.end) < passage.end) next += 1;
    if (next > from) ofSentence = cited(sentences[next - 1]?.urls ?? []);
    const after = pagesAfter(block, passage);
    const urls = after.length > 0 ? cited(after) : ofSentence;
    return urls.length === 0 ? [] : [{ text: passage.text, at: marked.placeOf(passage.start), urls, blocks: [] }];
  });
}

/** Marks of links in the quotation, and those that follow it, perhaps in brackets. */
const MARKS_AFTER =
  /^["'”’」』\s.,;:!?。、]{0,5}(?:(?:[(（［【[—–-]\s?)?(?:\uE002[^\uE002\uE003]*\uE003)?\uE000\d+\uE001[\s,、;)）］】\]]{0,3}){1,20}/u;

/** The pages of the links directly after a quotation. A link with words after the end of a sentence begins the next one. */
function pagesAfter({ marked: { text }, pages }: ReadQuotable, { start, end }: QuotedPassage): readonly string[] {
  const [shown = ''] = MARKS_AFTER.exec(text.slice(end, end + 1000)) ?? [];
  const isNextSentence =
    /^[\s.!?。]*\s?\uE002/.test(shown) &&
    /[.!?。]["'”’」』\s]{0,3}$/.test(text.slice(start, end + shown.indexOf('\uE002')));
  const inside = text.slice(start, end);
  return [...`${inside}${isNextSentence ? '' : shown}`.matchAll(/\uE000(\d+)\uE001/g)].flatMap(
    ([, mark]) => pages[Number(mark)] ?? [],
  );
}

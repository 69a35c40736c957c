import { pageKey } from '../answers/citation.ts';
import { LINK_LABEL, LINK_TARGET } from '../evidence/claims.ts';
import { clip, withoutEnd, withoutTracking, withoutUnsafeCharacters } from '../values/clean-text.ts';
import { fenceAfter } from '../values/code-fence.ts';
import { isTooLong, toWebUrl, withoutUserInfo } from '../values/web-url.ts';
import { citedClaims, MARKS } from './cited-sentences.ts';

/** A web page that a text links to, and the sentences that cite it. */
export interface TextLink {
  readonly url: string;
  /** Whether the URL is too long for a page, and was cut to be shown. */
  readonly isTooLong: boolean;
  readonly claims: readonly string[];
}

/** Maximum number of links that are read of a text. Each occurrence of a link counts. */
const MAX_SEEN = 2000;
/** Maximum number of pages that a number cites, if its entry in the list of sources has several. */
const MAX_PAGES_OF_NOTE = 10;
/** The part of a URL that is shown if it is too long. */
const SHOWN_URL = 100;

/**
 * The pages that a text links to, each once, in the order of the text, and the number of further links, which are not read. Links are Markdown links,
 * bare URLs, reference links, footnotes, and numbers that refer to a list of sources. The claim of a link is its sentence or, if the sentence has
 * several links, the part before the link.
 */
export function linksIn(markdown: string): { readonly links: readonly TextLink[]; readonly further: number } {
  const pages = new Map<string, Omit<TextLink, 'claims'> & { readonly claims: Set<string> }>();
  const cite = (found: string, claim: string) => {
    const link = toLink(found);
    if (link === undefined) return;
    const page = pages.get(link.key) ?? { ...link, claims: new Set() };
    pages.set(link.key, page);
    if (claim !== '') page.claims.add(claim);
  };
  let seen = 0;
  const isSeen = () => {
    seen += 1;
    return seen <= MAX_SEEN;
  };
  const text = withoutUnsafeCharacters(markdown.replace(/\r\n?/g, '\n')).replace(MARKS, '');
  const { blocks, notes } = toBlocks(text);
  for (const [at, { text, isProse }] of blocks.entries()) {
    const urls: string[] = [];
    const marked = withMarks(text, { urls, isSeen, noteOf: (name) => noteAfter(at, notes.get(name)) });
    for (const { at, claim } of isProse ? citedClaims(marked) : []) cite(urls[at] ?? '', claim);
    for (const url of urls) cite(url, '');
  }
  const ofNotes = [...notes]
    .filter(([id]) => /^\^|^\d+$/.test(id))
    .flatMap(([, { all }]) => all.flatMap(({ urls }) => urls));
  for (const url of ofNotes) if (isSeen()) cite(url, '');
  const links = [...pages.values()].map(({ url, isTooLong, claims }) => ({ url, isTooLong, claims: [...claims] }));
  return { links, further: Math.max(0, seen - MAX_SEEN) };
}

/** The page of a URL, with the key by which equal pages are recognized. */
function toLink(found: string) {
  const shown = withoutTracking(withoutUserInfo(found));
  if (isTooLong(shown)) return { key: shown, url: clip(shown, SHOWN_URL), isTooLong: true };
  const url = toWebUrl(shown);
  return url === undefined ? undefined : { key: pageKey(new URL(url).href), url, isTooLong: false };
}

interface Block {
  readonly text: string;
  /** Headings and lists of sources claim nothing. */
  readonly isProse: boolean;
}

/** The links of a note or a definition. */
interface Note {
  readonly urls: readonly string[];
  /** The number of blocks that precede it. */
  readonly at: number;
}

/** The notes of one name, and the number of those that precede the block that is read. */
interface Notes {
  readonly all: Note[];
  passed: number;
}

/** Each list of sources may start with 1 again: a number refers to the next list. Blocks are read in their order. */
function noteAfter(at: number, notes: Notes | undefined): readonly string[] {
  if (notes === undefined) return [];
  const { all } = notes;
  while (notes.passed < all.length - 1 && (all[notes.passed]?.at ?? 0) <= at) notes.passed += 1;
  return all[notes.passed]?.urls.slice(0, MAX_PAGES_OF_NOTE) ?? [];
}

const SOURCES =
  /^[\s#*_【[（(]*(?:\d+[.)]?\s+)?(?:sources?|references|bibliography|(?:foot|end)?notes|links|works cited|citations|further reading|出典|参考(?:文献|資料|情報|リンク)?|引用(?:文献|元)?|情報源|脚注|注釈?|参照)[\s*_:：】\]）)]*$/i;
const HEADING = /^\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$|\[!\w+\]\s*$)/;
/** Headings of sections with sources, which may also contain prose. */
const MAYBE_SOURCES = /notes|links|注|脚注/i;
const QUOTE = /^(?:\s*>)+ ?/;
const BLOCK_START = /^\s*(?:[-*+•・]\s|\d{1,3}(?:[.)]\s|．)|[|#]|\[\^?[^\][]{1,60}\](?!\())/;
const NOTE =
  /^\s*(?:[-*+•・]\s+)?(?:\[(?<id>\^?[^\][]{1,60})\]:|[[［【](?<number>\d{1,3})[\]］】](?!\()|(?<item>\d{1,3})(?:[.)](?=\s)|．))\s*(?<rest>.*)$/s;

/** The paragraphs, items, rows and headings of a text without code, and the links of its notes and definitions. */
function toBlocks(markdown: string) {
  const blocks: Block[] = [];
  const notes = new Map<string, Notes>();
  let fence = '';
  let lines: string[] = [];
  let wasQuote = false;
  /** Whether the preceding block is a heading of sources, or a part of their list. */
  let sources: 'none' | 'heading' | 'prose' | 'list' = 'none';
  const end = () => {
    const text = lines.join(' ').replace(/(?<=[^\x00-\xff]) (?=[^\x00-\xff])/g, '');
    lines = [];
    if (text.trim() === '') return;
    const isSources = SOURCES.test(text);
    const isHeading = isSources || HEADING.test(text);
    const isParagraph = !isHeading && !/^\s\s/.test(text) && !BLOCK_START.test(text);
    if (isHeading) sources = !isSources ? 'none' : MAYBE_SOURCES.test(text) ? 'prose' : 'heading';
    else if (sources !== 'none') sources = !isParagraph ? 'list' : sources === 'list' ? 'none' : sources;
    const { id, number, item, rest = '' } = NOTE.exec(text)?.groups ?? {};
    const urls = (rest.match(BARE) ?? []).map(trimmed);
    const name = (id ?? number ?? (sources === 'list' ? item : undefined))?.toLowerCase();
    if (name === undefined || urls.length === 0) {
      const isProse = !isHeading && (sources === 'none' || (sources === 'prose' && isParagraph));
      blocks.push({ text, isProse });
    } else {
      const ofName = notes.get(name) ?? { all: [], passed: 0 };
      ofName.all.push({ urls, at: blocks.length });
      notes.set(name, ofName);
    }
  };
  for (const quoted of markdown.split('\n')) {
    const line = quoted.replace(QUOTE, '');
    const isQuote = line !== quoted;
    const isCode = fence !== '';
    fence = fenceAfter(line, fence);
    const isStart = BLOCK_START.test(line) || SOURCES.test(line) || HEADING.test(line) || (isQuote && !wasQuote);
    wasQuote = isQuote;
    if (isCode || fence !== '' || line.trim() === '' || isStart) end();
    if (!isCode && fence === '' && line.trim() !== '') lines.push(line);
    if (HEADING.test(line) || SOURCES.test(line)) end();
  }
  end();
  return { blocks, notes };
}

const BARE =
  /https?:\/\/(?:[^\s<>"'`()（）「」『』【】、。，；|\\^{}\uE000-\uE003]|\([^\s()<>]{0,300}\)|(?<=\w)'(?=\w))+/gi;
const LINK = new RegExp(
  [
    '!\\[[^[\\]]{0,300}\\](?:\\([^()\\s]*(?:\\s[^()]{0,300})?\\)|\\[[^\\]]{0,60}\\])',
    '(?<!`)(`{1,3})(?!`)[^`]{1,1000}\\1',
    `${LINK_LABEL}(?:${LINK_TARGET}|\\[(?<ref>[^\\][]{0,60})\\])`,
    '[[［【](?<ids>\\^?[^\\]\\[［］【】]{1,60})[\\]］】](?!\\()',
    `<?(?<bare>${BARE.source})>?`,
  ].join('|'),
  'gi',
);

const NUMBER = /^\^?\d{1,3}$/;

interface Marking {
  readonly noteOf: (name: string) => readonly string[];
  /** Gets the URLs of the marks. */
  readonly urls: string[];
  /** Counts a link, and returns whether it is read. */
  readonly isSeen: () => boolean;
}

/** Replaces each link by a mark, and adds its URL to the list. The label stays before the mark, unless it only names the page. */
function withMarks(text: string, { noteOf, urls, isSeen }: Marking): string {
  const mark = (found: readonly string[]) => {
    const seen = found.filter((url) => url === '' || isSeen());
    return seen.length === 0 ? ' ' : seen.map((url) => `\uE000${urls.push(url) - 1}\uE001`).join('');
  };
  const pagesOf = (name: string) => {
    const pages = noteOf(name);
    // A number ends its claim, even if its source is no page.
    return pages.length === 0 && NUMBER.test(name) ? [''] : pages;
  };
  // A badge is an image with a link.
  const plain = text.replace(/\[\s*!\[[^[\]]{0,300}\](?:\([^()]{0,4000}\)|\[[^\]]{0,60}\])\s*\]/g, '[]');
  return plain.replace(LINK, (all: string, ...rest: unknown[]) => {
    const { label = '', url, ref, ids, bare } = rest.at(-1) as Record<string, string | undefined>;
    const isNumbers = ref !== undefined && NUMBER.test(label);
    const names = isNumbers ? [label, ref] : ref !== undefined ? [ref || label] : ids?.split(/[,、，;]/);
    const unique = names && [...new Set(names.map((name) => name.trim().toLowerCase()))];
    const found = url !== undefined ? [url] : unique?.flatMap(pagesOf);
    if (found?.length === 0) return all;
    if (found !== undefined) {
      const isName = /^(?:\W*\d{1,3}\W*|[\w-]+\.[\w-]\S*|https?:.*)?$/i.test(label);
      return `${isName ? '' : `\uE002${label.replaceAll('`', '')}\uE003`}${mark(found)}`;
    }
    if (bare !== undefined) {
      const page = trimmed(bare);
      return `${mark([page])}${bare.slice(page.length)}`;
    }
    return all.startsWith('`') && !all.includes('://') ? all : ' ';
  });
}

/** A bare URL without the punctuation and the Japanese words that follow it. No Japanese name begins with を. */
function trimmed(url: string): string {
  const withoutWords = url.replace(/(?:(?<=\w)(?:[ぁ-ん]|参照|参考|出典)|(?<=\/)を).*$/s, '');
  return withoutEnd(withoutWords, /[.,;:!?*_~'"\]]/);
}

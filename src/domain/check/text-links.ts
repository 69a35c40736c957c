import { pageKey } from '../answers/citation.ts';
import { LINK_LABEL, LINK_TARGET, toClaim } from '../evidence/claims.ts';
import { hasFigures } from '../evidence/evidence.ts';
import { withoutTracking } from '../values/clean-text.ts';
import { fenceAfter } from '../values/code-fence.ts';
import { toWebUrl, withoutUserInfo } from '../values/web-url.ts';

/** A web page that a text links to, and the sentences that cite it. */
export interface TextLink {
  readonly url: string;
  readonly claims: readonly string[];
}

/**
 * The pages that a text links to, each once, in the order of the text. Links are Markdown links, bare URLs, reference links, footnotes, and numbers
 * that refer to a list of sources. The claim of a link is its sentence or, if the sentence has several links, the part before the link.
 */
export function linksIn(markdown: string): readonly TextLink[] {
  const pages = new Map<string, { readonly url: string; readonly claims: Set<string> }>();
  const cite = (found: string, claim: string) => {
    const url = toWebUrl(withoutTracking(withoutUserInfo(found)));
    if (url === undefined) return;
    const key = pageKey(new URL(url).href);
    const { claims } = pages.get(key) ?? { claims: new Set() };
    if (!pages.has(key)) pages.set(key, { url, claims });
    if (claim !== '') claims.add(claim);
  };
  const { blocks, notes } = toBlocks(markdown.replace(MARKS, ''));
  for (const [at, { text, isProse }] of blocks.entries()) {
    const urls: string[] = [];
    const marked = withMarks(text, (name) => noteAfter(at, notes.get(name)), urls);
    const sentences = isProse ? (marked.match(SENTENCE) ?? []) : [];
    for (const sentence of sentences) for (const { at, claim } of claimsIn(sentence)) cite(urls[at] ?? '', claim);
    for (const url of urls) cite(url, '');
  }
  const sources = [...notes].flatMap(([id, all]) => (/^\^|^\d+$/.test(id) ? all : []));
  for (const url of sources.flatMap(({ urls }) => urls)) cite(url, '');
  return [...pages.values()].map(({ url, claims }) => ({ url, claims: [...claims] }));
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

/** Each list of sources may start with 1 again: a number refers to the next list. */
function noteAfter(at: number, notes: readonly Note[] = []): readonly string[] | undefined {
  return (notes.find((note) => note.at > at) ?? notes.at(-1))?.urls;
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
  const notes = new Map<string, Note[]>();
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
    } else notes.set(name, [...(notes.get(name) ?? []), { urls, at: blocks.length }]);
  };
  for (const quoted of markdown.split(/\r?\n/)) {
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
/** Characters that represent links, and enclose their labels, while a text is split into sentences. */
const MARKS = /[\uE000-\uE003]/g;
const LINK = new RegExp(
  [
    '!\\[[^\\]]{0,300}\\](?:\\([^()\\s]*(?:\\s[^()]{0,300})?\\)|\\[[^\\]]{0,60}\\])',
    '(?<!`)(`{1,3})(?!`)[^`]{1,1000}\\1',
    `${LINK_LABEL}(?:${LINK_TARGET}|\\[(?<ref>[^\\][]{0,60})\\])`,
    '[[［【](?<ids>\\^?[^\\]\\[［］【】]{1,60})[\\]］】](?!\\()',
    `<?(?<bare>${BARE.source})>?`,
  ].join('|'),
  'gi',
);

const NUMBER = /^\^?\d{1,3}$/;

/** Replaces each link by a mark, and adds its URL to the list. The label stays before the mark, unless it only names the page. */
function withMarks(text: string, noteOf: (name: string) => readonly string[] | undefined, urls: string[]): string {
  const mark = (found: readonly string[]) => found.map((url) => `\uE000${urls.push(url) - 1}\uE001`).join('');
  // A number ends its claim, even if its source is no page.
  const pagesOf = (name: string) => noteOf(name) ?? (NUMBER.test(name) ? [''] : []);
  // A badge is an image with a link.
  const plain = text.replace(/\[\s*!\[[^\]]{0,300}\](?:\([^()]{0,4000}\)|\[[^\]]{0,60}\])\s*\]/g, '[]');
  return plain.replace(LINK, (all: string, ...rest: unknown[]) => {
    const { label = '', url, ref, ids, bare } = rest.at(-1) as Record<string, string | undefined>;
    const isNumbers = ref !== undefined && NUMBER.test(label);
    const names = isNumbers ? [label, ref] : ref !== undefined ? [ref || label] : ids?.split(/[,、，;]/);
    const found = url !== undefined ? [url] : names?.flatMap((name) => pagesOf(name.trim().toLowerCase()));
    if (found?.length === 0) return all;
    if (found !== undefined) {
      const isName = /^(?:\W*\d{1,3}\W*|[\w-]+(?:\.[\w-]+)+\S*|https?:.*)?$/i.test(label);
      return `${isName ? '' : `\uE002${label.replaceAll('`', '')}\uE003`}${mark(found)}`;
    }
    if (bare !== undefined) return `${mark([trimmed(bare)])}${bare.slice(trimmed(bare).length)}`;
    return all.startsWith('`') && !all.includes('://') ? all : ' ';
  });
}

/** A bare URL without the punctuation and the Japanese words that follow it. No Japanese name begins with を. */
function trimmed(url: string): string {
  return url.replace(/(?:(?<=\w)(?:[ぁ-ん]|参照|参考|出典)|(?<=\/)を).*$/s, '').replace(/[.,;:!?*_~'"\]]+$/, '');
}

const LABEL = '(?:\uE002[^\uE003]*\uE003)';
const MARK = '\uE000\\d+\uE001';
/** Abbreviations before a name or a number, whose full stop ends no sentence. */
const ABBREVIATION = '\\b(?:vs|approx|ca|cf|e\\.g|i\\.e|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|Vol|pp)';
/** Matches a sentence with the links after its end, unless such a link begins the next sentence. */
const SENTENCE = new RegExp(
  `[\\s\\S]+?(?:(?:(?<!${ABBREVIATION})\\.|[!?])["')\\]”’*_]{0,3}(?!\\s+\\p{Ll})(?=\\s|$|${LABEL}|${MARK}|[(（［【])|[。！？][」』）]{0,2}|$)(?:\\s*${MARK}|${LABEL}${MARK}(?![ぁ-ん])|\\s+${LABEL}${MARK}(?=\\s*(?:$|[.。])|\\s+\\p{Lu})|\\s*[(（［【](?:[^\\p{L}\\p{N}\uE002)）］】]|${LABEL}|${MARK})*[)）］】])*`,
  'gu',
);

/** The claims of a sentence, by the number of the link that cites a page for them. */
function claimsIn(sentence: string): readonly { readonly at: number; readonly claim: string }[] {
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

/** Whether a text has more than labels of links. */
function hasText(segment: string): boolean {
  const text = segment.replace(/\uE002[^\uE003]*\uE003/g, '').replace(/^\W*(?:sources?|via|see|出典|参照)\W*$/i, '');
  return /[\p{L}\p{N}]/u.test(text);
}

/** Removes the brackets of links from a claim, and labels after its end. */
function toText(segment: string): string {
  const inBrackets = /[(（［【](?:[\s,;、・/]|\uE002[^\uE003]*\uE003)*[)）］】]/g;
  const afterEnd = /([.!?。！？]["')\]”’」』）]{0,3})(?:[\s,、]*\uE002[^\uE003]*\uE003)+\s*$/;
  const text = segment.replace(inBrackets, '').replace(afterEnd, '$1').replace(MARKS, '');
  const claim = toClaim(text).replace(/\s+(?=[.,;。、])/g, '');
  // A full stop may end the part before the link to which it belongs.
  return claim.replace(/^[\s)\]）］】,;:、。—–]+/, '');
}

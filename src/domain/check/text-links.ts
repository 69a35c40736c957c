import { pageKey } from '../answers/citation.ts';
import { toClaim } from '../evidence/claims.ts';
import { hasFigures } from '../evidence/evidence.ts';
import { withoutTracking } from '../values/clean-text.ts';
import { fenceAfter } from '../values/code-fence.ts';
import { toWebUrl, withoutUserInfo } from '../values/web-url.ts';
import { withMarkdownLinks } from './html-links.ts';

/** A web page that a text links to, and the sentences that cite it. */
export interface TextLink {
  readonly url: string;
  readonly claims: readonly string[];
}

/**
 * The pages that a text links to, each once, in the order of the text: Markdown or HTML, with links, bare URLs, reference links, footnotes, and
 * lists of sources whose numbers sentences cite. A claim is the sentence with the link; of several links in a sentence, what precedes each.
 */
export function linksIn(text: string): readonly TextLink[] {
  const pages = new Map<string, { readonly url: string; readonly claims: Set<string> }>();
  const cite = (found: string, claim: string) => {
    const url = toWebUrl(withoutTracking(withoutUserInfo(found)));
    if (url === undefined) return;
    const { claims } = pages.get(pageKey(url)) ?? { claims: new Set() };
    if (!pages.has(pageKey(url))) pages.set(pageKey(url), { url, claims });
    if (claim !== '') claims.add(claim);
  };
  const { blocks, notes } = toBlocks(withMarkdownLinks(text.replace(MARKS, '')));
  for (const { text, isProse } of blocks) {
    const urls: string[] = [];
    const marked = withMarks(text, notes, urls);
    const sentences = isProse ? (marked.match(SENTENCE) ?? []) : [];
    for (const sentence of sentences) for (const { at, claim } of claimsIn(sentence)) cite(urls[at] ?? '', claim);
    for (const url of urls) cite(url, '');
  }
  for (const [id, urls] of notes) if (/^\^|^\d+$/.test(id)) for (const url of urls) cite(url, '');
  return [...pages.values()].map(({ url, claims }) => ({ url, claims: [...claims] }));
}

interface Block {
  readonly text: string;
  /** Headings and lists of sources claim nothing. */
  readonly isProse: boolean;
}

const SOURCES =
  /^[\s>#*_【[（(]*(?:\d+[.)]?\s+)?(?:sources?|references|bibliography|(?:foot|end)?notes|links|works cited|citations|further reading|出典|参考(?:文献|資料|情報|リンク)?|引用(?:文献|元)?|情報源|脚注|注釈?|参照)[\s*_:：】\]）)]*$/i;
const HEADING = /^\s*(?:#{1,6}\s|\*\*[^*]+\*\*\s*$)/;
const BLOCK_START = /^\s*(?:[-*+•・]\s|\d{1,3}(?:[.)]\s|．)|[|>#]|\[\^?[^\][]{1,60}\](?!\())/;
const NOTE =
  /^[\s>]*(?:[-*+•・]\s+)?(?:\[(?<id>\^?[^\][]{1,60})\]:|[[［【](?<number>\d{1,3})[\]］】](?!\()|(?<item>\d{1,3})(?:[.)](?=\s)|．))\s*(?<rest>.*)$/s;

/** The paragraphs, items, rows and headings of a text without code, and what the notes and definitions in it link to. */
function toBlocks(markdown: string) {
  const blocks: Block[] = [];
  const notes = new Map<string, readonly string[]>();
  let fence = '';
  let lines: string[] = [];
  let isInSources = false;
  const end = () => {
    const text = lines.join(' ').replace(/(?<=[^\x00-\xff]) (?=[^\x00-\xff])/g, '');
    lines = [];
    if (text.trim() === '') return;
    const isSources = SOURCES.test(text);
    const isHeading = isSources || HEADING.test(text);
    if (isHeading) isInSources = isSources;
    const { id, number, item, rest = '' } = NOTE.exec(text)?.groups ?? {};
    const urls = (rest.match(BARE) ?? []).map(trimmed);
    const name = id ?? number ?? (isInSources ? item : undefined);
    if (name !== undefined && urls.length > 0) notes.set(name.toLowerCase(), urls);
    else blocks.push({ text, isProse: !isHeading && !isInSources });
  };
  for (const line of markdown.split(/\r?\n/)) {
    const isCode = fence !== '';
    fence = fenceAfter(line, fence);
    const isStart = BLOCK_START.test(line) || SOURCES.test(line) || HEADING.test(line);
    if (isCode || fence !== '' || line.trim() === '' || isStart) end();
    if (!isCode && fence === '') lines.push(line);
    if (HEADING.test(line) || SOURCES.test(line)) end();
  }
  end();
  return { blocks, notes };
}

const BARE =
  /https?:\/\/(?:[^\s<>"'`()（）「」『』【】、。，；|\\^{}\uE000-\uE003]|\([^\s()<>]{0,300}\)|(?<=\w)'(?=\w))+/gi;
/** The characters that stand for links, and around their labels, while sentences are looked for. */
const MARKS = /[\uE000-\uE003]/g;
const LINK = new RegExp(
  [
    '!\\[[^\\]]{0,300}\\](?:\\([^()\\s]*(?:\\s[^()]{0,300})?\\)|\\[[^\\]]{0,60}\\])',
    '(?<!`)(`{1,3})(?!`)[^`]{1,1000}\\1',
    '\\[(?<label>(?:[^[\\]]|\\[[^[\\]]{0,100}\\]){0,300})\\](?:\\(\\s?<?(?<url>https?:(?:[^\\s()<>]|\\([^\\s()<>]{0,300}\\)){1,4000})>?(?:\\s+["\'(][^)]{0,300}["\')])?\\s?\\)|\\[(?<ref>[^\\][]{0,60})\\])',
    '[[［【](?<ids>\\^?[^\\]\\[［］【】]{1,60})[\\]］】](?!\\()',
    `<?(?<bare>${BARE.source})>?`,
  ].join('|'),
  'gi',
);

const NUMBER = /^\^?\d{1,3}$/;

/** The text with a mark for each link, whose URLs are added. Its label precedes it, unless it only names the page. */
function withMarks(text: string, notes: ReadonlyMap<string, readonly string[]>, urls: string[]): string {
  const mark = (found: readonly string[]) => found.map((url) => `\uE000${urls.push(url) - 1}\uE001`).join('');
  // A number is the end of its claim also if its source is no page.
  const pagesOf = (name: string) => notes.get(name) ?? (NUMBER.test(name) ? [''] : []);
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

/** A bare URL without the punctuation and the Japanese words that follow it. */
function trimmed(url: string): string {
  return url.replace(/(?<=\w)[ぁ-ん].*$/s, '').replace(/[.,;:!?*_~'"\]]+$/, '');
}

const LABEL = '(?:\uE002[^\uE003]*\uE003)';
const MARK = '\uE000\\d+\uE001';
/** A sentence, with the links after its end, unless such a link is the beginning of the next one. */
const SENTENCE = new RegExp(
  `[\\s\\S]+?(?:[.!?]["')\\]”’*_]{0,3}(?=\\s|$|${LABEL}|${MARK}|[(（［【])|[。！？][」』）]{0,2}|$)(?:\\s*${MARK}|${LABEL}${MARK}(?![ぁ-ん])|\\s+${LABEL}${MARK}(?=\\s*(?:$|[.。])|\\s+\\p{Lu})|\\s*[(（［【](?:[^\\p{L}\\p{N}\uE002)）］】]|${LABEL}|${MARK})*[)）］】])*`,
  'gu',
);

/** The claims of a sentence, by the number of the link that cites a page for each. */
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

/** Whether more is there than labels of links. */
function hasText(segment: string): boolean {
  const text = segment.replace(/\uE002[^\uE003]*\uE003/g, '').replace(/^\W*(?:sources?|via|see|出典|参照)\W*$/i, '');
  return /[\p{L}\p{N}]/u.test(text);
}

/** A claim without the brackets of its links, and without what names them after its end. */
function toText(segment: string): string {
  const inBrackets = /[(（［【](?:[\s,;、・/]|\uE002[^\uE003]*\uE003)*[)）］】]/g;
  const afterEnd = /([.!?。！？]["')\]”’」』）]{0,3})(?:[\s,、]*\uE002[^\uE003]*\uE003)+\s*$/;
  const text = segment.replace(inBrackets, '').replace(afterEnd, '$1').replace(MARKS, '');
  const claim = toClaim(text).replace(/\s+(?=[.,;。、])/g, '');
  // What ends the part before the link to which it belongs.
  return claim.replace(/^[\s)\]）］】,;:、。—–]+/, '');
}

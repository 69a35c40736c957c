import { withoutEnd } from '../values/clean-text.ts';
import { fencedLines } from '../values/code-fence.ts';
import { toWebUrl } from '../values/web-url.ts';
import { type Citation, pageKey } from './citation.ts';

/** A source that the model listed itself. */
export interface ListedSource {
  /** A web page, or one of the known IDs. */
  readonly url: string;
  /** The number of the entry, such as `[1] `, to which the text may refer. */
  readonly mark: string;
  /** The day that the model named, `YYYY-MM-DD`. */
  readonly date: string | undefined;
}

/**
 * Separates the sections of sources that a model wrote (`Sources:`, 出典, 情報源 or 参考, in any Markdown formatting) from the text. A section is removed only
 * if each entry of its list is a link or a known source, so that a list of oranges and kiwis, or the sources of the Nile, stay in the text.
 */
export function withoutSections(text: string, knownIds: readonly string[]) {
  const lines = text.split('\n');
  const body: string[] = [];
  const listed: ListedSource[] = [];
  const { isCode } = fencedLines(lines);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const section = isCode[at] === true ? undefined : sectionAt(lines, at, knownIds);
    if (section === undefined) {
      body.push(line);
      continue;
    }
    for (const source of section.listed) listed.push(source);
    at = section.end - 1;
    while (at + 1 < lines.length && isBlank(lines[at + 1])) at += 1;
    body.length = body.findLastIndex((line) => !isBlank(line)) + 1;
    if (at + 1 < lines.length) body.push('');
  }
  return { body: body.join('\n').trim(), listed };
}

/** The citations, then the other sources that the model listed, each on a line with a date. `markOf` returns the end of a citation's line. */
export function sourcesSection(
  citations: readonly Citation[],
  listed: readonly ListedSource[],
  accessedOn: string,
  markOf: (url: string) => string = () => '',
): string {
  const byKey = new Map<string, ListedSource>();
  for (const source of listed) if (!byKey.has(pageKey(source.url))) byKey.set(pageKey(source.url), source);
  const lines = citations.map(({ url, published_at }) => {
    const { mark = '', date } = byKey.get(pageKey(url)) ?? {};
    byKey.delete(pageKey(url));
    const day = published_at === accessedOn ? (date ?? accessedOn) : published_at;
    return `- ${mark}${url} (${day})${markOf(url)}`;
  });
  for (const { url, mark, date = accessedOn } of byKey.values()) lines.push(`- ${mark}${url} (${date})`);
  if (lines.length === 0) lines.push(`- ${SEARCH_ITSELF} (${accessedOn})`);
  return ['Sources:', ...lines].join('\n');
}

/** A line for a search whose sources have no names. */
const SEARCH_ITSELF = 'web_search';

/** Characters that may surround the words of a heading: HTML tags, Markdown, bullets, emoji. */
const DECORATION =
  /<\/?[a-z][a-z0-9]{0,20}>|[\s>#*_~`【】[\]［］「」『』〈〉《》■□●○◆◇▼・•–—-]|\p{Extended_Pictographic}|\uFE0F/giu;
const HEADING =
  /^[（(]?(?:sources?(?: (?:used|consulted|cited))?|出典(?:元|一覧|リスト)?|情報源(?:一覧|リスト)?|参考(?:文献|情報|資料|リンク|サイト|元|url)?)[)）]?(?: ?[（(][^()（）:/]{0,60}[)）])? ?[:：]? ?$/i;
const MAX_HEADING = 200;

/** The sources of the section whose heading is at an index, and the line after it. */
function sectionAt(lines: readonly string[], at: number, knownIds: readonly string[]) {
  const inline = afterHeading(lines[at] ?? '');
  if (inline === undefined) return undefined;
  const first = inline === '' ? [] : sourcesIn(inline, knownIds);
  if (first === undefined) return undefined;

  const listed = [...first];
  let end = at + 1;
  let isEmpty = inline === '';
  let next = end;
  while (next < lines.length) {
    const [line, isApart] = [lines[next] ?? '', isBlank(lines[next - 1])];
    next += 1;
    if (isBlank(line)) continue;
    let entry = line;
    while (next < lines.length && /^\s{2,}\S/.test(lines[next] ?? '') && !LIST_ITEM.test(lines[next] ?? '')) {
      entry += ` ${lines[next]?.trim()}`;
      next += 1;
    }
    const sources = afterHeading(line) === undefined ? sourcesIn(entry, knownIds) : undefined;
    if (sources === undefined) {
      // An item that is no source belongs to the list, unless a blank line separates it from the sources.
      const isOfList = isEmpty || (LIST_ITEM.test(line) && !isApart);
      return isOfList ? undefined : { listed, end };
    }
    for (const source of sources) listed.push(source);
    [end, isEmpty] = [next, false];
  }
  return { listed, end };
}

/** The text after a heading of sources on the same line; undefined if the line has no such heading. */
function afterHeading(line: string): string | undefined {
  const isHeading = (text: string) =>
    text.length <= MAX_HEADING && HEADING.test(text.replace(DECORATION, ' ').replace(/ {2,}/g, ' ').trim());
  if (isHeading(line)) return '';
  const colon = line.slice(0, MAX_HEADING).search(/[:：]/) + 1;
  return colon > 0 && isHeading(line.slice(0, colon)) ? line.slice(colon).replace(/^[*_\s]+/, '') : undefined;
}

const LIST_ITEM = /^[\s>]*(?:[-*+]\s|[•・]|\d{1,3}[.)]\s|\[\^?\d{1,3}\])/;
const ENTRY = /^[\s>]*(?:[-*+]\s+|[•・]\s*)?(?:\[?\^?(?<number>\d{1,3})(?:[.)]|\]:?)\s+)?(?<text>\S.*)$/s;
/** A URL may contain parentheses. */
const BARE_PAGE = /^[\w-]+(?:\.[\w-]+)+\/\S*(?: |$)/;
/** A URL in a text. */
const URLS = /https?:\/\/(?:[^\s()（）<>[\]［］【】「」『』〈〉《》"、。，；！？|]|\([^\s()]*\))+/gi;
const ISO_DATE = /(?<!\d)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/;

/** The sources of an entry; undefined if the entry is anything but links, or a text with a URL or a known ID. `Oranges ([a.com](…))` is no source. */
function sourcesIn(entry: string, knownIds: readonly string[]): readonly ListedSource[] | undefined {
  const { number, text = '' } = ENTRY.exec(entry)?.groups ?? {};
  const isLink = /^[*_]*\[/.test(text) || /https?:\/\//i.test(text.replace(/\[[^[\]]*\]\([^()\s]*\)?/g, ' '));
  const urls = isLink ? [...text.matchAll(URLS)].map(([url]) => withoutEnd(url, /[.,;:!?*_~`]/)) : [];
  const words = new Set(text.split(/[\s,、()（）<>|[\]]+/));
  const ids = knownIds.filter((id) => words.has(id));
  const isNothing = words.has(SEARCH_ITSELF) || /^(?:none|n\/a|なし)[.。]?$/i.test(text.trim());
  // A page without a scheme is a link that cannot be cited.
  if (urls.length + ids.length === 0 && !isNothing && !BARE_PAGE.test(text)) return undefined;
  const date = ISO_DATE.exec(text.replace(URLS, ' '))?.[0];
  const mark = number === undefined ? '' : `[${number}] `;
  // A URL that cannot be shown, such as one with a password, is dropped.
  return [...urls.flatMap((url) => toWebUrl(url) ?? []), ...ids].map((url) => ({ url, mark, date }));
}

function isBlank(line = ''): boolean {
  return line.trim() === '';
}

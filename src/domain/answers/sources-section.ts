import { fenceAfter } from '../values/code-fence.ts';
import { isWebUrl } from '../values/web-url.ts';
import { type Citation, pageKey } from './citation.ts';

/**
 * Separates the sources that a model listed under `Sources:` (in any Markdown formatting, or 出典, 情報源, 参考) from the text. A heading counts
 * only if the lines after it look like sources (links, IDs, dates) or end the text: an answer about the sources of the Nile keeps its chapter.
 * Text after a list of sources stays in the body. `entries` are one per source, without bullet, in the order of the text.
 */
export function splitSources(text: string, knownIds: readonly string[]) {
  const lines = text.split('\n');
  const lastLine = lines.findLastIndex((line) => !isBlank(line));
  const end = { lastLine, lastGap: lines.findLastIndex((line, index) => index < lastLine && isBlank(line)) };
  const body: string[] = [];
  const entries: string[][] = [];
  let fence = '';
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    fence = fenceAfter(line, fence);
    const section = fence === '' ? sectionAt(lines, at, end, knownIds) : undefined;
    if (section === undefined) {
      body.push(line);
      at += 1;
    } else {
      entries.push(section.entries);
      dropRule(body);
      at = section.end;
      while (at < lines.length && isBlank(lines[at])) at += 1;
      if (at < lines.length) body.push('');
    }
  }
  dropRule(body);
  return { body: body.join('\n').trim(), entries: entries.flat() };
}

/** `Sources:` with the entries and the citations that they lack, dated (ruling 9). `marks`: URLs, and what ends their lines (ruling E5). */
export function sourcesSection(
  entries: readonly string[],
  citations: readonly Citation[],
  today: string,
  marks: readonly (readonly [string, string])[] = [],
): string {
  const listed = entries.join('\n');
  const missing = citations.filter(({ url }) => !names(listed, url));
  const dated = entries.map((entry) => withDate(entry, citations, today));
  const lines = [...dated, ...missing.map(({ url, published_at }) => withDate(url, [], published_at))];
  if (lines.length === 0) lines.push(withDate('web_search', [], today));
  const markOf = (line: string) => marks.find(([url, mark]) => mark !== '' && names(line, url))?.[1] ?? '';
  return ['Sources:', ...lines.map((line) => `- ${line}${markOf(line)}`)].join('\n');
}

/** A known day of publication replaces the day of access. */
function withDate(entry: string, citations: readonly Citation[], today: string): string {
  const known = citations.find(({ url, published_at }) => published_at !== today && names(entry, url))?.published_at;
  if (known === undefined) return dated(entry, today);
  return hasIsoDate(entry) ? withLastDate(entry, today, known) : `${entry} (${known})`;
}

/** Replaces the day of access where it is last; a URL may contain the same day. */
function withLastDate(entry: string, today: string, known: string): string {
  const at = [...entry.matchAll(URL_OR_DATE)].findLast(([text]) => text === today)?.index;
  return at === undefined ? entry : `${entry.slice(0, at)}${known}${entry.slice(at + today.length)}`;
}

/** What may surround the words of a heading: Markdown, brackets, bullets, emoji, HTML tags. */
const DECORATION =
  '(?:<\\/?[a-z][a-z0-9]{0,20}(?:\\s[^>]{0,100})?>|[\\s>#*_~`【】\\[\\]［］()（）「」『』〈〉《》■□●○◆◇▼・•–—|\\p{Extended_Pictographic}\\uFE0F-]){0,40}';
const WORDS =
  '(?:sources?(?:\\s+(?:used|consulted|cited))?|出典(?:元|一覧|リスト)?|情報源(?:一覧|リスト)?|参考(?:文献|情報|資料|リンク|サイト|元|url)?)';
const HEADING = new RegExp(
  `^${DECORATION}${WORDS}(?:\\s{0,3}[（(](?<aside>[^()（）]{0,60})[）)])?(?<closing>${DECORATION}[:：]?${DECORATION})(?<rest>.*)$`,
  'isu',
);

/** The list of sources whose heading is at an index, and the line after it. `lastLine` ends the text; `lastGap` is blank, before the last block. */
function sectionAt(
  lines: readonly string[],
  at: number,
  { lastLine, lastGap }: { readonly lastLine: number; readonly lastGap: number },
  knownIds: readonly string[],
) {
  const heading = headingAt(lines[at] ?? '');
  if (heading === undefined) return undefined;

  const { inline, date } = heading;
  const isLinked = (line: string) =>
    /https?:\/\/|\]\([^)\s]+\)/i.test(line) || knownIds.some((id) => line.includes(id));
  const content: string[] = inline === '' ? [] : [inline];
  let end = at + 1;
  for (let next = end; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (isBlank(line)) continue;
    const isBelow = next === end && inline === '';
    const isLast = content.length === 0 && next > lastGap;
    const belongs = isBelow || isLast || isLinked(line) || hasIsoDate(line) || isListItem(line);
    if (!belongs || /^\s*#{1,6}\s/.test(line) || fenceAfter(line, '') !== '' || headingAt(line) !== undefined) break;
    content.push(line);
    end = next + 1;
  }
  const isList = end > lastLine || heading.isPlain || content.some(isLinked);
  return isList ? { entries: toEntries(content).map((entry) => dated(entry, date)), end } : undefined;
}

/** The heading of a list of sources; undefined if it is not one. `date`, in brackets, applies to all entries. */
function headingAt(line: string) {
  const match = HEADING.exec(line);
  if (match === null) return undefined;
  const { aside = '', closing = '', rest = '' } = match.groups ?? {};
  const date = ISO_DATE.exec(aside)?.[0];
  const afterColon = /[:：](.*)$/s.exec(closing)?.[1];
  if (rest.trim() === '') return { inline: '', isPlain: afterColon !== undefined, date };
  // "[Sources](…)" and "Sources of energy" are not headings: text on the same line must follow a colon. Decoration that
  // opens that text (a bullet's dash, a link's bracket) belongs to it.
  if (afterColon === undefined) return undefined;
  const inline = `${afterColon.replace(/^(?:[*_~`）)】\]\s]|<\/[a-z][a-z0-9]*>)+/i, '')}${rest}`.trim();
  return { inline, isPlain: false, date };
}

function isBlank(line = ''): boolean {
  return line.trim() === '';
}

function isListItem(line: string): boolean {
  return /^\s*(?:>\s*)*(?:[-*+]\s+|[•・]|\d+[.)]\s+|\[\^?\d+\])/.test(line);
}

/** Removes the blank lines before a section, and a horizontal rule that only separated it. */
function dropRule(body: string[]): void {
  const isRule = (line: string, at: number) => /^\s*(?:[-*_]\s*){3,}$/.test(line) && isBlank(body[at - 1]);
  body.length = body.findLastIndex((line, at) => !isBlank(line) && !isRule(line, at)) + 1;
}

/** One entry per line, without bullet; an indented line continues the entry before it. */
function toEntries(content: readonly string[]): string[] {
  const entries: string[] = [];
  for (const line of withoutTables(content)) {
    const entry = line.replace(/^\s*(?:>\s*)*(?:[-*+]\s+|[•・]\s*)?/, '').trim();
    if (/^(?:[-*_]\s*)*$/.test(entry) || /^(?:none|n\/a|なし)[.。]?$/i.test(entry)) continue;
    const isContinued = entries.length > 0 && /^\s{2,}/.test(line) && !isListItem(line);
    entries.push(isContinued ? `${entries.pop()} ${entry}` : entry);
  }
  return entries;
}

/** The rows of a table as lines, without its header and the rule below the header. */
function withoutTables(content: readonly string[]): readonly string[] {
  const isRule = (line = '') => line.includes('|') && /^\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[\s:|-]*)?$/.test(line.trim());
  const isText = (line: string, index: number) => !isRule(line) && !isRule(content[index + 1]);
  return content.filter(isText).map((line) => {
    if (!/^\s*\|.*\|\s*$/.test(line)) return line;
    const cells = line.split('|').map((cell) => cell.trim());
    return cells.filter(Boolean).join(' ');
  });
}

function dated(entry: string, date: string | undefined): string {
  return date === undefined || hasIsoDate(entry) ? entry : `${entry} (${date})`;
}

const ISO_DATE = /(?<!\d)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/;

const URLS = /https?:\/\/[^\s()（）［］【】「」『』〈〉《》、。，；：！？<>"]+/gi;
const URL_OR_DATE = new RegExp(`${URLS.source}|${ISO_DATE.source}`, 'gi');

/** A date inside a URL does not count. */
function hasIsoDate(line: string): boolean {
  const withoutUrls = line.replace(URLS, ' ');
  return ISO_DATE.test(withoutUrls);
}

/** What precedes and what follows a URL or an ID that is named, and is not a part of another one. */
const NAMED_URL = {
  before: /[\w/=?&%.#~+-]/,
  after: /\/?(?:#[^\s)\]>]*)?(?![\p{L}\p{N}_/?%&=+~@:-]|[.,;!][\p{L}\p{N}])/uy,
};
const NAMED_ID = { before: /[\w-]/, after: /(?![\w-])/uy };

/** Whether the listed sources name this page or ID, and not one that only begins or ends with it. */
function names(listed: string, source: string): boolean {
  const isUrl = isWebUrl(source);
  const name = isUrl ? pageKey(source) : source;
  const { before, after } = isUrl ? NAMED_URL : NAMED_ID;
  // Not a pattern of the name: a page may have a URL that is too long for one.
  for (let at = listed.indexOf(name); at !== -1; at = listed.indexOf(name, at + 1)) {
    after.lastIndex = at + name.length;
    if (!before.test(listed[at - 1] ?? '') && after.test(listed)) return true;
  }
  return false;
}

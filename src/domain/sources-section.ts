import { type Citation, isWebUrl, pageOf } from './citation.ts';
import { fenceBehind } from './code-fence.ts';

/** What a text holds once its sources were taken out of it. */
export interface SplitText {
  readonly body: string;
  /** One source an entry, without bullet, in the order of the text. */
  readonly entries: readonly string[];
}

/**
 * Takes the sources that a model listed under `Sources:` (in any Markdown dress, or 出典, 情報源, 参考) out of its text.
 *
 * A heading counts if what follows looks like sources (links, ids, dates) or ends the text: an answer about the
 * sources of the Nile keeps its chapter. Text behind a section stays in the body.
 */
export function splitSources(text: string, knownIds: readonly string[]): SplitText {
  const lines = text.split('\n');
  const end = endOf(lines);
  const body: string[] = [];
  const entries: string[] = [];
  let fence = '';
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    fence = fenceBehind(line, fence);
    const section = fence === '' ? sectionAt(lines, at, end, knownIds) : undefined;
    if (section === undefined) {
      body.push(line);
      at += 1;
    } else {
      entries.push(...toEntries(section.content).map((entry) => dated(entry, section.date)));
      dropRule(body);
      at = section.end;
      while (lines[at]?.trim() === '') at += 1;
      if (at < lines.length) body.push('');
    }
  }
  dropRule(body);
  return { body: body.join('\n').trim(), entries };
}

/**
 * `Sources:` and its lines, each with an ISO date (ruling 9): what the model listed, then the citations that it left
 * out; `- web_search (date)` if there is neither.
 */
export function sourcesSection(entries: readonly string[], citations: readonly Citation[], today: string): string {
  const listed = entries.join('\n');
  const missing = citations.filter(({ url }) => !names(listed, url)).map(({ url }) => url);
  const lines = [...entries, ...missing];
  if (lines.length === 0) lines.push('web_search');
  return ['Sources:', ...lines.map((line) => `- ${dated(line, today)}`)].join('\n');
}

interface Section {
  readonly content: readonly string[];
  /** The line behind the section. */
  readonly end: number;
  readonly date: string | undefined;
}

/** Whatever may stand around a heading's words: marks of Markdown, brackets, bullets, emoji, HTML tags. */
const DRESS =
  '(?:<\\/?[a-z][a-z0-9]{0,20}(?:\\s[^>]{0,100})?>|[\\s>#*_~`【】\\[\\]［］()（）「」『』〈〉《》■□●○◆◇▼・•–—|\\p{Extended_Pictographic}\\uFE0F-]){0,40}';
const WORDS =
  '(?:sources?(?:\\s+(?:used|consulted|cited))?|出典(?:元|一覧|リスト)?|情報源(?:一覧|リスト)?|参考(?:文献|情報|資料|リンク|サイト|元|url)?)';
const HEADING = new RegExp(
  `^${DRESS}${WORDS}(?:\\s{0,3}[（(](?<aside>[^()（）]{0,60})[）)])?(?<closing>${DRESS}[:：]?${DRESS})(?<rest>.*)$`,
  'isu',
);

/** Where a text ends; looked up once, since it may hold a heading in every line. */
interface End {
  /** Its last line with text in it. */
  readonly lastLine: number;
  /** The blank line above its last block; -1 if there is none. */
  readonly lastGap: number;
}

function endOf(lines: readonly string[]): End {
  const lastLine = lines.findLastIndex((line) => line.trim() !== '');
  return { lastLine, lastGap: lines.findLastIndex((line, index) => index < lastLine && line.trim() === '') };
}

function sectionAt(
  lines: readonly string[],
  at: number,
  { lastLine, lastGap }: End,
  knownIds: readonly string[],
): Section | undefined {
  const heading = headingAt(lines[at] ?? '');
  if (heading === undefined) return undefined;

  const content: string[] = heading.inline === '' ? [] : [heading.inline];
  let end = at + 1;
  for (let next = end; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (line.trim() === '') continue;
    const isBelow = next === end && heading.inline === '';
    const isLast = content.length === 0 && next > lastGap;
    const belongs = isBelow || isLast || isSourceLike(line, knownIds) || isListItem(line);
    if (!belongs || /^\s*#{1,6}\s/.test(line) || isFence(line) || headingAt(line) !== undefined) break;
    content.push(line);
    end = next + 1;
  }
  const endsText = end > lastLine;
  const isPlain = heading.hasColon && heading.inline === '';
  const isList = endsText || isPlain || content.some((line) => isLinked(line, knownIds));
  return isList ? { content, end, date: heading.date } : undefined;
}

interface Heading {
  /** What stands behind it on its own line, '' if nothing does. */
  readonly inline: string;
  readonly hasColon: boolean;
  /** The date that stands in brackets beside its words, for all its entries. */
  readonly date: string | undefined;
}

/** The heading of a list of sources; undefined if the line is none. */
function headingAt(line: string): Heading | undefined {
  const match = HEADING.exec(line);
  const { aside = '', closing = '', rest = '' } = match?.groups ?? {};
  const date = ISO_DATE.exec(aside)?.[0];
  if (match === null) return undefined;
  const colon = closing.search(/[:：]/);
  if (rest.trim() === '') return { inline: '', hasColon: colon >= 0, date };
  // "[Sources](…)" or "Sources of energy" is no heading: words behind it need a colon before them. The dress that
  // opens the content itself (a bullet's dash, a link's bracket) is given back to it.
  if (colon < 0) return undefined;
  const inline = `${closing.slice(colon + 1).replace(/^(?:[*_~`）)】\]\s]|<\/[a-z][a-z0-9]*>)+/i, '')}${rest}`.trim();
  return { inline, hasColon: true, date };
}

function isFence(line: string): boolean {
  return /^\s*(?:```|~~~)/.test(line);
}

function isListItem(line: string): boolean {
  return /^\s*(?:>\s*)*(?:[-*+]\s+|[•・]|\d+[.)]\s+|\[\^?\d+\])/.test(line);
}

function isSourceLike(line: string, knownIds: readonly string[]): boolean {
  return isLinked(line, knownIds) || hasIsoDate(line);
}

function isLinked(line: string, knownIds: readonly string[]): boolean {
  return /https?:\/\/|\]\([^)\s]+\)/i.test(line) || knownIds.some((id) => line.includes(id));
}

/** The blank lines above a section, and a horizontal rule that only set it apart, go with it. */
function dropRule(body: string[]): void {
  dropBlankLines(body);
  while (/^\s*(?:[-*_]\s*){3,}$/.test(body.at(-1) ?? '') && (body.at(-2) ?? '').trim() === '') {
    body.pop();
    dropBlankLines(body);
  }
}

function dropBlankLines(body: string[]): void {
  while (body.at(-1)?.trim() === '') body.pop();
}

/** One entry a line, without bullet; an indented line goes on with the entry above it. */
function toEntries(content: readonly string[]): string[] {
  const entries: string[] = [];
  for (const line of withoutTables(content)) {
    const entry = line.replace(/^\s*(?:>\s*)*(?:[-*+]\s+|[•・]\s*)?/, '').trimEnd();
    if (/^(?:[-*_]\s*)*$/.test(entry) || /^(?:none|n\/a|なし)[.。]?$/i.test(entry)) continue;
    const above = entries.at(-1);
    if (above !== undefined && /^\s{2,}/.test(line) && !isListItem(line)) {
      entries[entries.length - 1] = `${above} ${entry.trim()}`;
    } else {
      entries.push(entry.trim());
    }
  }
  return entries;
}

/** The rows of a table as lines, without its head and the rule below that. */
function withoutTables(content: readonly string[]): readonly string[] {
  const isRule = (line = '') => line.includes('|') && /^\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[\s:|-]*)?$/.test(line.trim());
  return content
    .filter((line, index) => !isRule(line) && !isRule(content[index + 1]))
    .map((line) =>
      /^\s*\|.*\|\s*$/.test(line)
        ? line
            .split('|')
            .map((cell) => cell.trim())
            .filter(Boolean)
            .join(' ')
        : line,
    );
}

function dated(entry: string, date: string | undefined): string {
  return date === undefined || hasIsoDate(entry) ? entry : `${entry} (${date})`;
}

const ISO_DATE = /(?<!\d)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/;

/** A date of its own: one inside a URL tells nothing of the source. */
function hasIsoDate(line: string): boolean {
  const withoutUrls = line.replace(/https?:\/\/[^\s()（）［］【】「」『』〈〉《》、。，；：！？<>"]+/gi, ' ');
  return ISO_DATE.test(withoutUrls);
}

/** Whether the listed sources name this one: the same page, or the same id, with no more of a URL or word around it. */
function names(listed: string, source: string): boolean {
  const [before, page, behind] = isWebUrl(source)
    ? ['(?<![\\w/=?&%.#~+-])', pageOf(source), '/?(?:#[^\\s)\\]>]*)?(?![\\p{L}\\p{N}_/?%&=+~@:-]|[.,;!][\\p{L}\\p{N}])']
    : ['(?<![\\w-])', source, '(?![\\w-])'];
  return new RegExp(`${before}${escapeRegExp(page)}${behind}`, 'u').test(listed);
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

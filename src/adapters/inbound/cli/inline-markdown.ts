import { type Cell, toCells } from './terminal-cells.ts';
import type { TerminalLinks } from './terminal-links.ts';

const IN_URL = '[^\\s<>"`()（）［］【】「」『』、。，；：！？]';
/** Some have parentheses in pairs, as those of encyclopedias. */
const PAIR = `\\(${IN_URL}*\\)`;
/** A URL in a text, without the punctuation after it. */
const URL_IN_TEXT = `https?:\\/\\/(?:${IN_URL}|${PAIR})*(?:(?![.,;:!?*_\\]])${IN_URL}|${PAIR})`;
const LINK =
  '!?\\[(?<label>[^\\[\\]]*(?:\\[[^\\[\\]]*\\][^\\[\\]]*)*)\\]\\((?<target>https?:\\/\\/[^\\s()]*(?:\\([^\\s()]*\\)[^\\s()]*)*)(?:\\s+"[^"]*")?\\)';
const CODE = '(?<!`)(?<ticks>`{1,3})(?!`)(?<code>.+?)(?<!`)\\k<ticks>(?!`)';
const inline = (url: string) =>
  new RegExp(`\\\\(?<escaped>[!-/:-@[-\`{-~])|${CODE}|${LINK}|(?<url>${url})|\\*\\*|__|[*_]`, 'gu');
const INLINE = inline(URL_IN_TEXT);
/** A source begins with its URL, which ends with the word. */
const SOURCE = inline(`^https?:\\/\\/\\S*[^\\s.,;:!?]|${URL_IN_TEXT}`);

const STYLE_OF: Readonly<Record<string, string>> = { '**': '1', __: '1', '*': '3', _: '3' };
const UNDERLINED = '4';
const CODE_STYLE = '36';

/**
 * The text of one line of Markdown, with its styles. What is no Markdown is kept. A link that the terminal does not open is followed by its
 * number; with `showsUrls`, as in a list of sources, by its URL. One that it opens is followed by its host, unless its text names it. `base` is
 * the style around the text.
 */
export function inlineCells(
  line: string,
  links: TerminalLinks,
  showsUrls = false,
  base: readonly string[] = [],
): Cell[] {
  const matches = [...line.matchAll(showsUrls ? SOURCE : INLINE)];
  const paired = pairedMarks(line, matches);
  const cells: Cell[] = [];
  const styles = new Set(base);
  const add = (text: string, style: readonly string[] = [], url?: string) => {
    for (const cell of toCells(text, [...styles, ...style].sort().join(';'), url)) cells.push(cell);
  };
  let end = 0;
  for (const match of matches) {
    const { 0: text, index, groups: { escaped, code, label, target, url } = {} } = match;
    add(line.slice(end, index));
    end = index + text.length;
    const mark = STYLE_OF[text];
    if (escaped !== undefined) add(escaped);
    else if (code !== undefined) add(code, [CODE_STYLE]);
    else if (target !== undefined) {
      const inner = inlineCells(label || target, links, showsUrls, [...styles, UNDERLINED]);
      for (const cell of inner) cells.push({ ...cell, url: target });
      const isOpened = links.hrefOf(target) !== undefined;
      if (showsUrls && !isOpened) links.addShown(target);
      if (!isOpened) add(showsUrls ? `: ${target}` : `\u00A0[${links.toNumber(target)}]`);
      else if (!names(label || target, hostIn(target))) add(`\u00A0(${hostIn(target)})`);
    } else if (url !== undefined) {
      links.addShown(url);
      add(url, [], url);
    } else if (mark === undefined || !paired.has(index)) add(text);
    else if (base.includes(mark) || !styles.delete(mark)) styles.add(mark);
  }
  add(line.slice(end));
  return cells;
}

function hostIn(url: string): string {
  return withoutWww(new URL(url).hostname);
}

/** Whether one of the words of a label is a host. */
function names(label: string, host: string): boolean {
  return label.split(/[^\p{L}\p{N}.-]+/u).some((word) => withoutWww(word) === host);
}

function withoutWww(name: string): string {
  return name.replace(/^www\./, '');
}

/** The positions of marks that begin or end an emphasis. One pass, since a text from the web may have any number of them. */
function pairedMarks(line: string, matches: readonly RegExpExecArray[]): ReadonlySet<number> {
  const open = new Map<string, number>();
  const paired = new Set<number>();
  for (const { 0: mark, index } of matches) {
    if (STYLE_OF[mark] === undefined) continue;
    const [before = ' ', after = ' '] = [line[index - 1], line[index + mark.length]];
    // `snake_case` has none, and neither has `2*3*4`.
    const within = mark === '*' ? /\p{N}/u : /[\p{L}\p{N}_]/u;
    const isWithin = mark !== '**' && within.test(before) && within.test(after);
    const start = open.get(mark);
    if (isWithin) continue;
    if (start !== undefined && !/\s/.test(before)) {
      paired.add(start).add(index);
      open.delete(mark);
    } else if (!/\s/.test(after)) open.set(mark, index);
  }
  return paired;
}

import { withoutUnsafeCharacters } from '../../../domain/values/clean-text.ts';
import { fenceAfter } from '../../../domain/values/code-fence.ts';
import { inlineCells } from './inline-markdown.ts';
import { type Cell, toAnsi, toCells, widthOf, wrapCells } from './terminal-cells.ts';
import { TerminalLinks } from './terminal-links.ts';

export interface TerminalLook {
  readonly columns: number;
  readonly hasStyles: boolean;
  /** Whether it opens links (OSC 8). Otherwise they have numbers, and their URLs are listed after the text. */
  readonly hasHyperlinks: boolean;
}

const BOLD = '1';
const CODE = '36';
/** The heading of the list that ends every answer with sources. */
const SOURCES = 'Sources:';
/** Deeper lists leave no room for text. */
const MAX_INDENT = 16;

/**
 * An answer as a person reads it on a terminal: the Markdown that answers contain as styles, in lines of its width. Line breaks stay, since
 * models mean them. No text can drive the terminal: control characters are removed, and links lead to web pages only.
 */
export function toTerminalText(markdown: string, look: TerminalLook): string {
  const source = withoutUnsafeCharacters(markdown).replaceAll('\t', '    ').split('\n');
  const links = new TerminalLinks(look.hasHyperlinks);
  const lines = linesOf(source, look.columns, links);
  const unlisted = links.unlisted();
  if (unlisted.length > 0 && !source.includes(SOURCES)) lines.push([]);
  for (const entry of unlisted) lines.push(toCells(entry));
  const shown = look.hasStyles ? lines : lines.map((line) => line.map((cell) => ({ ...cell, style: '' })));
  return shown.map((line) => toAnsi(line, (url) => links.hrefOf(url))).join('\n');
}

function linesOf(source: readonly string[], columns: number, links: TerminalLinks): Cell[][] {
  const lines: Cell[][] = [];
  const sourcesAt = source.lastIndexOf(SOURCES);
  let fence = '';
  for (let at = 0; at < source.length; at += 1) {
    const line = source[at] ?? '';
    const opened = fence;
    fence = fenceAfter(line, opened);
    if (opened !== '' && fence !== '') lines.push([...toCells('    '), ...toCells(line, CODE)]);
    if (opened !== '' || fence !== '') continue;
    const rows = tableAt(source, at, links);
    const isSource = sourcesAt !== -1 && at > sourcesAt;
    const block = rows.length > 0 ? tableLines(rows, columns) : lineLines(line, columns, links, isSource);
    for (const cells of block) lines.push(cells);
    // With the rule of a table, which is not a row.
    at += rows.length;
  }
  return lines;
}

const RULE = /^\s*(?:[-*_]\s*){3,}$/;
const QUOTE = /^(?:\s{0,3}>\s?)+/;
const ENTRY = /^(?<indent>\s*)(?<bullet>[-*+•]|\d{1,9}[.)])\s+(?=\S)/;

/** One line of the source: a heading, a rule, an entry of a list, or text; each may be quoted. */
function lineLines(line: string, columns: number, links: TerminalLinks, isSource: boolean): Cell[][] {
  const quote = QUOTE.exec(line)?.[0] ?? '';
  const bars = '│ '.repeat(Math.min(quote.split('>').length - 1, 4));
  const text = line.slice(quote.length);
  if (RULE.test(text)) return [toCells('─'.repeat(columns))];
  const heading = /^\s*#{1,6}\s+(?=[^\s#])/.exec(text)?.[0];
  if (heading !== undefined) {
    const title = inlineCells(text.slice(heading.length).replace(/\s#+\s*$/, ''), links, false, [BOLD]);
    return hanging(bars, '', title, columns);
  }
  const entry = ENTRY.exec(text);
  const indent = entry?.groups?.indent ?? /^\s*/.exec(text)?.[0] ?? '';
  const rest = text.slice(entry?.[0].length ?? indent.length);
  const start = bars + ' '.repeat(Math.min(indent.length, MAX_INDENT));
  const bullet = entry?.groups?.bullet?.replace(/^[-*+]$/, '•');
  if (bullet === undefined) return hanging(start, '', inlineCells(rest, links), columns);
  const cells = inlineCells(rest, links, isSource);
  if (!isSource) return hanging(start, `${bullet} `, cells, columns);
  const numbers = cells.map(({ url }) => url && links.numberOf(url));
  const number = numbers.find((number) => typeof number === 'number');
  const marker = number === undefined ? (links.hasNumbers ? ' • ' : bullet) : `[${number}]`;
  return hanging(start, `${marker} `, cells, columns);
}

/** Wrapped lines after `start`; those after the first are indented below the text that follows `marker`. */
function hanging(start: string, marker: string, cells: readonly Cell[], columns: number): Cell[][] {
  const [first, others] = [toCells(start + marker), toCells(start + ' '.repeat(marker.length))];
  const lines = wrapCells(cells, columns - widthOf(first));
  return lines.map((line, index) =>
    line.length === 0 && marker === '' ? [] : [...(index === 0 ? first : others), ...line],
  );
}

/** The cells of the table that begins at a line, row by row; none if there is no table. */
function tableAt(source: readonly string[], at: number, links: TerminalLinks): readonly Cell[][][] {
  const rule = source[at + 1] ?? '';
  if (!isRow(source[at]) || !/^[\s|:-]+$/.test(rule) || !rule.includes('-') || !rule.includes('|')) return [];
  const rows = [source[at] ?? ''];
  for (let next = at + 2; isRow(source[next]); next += 1) rows.push(source[next] ?? '');
  // Without what is before the first bar and after the last one.
  return rows.map((row) =>
    row
      .split(BAR)
      .slice(1, -1)
      .map((text) => inlineCells(text.trim().replaceAll('\\|', '|'), links)),
  );
}

/** One after a backslash belongs to a cell, also in code. */
const BAR = /(?<!\\)\|/;

function isRow(line = ''): boolean {
  return /^\s*\|.*(?<!\\)\|\s*$/.test(line);
}

/** A table in columns; or, if it is too wide, one entry per row. */
function tableLines([header = [], ...rows]: readonly Cell[][][], columns: number): Cell[][] {
  const bold = header.map((cells) => cells.map((cell) => ({ ...cell, style: cell.style || BOLD })));
  const widths: number[] = [];
  for (const row of [header, ...rows])
    for (const [index, cells] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(cells));
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  if (total <= columns) {
    const line = (row: readonly (readonly Cell[])[]) =>
      row.flatMap((cells, index) => {
        const padding = (widths[index] ?? 0) - widthOf(cells) + 2;
        return index === row.length - 1 ? cells : [...cells, ...toCells(' '.repeat(padding))];
      });
    return [line(bold), toCells(widths.map((width) => '─'.repeat(width)).join('  ')), ...rows.map(line)];
  }
  return rows.flatMap(([first = [], ...others]) => [
    ...wrapCells(first, columns),
    ...others.flatMap((cells, index) =>
      hanging('  ', '', [...(bold[index + 1] ?? []), ...toCells(': '), ...cells], columns),
    ),
  ]);
}

import stringWidth from 'string-width';

/** What people see as one character, with the style and the link that it has on a terminal. */
export interface Cell {
  readonly text: string;
  /** In columns: East Asian characters and emoji take two. */
  readonly width: number;
  /** Parameters of an SGR sequence, such as `1;36`; '' is the style of the terminal. */
  readonly style: string;
  /** Where it leads; undefined if it is no link. */
  readonly url?: string | undefined;
}

const segmenter = new Intl.Segmenter();
/** To find a width takes much longer than to look it up, and texts repeat their characters. */
const widths = new Map<string, number>();

export function toCells(text: string, style = '', url?: string): Cell[] {
  // To begin with a text takes the segmenter long, and ASCII needs none.
  const segments = /^[ -~]*$/.test(text) ? [...text] : Array.from(segmenter.segment(text), ({ segment }) => segment);
  return segments.map((text) => {
    const width = widths.get(text) ?? stringWidth(text);
    widths.set(text, width);
    return { text, width, style, url };
  });
}

export function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0);
}

const NO_CELL = { text: '', style: '', url: undefined, href: undefined };

/** Cells as text. Each line resets what it has set. `hrefOf`: the link to a URL, of visible ASCII characters, if the terminal opens it. */
export function toAnsi(cells: readonly Cell[], hrefOf: (url: string) => string | undefined): string {
  let shown = '';
  let before: Omit<Cell, 'width'> & { readonly href: string | undefined } = NO_CELL;
  for (const { text, style, url } of [...cells, NO_CELL]) {
    const href = url === before.url ? before.href : url && hrefOf(url);
    if (style !== before.style && before.style !== '') shown += '\u001B[0m';
    if (href !== before.href) shown += `\u001B]8;;${href ?? ''}\u001B\\`;
    if (style !== before.style && style !== '') shown += `\u001B[${style}m`;
    shown += text;
    before = { text, style, url, href };
  }
  return shown;
}

/**
 * Breaks cells into lines of at most `columns`: at blanks, which are left out there, and between East Asian characters. A longer word is a
 * line that the terminal continues, so that a URL can still be selected.
 */
export function wrapCells(cells: readonly Cell[], columns: number): Cell[][] {
  const lines: Cell[][] = [];
  let line: Cell[] = [];
  let width = 0;
  for (const { blanks, word } of toWords(cells)) {
    const next = widthOf(word);
    if (width > 0 && width + blanks.length + next > columns) {
      lines.push(line);
      [line, width] = [[], 0];
    } else if (width > 0) {
      for (const blank of blanks) line.push(blank);
      width += blanks.length;
    }
    for (const cell of word) line.push(cell);
    width += next;
  }
  return [...lines, line];
}

/** What stays on one line, with the blanks before it. */
function toWords(cells: readonly Cell[]): { readonly blanks: Cell[]; readonly word: Cell[] }[] {
  const words: { blanks: Cell[]; word: Cell[] }[] = [];
  let blanks: Cell[] = [];
  let last: Cell | undefined;
  for (const cell of cells) {
    const word = words.at(-1)?.word;
    if (cell.text === ' ') blanks.push(cell);
    else if (word === undefined || last === undefined || blanks.length > 0 || isBreakable(last, cell)) {
      words.push({ blanks, word: [cell] });
      blanks = [];
    } else word.push(cell);
    last = cell;
  }
  return words;
}

/** Marks that do not begin a line of Japanese, or do not end one (kinsoku). */
const NO_START = /^[\p{Pe}\p{Pf}\p{Po}ー〜～ゝゞ々ヽヾぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ％℃]/u;
const NO_END = /[\p{Ps}\p{Pi}]$/u;

function isBreakable(before: Cell, after: Cell): boolean {
  const isWide = before.width > 1 || after.width > 1;
  return isWide && !NO_END.test(before.text) && !NO_START.test(after.text);
}

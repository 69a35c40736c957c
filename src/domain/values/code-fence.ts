/** A block of code that is open: its marks, and the quotations and the indentation of the item in which it is. */
interface Fence {
  readonly marks: string;
  readonly quotes: number;
  readonly item: number;
}

const QUOTE = / {0,3}> ?/y;
const BLANKS = / */y;
const ITEM = /(?:[-+*]|\d{1,9}[.)])(?: {1,4}(?! )| (?= )|$)/y;
/** Backticks before other text with backticks are code in a line. */
const OPENING = /`{3,}(?=[^`]*$)|~{3,}/y;

/**
 * The lines of a text in Markdown that are code between fences, with the fences. A block ends, as in CommonMark, with its fence, or with the quotation or the
 * item in which it is. `open`: the line that closes the block in which the text ends, or ''.
 */
export function fencedLines(lines: readonly string[]): { readonly isCode: readonly boolean[]; readonly open: string } {
  const reading = new Reading();
  const isCode = lines.map((line) => reading.isCode(line.replaceAll('\t', '    ').trimEnd()));
  return { isCode, open: reading.closing };
}

/** Closes the block of code in which a text may end, so that following text is not part of it. */
export function closeFence(text: string): string {
  const { open } = fencedLines(text.split('\n'));
  return open === '' ? text : `${text}\n${open}`;
}

class Reading {
  /** The indentation of the text of each item that is open. */
  #items: number[] = [];
  #quotes = 0;
  #fence: Fence | undefined;

  get closing(): string {
    const { marks = '', quotes = 0, item = 0 } = this.#fence ?? {};
    return marks && `${'> '.repeat(quotes)}${' '.repeat(item)}${marks}`;
  }

  isCode(line: string): boolean {
    if (this.#fence !== undefined && this.#isInside(line, this.#fence)) return true;
    this.#fence = this.#opening(line);
    return this.#fence !== undefined;
  }

  /** Whether a line is a part of the open block, which it may close. */
  #isInside(line: string, { marks, quotes, item }: Fence): boolean {
    const { count, end } = quotesOf(line, quotes);
    const indent = lengthAt(BLANKS, line, end);
    const text = line.slice(end + indent);
    if (count < quotes || (text !== '' && indent < item)) {
      this.#fence = undefined;
      return false;
    }
    const isFence = text.startsWith(marks) && text === marks.charAt(0).repeat(text.length);
    if (isFence && indent - item <= 3) this.#fence = undefined;
    return true;
  }

  #opening(line: string): Fence | undefined {
    const { count: quotes, end } = quotesOf(line);
    if (quotes !== this.#quotes) this.#items = [];
    this.#quotes = quotes;
    if (end === line.length) return undefined;
    let at = end + lengthAt(BLANKS, line, end);
    while ((this.#items.at(-1) ?? 0) > at - end) this.#items.pop();
    const depth = () => at - end - (this.#items.at(-1) ?? 0);
    for (let item = lengthAt(ITEM, line, at); item > 0 && depth() <= 3; item = lengthAt(ITEM, line, at)) {
      at += item;
      this.#items.push(at - end);
      at += lengthAt(BLANKS, line, at);
    }
    const marks = line.slice(at, at + lengthAt(OPENING, line, at));
    return marks === '' || depth() > 3 ? undefined : { marks, quotes, item: this.#items.at(-1) ?? 0 };
  }
}

/** The marks of quotations at the beginning of a line. */
function quotesOf(line: string, max = Number.POSITIVE_INFINITY) {
  let [count, end] = [0, 0];
  for (let next = lengthAt(QUOTE, line, 0); next > 0 && count < max; next = lengthAt(QUOTE, line, end)) {
    [count, end] = [count + 1, end + next];
  }
  return { count, end };
}

function lengthAt(pattern: RegExp, line: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0].length ?? 0;
}

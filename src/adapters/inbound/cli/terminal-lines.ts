import stringWidth from 'string-width';
import { INSTALLED, type OwnCommand } from '../../../domain/gateway/own-command.ts';
import { styledLines } from '../../../domain/values/terminal-style.ts';

/** The minimum width of deeply nested blocks. */
export const MIN_COLUMNS = 10;

/**
 * Breaks a text into lines at blanks, and between words of languages without blanks. A URL, a path or a long word stays whole, so that a person can
 * select it.
 */
export function wrapped(text: string, columns: number): readonly string[] {
  const width = Math.max(columns, MIN_COLUMNS);
  return styledLines(text.split('\n').flatMap((line) => filled(line, width)));
}

/** Puts the marker before the first line, and indents the others to its width. */
export function hanging(marker: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => (index === 0 ? marker + line : line && ' '.repeat(marker.length) + line));
}

interface Fitting {
  /** The width of the terminal; undefined if a program reads the lines, which then stay whole. */
  readonly columns?: number | undefined;
  readonly ownCommand?: OwnCommand | undefined;
  /** By how much the other parts of a line are indented. */
  readonly hang?: number;
}

/** Breaks the lines that are too long for a terminal. A line with a command of this program stays whole, so that a person can copy it. */
export function fitted(text: string, { columns, ownCommand = INSTALLED, hang = 2 }: Fitting): string {
  if (columns === undefined) return text;
  const fit = (line: string) => {
    if (stringWidth(line) <= columns || line.includes(`${ownCommand.program} `)) return [line];
    const words = line.trimStart();
    const indent = line.length - words.length;
    const [first, ...others] = wrapped(words, columns - indent - hang);
    return [' '.repeat(indent) + first, ...others.map((other) => ' '.repeat(indent + hang) + other)];
  };
  return text.split('\n').flatMap(fit).join('\n');
}

function filled(line: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  let width = 0;
  let hasWords = false;
  for (const [index, word] of line.split(' ').entries()) {
    for (const [at, part] of partsOf(word).entries()) {
      const gap = at === 0 && index > 0 ? ' ' : '';
      const added = stringWidth(part);
      const isNew = hasWords && width + gap.length + added > columns;
      if (isNew) lines.push(current.trimEnd());
      current = isNew ? part : current + gap + part;
      width = isNew ? added : width + gap.length + added;
      // The marker of a list stays beside its text.
      hasWords ||= added > 0 && part !== '-';
    }
  }
  return [...lines, current];
}

const SEGMENTER = new Intl.Segmenter('ja', { granularity: 'word' });
/** What no line begins with, also after an escape code: closing brackets, full stops, and the blank before the number of a link. */
const NEVER_FIRST = /^[\p{Pe}\p{Pf}\p{Po}\u00A0\u001B]/u;
/** What no line ends with, also before an escape code. */
const NEVER_LAST = /[\p{Ps}\p{Pi}](?:\u001B\[\d{1,2}m){0,3}$/u;
/** The length of the longest text that NEVER_LAST finds. */
const LONGEST_END = 17;

/** The parts between which a line may end: those beside a wide character, since languages with such characters have no blanks between words. */
function partsOf(word: string): readonly string[] {
  const parts: string[] = [];
  for (const { segment } of stringWidth(word) === word.length ? [{ segment: word }] : SEGMENTER.segment(word)) {
    const before = parts.at(-1) ?? '';
    const isWide = [before.slice(-1), segment.slice(0, 1)].some((character) => stringWidth(character) === 2);
    if (before !== '' && (!isWide || NEVER_FIRST.test(segment) || NEVER_LAST.test(before.slice(-LONGEST_END))))
      parts.splice(-1, 1, before + segment);
    else parts.push(segment);
  }
  return parts;
}

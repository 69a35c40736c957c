/** The SGR parameters that begin and end each style. */
const STYLES = {
  bold: [1, 22],
  italic: [3, 23],
  underlined: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Style = keyof typeof STYLES;

/** A text in a style, if a terminal shows it that has styles. An inner end of the style becomes its beginning, so that the style continues. */
export function styled(style: Style, text: string, hasStyles: boolean): string {
  const [begin, end] = STYLES[style];
  return hasStyles ? `${sgr(begin)}${text.replaceAll(sgr(end), sgr(begin))}${sgr(end)}` : text;
}

/** The lines of a text, each of which ends the styles that are open at its end, and begins those that are open before it. */
export function styledLines(lines: readonly string[]): readonly string[] {
  let open: readonly (readonly [begin: number, end: number])[] = [];
  return lines.map((line) => {
    const before = open;
    for (const [, parameter] of line.matchAll(/\u001B\[(\d{1,2})m/g)) {
      const begun = Object.values(STYLES).find(([begin]) => begin === Number(parameter));
      open = [...open.filter(([begin, end]) => ![begin, end].includes(Number(parameter))), ...(begun ? [begun] : [])];
    }
    return `${before.map(([begin]) => sgr(begin)).join('')}${line}${open.map(([, end]) => sgr(end)).join('')}`;
  });
}

function sgr(parameter: number): string {
  return `\u001B[${parameter}m`;
}

// What a terminal shows, as SVG that needs no font, script or file of its own, so that every page can show it.
import stringWidth from 'string-width';

/** The terminal: wide enough for the commands and the sources, and without links that it opens, so that they have numbers. */
export const LOOK = { columns: 88, hasStyles: true, hasHyperlinks: false };

/** The pictures that the documents show: in light and in dark, for each of these questions. */
export const QUESTIONS = {
  'ask-en': 'What is the latest MCP specification revision?',
  'ask-ja': '本日 2026-11-20 の東京の天気は？',
};

export const THEMES = {
  light: { back: '#ffffff', line: '#d0d7de', dots: '#afb8c1', command: '#116329', code: '#0550ae', text: '#1f2328' },
  dark: { back: '#0d1117', line: '#30363d', dots: '#484f58', command: '#7ee787', code: '#79c0ff', text: '#e6edf3' },
};

/** In pixels. In the usual monospace fonts, a cell is 0.6 times as wide as the size of the font. */
const FONT_SIZE = 14;
const CELL = { width: 8.4, height: 21 };
const MARGIN = 20;
const BAR = 32;
const WIDTH = 2 * MARGIN + LOOK.columns * CELL.width;
const FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace";

/** @param {string} question @param {string} output lines with the styles of a terminal @param {typeof THEMES.light} colors */
export function terminalImage(question, output, colors) {
  const command = `$ openai-responses-mcp ask --offline "${question}"`;
  const rows = [
    { text: command, fill: colors.command },
    ...output
      .trimEnd()
      .split('\n')
      .map((text) => ({ text, fill: colors.text })),
  ];
  const height = BAR + MARGIN / 2 + rows.length * CELL.height + MARGIN;
  const texts = rows.map(({ text, fill }, index) => {
    if (text === '') return undefined;
    const y = BAR + MARGIN / 2 + (index + 1) * CELL.height - 6;
    // Each row is exactly as wide as its cells, whichever fonts are there.
    const length = `textLength="${pixels(stringWidth(text) * CELL.width)}" lengthAdjust="spacingAndGlyphs"`;
    return `<text x="${MARGIN}" y="${y}" ${length} fill="${fill}" xml:space="preserve">${styled(text, colors)}</text>`;
  });
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${pixels(WIDTH)}" height="${height}" viewBox="0 0 ${pixels(WIDTH)} ${height}" role="img" aria-label="${escaped(command)}">`,
    `<rect x="0.5" y="0.5" width="${pixels(WIDTH - 1)}" height="${height - 1}" rx="8" fill="${colors.back}" stroke="${colors.line}"/>`,
    `<path d="M20 16h0M40 16h0M60 16h0" stroke="${colors.dots}" stroke-width="11" stroke-linecap="round"/>`,
    `<g font-family="${FONTS}" font-size="${FONT_SIZE}">`,
    ...texts.filter((text) => text !== undefined),
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
}

/** A line with SGR sequences. Each style ends before the next begins, as the program writes them. */
function styled(line, colors) {
  const attributes = {
    1: 'font-weight="bold"',
    3: 'font-style="italic"',
    4: 'text-decoration="underline"',
    36: `fill="${colors.code}"`,
  };
  const [start, ...parts] = line.split('\u001B[');
  const others = parts.map((part) => {
    const end = part.indexOf('m');
    const given = part
      .slice(0, end)
      .split(';')
      .flatMap((code) => attributes[code] ?? []);
    const text = escaped(part.slice(end + 1));
    return given.length === 0 ? text : `<tspan ${given.join(' ')}>${text}</tspan>`;
  });
  return escaped(start) + others.join('');
}

function pixels(length) {
  return Math.round(length * 10) / 10;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

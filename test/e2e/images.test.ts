import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { LOOK, QUESTIONS, THEMES, terminalImage } from '../../scripts/lib/terminal-image.js';
import { toTerminalText } from '../../src/adapters/inbound/cli/terminal-markdown.ts';
import { runCli } from '../support/run-cli.ts';
import { ROOT } from './serve.ts';

const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const images = readdirSync(path.join(ROOT, 'docs/images')).map((name) => `docs/images/${name}`);
const drawings = images.filter((name) => name.endsWith('.svg'));

test.for(Object.entries(QUESTIONS))(
  'the pictures %s show what the program answers, as a terminal shows it',
  async ([name, question]) => {
    const { code, stdout } = await runCli(['ask', '--offline', question]);
    expect(code).toBe(0);
    for (const [theme, colors] of Object.entries(THEMES)) {
      const file = `docs/images/${name}-${theme}.svg`;
      const message = `${file} is out of date: run "npm run images", and commit the result`;
      expect(read(file), message).toBe(terminalImage(question, toTerminalText(stdout, LOOK), colors));
    }
  },
);

test('a picture of a terminal contains every character of the command and the output', () => {
  const svg = terminalImage('1 < "2" & 3 > 2?', 'One.\n\n  Two & <three>.\n', THEMES.light);
  expect(textsOf(svg)).toEqual(['$ openai-responses-mcp ask --offline "1 < "2" & 3 > 2?"', 'One.', '  Two & <three>.']);
});

test('a picture of a terminal shows the styles of the terminal', () => {
  const svg = terminalImage('?', toTerminalText('**Bold & `code`**, [link](https://example.com/).', LOOK), THEMES.dark);
  expect(svg).toContain(
    '><tspan font-weight="bold">Bold &amp; </tspan><tspan font-weight="bold" fill="#79c0ff">code</tspan>, <tspan text-decoration="underline">link</tspan>\u00A0[1].</text>',
  );
});

test.for(drawings.map((name) => [name]))('%s needs nothing but itself, and has a name', ([name = '']) => {
  const svg = read(name);
  expect(svg).not.toMatch(/<script|<image|<foreignObject|@import|@font-face|\son\w+=|href|url\((?!#)/i);
  expect(svg).toMatch(/^<svg [^>]*role="img" aria-label="[^"]{20,}"/);
  const sizes = [...svg.matchAll(/font(?:-size="|: )(\d+)/g)].map(([, size]) => Number(size));
  expect(sizes.length).toBeGreaterThan(0);
  expect(Math.min(...sizes)).toBeGreaterThanOrEqual(13);
  const [, width] = /width="([\d.]+)"/.exec(svg) ?? [];
  expect(Number(width)).toBeLessThanOrEqual(860);
});

test.for(Object.keys(QUESTIONS))('the rows of %s have the width of their cells, and none is broken', (name) => {
  const svg = read(`docs/images/${name}-light.svg`);
  const lengths = [...svg.matchAll(/textLength="([\d.]+)"/g)].map(([, length]) => Number(length));
  const widths = textsOf(svg).map((text) => stringWidth(text));
  expect(Math.max(...widths)).toBeLessThanOrEqual(LOOK.columns);
  expect(lengths.map((length) => length.toFixed(1))).toEqual(widths.map((width) => (width * 8.4).toFixed(1)));
});

test('both drawings of the architecture are the same but for their colors', () => {
  const [light, dark] = ['light', 'dark'].map((theme) => read(`docs/images/architecture-${theme}.svg`));
  const withoutColors = (svg = '') => svg.replaceAll(/#[0-9a-f]{6}\b/g, '#');
  expect(withoutColors(dark)).toBe(withoutColors(light));
  expect(dark).not.toBe(light);
  expect(light).toContain('<title>');
});

test('what the drawing of the architecture names is in the sources', () => {
  const entries = readdirSync(path.join(ROOT, 'src'), { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => {
    const name = path.relative(ROOT, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/');
    return entry.isDirectory() ? `/${name}/` : `/${name}`;
  });
  const sources = paths.filter((name) => name.endsWith('.ts'));
  const identifiers = new Set(sources.flatMap((name) => read(name).match(/\w+/g) ?? []));
  const words = textsOf(read('docs/images/architecture-light.svg')).flatMap((text) => text.split(/,? /));

  const files = words.filter((word) => /\/|\.ts$/.test(word));
  expect(files.length).toBeGreaterThan(20);
  const isIn = (word: string) => paths.some((name) => new RegExp(`/${word.replace('*', '[\\w-]+')}/?$`).test(name));
  expect(files.filter((word) => !isIn(word))).toEqual(['I/O']);
  const names = words.filter((word) => /^[A-Za-z]+[a-z][A-Z]/.test(word) && word !== 'OpenAPI');
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !identifiers.has(name))).toEqual([]);

  const folders = paths.filter((name) => /^\/src\/adapters\/\w+\/[\w-]+\/$/.test(name));
  expect(folders.filter((name) => !words.includes(`${path.basename(name)}/`))).toEqual([]);
  const ports = sources.filter((name) => name.startsWith('/src/application/ports/'));
  const isDrawn = (port: string) =>
    [...read(port).matchAll(/^export interface (\w+)/gm)].some(([, name = '']) => words.includes(name));
  expect(ports.filter((port) => !isDrawn(port))).toEqual([]);
});

test('every picture of the documents exists, in light and dark, and every picture is shown', () => {
  const pages = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const documents = ['README.md', 'README.ja.md', ...pages.filter((name) => name.endsWith('.md')).map(inDocs)];
  const shown = documents.flatMap((document) =>
    [...read(document).matchAll(/<picture>\s*(.*)\s*(.*)\s*<\/picture>/g)].flatMap(([, source = '', img = '']) => {
      const [, dark = ''] = /^<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">$/.exec(source) ?? [];
      const [, light = ''] = /^<img alt="[^"]{20,}" src="([^"]+)">$/.exec(img) ?? [];
      expect(dark).toBe(light.replace('-light.', '-dark.'));
      return [dark, light].map((name) => path.posix.join(path.posix.dirname(document), name));
    }),
  );
  expect([...new Set(shown)].toSorted()).toEqual(images.toSorted());
});

test.for([
  ['README.md', 'ask-en'],
  ['README.ja.md', 'ask-ja'],
])('%s shows its picture of the terminal and its command, and the page', ([readme = '', name = '']) => {
  const text = read(readme);
  expect(text).toContain(`src="docs/images/${name}-light.svg"`);
  expect(text).toContain(` ask --offline "${QUESTIONS[name]}"\n`);
  expect(text).toContain('src="docs/images/page-answer-light.png"');
});

function inDocs(name: string): string {
  return `docs/${name.replaceAll('\\', '/')}`;
}

/** The texts of a drawing, with their entities decoded. */
function textsOf(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, text = '']) =>
    text
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&'),
  );
}

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './serve.ts';

const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const images = readdirSync(path.join(ROOT, 'docs/images')).map((name) => `docs/images/${name}`);
const drawings = images.filter((name) => name.endsWith('.svg'));

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

test('both drawings of the architecture are the same but for their colors', () => {
  const [light, dark] = ['light', 'dark'].map((theme) => read(`docs/images/architecture-${theme}.svg`));
  const withoutColors = (svg = '') => svg.replaceAll(/#[0-9a-f]{6}\b/g, '#');
  expect(withoutColors(dark)).toBe(withoutColors(light));
  expect(dark).not.toBe(light);
  expect(light).toContain('<title>');
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

function inDocs(name: string): string {
  return `docs/${name.replaceAll('\\', '/')}`;
}

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './serve.ts';

const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const images = readdirSync(path.join(ROOT, 'docs/images')).map((name) => `docs/images/${name}`);

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

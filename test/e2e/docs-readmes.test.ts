import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { anchorsOf, fencesOf, proseOf, tablesOf } from './markdown.ts';
import { ROOT } from './serve.ts';

const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const pages = ['docs', 'deploy', '.github'].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
);
const atRoot = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
const documents = [...atRoot, ...pages.filter((name) => name.endsWith('.md'))];

test.for<[string, (text: string) => readonly unknown[]]>([
  ['headings', (text) => [...proseOf(text).matchAll(/^#+/gm)].map(([level]) => level)],
  ['lists', (text) => sectionsOf(text).map((section) => section.match(/^- /gm)?.length)],
  ['tables', (text) => tablesOf(text).map((rows) => [rows.length, rows[0]])],
  ['links', (text) => sectionsOf(text).map((section) => linksOf(section).toSorted())],
  [
    'commands and examples of configuration',
    (text) => fencesOf(text).filter(({ code }) => !/ask |`|"answer"/.test(code)),
  ],
])('README.md and README.ja.md have the same %s', ([, partsOf]) => {
  const parts = partsOf(read('README.md'));
  expect(parts.length).toBeGreaterThan(1);
  expect(partsOf(read('README.ja.md'))).toEqual(parts);
});

test('README.md and README.ja.md have the same blocks under each heading', () => {
  const [english, japanese] = ['README.md', 'README.ja.md'].map((name) => blocksOf(read(name)));
  // The headings of the Japanese one differ, so that its blocks are shown under the English ones.
  const underEnglish = japanese?.map(({ blocks }, index) => ({ heading: english?.[index]?.heading, blocks }));
  expect(underEnglish).toEqual(english);
});

test('docs/README.md lists every page', () => {
  const names = readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll('\\', '/'),
  );
  const linked = linksOf(read('docs/README.md'));
  expect(names.filter((name) => name.endsWith('.md') && name !== 'README.md' && !linked.includes(name))).toEqual([]);
});

test('every link between the documents leads to a file and a heading that exist', () => {
  const links = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
      ([link, file = '', anchor]) => {
        const target = file === '' ? document : path.join(path.dirname(document), file);
        const hasFile = existsSync(path.join(ROOT, target));
        const hasHeading =
          anchor === undefined || (hasFile && anchorsOf(read(target)).includes(decodeURIComponent(anchor)));
        return { document, link, exists: hasFile && hasHeading };
      },
    ),
  );
  expect(links.length).toBeGreaterThan(200);
  expect(links.filter(({ exists }) => !exists)).toEqual([]);
});

test('every file of the code that a document names exists', () => {
  const named = documents.flatMap((document) =>
    [...read(document).matchAll(/`((?:src|test|scripts|bench)\/[\w./-]+)`/g)].map(([, file = '']) => ({
      document,
      file,
    })),
  );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ file }) => !existsSync(path.join(ROOT, file)))).toEqual([]);
});

test('every picture of the documents exists, in light and dark, and every picture is shown', () => {
  const shown = documents.flatMap((document) =>
    [...read(document).matchAll(/<picture>\s*(.*)\s*(.*)\s*<\/picture>/g)].flatMap(([, source = '', img = '']) => {
      const [, dark = ''] = /^<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">$/.exec(source) ?? [];
      const [, light = ''] = /^<img alt="[^"]{20,}" src="([^"]+)">$/.exec(img) ?? [];
      expect(dark).toBe(light.replace('-light.', '-dark.'));
      return [dark, light].map((name) => path.join(path.dirname(document), name));
    }),
  );
  const images = readdirSync(path.join(ROOT, 'docs/images')).map((name) => path.join('docs/images', name));
  expect([...new Set(shown)].toSorted()).toEqual(images.toSorted());
});

test('the picture of check shows what its guide prints', () => {
  const [, printed = ''] = /```text\n(Findings:[\s\S]*?)```/.exec(read('docs/check.md')) ?? [];
  const lines = [...read('docs/images/check-light.svg').matchAll(/^<text.*?>(.*)<\/text>$/gm)].map(
    ([, line = '']) => line,
  );
  const shown = lines.slice(1).map((line) => line.replaceAll(/<.*?>/g, '').replaceAll('&quot;', '"'));
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== '');
  expect(words(shown.join(' '))).toEqual(words(printed));
});

function sectionsOf(markdown: string): readonly string[] {
  return proseOf(markdown).split(/^#+ /m);
}

/** The languages of the blocks of code under each heading. */
function blocksOf(markdown: string): readonly { readonly heading: string; readonly blocks: readonly string[] }[] {
  const withoutCode = markdown.replaceAll(/^( *)```(\w+)\n[\s\S]*?^\1```$/gm, '```$2');
  return withoutCode.split(/^(?=#+ )/m).map((section) => ({
    heading: section.split('\n', 1)[0] ?? '',
    blocks: section.match(/(?<=^```)\w+$/gm) ?? [],
  }));
}

/** The files and pages that a text links to. The two READMEs link to each other. */
function linksOf(markdown: string): readonly string[] {
  const links = [...markdown.matchAll(/\]\(([^)#\s]+)[^)]*\)|<(https:[^>]+)>/g)].map(([, link, page]) => link ?? page);
  return [...new Set(links.map((link = '') => link.replace('README.ja.md', 'README.md')))];
}

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..', '..');
const FILES = ['src', 'test', 'scripts', 'bench', 'docs'].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:[cm]?[jt]s|md)$/.test(name))
    .map((name) => path.join(folder, name)),
);
const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');

const RULINGS = new Set([...read('docs/rulings.md').matchAll(/^- \*\*([A-Z]?\d+)\.\*\* /gm)].map(([, id = '']) => id));
const SECTIONS = {
  spec: sectionsOf(read('docs/spec.md')),
  transports: sectionsOf(read('docs/reference/transports.md')),
};

test('every ruling that is cited has an entry in docs/rulings.md', () => {
  const cited = FILES.flatMap((file) => rulingsIn(read(file)).map((ruling) => ({ file, ruling })));
  expect(cited.length).toBeGreaterThan(200);
  expect(cited.filter(({ ruling }) => !RULINGS.has(ruling))).toEqual([]);
});

test('every section of a document that is cited exists', () => {
  const cited = FILES.flatMap((file) =>
    [...read(file).matchAll(/\b(spec|transports) (\d+(?:\.\d+)*)\b/g)].map(([, document, section = '']) => {
      return { file, document: document as keyof typeof SECTIONS, section };
    }),
  );
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ document, section }) => !SECTIONS[document].has(section))).toEqual([]);
});

test.for([
  ['(spec 6.4, rulings 8, 9 and 14)', ['8', '9', '14']],
  ['rulings 10, 16, and A1 to A3', ['10', '16', 'A1', 'A2', 'A3']],
  ['See ruling L3, which is about G1.', ['L3']],
] as const)('a citation can name several rulings: %s', ([text, expected]) => {
  expect(rulingsIn(text)).toEqual(expected);
});

/** The rulings that a text cites, also those within a range such as `L3 to L5`. */
function rulingsIn(text: string): readonly string[] {
  const lists = text.matchAll(/\brulings? ([A-Z]?\d+\b(?:(?:,? and|,| to) [A-Z]?\d+\b)*)/g);
  return [...lists].flatMap(([, list = '']) =>
    list.split(/,? and |, /).flatMap((item) => {
      const [first = '', last = first] = item.split(' to ');
      const letter = first.replaceAll(/\d/g, '');
      const [from, to] = [first, last].map((id) => Number(id.slice(letter.length)));
      return Array.from({ length: (to ?? 0) - (from ?? 0) + 1 }, (_, index) => `${letter}${(from ?? 0) + index}`);
    }),
  );
}

/** The numbers of the sections of a document, and of the items of their numbered lists: `6.4` is item 4 of section 6. */
function sectionsOf(markdown: string): ReadonlySet<string> {
  const numbers = new Set<string>();
  let section = '';
  for (const line of markdown.split('\n')) {
    const [, heading] = /^#+ (\d+(?:\.\d+)*)\.? /.exec(line) ?? [];
    const [, item] = /^(\d+)\. /.exec(line) ?? [];
    section = heading ?? section;
    if (heading !== undefined) numbers.add(heading);
    if (item !== undefined) numbers.add(`${section}.${item}`);
  }
  return numbers;
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { KEYS } from '../../src/adapters/outbound/config/keys.ts';
import { proseOf } from './markdown.ts';
import { ROOT } from './serve.ts';

const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
const FOLDERS = ['.github', 'bench', 'config', 'deploy', 'docs', 'examples', 'recordings', 'scripts', 'src', 'test'];
const FILES = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) => filesOf(folder).map((name) => `${folder}/${name}`)),
].filter((name) => !name.startsWith('test/architecture/planted/'));
const SOURCES = FILES.filter((name) => /^src\/.*\.ts$/.test(name));
const IDENTIFIERS = new Set(SOURCES.flatMap((name) => read(name).match(/\w+/g) ?? []));

/** What a document names as code: `session.ts`, `src/domain`, `McpSession.receive`, `http.listen`. */
function namedIn(document: string) {
  const words = [...new Set([...proseOf(read(document)).matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word))];
  const files = words.filter((word) => /^[\w./-]+\.(?:[cm]?[jt]s|json|md|ya?ml|example)$/.test(word));
  return {
    files: files.filter((word) => !word.startsWith('build/')),
    folders: words.filter((word) => /^[\w./-]+\/[\w-]+\/?$/.test(word) && FOLDERS.includes(word.split('/')[0] ?? '')),
    identifiers: words.filter((word) =>
      /^(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*(?:\.\w+)?|[A-Z][a-z]+\.\w+)$/.test(word),
    ),
    keys: words.filter((word) => /^[a-z]+\.[a-z_.]+$/.test(word) && !files.includes(word)),
  };
}

test.for([
  ['docs/architecture.md', 30],
  ['CONTRIBUTING.md', 5],
  ['AGENTS.md', 10],
] as const)('every file and folder that %s names exists, and is one', ([document, atLeast]) => {
  const { files, folders } = namedIn(document);
  expect(files.length + folders.length).toBeGreaterThan(atLeast);
  const found = files.map((file) => ({ file, found: FILES.filter((name) => `/${name}`.endsWith(`/${file}`)) }));
  expect(found.filter(({ file, found }) => found.length !== 1 && !found.includes(file))).toEqual([]);
  expect(folders.filter((folder) => !existsSync(path.join(ROOT, folder)))).toEqual([]);
});

test('the tree of the sources names files and folders that exist, and every file of src', () => {
  const [tree] = fencesWithoutLanguage(read('docs/architecture.md'));
  const named = (tree ?? '').match(/^ {2}[\w-]+\.ts/gm)?.map((name) => name.trim()) ?? [];
  const top = readdirSync(path.join(ROOT, 'src')).filter((name) => name.endsWith('.ts'));
  // The version, and the types of what the core uses of its host.
  expect(named.toSorted()).toEqual(
    top.filter((name) => !['version.ts', 'core-globals.d.ts'].includes(name)).toSorted(),
  );
});

test('every name of the code in docs/architecture.md is in the sources', () => {
  const { identifiers } = namedIn('docs/architecture.md');
  expect(identifiers.length).toBeGreaterThan(15);
  expect(identifiers.filter((name) => !name.split('.').every((part) => IDENTIFIERS.has(part)))).toEqual([]);
});

test('every key that docs/architecture.md names is one, or a section', () => {
  const { keys } = namedIn('docs/architecture.md');
  expect(keys.length).toBeGreaterThan(3);
  const isKnown = (key: string) => KEYS.some(({ path }) => path === key || path.startsWith(`${key}.`));
  expect(keys.filter((key) => !isKnown(key))).toEqual([]);
});

test('AGENTS.md is short, and CLAUDE.md includes it', () => {
  expect(read('AGENTS.md').split('\n').length).toBeLessThanOrEqual(150);
  expect(read('CLAUDE.md')).toBe('@AGENTS.md\n');
});

function filesOf(folder: string): readonly string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll('\\', '/'),
  );
}

function fencesWithoutLanguage(markdown: string): readonly string[] {
  return [...markdown.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
}

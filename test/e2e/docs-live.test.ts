import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import * as main from '../../scripts/live/main.js';
import { ROOT } from './serve.ts';

const read = (...names: string[]) => readFileSync(path.join(ROOT, ...names), 'utf8');
const { CHECKS, readEntries } = main as unknown as {
  readonly CHECKS: object;
  readonly readEntries: (
    root: string,
  ) => readonly (Record<'name' | 'place' | 'assumption', string> & { reads?: string })[];
};
const assumptions = readEntries(ROOT);
const names = assumptions.map(({ name }) => name);

/** Every Markdown file of the repository, complete. */
function documents(): readonly (readonly [name: string, text: string])[] {
  const files = [
    ...readdirSync(ROOT),
    ...['docs', 'config', 'deploy', 'examples', 'plugin', 'test', '.github'].flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        path.join(folder, name),
      ),
    ),
  ];
  // A report of `npm run live` is no document.
  const names = files.filter((name) => name.endsWith('.md') && !name.startsWith('live-report'));
  return names.map((name) => [name, read(name)]);
}

/** "Not verified", and the same in other words. */
const OPEN =
  /\bnot\s+(?:yet\s+)?(?:been\s+)?(?:verified|confirmed)\b|\bun(?:verified|confirmed)\b|\bno\s+run\s+is\s+known\b|未検証|未確認|(?:検証|確認)(?:して|されて)い(?:ない|ません)/i;

/** The sentences of a text that say that something is not verified. */
function openSentences(text: string): readonly string[] {
  const sentences = text.split(/\n\n|(?<=[.|])\s+(?=[A-Z|[-])|(?<=。)/);
  return sentences.filter((sentence) => OPEN.test(sentence));
}

test('a check that does more than the usual one, or reads another, is of an assumption', () => {
  const named = assumptions.flatMap(({ reads = [] }) => reads);
  expect([...Object.keys(CHECKS), ...named].filter((name) => !names.includes(name))).toEqual([]);
});

test('the scripts have at most 500 lines', () => {
  const files = readdirSync(path.join(ROOT, 'scripts', 'live')).filter((name) => /\.(?:js|d\.ts)$/.test(name));
  const texts = [read('scripts', 'live.js'), ...files.map((name) => read('scripts', 'live', name))];
  expect(texts.join('').split('\n').length - 1).toBeLessThanOrEqual(500);
});

test('the documents list the assumptions, in the same order, with a verdict', () => {
  const [, section = ''] = /\n## Assumptions about the API\n([\s\S]*?)\n## /.exec(read('docs', 'reliability.md')) ?? [];
  const listed = [...section.matchAll(/^\| `([\w-]+)` \| (.*) \| (.*) \| (\w+) \|$/gm)];
  expect(listed.map(([, name, assumption, place]) => ({ name, assumption, place }))).toEqual(
    assumptions.map(({ name, assumption, place }) => ({ name, assumption, place: place.replaceAll('`', '') })),
  );
  const verdicts = listed.map(([, , , , verdict = '']) => verdict);
  expect(verdicts.filter((verdict) => !/^(?:confirmed|contradicted|unknown)$/.test(verdict))).toEqual([]);
});

test.for(assumptions)('the place of $name exists: $place', ({ place }) => {
  const [, file = '', text = ''] = /^([\w./-]+): (.*)$/.exec(place) ?? [];
  expect(read(file).replaceAll(/\s+/g, ' ')).toContain(text);
});

test('every sentence that says "not verified" names a check', () => {
  const found = documents().flatMap(([name, text]) => openSentences(text).map((sentence) => ({ name, sentence })));
  expect(found.length).toBeGreaterThanOrEqual(3);
  expect(documents().map(([name]) => name)).toEqual(
    expect.arrayContaining(['README.ja.md', 'SECURITY.md', path.join('docs', 'reliability.md')]),
  );
  const unnamed = found.filter(
    ({ sentence }) => !/\bchecks?\b/.test(sentence) || !names.some((name) => sentence.includes(`\`${name}\``)),
  );
  expect(unnamed).toEqual([]);
});

test('a sentence that names no check is found', () => {
  const text = 'All is well. This is not\nverified. That is\nnot yet verified (`kept`). No run is known.';
  expect(openSentences(text)).toEqual([
    'This is not\nverified.',
    'That is\nnot yet verified (`kept`).',
    'No run is known.',
  ]);
  expect(openSentences('動きます。まだ検証していません。次の文。未確認です。')).toEqual([
    'まだ検証していません。',
    '未確認です。',
  ]);
});

test('what a run writes is neither committed nor formatted', () => {
  const written = read('.gitignore')
    .split('\n')
    .filter((line) => line.startsWith('live-'));
  expect(written).toHaveLength(3);
  const { files } = JSON.parse(read('biome.json')) as { files: { includes: readonly string[] } };
  expect(files.includes).toEqual(expect.arrayContaining(written.map((line) => `!${line.replace(/\/$/, '')}`)));
});

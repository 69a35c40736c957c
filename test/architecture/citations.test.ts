import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { citedIn, rulesOf } from './citations.ts';
import { filesIn } from './rules.ts';

const ROOT = process.cwd();
const RULES = rulesOf(readFileSync(path.join(ROOT, 'docs', 'spec.md'), 'utf8'));
const TESTS = filesIn(ROOT, 'test').filter((file) => !file.path.startsWith('test/architecture/'));
const FILES = [...TESTS, ...filesIn(ROOT, 'src')];

test('the rules of docs/spec.md are numbered without a gap', () => {
  expect(RULES.length).toBeGreaterThan(60);
  expect(RULES).toEqual(RULES.map((_, index) => `S${index + 1}`));
});

test('every rule of docs/spec.md is cited by a test', () => {
  const cited = new Set(TESTS.flatMap(({ text }) => citedIn(text)));
  expect(
    RULES.filter((rule) => !cited.has(rule)),
    'write `// S12` before a test that holds the rule',
  ).toEqual([]);
});

test('every rule that is cited exists', () => {
  const cited = FILES.flatMap(({ path, text }) => citedIn(text).map((rule) => `${path}: ${rule}`));
  expect(cited.filter((one) => !RULES.includes(one.split(': ')[1] ?? ''))).toEqual([]);
});

test.each<[string, readonly string[]]>([
  ['  // S7\n  test(', ['S7']],
  ['// S7, S8', ['S7', 'S8']],
  ["test('is said once (S9)'", ['S9']],
  ['// PKCE with S256', []],
  ["const KEY = 'S3'; // S3 of Amazon", []],
])('%j cites %j', (text, rules) => {
  expect(citedIn(text)).toEqual(rules);
});

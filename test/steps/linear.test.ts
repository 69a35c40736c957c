import { describe, expect, test } from 'vitest';
import { stepsOf } from '../support/steps/count-steps.ts';
import { exportsBesidePatterns } from './pattern-files.ts';
import { OTHERS, READERS } from './readers.ts';
import { slowParts } from './slow-parts.ts';

test.each(Object.entries(READERS).filter(([name]) => !/^domain\/(?:check|evidence)\//.test(name)))(
  '%s takes linear time for every text',
  (_, read) => expect(slowParts(read)).toEqual([]),
);

test('every function beside a pattern is read with hostile texts, or reads none of others', () => {
  const isListed = (name: string) =>
    name in READERS || OTHERS.some(([names]) => names.some((other) => name.startsWith(other)));
  expect(exportsBesidePatterns(process.cwd()).filter((name) => !isListed(name))).toEqual([]);
});

describe('a function that takes quadratic time is found', () => {
  test.each<[string, string, (text: string) => unknown]>([
    ['a pattern for the end of a text', '!', (text) => text.replace(/!+$/, '')],
    ['a pattern with adjacent repetitions', ' ', (text) => /^a?\s*\s*b/.test(text)],
    ['a pattern that looks for an end that is missing', '[', (text) => text.match(/\[[^\]]*\]/g)],
    ['a lookahead to the end of a text', '"', (text) => text.replace(/"(?=[^a]*a)/g, '')],
    ['a lazy repetition', '<pre>', (text) => text.replace(/<pre>[\s\S]*?<\/pre>/g, '')],
    ['a pattern that is repeated at each place', 'a', (text) => text.split(/(?=a*b)/)],
    ['a backreference', '`', (text) => /(`+)[^a]*?\1a/.test(text)],
    ['a search at each place', 'a', (text) => Array.from(text, (_, at) => text.indexOf('b', at))],
    [
      'a list that is searched for each entry',
      '1',
      (text) => [...text].filter((one, at, all) => all.indexOf(`${one}x`) > at),
    ],
  ])('%s', (_, part, read) => expect(slowParts(read)).toContain(part));
});

test.each<[RegExp, string]>([
  [/(a|ab)(c|bcd)(d*)/g, 'abcd abcdd acd'],
  [/(?<year>\d{4})-(?<month>\d\d)(?!\d)/g, '2020-01 2020-011 x2020-12'],
  [/(?<=\$)\d+(?:\.\d\d)?|(?<!\$)\b[a-z]+\b/gi, '$42.00 and USD 7'],
  [/(?:(a)|(b)|c)*?d\1?/g, 'abcdabda'],
  [/^(?:\s*>)+ ?/gm, ' > > a\n>b\nc'],
  [/([`~]{1,3})[^`]{0,5}?\1/g, '``a`` ~~~b~~~ `c'],
  [/[^\p{L}\s]|\p{Script=Han}{2,}/gu, '漢字 a😀b 字 🏳️'],
  [/(?<=(a+))b/g, 'aaab ab'],
])('%s is matched as the engine does, so that its steps count what happens', (pattern, text) => {
  expect(stepsOf(() => text.replace(pattern, ''), 100_000)).toBeGreaterThan(text.length);
});

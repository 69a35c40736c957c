import { describe, expect, test } from 'vitest';
import { parseQuestion } from '../../../../src/domain/answers/question.ts';
import { toHostName } from '../../../../src/domain/values/web-url.ts';

const DEFAULTS = { recencyDays: 60, maxResults: 5, domains: ['tenki.jp'] };

const parse = (args: Readonly<Record<string, unknown>>) => parseQuestion('answer', { query: 'q', ...args }, DEFAULTS);
const problemsOf = (args: Readonly<Record<string, unknown>>) => parse(args)._unsafeUnwrapErr();

test('missing arguments come from the configuration', () => {
  expect(parse({})._unsafeUnwrap()).toEqual({
    tool: 'answer',
    query: 'q',
    recencyDays: 60,
    maxResults: 5,
    domains: ['tenki.jp'],
  });
});

describe('query', () => {
  test('is kept except for surrounding whitespace', () => {
    expect(parse({ query: '\n 東京の  天気は？\u3000' })._unsafeUnwrap().query).toBe('東京の  天気は？');
  });

  test.each([[null], [''], ['\n\t\u3000'], [404], [['q']]])('%j is not a question', (query) => {
    expect(problemsOf({ query })).toEqual([
      { argument: 'query', received: query ?? undefined, accepted: 'a non-empty string' },
    ]);
  });
});

test('a query has at most 32,000 characters', () => {
  expect(parse({ query: ` ${'x'.repeat(32_000)} ` })._unsafeUnwrap().query).toHaveLength(32_000);
  const query = 'x'.repeat(32_001);
  expect(problemsOf({ query })).toEqual([
    { argument: 'query', received: query, accepted: 'a question of at most 32,000 characters' },
  ]);
});

describe('numbers', () => {
  test.each([
    ['7', 7],
    [' 7 ', 7],
    ['7.0', 7],
    ['+7', 7],
    [7, 7],
    [9007199254740991, 9007199254740991],
    [null, 60],
    ['', 60],
    ['null', 60],
    [' None ', 60],
    ['"7"', 7],
    ['"null"', 60],
    ['""', 60],
  ])('%j is read as %j', (value, taken) => {
    expect(parse({ recency_days: value })._unsafeUnwrap().recencyDays).toBe(taken);
  });

  test.each([-0, '-0'])('recency_days can be %j, which becomes plain 0', (value) => {
    expect(Object.is(parse({ recency_days: value })._unsafeUnwrap().recencyDays, 0)).toBe(true);
  });

  // S31
  test.each([7.5, '7.5', -1, 2 ** 53, Number.NaN, '0x10', '７', true, [7]])(
    'recency_days: %j is rejected, not clamped',
    (value) => {
      expect(problemsOf({ recency_days: value })).toEqual([
        { argument: 'recency_days', received: value, accepted: 'an integer, 0 or greater' },
      ]);
    },
  );

  test.each([7.5, 0, '0'])('max_results: %j is rejected, not clamped', (value) => {
    expect(problemsOf({ max_results: value })).toEqual([
      { argument: 'max_results', received: value, accepted: 'an integer, 1 or greater' },
    ]);
  });
});

describe('domains', () => {
  test.each([
    ['a list', ['jma.go.jp', 'example.com'], ['jma.go.jp', 'example.com']],
    ['one as a string', 'jma.go.jp', ['jma.go.jp']],
    ['one twice', ['jma.go.jp', 'https://JMA.go.jp/'], ['jma.go.jp']],
    ['an empty list, whatever the configuration', [], []],
    ['null', null, ['tenki.jp']],
    ['an empty text', '', ['tenki.jp']],
    ['the text null', 'null', ['tenki.jp']],
    ['a list as a JSON text', '["jma.go.jp","example.com"]', ['jma.go.jp', 'example.com']],
    ['an empty list as a JSON text', '[]', []],
    ['one as a JSON text', '"jma.go.jp"', ['jma.go.jp']],
    ['a list as Python writes it', "['jma.go.jp', 'example.com']", ['jma.go.jp', 'example.com']],
    ['several with commas', 'jma.go.jp, example.com,a.jp', ['jma.go.jp', 'example.com', 'a.jp']],
    ['several with Japanese commas', 'jma.go.jp、example.com', ['jma.go.jp', 'example.com']],
    ['several in an entry of a list', ['jma.go.jp, example.com', ''], ['jma.go.jp', 'example.com']],
    ['nothing in a list', [null, 'jma.go.jp', 'null', ' None '], ['jma.go.jp']],
    ['nothing as a JSON text', '"null"', ['tenki.jp']],
    ['a list as a JSON text in a list', ['["jma.go.jp"]'], ['jma.go.jp']],
    ['a URL with commas', 'https://jma.go.jp/?at=35,139', ['jma.go.jp']],
  ])('%s is accepted', (_, domains, taken) => {
    expect(parse({ domains })._unsafeUnwrap().domains).toEqual(taken);
  });

  test.each([
    [['jma.go.jp', 7]],
    ['[7]'],
    ['a b.com, jma.go.jp'],
    [[[[[['jma.go.jp']]]]]],
    [{}],
    [['jma.go.jp', 'not a host']],
  ])('%j is rejected', (domains) => {
    expect(problemsOf({ domains })).toEqual([
      { argument: 'domains', received: domains, accepted: 'a list of host names such as "example.com"' },
    ]);
  });

  test.each([
    ['https://jma.go.jp/', 'jma.go.jp'],
    ['http://www.jma.go.jp/bosai/?a=b#c', 'www.jma.go.jp'],
    [' JMA.go.jp ', 'jma.go.jp'],
    ['jma.go.jp.', 'jma.go.jp'],
    ['jma.go.jp:443', 'jma.go.jp'],
    ['例え.jp', '例え.jp'],
    ['localhost', 'localhost'],
  ])('%j is the host %s', (text, host) => {
    expect(toHostName(text)).toBe(host);
  });

  test.each(['', '.', 'a b.com', '*.jma.go.jp', 'user@jma.go.jp', `${'a'.repeat(64)}.com`, `${'a.'.repeat(127)}com`])(
    '%j is not a host name',
    (text) => {
      expect(toHostName(text)).toBeUndefined();
    },
  );
});

test('all problems are reported together', () => {
  expect(
    problemsOf({ query: '', recency_days: -1, max_results: 0, domains: 7 }).map(({ argument }) => argument),
  ).toEqual(['query', 'recency_days', 'max_results', 'domains']);
});

test('unknown arguments are ignored', () => {
  expect(parse({ verbosity: 'high', Query: 7 }).isOk()).toBe(true);
});

test('answer_quick uses the configured hints and ignores others, valid or not', () => {
  const args = { query: 'q', recency_days: 7, max_results: 'x', domains: 7 };
  expect(parseQuestion('answer_quick', args, DEFAULTS)._unsafeUnwrap()).toEqual({
    tool: 'answer_quick',
    query: 'q',
    ...DEFAULTS,
  });
});

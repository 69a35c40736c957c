import { expect, test } from 'vitest';
import { chooseCitations } from '../../../../src/domain/answers/chosen-citations.ts';
import { linkedPages } from '../../../../src/domain/answers/linked-pages.ts';

test.each<[what: string, text: string, pages: readonly object[]]>([
  ['a link', 'It has 42 steps ([Town](https://town.example/a)).', [{ url: 'https://town.example/a' }]],
  ['a link whose URL has parentheses', '[A](https://a.example/b_(c))', [{ url: 'https://a.example/b_(c)' }]],
  ['a number', '[1](https://a.example/)', [{ url: 'https://a.example/' }]],
  [
    'a URL',
    'See https://a.example/b. And <https://c.example/>',
    [{ url: 'https://a.example/b' }, { url: 'https://c.example/' }],
  ],
  ['an image', '![A](https://a.example/b.png)', []],
  ['a placeholder', 'https://a.example/{id}', []],
  ['a URL in Japanese', 'https://a.example/bを参照。', [{ url: 'https://a.example/b' }]],
  ['code in a line that begins with it', '```npm i```\nhttps://a.example/', [{ url: 'https://a.example/' }]],
  ['code in a quotation', '> ```\n> https://a.example/\n\nhttps://b.example/', [{ url: 'https://b.example/' }]],
  ['code', '`https://a.example/`\n```\nhttps://b.example/\n```', []],
])('%s', (_, text, pages) => {
  expect(linkedPages(text)).toEqual(pages);
});

// S37
test.each([
  ['after a search without citations', true, [], ['https://a.example/']],
  ['if the API cites a page', true, [{ url: 'https://b.example/' }], ['https://b.example/']],
  ['without a search', false, [], []],
])('the links of a text are citations: %s', (_, searched, cited, urls) => {
  const sources = { cited, consulted: [], opened: [] };
  const reply = { text: 'See [A](https://a.example/).', searched, sources, ending: { kind: 'complete' as const } };
  const chosen = chooseCitations(reply as never, { maxCitations: 5, today: '2026-11-21' })._unsafeUnwrap();
  expect(chosen.citations.map(({ url }) => url)).toEqual(urls);
});

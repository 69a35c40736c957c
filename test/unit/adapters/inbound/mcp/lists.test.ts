import { expect, test } from 'vitest';
import { pageOf } from '../../../../../src/adapters/inbound/mcp/lists.ts';

const entries = [400_000, 500_000, 200_000, 2_000_000, 1].map((size, index) => ({ index, text: 'x'.repeat(size) }));
const indexes = (page: object | undefined) =>
  (page as { list: typeof entries } | undefined)?.list.map(({ index }) => index);

test('a list is one page up to a million characters, and a larger entry is a page of its own', () => {
  const pages = [undefined, '2', '3', '4'].map((cursor) => pageOf('list', entries, cursor));
  expect(pages.map(indexes)).toEqual([[0, 1], [2], [3], [4]]);
  expect(pages.map((page) => page?.nextCursor)).toEqual(['2', '3', '4', undefined]);
});

test.each(['', '0', '1', '5', '-2', '2.0', 2])('%j is no cursor', (cursor) => {
  expect(pageOf('list', entries, cursor)).toBeUndefined();
});

test('an empty list is a page', () => {
  expect(pageOf('list', [], undefined)).toEqual({ list: [] });
});

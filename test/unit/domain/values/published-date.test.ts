import { expect, test } from 'vitest';
import { type DateCandidates, publishedOn } from '../../../../src/domain/values/published-date.ts';

const TODAY = '2026-11-21';
const LD = { datePublished: '2024-03-05' };

const dayIn = (candidates: Partial<DateCandidates>) =>
  publishedOn({ jsonLd: [], article: [], citation: [], time: [], ...candidates }, TODAY);

/** A value in so many objects. */
const nested = (depth: number) => `${'{"a":'.repeat(depth)}${JSON.stringify(LD)}${'}'.repeat(depth)}`;

test.each([
  ['an object', JSON.stringify({ '@type': 'NewsArticle', ...LD }), '2024-03-05'],
  ['a list in an object', JSON.stringify({ '@graph': [{ '@type': 'WebSite' }, LD] }), '2024-03-05'],
  ['8 objects', nested(8), '2024-03-05'],
  ['9 objects, which are too many', nested(9), undefined],
  ['very many objects', nested(20_000), undefined],
  ['another member', JSON.stringify({ dateModified: '2024-03-05' }), undefined],
])('JSON-LD says its date in %s', (_, jsonLd, day) => {
  expect(dayIn({ jsonLd: ['{oops', jsonLd] })).toBe(day);
});

test('the places have an order, and the next counts if one says no date', () => {
  const [article, citation, time] = [['2020-01-02'], ['2020-01-03'], ['2020-01-04']];
  expect(dayIn({ jsonLd: [JSON.stringify(LD)], article, citation, time })).toBe('2024-03-05');
  expect(dayIn({ jsonLd: ['{}'], article, citation, time })).toBe('2020-01-02');
  expect(dayIn({ article: ['yesterday'], citation, time })).toBe('2020-01-03');
  expect(dayIn({ time })).toBe('2020-01-04');
});

test.each([
  ['2024/3/5', '2024-03-05'],
  ['20240305', '2024-03-05'],
  [' 2024-03-05 ', '2024-03-05'],
  // The day as written, whatever the offset.
  ['2024-03-05T00:30:00+09:00', '2024-03-05'],
  ['1990-01-01', '1990-01-01'],
  ['2026-11-21T23:59:59Z', TODAY],
  ['2026-11-22', undefined],
  ['1989-12-31', undefined],
  ['2024-02-30', undefined],
  ['2024-13-01', undefined],
  ['2024', undefined],
  ['202403051', undefined],
  ['', undefined],
])('the date %j is the day %s', (text, day) => {
  expect(dayIn({ citation: [text] })).toBe(day);
});

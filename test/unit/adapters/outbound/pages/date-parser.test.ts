import { expect, test } from 'vitest';
import { dateCandidatesIn } from '../../../../../src/adapters/outbound/pages/date-parser.ts';
import { expectLinear } from '../../../../support/expect-linear.ts';

const META = '<meta name="date" content="2024-03-05">';

test('a date is found whatever precedes it', () => {
  for (const part of ['<b>', '<b></b><br>', '<svg/>', '</p>', '<title>a &amp; b</title>']) {
    expect(dateCandidatesIn(`${part.repeat(5000)}${META}`).citation).toEqual(['2024-03-05']);
  }
});

test('the first of several attributes of a name counts, and entities are decoded', () => {
  const meta = '<META Name="date" CONTENT="2024-03-05&#x54;10&amp;" content="2025-01-01" __proto__="x">';
  expect(dateCandidatesIn(meta).citation).toEqual(['2024-03-05T10&']);
});

test('the text of a script is JSON-LD only to its end', () => {
  const html = '<script type="application/ld+json">{"a": "<b>&amp;"}</script>text<script>no</script>';
  expect(dateCandidatesIn(html).jsonLd).toEqual(['{"a": "<b>&amp;"}']);
});

test.each(['<b>', '</p>', '<svg/>', '<b><svg></b>'])('a page of %s takes time in proportion to its length', (part) => {
  expectLinear((size) => dateCandidatesIn(part.repeat(size)), 50_000);
});

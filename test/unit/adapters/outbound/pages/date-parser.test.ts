import { expect, test } from 'vitest';
import { DateParser } from '../../../../../src/adapters/outbound/pages/date-parser.ts';

const META = '<meta name="date" content="2024-03-05">';

function citationIn(html: string): readonly string[] {
  const parser = new DateParser();
  parser.write(html);
  return parser.end().citation;
}

test('a page is read to its end if few elements are open at the same time', () => {
  expect(citationIn(`${'<b></b><br>'.repeat(5000)}${META}`)).toEqual(['2024-03-05']);
});

test('a page is read no further than to 500 open elements, so that its time stays linear', () => {
  expect(citationIn(`${META}${'<b>'.repeat(499)}${META}`)).toHaveLength(2);
  expect(citationIn(`${META}${'<b>'.repeat(501)}${META}`)).toHaveLength(1);
});

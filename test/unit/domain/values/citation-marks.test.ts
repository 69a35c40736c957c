import { expect, test } from 'vitest';
import { withoutReferences } from '../../../../src/domain/values/citation-marks.ts';

test.each([
  ['of Azure', 'It has 5 anvils【5:0†source】. It has 6【12†L3-L9】.', 'It has 5 anvils. It has 6.'],
  ['of Azure in a row', 'It has 5 【5:0†source】【6†b.pdf】.', 'It has 5.'],
  ['without its private characters', 'It has 5. citeturn0search0turn1news2', 'It has 5.'],
  ['in Japanese brackets', 'It has 5【turn0search0】. It has 6 【turn1news2†L3】.', 'It has 5. It has 6.'],
  ['in square brackets', 'It has 5 [turn0search0]. It has 6 [oaicite:1].', 'It has 5. It has 6.'],
  ['to a file', 'It has 5 (filecite turn) fileciteturn0file0.', 'It has 5 (filecite turn).'],
  ['of an export', 'It has 5 :contentReference[oaicite:0]{index=0} anvils.', 'It has 5 anvils.'],
])('a reference %s is removed', (_, text, expected) => {
  expect(withoutReferences(text)).toBe(expected);
});

test.each([
  ['Japanese brackets', '【重要】明日は雨†です。'],
  ['code', 'Remove `citeturn0search0`.\n```\n:contentReference[oaicite:0]{index=0}\n```'],
  ['a word', 'recitetur'],
  ['a link', 'See [turn0search0](https://example.com/).'],
])('%s stays', (_, text) => {
  expect(withoutReferences(text)).toBe(text);
});

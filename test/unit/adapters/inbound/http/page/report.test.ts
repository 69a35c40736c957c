import { expect, test } from 'vitest';
import { type CheckReport, findingsOf, unreadableOf } from '../../../../../../src/adapters/inbound/http/page/report.ts';

const A = 'https://a.example/x';
const B = 'https://b.example/#part';
const NOTHING: CheckReport = { summary: '', findings: 0, links: [], claims: [] };

const findingsFor = (claim: Partial<CheckReport['claims'][number]>) =>
  findingsOf({ ...NOTHING, claims: [{ claim: 'It is 4.', url: A, missing: ['4'], ...claim }] });

test('claims with missing figures come first, then dead links; what could not be read is apart', () => {
  const links: CheckReport['links'] = [
    { url: A, state: 'ok', status: 200, reason: undefined },
    { url: B, state: 'dead', status: 404, reason: 'not found (HTTP 404)' },
    { url: 'https://c.example', state: 'unreadable', status: 403, reason: 'HTTP 403' },
  ];
  const claims = [
    { claim: 'It is 4.', url: A, missing: ['4', '5 %'] },
    { claim: 'It is 6.', url: A, missing: [] },
  ];
  const report = { ...NOTHING, links, claims };
  expect(findingsOf(report)).toEqual([
    { url: A, href: A, claim: 'It is 4.', problem: '"4", "5 %" not on the page' },
    { url: B, href: B, problem: 'not found (HTTP 404)' },
  ]);
  expect(unreadableOf(report)).toMatchObject([{ url: 'https://c.example', problem: 'HTTP 403' }]);
});

test.each<[string, string, string]>([
  ['a short one', 'The well-known tower, 42 m.', `${A}#:~:text=The%20well%2Dknown%20tower%2C%2042%20m.`],
  ['the ends of a long one', '…a b c d e f g h i j & k…', `${A}#:~:text=a%20b%20c%20d%20e,h%20i%20j%20%26%20k`],
  ['a Japanese one', '塔には42段あります。', `${A}#:~:text=${encodeURIComponent('塔には42段あります。')}`],
])('a link opens the page at the nearest passage: %s', (_, passage, href) => {
  expect(findingsFor({ passage })).toMatchObject([{ href, passage }]);
});

test('a link to a part of a page keeps it', () => {
  expect(findingsFor({ url: B, passage: 'The tower' })).toMatchObject([{ href: `${B}:~:text=The%20tower` }]);
});

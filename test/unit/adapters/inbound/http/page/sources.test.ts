import { expect, test } from 'vitest';
import {
  type CheckReport,
  findingsOf,
  type ShownAnswer,
  sourcesOf,
  unreadableOf,
  withoutSources,
} from '../../../../../../src/adapters/inbound/http/page/sources.ts';

const URLS = ['https://a.example/', 'https://a.example/b', 'https://c.example/d_(e)'];

/** An answer with these lines of sources, whose citations have these members. */
function answer(lines: readonly string[], more: object = {}): ShownAnswer {
  const citations = URLS.map((url) => ({ url, published_at: '2026-01-05', ...more }));
  const result = { answer: `Text.\n\nSources:\n${lines.join('\n')}`, citations, used_search: true, model: 'm' };
  return { result, report: {} };
}

test('the list of sources goes if every entry of it is a citation', () => {
  expect(withoutSources(answer(URLS.map((url) => `- ${url} (2026-01-05)`)).result)).toBe('Text.');
  const { result: other } = answer(['- https://a.example/ (2026-01-05)', '- https://other.example/ (2026-01-05)']);
  expect(withoutSources(other)).toBe(other.answer);
});

test('a source has its host and its day', () => {
  const [source] = sourcesOf(answer([], { title: 'A page' }));
  expect(source).toMatchObject({ title: 'A page', about: 'a.example, 2026-01-05', findings: [] });
  expect(sourcesOf(answer([]))[0]).toMatchObject({ title: undefined, about: '2026-01-05' });
});

test('a page that does not exist is a finding', () => {
  const found = [{ state: 'ok', status: 200 }, { state: 'dead', status: 404 }, { state: 'dead' }] as const;
  const checks = found.map((check, at) => ({ url: URLS[at] ?? '', ...check }));
  const findings = [[], ['not found: HTTP 404'], ['not found: no such host']];
  expect(sourcesOf({ ...answer([]), report: { checks } }).map(({ findings }) => findings)).toEqual(findings);
});

test('what the page does not say is a finding, and the similar passage is kept', () => {
  const shown = answer([], { evidence: { missing: ['42 %', '1,226'], unrelated: true, quote: 'A passage' } });
  expect(sourcesOf(shown)[0]).toMatchObject({
    findings: ['"42 %", "1,226" not on the page', 'no similar passage on the page'],
    quote: 'A passage',
  });
});

const A = 'https://a.example/x';
const B = 'https://b.example/#part';
const NOTHING: CheckReport = { summary: '', findings: 0, links: [], claims: [], quotes: [], skipped: [] };
const AT = { file: undefined, line: 2, column: 1 };
const CLAIM = { ...AT, state: 'compared' as const, passage: undefined };

const findingsFor = (claim: Partial<CheckReport['claims'][number]>) =>
  findingsOf({ ...NOTHING, claims: [{ ...CLAIM, claim: 'It is 4.', url: A, missing: ['4'], ...claim }] });

test('findings have the order of the text; what could not be read is apart', () => {
  const links: CheckReport['links'] = [
    { ...AT, url: A, state: 'ok', status: 200, reason: undefined },
    { ...AT, line: 1, url: B, state: 'dead', status: 404, reason: 'not found (HTTP 404)' },
    { ...AT, url: 'https://c.example', state: 'unreadable', status: 403, reason: 'HTTP 403' },
  ];
  const claims = [
    { ...CLAIM, claim: 'It is 4.', url: A, missing: ['4', '5 %'] },
    { ...CLAIM, claim: 'It is 6.', url: A, missing: [] },
  ];
  const quote = { ...AT, line: 3, quote: 'It is very old.', url: A, passage: 'It is quite old.', page: 7 };
  const quotes = [
    { ...quote, state: 'missing' as const },
    { ...quote, state: 'found' as const },
  ];
  const report = { ...NOTHING, links, claims, quotes };
  expect(findingsOf(report)).toEqual([
    { url: B, href: B, problem: 'not found (HTTP 404)', line: 1, column: 1 },
    { url: A, href: A, claim: 'It is 4.', problem: '"4", "5 %" not on the page', line: 2, column: 1 },
    {
      url: A,
      href: `${A}#page=7`,
      claim: 'It is very old.',
      passage: 'It is quite old.',
      problem: 'the quotation is not on the page in these words',
      line: 3,
      column: 1,
    },
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

import { expect, test } from 'vitest';
import {
  handleIn,
  type ShownAnswer,
  sourcesOf,
  withoutSources,
} from '../../../../../../src/adapters/inbound/http/page/sources.ts';

const URLS = ['https://a.example/', 'https://a.example/b', 'https://c.example/d_(e)'];

/** An answer with these citations and these lines of sources. */
function answer(lines: readonly string[], more: object = {}): ShownAnswer {
  const citations = URLS.map((url) => ({ url, published_at: '2026-01-05', ...more }));
  return { answer: `Text.\n\nSources:\n${lines.join('\n')}`, citations, used_search: true, model: 'm' };
}

test('the list of sources goes if every entry of it is a citation', () => {
  expect(withoutSources(answer(URLS.map((url) => `- ${url} (2026-01-05)`)))).toBe('Text.');
  const other = answer(['- https://a.example/ (2026-01-05)', '- https://other.example/ (2026-01-05)']);
  expect(withoutSources(other)).toBe(other.answer);
});

test('a source has its host and its day', () => {
  const [source] = sourcesOf(answer([], { title: 'A page' }));
  expect(source).toMatchObject({ title: 'A page', about: 'a.example, 2026-01-05', findings: [] });
  expect(sourcesOf(answer([]))[0]).toMatchObject({ title: undefined, about: '2026-01-05' });
});

test('a dead page is found by its complete URL, in both languages', () => {
  const marks = ['', ' [not found: HTTP 404]', ' [見つかりません: ホスト名がありません]'];
  const shown = answer(URLS.map((url, at) => `- ${url} (2026-01-05)${marks[at]}`));
  const findings = [[], ['not found: HTTP 404'], ['not found: no such host']];
  expect(sourcesOf(shown).map(({ findings }) => findings)).toEqual(findings);
});

test('what the page does not say is a finding, and the similar passage is kept', () => {
  const shown = answer([], { evidence: { missing: ['42 %', '1,226'], unrelated: true, quote: 'A passage' } });
  expect(sourcesOf(shown)[0]).toMatchObject({
    findings: ['"42 %", "1,226" not on the page', 'no similar passage on the page'],
    quote: 'A passage',
  });
});

test('an answer that is not finished has a handle', () => {
  const handle = `la1.d.resp_1.${'x'.repeat(22)}`;
  const shown = { ...answer([]), answer: `Not finished.\n\n${handle}\n\nTime so far`, used_search: false };
  expect(handleIn(shown)).toBe(handle);
  expect(handleIn({ ...shown, used_search: true })).toBe(undefined);
  expect(handleIn({ ...shown, answer: `about ${handle}` })).toBe(undefined);
});

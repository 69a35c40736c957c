import { expect, test } from 'vitest';
import {
  type ShownAnswer,
  sourcesOf,
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

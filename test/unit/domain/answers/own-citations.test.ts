import { describe, expect, test } from 'vitest';
import type { OwnSources } from '../../../../src/domain/answers/reply.ts';
import type { OwnSource } from '../../../../src/domain/grounded/own-source.ts';
import { answerTo, searched } from '../../../support/to-answer.ts';

const source = (url: string, changedOn?: string): OwnSource => {
  return { ref: 'turn0tool0', url, call: 'a/b', ...(changedOn && { changedOn }) };
};
const page = (id: number) => source(`https://o.com/${id}`);

interface Given extends Partial<OwnSources> {
  readonly cited?: readonly string[];
  readonly consulted?: readonly string[];
  readonly opened?: readonly string[];
  readonly text?: string;
}

function answer(given: Given, over: Parameters<typeof answerTo>[1] = {}) {
  const { marked = [], answered = marked, cited = [], consulted = [], opened = [], text = 'Two.' } = given;
  const isSearched = cited.length + consulted.length > 0;
  const reply = searched(text, ...cited);
  const sources = { ...reply.sources, consulted, opened };
  const own = { marked, answered, hasPrivateOutput: false };
  return answerTo({ ...reply, searched: isSearched, sources, own }, over);
}
const urlsOf = (...args: Parameters<typeof answer>) => answer(...args).citations.map(({ url }) => url);

describe('citations', () => {
  test('are the marked sources in order, then the cited pages', () => {
    const marked = [page(2), source('notes://1'), page(1)];
    expect(urlsOf({ marked, cited: ['https://w.com'] }, { maxCitations: 5 })).toEqual([
      'https://o.com/2',
      'notes://1',
      'https://o.com/1',
      'https://w.com',
    ]);
  });

  test('are one entry per page, where it is marked first', () => {
    const marked = [page(1), page(2), source('https://o.com/1/#x')];
    expect(urlsOf({ marked, cited: ['https://o.com/2?utm_source=openai', 'https://w.com'] })).toEqual([
      'https://o.com/1',
      'https://o.com/2',
      'https://w.com',
    ]);
  });

  test('are the sources of all calls, if none is marked', () => {
    const answered = [page(1), source('a/b'), page(2)];
    expect(urlsOf({ answered, cited: ['https://w.com'] }, { maxCitations: 5 })).toEqual([
      'https://o.com/1',
      'https://o.com/2',
      'https://w.com',
      'a/b',
    ]);
  });

  test('are not those of other calls, if one is marked', () => {
    expect(urlsOf({ marked: [page(1)], answered: [page(1), page(2)] })).toEqual(['https://o.com/1']);
  });
});

describe('the maximum of citations', () => {
  test('leaves the other places as without own sources: a page, then IDs, then pages', () => {
    const web = { cited: ['https://o.com/1', 'https://w.com/1', 'https://w.com/2'], consulted: ['oai-weather'] };
    expect(urlsOf({ marked: [page(1)], ...web })).toEqual(['https://o.com/1', 'https://w.com/1', 'oai-weather']);
  });

  test('applies to unmarked sources in the same way', () => {
    const answered = [page(1), page(2), page(3), source('a/b'), source('c/d')];
    expect(urlsOf({ answered })).toEqual(['https://o.com/1', 'a/b', 'c/d']);
  });
});

describe('pages that were only consulted', () => {
  test('are citations if no page is cited', () => {
    expect(urlsOf({ marked: [page(1)], consulted: ['https://w.com'] })).toEqual(['https://o.com/1', 'https://w.com']);
  });

  test('do not replace a cited page that is also marked', () => {
    const web = {
      cited: ['https://o.com/1'],
      consulted: ['https://w.com', 'oai-weather'],
      opened: ['https://o.com'],
    };
    expect(urlsOf({ marked: [page(1)], ...web })).toEqual(['https://o.com/1', 'oai-weather']);
  });
});

describe('published_at', () => {
  test.each([
    ['a page that is not marked', { answered: [source('https://o.com/1', '2025-12-01')] }],
    ['an ID that is not marked', { answered: [source('notes://1', '2025-12-01')] }],
  ])('is the day of the last change, if it is known: %s', (_, given) => {
    expect(answer(given).citations.map(({ published_at }) => published_at)).toEqual(['2025-12-01']);
  });
});

describe('`Sources:`', () => {
  test('lists own sources without a search, with their dates', () => {
    const marked = [source('https://o.com/1', '2025-12-01'), source('notes://1'), source('jira/search')];
    expect(answer({ marked })).toEqual({
      answer: 'Two.\n\nSources:\n- https://o.com/1 (2025-12-01)\n- notes://1 (2026-01-05)\n- jira/search (2026-01-05)',
      used_search: false,
      citations: [
        { url: 'https://o.com/1', published_at: '2025-12-01' },
        { url: 'notes://1', published_at: '2026-01-05' },
        { url: 'jira/search', published_at: '2026-01-05' },
      ],
      model: 'gpt-5.2',
    });
  });

  test('appears once, if the model wrote it too', () => {
    const text = 'Two.\n\n**Sources**\n- jira/search\n- https://o.com/1';
    expect(answer({ text, marked: [page(1), source('jira/search')] }).answer).toBe(
      'Two.\n\nSources:\n- https://o.com/1 (2026-01-05)\n- jira/search (2026-01-05)',
    );
  });

  test('is absent without a search and without own sources', () => {
    expect(answer({})).toMatchObject({ answer: 'Two.', used_search: false, citations: [] });
  });
});

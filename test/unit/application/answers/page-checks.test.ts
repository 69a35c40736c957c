import { describe, expect, test } from 'vitest';
import { ask, startCore } from '../../../support/core.ts';
import { FakeCitedPages } from '../../../support/fake-cited-pages.ts';
import type { FakeClock } from '../../../support/fake-clock.ts';
import { FakeLlmSearch, replies } from '../../../support/fake-llm-search.ts';

/** Today is 2026-01-05. */
const A = 'https://a.example/';
const B = 'https://b.example/';
const DAY = '2026-01-05';
const CITED = { searched: true, sources: { cited: [{ url: A }, { url: B }], consulted: [], opened: [] } };
const GONE = { state: 'dead', status: 404 } as const;
const OK = { state: 'ok', status: 200 } as const;

interface Options {
  readonly pages?: FakeCitedPages;
  readonly reply?: object;
  readonly config?: object;
}

function start(text: string, { pages = new FakeCitedPages({ [A]: OK, [B]: GONE }), reply, config }: Options = {}) {
  const llmSearch = new FakeLlmSearch(replies({ text, ...CITED, ...reply }));
  const limits = { timeoutMs: 10_000, citationCheck: 'links' as const };
  return startCore({ llmSearch, citedPages: pages, config: { ...limits, ...config } });
}

const answerTo = async (text: string, options?: Options, query = 'Weather?') =>
  (await start(text, options).app.answerQuery(ask({ args: { query } })))._unsafeUnwrap();

describe('a dead page is marked', () => {
  test.each([
    ['Weather?', GONE, ' [not found: HTTP 404]'],
    ['Weather?', { state: 'dead', status: 410 }, ' [not found: HTTP 410]'],
    ['Weather?', { state: 'dead', reason: 'no_such_host' }, ' [not found: no such host]'],
    ['Weather?', { state: 'dead', reason: 'no_such_host', status: 302 }, ' [not found: no such host]'],
    ['天気は？', GONE, ' [見つかりません: HTTP 404]'],
    ['天気はどう？', { state: 'dead', reason: 'no_such_host' }, ' [見つかりません: ホスト名がありません]'],
    ['Weather?', { state: 'unreadable', reason: 'http_403' }, ''],
    ['Weather?', OK, ''],
  ] as const)('%s: %j', async (query, page, mark) => {
    const { result } = await answerTo('Sunny.', { pages: new FakeCitedPages({ [A]: OK, [B]: page }) }, query);
    expect(result.answer).toBe(`Sunny.\n\nSources:\n- ${A} (${DAY})\n- ${B} (${DAY})${mark}`);
    expect(result.citations).toEqual([A, B].map((url) => ({ url, published_at: DAY })));
  });

  test('in an answer that is cut, and the marks count', async () => {
    const config = { maxAnswerChars: 1000 };
    const { result } = await answerTo('A sentence. '.repeat(500), { config });
    expect(result.answer.length).toBeLessThanOrEqual(1000);
    expect(result.answer).toMatch(/\(2026-01-05\) \[not found: HTTP 404\]$/);
  });
});

describe('the report', () => {
  test('has the pages in the order of the citations, and not the dates', async () => {
    const { report } = await answerTo('Sunny.');
    expect(report.checks).toEqual([
      { url: A, ...OK },
      { url: B, ...GONE },
    ]);
    expect(report.dates).toBeUndefined();
  });

  test('is empty if no page is cited, or an own tool named it', async () => {
    const none = { sources: { cited: [], consulted: ['oai-weather'], opened: [] } };
    expect((await answerTo('Sunny.', { reply: none })).report.checks).toEqual([]);
    const pages = new FakeCitedPages();
    const own = { marked: [], answered: [A, B].map((url) => ({ ref: '', url, call: 'a/b' })), hasPrivateOutput: false };
    expect((await answerTo('Sunny.', { reply: { own }, pages })).report.checks).toEqual([]);
    expect(pages.asked).toEqual([]);
  });

  test('counts states', async () => {
    const { app, application } = start('Sunny.');
    await app.answerQuery(ask());
    expect(application.checkCounts).toEqual({ ok: 1, dead: 1, unreadable: 0 });
  });
});

test('the deadline ends the check, and not the answer', async () => {
  const { app, clock } = start('Sunny.', { pages: new FakeCitedPages({ [A]: OK }, [B]) });
  const answering = app.answerQuery(ask());
  await (clock as FakeClock).advance(10_000);
  expect((await answering)._unsafeUnwrap().report.checks).toEqual([
    { url: A, ...OK },
    { url: B, state: 'unreadable', reason: 'timeout' },
  ]);
});

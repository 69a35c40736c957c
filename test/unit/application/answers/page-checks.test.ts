import { describe, expect, test } from 'vitest';
import type { Config } from '../../../../src/application/ports/config.ts';
import type { SearchReply } from '../../../../src/application/ports/llm-search.ts';
import type { PageReading } from '../../../../src/application/ports/readers.ts';
import { ask, never, startCore } from '../../../support/core.ts';
import { FakeCitedPages } from '../../../support/fake-cited-pages.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FakeLlmSearch, replies } from '../../../support/fake-llm-search.ts';

const TODAY = '2026-01-05';
const A = 'https://a.example/';
const B = 'https://b.example/';
const DAY = '2024-03-05';
const GONE = { state: 'dead', status: 404 } as const;
const OK = { state: 'ok', status: 200 } as const;

interface Options {
  readonly pages?: FakeCitedPages;
  readonly reply?: Partial<SearchReply>;
  readonly config?: Partial<Config>;
}

/** Answers that cite two pages, whose days are resolved. */
function start(text: string, { pages = new FakeCitedPages({ [A]: DAY }), reply, config }: Options = {}) {
  const sources = { cited: [{ url: A }, { url: B }], consulted: [], opened: [] };
  const llmSearch = new FakeLlmSearch(replies({ text, searched: true, sources, ...reply }));
  const clock = new FakeClock(`${TODAY}T03:00:00Z`);
  const limits = { request: { timeoutMs: 10_000 }, citations: { resolveDates: true, check: 'off' as const } };
  const { application } = startCore({ llmSearch, clock, citedPages: pages, config: { ...limits, ...config } });
  return { application, clock };
}

const answerTo = async (text: string, options?: Options, query = 'Weather?') =>
  (await start(text, options).application.answerQuery.execute(ask({ args: { query } }), never()))._unsafeUnwrap();

describe('with citations.resolve_dates', () => {
  test('the day of publication replaces the day of access in citations and in the list of sources', async () => {
    const { result, report } = await answerTo('Sunny.');
    expect(result.citations).toEqual([
      { url: A, published_at: DAY },
      { url: B, published_at: TODAY },
    ]);
    expect(result.answer).toBe(`Sunny.\n\nSources:\n- ${A} (${DAY})\n- ${B} (${TODAY})`);
    expect(report.dates).toEqual([
      { url: A, origin: 'page' },
      { url: B, origin: 'access' },
    ]);
    expect(report.checks).toBeUndefined();
  });

  test.each([
    [`${A} (2024-03-01)`, { [A]: DAY }, DAY],
    [`${A} (2024-03-01)`, {}, '2024-03-01'],
    [A, {}, TODAY],
  ])('the source %s with the days %j has the day %s', async (listed, days, day) => {
    const { result } = await answerTo(`Sunny.\n\nSources:\n- ${listed}`, { pages: new FakeCitedPages(days) });
    expect(result.answer).toContain(`\n- ${A} (${day})\n`);
  });
});

describe('pages are not read', () => {
  test('that are not cited, or have no URL', async () => {
    const pages = new FakeCitedPages();
    const sources = { cited: [{ url: A }], consulted: ['oai-weather', 'https://other.example/'], opened: [] };
    const { result } = await answerTo('Sunny.', { pages, reply: { sources } });
    expect(result.citations.map(({ url }) => url)).toEqual([A, 'oai-weather']);
    expect(pages.asked).toEqual([[A]]);

    const none = new FakeCitedPages();
    const reply = { searched: false, sources: { ...sources, cited: [] } };
    await answerTo('Not Found.', { pages: none, reply });
    expect(none.asked).toEqual([]);
  });

  // S49
  test.each([
    ['marked', true],
    ['not marked', false],
  ])('that own tools named (%s): their date is that of the tool, or the day of access', async (_, isMarked) => {
    const ticket = 'https://tracker.example/42?signature=secret';
    const wiki = 'https://wiki.example/private';
    const answered = [
      { ref: 'turn0tool0', url: ticket, changedOn: '2025-12-01', call: 'jira/get' },
      { ref: 'turn0tool1', url: wiki, call: 'jira/get' },
    ];
    const pages = new FakeCitedPages({ [A]: DAY, [ticket]: DAY, [wiki]: DAY });
    // The API cites the page of the wiki too.
    const sources = { cited: [{ url: A }, { url: `${wiki}#part` }], consulted: [], opened: [] };
    const own = { marked: isMarked ? answered : [], answered, hasPrivateOutput: false };
    const { result, report } = await answerTo('Sunny.', { pages, reply: { sources, own } });
    expect(pages.asked).toEqual([[A]]);
    expect(result.citations).toEqual([
      { url: ticket, published_at: '2025-12-01' },
      { url: wiki, published_at: TODAY },
      { url: A, published_at: DAY },
    ]);
    expect(report.dates?.map(({ origin }) => origin)).toEqual(['resource', 'access', 'page']);
  });

  test('after a private output: which ones are cited would tell their sites something of it', async () => {
    const pages = new FakeCitedPages({ [A]: DAY, [B]: DAY });
    const own = { marked: [], answered: [], hasPrivateOutput: true };
    const { result } = await answerTo('Sunny.', { pages, reply: { own } });
    expect(pages.asked).toEqual([]);
    expect(result.citations.map(({ url }) => url)).toEqual([A, B]);
  });
});

describe('with citations.check', () => {
  const config = { citations: { check: 'links', resolveDates: false } } as const;

  test.each<[string, PageReading, string]>([
    ['Weather?', GONE, ' [not found: HTTP 404]'],
    ['Weather?', { state: 'dead', reason: 'no_such_host', status: 302 }, ' [not found: no such host]'],
    ['天気は？', { state: 'dead', status: 410 }, ' [見つかりません: HTTP 410]'],
    ['天気はどう？', { state: 'dead', reason: 'no_such_host' }, ' [見つかりません: ホスト名がありません]'],
    ['Weather?', { state: 'unreadable', reason: 'http_403' }, ''],
  ])('a dead page is marked, and no other: %s %j', async (query, page, mark) => {
    const pages = new FakeCitedPages({ [A]: OK, [B]: page });
    const { result, report } = await answerTo('Sunny.', { pages, config }, query);
    expect(result.answer).toBe(`Sunny.\n\nSources:\n- ${A} (${TODAY})\n- ${B} (${TODAY})${mark}`);
    expect(result.citations).toEqual([A, B].map((url) => ({ url, published_at: TODAY })));
    expect(report).toMatchObject({
      checks: [
        { url: A, ...OK },
        { url: B, ...page },
      ],
    });
    expect(report.dates).toBeUndefined();
  });

  test('the marks count in an answer that is cut', async () => {
    const pages = new FakeCitedPages({ [A]: OK, [B]: GONE });
    const { result } = await answerTo('A sentence. '.repeat(500), {
      pages,
      config: { ...config, server: { maxAnswerChars: 1000 } },
    });
    expect(result.answer.length).toBeLessThanOrEqual(1000);
    expect(result.answer).toMatch(/\(2026-01-05\) \[not found: HTTP 404\]$/);
  });

  test('the report is empty if no page is read', async () => {
    const sources = { cited: [], consulted: ['oai-weather'], opened: [] };
    expect((await answerTo('Sunny.', { reply: { sources }, config })).report.checks).toEqual([]);
  });

  test('states are counted', async () => {
    const { application } = start('Sunny.', { pages: new FakeCitedPages({ [A]: OK, [B]: GONE }), config });
    await application.answerQuery.execute(ask(), never());
    expect(application.checkCounts).toEqual({ ok: 1, dead: 1, unreadable: 0 });
  });

  // S51
  test('`evidence`: citations have the evidence of their pages, whose texts are not kept', async () => {
    const page = (visible: string): PageReading => ({
      ...OK,
      text: { visible, other: [], isCut: false },
    });
    const pages = new FakeCitedPages({ [A]: page('It has 43 parts.'), [B]: page('It weighs 18 kg.') });
    const text = `It has 42 parts [A](${A}).\n\nIt weighs 17 kg [B](${B}).`;
    const { result, report } = await answerTo(text, {
      pages,
      config: { citations: { resolveDates: true, check: 'evidence' } },
    });
    expect(result.citations).toMatchObject([
      { url: A, evidence: { missing: ['42'] } },
      { url: B, evidence: { missing: ['17'] } },
    ]);
    expect(JSON.stringify({ result: { ...result, citations: [] }, report })).not.toMatch(/43|18/);
  });
});

describe('pages that do not respond', () => {
  test('end at the deadline: the answer, and what is known of other pages, are kept', async () => {
    const pages = new FakeCitedPages({ [A]: DAY }, [B]);
    const { application, clock } = start('Sunny.', {
      pages,
      config: { citations: { resolveDates: true, check: 'links' } },
    });
    const answering = application.answerQuery.execute(ask(), never());
    await clock.advance(10_000);
    const { result, report } = (await answering)._unsafeUnwrap();
    expect(result.citations.map(({ published_at }) => published_at)).toEqual([DAY, TODAY]);
    expect(report.checks).toEqual([
      { url: A, ...OK },
      { url: B, state: 'unreadable', reason: 'timeout' },
    ]);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('end with a cancellation, and so does the call', async () => {
    const { application, clock } = start('Sunny.', { pages: new FakeCitedPages({}, [A]) });
    const controller = new AbortController();
    const answering = application.answerQuery.execute(ask(), controller.signal);
    await clock.advance(1);
    controller.abort();
    expect((await answering)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
  });
});

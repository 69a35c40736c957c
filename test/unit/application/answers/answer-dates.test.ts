import { describe, expect, test } from 'vitest';
import { ask, startCore } from '../../../support/core.ts';
import { FakeCitedPages } from '../../../support/fake-cited-pages.ts';
import type { FakeClock } from '../../../support/fake-clock.ts';
import { FakeLlmSearch, replies } from '../../../support/fake-llm-search.ts';

/** Today is 2026-01-05. */
const A = 'https://a.example/';
const B = 'https://b.example/';
const DAY = '2024-03-05';
const CITED = { searched: true, sources: { cited: [{ url: A }, { url: B }], consulted: [], opened: [] } };

function start(text: string, citedPages?: FakeCitedPages, over: object = {}) {
  const llmSearch = new FakeLlmSearch(replies({ text, ...CITED, ...over }));
  return startCore({ llmSearch, ...(citedPages && { citedPages }), config: { timeoutMs: 10_000, resolveDates: true } });
}

async function answerTo(text: string, citedPages?: FakeCitedPages, over: object = {}) {
  return (await start(text, citedPages, over).app.answerQuery(ask()))._unsafeUnwrap();
}

test('the day of publication replaces the day of access in citations and in the list of sources', async () => {
  const { result, report } = await answerTo('Sunny.', new FakeCitedPages({ [A]: DAY }));
  expect(result.citations).toEqual([
    { url: A, published_at: DAY },
    { url: B, published_at: '2026-01-05' },
  ]);
  expect(result.answer).toBe(`Sunny.\n\nSources:\n- ${A} (${DAY})\n- ${B} (2026-01-05)`);
  expect(report.dates).toEqual([
    { url: A, origin: 'page' },
    { url: B, origin: 'access' },
  ]);
});

test.each([
  [`${A} (2024-03-01)`, { [A]: DAY }, DAY],
  [`${A} (2024-03-01)`, {}, '2024-03-01'],
  [A, {}, '2026-01-05'],
])('the source %s with the days %j has the day %s', async (listed, days, day) => {
  const { result } = await answerTo(`Sunny.\n\nSources:\n- ${listed}`, new FakeCitedPages(days));
  expect(result.answer).toContain(`\n- ${A} (${day})\n`);
});

test('a date in the answer itself is not changed', async () => {
  const { result } = await answerTo(`On 2026-01-05 (2026-01-05) it was sunny: ${A}`, new FakeCitedPages({ [A]: DAY }));
  expect(result.answer).toContain(`On 2026-01-05 (2026-01-05) it was sunny: ${A}\n`);
});

test('only cited web pages are read, and nothing if there are none', async () => {
  const citedPages = new FakeCitedPages();
  const sources = { cited: [{ url: A }], consulted: ['oai-weather', 'https://other.example/'], opened: [] };
  const { result } = await answerTo('Sunny.', citedPages, { sources });
  expect(result.citations.map(({ url }) => url)).toEqual([A, 'oai-weather']);
  expect(citedPages.asked).toEqual([[A]]);

  const none = new FakeCitedPages();
  await answerTo('Not Found.', none, { searched: false, sources: { cited: [], consulted: [], opened: [] } });
  expect(none.asked).toEqual([]);
});

test.each([
  ['marked', true],
  ['not marked', false],
])(
  'pages that own tools named are never read (%s): their date is that of the tool, or the day of access',
  async (_, isMarked) => {
    const ticket = 'https://tracker.example/42?signature=secret';
    const wiki = 'https://wiki.example/private';
    const answered = [
      { ref: 'turn0tool0', url: ticket, changedOn: '2025-12-01', call: 'jira/get' },
      { ref: 'turn0tool1', url: wiki, call: 'jira/get' },
    ];
    const citedPages = new FakeCitedPages({ [A]: DAY, [ticket]: DAY, [wiki]: DAY });
    // The API cites the page of the wiki too.
    const sources = { cited: [{ url: A }, { url: `${wiki}#part` }], consulted: [], opened: [] };
    const own = { marked: isMarked ? answered : [], answered, hasPrivateOutput: false };
    const { result, report } = await answerTo('Sunny.', citedPages, { sources, own });
    expect(citedPages.asked).toEqual([[A]]);
    expect(result.citations).toEqual([
      { url: ticket, published_at: '2025-12-01' },
      { url: wiki, published_at: '2026-01-05' },
      { url: A, published_at: DAY },
    ]);
    expect(report.dates?.map(({ origin }) => origin)).toEqual(['resource', 'access', 'page']);
  },
);

test('after a private output no page is read: which ones are cited would tell their sites something of it', async () => {
  const citedPages = new FakeCitedPages({ [A]: DAY, [B]: DAY });
  const own = { marked: [], answered: [], hasPrivateOutput: true };
  const { result } = await answerTo('Sunny.', citedPages, { own });
  expect(citedPages.asked).toEqual([]);
  expect(result.citations.map(({ url }) => url)).toEqual([A, B]);
});

describe('pages that do not respond', () => {
  test('end at the deadline: the answer and the other dates are kept', async () => {
    const { app, clock } = start('Sunny.', new FakeCitedPages({ [A]: DAY }, [B]));
    const answering = app.answerQuery(ask());
    await (clock as FakeClock).advance(10_000);
    const { result } = (await answering)._unsafeUnwrap();
    expect(result.citations.map(({ published_at }) => published_at)).toEqual([DAY, '2026-01-05']);
    expect((clock as FakeClock).pendingSleeps).toBe(0);
  });

  test('end with a cancellation, and so does the call', async () => {
    const { app, clock } = start('Sunny.', new FakeCitedPages({}, [A]));
    const answering = app.answerQuery(ask());
    await (clock as FakeClock).advance(1);
    app.cancelRequest({ requestKey: 'test/1' });
    expect((await answering)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
  });
});

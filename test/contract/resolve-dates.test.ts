import { afterEach, beforeEach, expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import { composeOn } from './composed.ts';

/** Names that end in `.test` are this machine for the proxy, which resolves names; so the program itself reaches no such address. */
const PAGE = 'http://page.test/article';
const OTHER = 'http://page.test/other';
const CITED = { citations: [PAGE, OTHER].map((url) => ({ url, title: 'A' })) };

let api: FakeApi;
let pages: PageServer;
let proxy: ForwardProxy;

beforeEach(async () => {
  api = await startFakeApi({ always: answers('Sunny.', CITED) });
  pages = await startPageServer();
  pages.serve('/article', '<meta property="article:published_time" content="2024-03-05">');
  pages.serve('/other', '<p>No date</p>');
  proxy = await startForwardProxy(pages.port);
});

afterEach(async () => {
  await proxy.close();
  await pages.close();
  await api.close();
});

test.each([
  ['the variable', '', { RESOLVE_DATES: '1' }],
  ['YAML', 'citations: { resolve_dates: true }', {}],
])('%s: dates are read through the proxy, once per page', async (_name, yaml, environment) => {
  const ask = await composeOn(api, yaml, { ...environment, HTTP_PROXY: proxy.url });
  for (const _ of [1, 2]) {
    const { result, report } = (await ask())._unsafeUnwrap();
    const [first, second] = result.citations;
    expect(first).toMatchObject({ url: PAGE, published_at: '2024-03-05' });
    expect(second?.published_at).toMatch(/^20[2-9]\d-/);
    expect(result.answer).toContain(`- ${PAGE} (2024-03-05)\n- ${OTHER} (${second?.published_at})`);
    expect(report.dates).toEqual([
      { url: PAGE, origin: 'page' },
      { url: OTHER, origin: 'access' },
    ]);
  }
  expect(pages.requests.map(({ path }) => path).toSorted()).toEqual(['/article', '/other']);
  expect(pages.requests[0]?.headers['user-agent']).toMatch(/^openai-responses-mcp\/\d\S+ \(reads the publication date/);
  expect(pages.requests[0]?.headers).not.toHaveProperty('authorization');
});

test('is off by default: no page is fetched', async () => {
  const { report } = (await (await composeOn(api, '', { HTTP_PROXY: proxy.url }))())._unsafeUnwrap();
  expect(report.dates).toBeUndefined();
  expect(pages.connections()).toBe(0);
});

test('without a proxy, no configuration lets it reach this machine', async () => {
  api.replyAlways(answers('Sunny.', { citations: [{ url: pages.url('/article'), title: 'A' }] }));
  const { result, report } = (await (await composeOn(api, '', { RESOLVE_DATES: '1' }))())._unsafeUnwrap();
  expect(report.dates).toMatchObject([{ origin: 'access' }]);
  expect(result.citations).toHaveLength(1);
  expect(pages.connections()).toBe(0);
});

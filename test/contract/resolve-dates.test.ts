import { expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { composeOn } from './composed.ts';
import { webPerTest } from './web-kit.ts';

/** Names that end in `.test` are this machine for the proxy, which resolves names; so the program itself reaches no such address. */
const PAGE = 'http://page.test/article';
const OTHER = 'http://page.test/other';
const CITED = { citations: [PAGE, OTHER].map((url) => ({ url, title: 'A' })) };

const web = webPerTest(answers('Sunny.', CITED), {
  '/article': '<meta property="article:published_time" content="2024-03-05">',
  '/other': '<p>No date</p>',
});

test('dates are read through the proxy, each page once', async () => {
  const ask = await composeOn(web.api, 'citations: { resolve_dates: true }', { HTTP_PROXY: web.proxy.url });
  const { result, report } = (await ask())._unsafeUnwrap();
  const [first, second] = result.citations;
  expect(first).toMatchObject({ url: PAGE, published_at: '2024-03-05' });
  expect(second?.published_at).toMatch(/^20[2-9]\d-/);
  expect(result.answer).toContain(`- ${PAGE} (2024-03-05)\n- ${OTHER} (${second?.published_at})`);
  expect(report.dates).toEqual([
    { url: PAGE, origin: 'page' },
    { url: OTHER, origin: 'access' },
  ]);
  expect(web.pages.requests.map(({ path }) => path).toSorted()).toEqual(['/article', '/other']);
  expect(web.pages.requests[0]?.headers['user-agent']).toMatch(
    /^openai-responses-mcp\/\d\S+ \(reads the publication date/,
  );
  expect(web.pages.requests[0]?.headers).not.toHaveProperty('authorization');
});

test('is off by default: no page is fetched', async () => {
  const { report } = (await (await composeOn(web.api, '', { HTTP_PROXY: web.proxy.url }))())._unsafeUnwrap();
  expect(report.dates).toBeUndefined();
  expect(web.pages.connections()).toBe(0);
});

test('without a proxy, no configuration lets it reach this machine', async () => {
  web.api.replyAlways(answers('Sunny.', { citations: [{ url: web.pages.url('/article'), title: 'A' }] }));
  const { result, report } = (await (await composeOn(web.api, '', { RESOLVE_DATES: '1' }))())._unsafeUnwrap();
  expect(report.dates).toMatchObject([{ origin: 'access' }]);
  expect(result.citations).toHaveLength(1);
  expect(web.pages.connections()).toBe(0);
});

import { expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { composeOn } from './composed.ts';
import { webPerTest } from './web-kit.ts';

/** Names that end in `.test` are this machine for the proxy, which resolves names. */
const PAGE = 'http://page.test/article';
const GONE = 'http://page.test/gone';
const LOCAL = 'http://127.0.0.1/local';
const CITED = { citations: [PAGE, GONE, LOCAL].map((url) => ({ url, title: 'A' })) };
const TEXT = `<meta property="article:published_time" content="2024-03-05"><p>${'A text. '.repeat(30)}</p>`;

const web = webPerTest(answers('Sunny.', CITED), { '/article': TEXT });

const CHECKS = [
  { url: PAGE, state: 'ok', status: 200 },
  { url: GONE, state: 'dead', status: 404 },
  { url: LOCAL, state: 'unreadable', reason: 'forbidden' },
];

test('dead pages are marked, each answer requests each page, and dates stay', async () => {
  const ask = await composeOn(web.api, 'citations: { check: links }', { HTTP_PROXY: web.proxy.url });
  for (const _ of [1, 2]) {
    const { result, report } = (await ask())._unsafeUnwrap();
    const day = result.citations[0]?.published_at;
    expect(day).not.toBe('2024-03-05');
    expect(result.answer).toBe(
      `Sunny.\n\nSources:\n- ${PAGE} (${day})\n- ${GONE} (${day}) [not found: HTTP 404]\n- ${LOCAL} (${day})`,
    );
    expect(report.checks).toEqual(CHECKS);
    expect(report.dates).toBeUndefined();
  }
  expect(web.pages.requests.map(({ path }) => path).toSorted()).toEqual(['/article', '/article', '/gone', '/gone']);
  const { headers } = web.pages.requests[0] ?? {};
  expect(headers?.['user-agent']).toMatch(/^openai-responses-mcp\/\d\S+ \(checks cited pages\)$/);
  expect(headers?.accept).toBe('text/html,application/xhtml+xml,text/plain,text/csv,application/json,application/pdf');
});

test('dates are read from the same responses', async () => {
  const ask = await composeOn(web.api, '', { CHECK_CITATIONS: 'links', RESOLVE_DATES: '1', HTTP_PROXY: web.proxy.url });
  const { result, report } = (await ask())._unsafeUnwrap();
  expect(web.pages.requests).toHaveLength(2);
  expect(result.citations[0]).toMatchObject({ url: PAGE, published_at: '2024-03-05' });
  expect(report.dates?.[0]).toEqual({ url: PAGE, origin: 'page' });
});

test('a tunnel that a proxy refuses is a page that the network does not reach', async () => {
  const url = 'https://page.test/';
  web.api.replyAlways(answers('Sunny.', { citations: [{ url, title: 'A' }] }));
  const variables = { CHECK_CITATIONS: 'LINKS', HTTPS_PROXY: web.proxy.url, NO_PROXY: '127.0.0.1' };
  const { report } = (await (await composeOn(web.api, '', variables))())._unsafeUnwrap();
  expect(report.checks).toEqual([{ url, state: 'unreadable', reason: 'network' }]);
});

test('a value that is no kind of check is a problem of the configuration', async () => {
  await expect(composeOn(web.api, 'citations: { check: true }')).rejects.toThrow(
    'expected one of off, links, evidence',
  );
});

// S49
test('off requests nothing, and reports nothing', async () => {
  const ask = await composeOn(web.api, 'citations: { check: off }', { HTTP_PROXY: web.proxy.url });
  const { report } = (await ask())._unsafeUnwrap();
  expect(report).not.toHaveProperty('checks');
  expect(web.pages.connections()).toBe(0);
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import { composeOn } from './composed.ts';

/** Names that end in `.test` are this machine for the proxy, which resolves names. */
const PAGE = 'http://page.test/article';
const GONE = 'http://page.test/gone';
const LOCAL = 'http://127.0.0.1/local';
const CITED = { citations: [PAGE, GONE, LOCAL].map((url) => ({ url, title: 'A' })) };
const TEXT = `<meta property="article:published_time" content="2024-03-05"><p>${'A text. '.repeat(30)}</p>`;

let api: FakeApi;
let pages: PageServer;
let proxy: ForwardProxy;

beforeEach(async () => {
  api = await startFakeApi({ always: answers('Sunny.', CITED) });
  pages = await startPageServer();
  pages.serve('/article', TEXT);
  proxy = await startForwardProxy(pages.port);
});

afterEach(async () => {
  await proxy.close();
  await pages.close();
  await api.close();
});

const CHECKS = [
  { url: PAGE, state: 'ok', status: 200 },
  { url: GONE, state: 'dead', status: 404 },
  { url: LOCAL, state: 'unreadable', reason: 'forbidden' },
];

test.each([
  ['the variable', '', { CHECK_CITATIONS: 'LINKS' }],
  ['YAML', 'citations: { check: links }', {}],
])('%s: dead pages are marked, each answer requests each page, and dates stay', async (_name, yaml, environment) => {
  const ask = await composeOn(api, yaml, { ...environment, HTTP_PROXY: proxy.url });
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
  expect(pages.requests.map(({ path }) => path).toSorted()).toEqual(['/article', '/article', '/gone', '/gone']);
  const { headers } = pages.requests[0] ?? {};
  expect(headers?.['user-agent']).toMatch(/^openai-responses-mcp\/\d\S+ \(checks cited pages\)$/);
  expect(headers?.accept).toBe('text/html,application/xhtml+xml,text/plain');
});

test('dates are read from the same responses; if a page cannot be read, an earlier answer knows its date', async () => {
  const ask = await composeOn(api, '', { CHECK_CITATIONS: 'links', RESOLVE_DATES: '1', HTTP_PROXY: proxy.url });
  const first = (await ask())._unsafeUnwrap();
  expect(pages.requests).toHaveLength(2);
  pages.serve('/article', (_, response) => response.writeHead(410).end());
  const second = (await ask())._unsafeUnwrap();
  for (const { result, report } of [first, second]) {
    expect(result.citations[0]).toMatchObject({ url: PAGE, published_at: '2024-03-05' });
    expect(report.dates?.[0]).toEqual({ url: PAGE, origin: 'page' });
  }
  expect(second.result.answer).toContain(`- ${PAGE} (2024-03-05) [not found: HTTP 410]\n`);
  expect(second.report.checks?.[0]).toEqual({ url: PAGE, state: 'dead', status: 410 });
});

test('a tunnel that a proxy refuses is network', async () => {
  const url = 'https://page.test/';
  api.replyAlways(answers('Sunny.', { citations: [{ url, title: 'A' }] }));
  const ask = await composeOn(api, '', { CHECK_CITATIONS: 'links', HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.1' });
  expect((await ask())._unsafeUnwrap().report.checks).toEqual([{ url, state: 'unreadable', reason: 'network' }]);
});

test.each(['false', 'link', 'true', '[links]'])('citations.check: %s is a problem', async (value) => {
  await expect(composeOn(api, `citations: { check: ${value} }`)).rejects.toThrow(
    'expected one of off, links, evidence',
  );
});

test('off requests nothing, and reports nothing', async () => {
  const ask = await composeOn(api, 'citations: { check: off }', { HTTP_PROXY: proxy.url });
  const { report } = (await ask())._unsafeUnwrap();
  expect(report).not.toHaveProperty('checks');
  expect(pages.connections()).toBe(0);
});

import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { readProxy } from '../../src/adapters/outbound/network/environment.ts';
import { createProxyFetch } from '../../src/adapters/outbound/network/proxy-fetch.ts';
import { answers, stallsMidStream } from '../support/behaviours.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.ts';
import { composeOn } from './composed.ts';
import { API_KEY, ask, errorOf, expectNoListener, openAiSearch, ProgressLog, searchRequest } from './search-kit.ts';

let api: FakeApi;
let proxy: ForwardProxy;
let port: number;

beforeEach(async () => {
  api = await startFakeApi({ always: answers('Through the proxy 🎉.') });
  port = Number(new URL(api.url).port);
  proxy = await startForwardProxy(port);
});

afterEach(async () => {
  await proxy.close();
  await api.close();
});

/** A host that only the proxy can resolve. */
const remote = () => `http://api.example.test:${port}/v1`;

test.each(['HTTPS_PROXY', 'https_proxy'])(
  '%s is asked for a tunnel to an https host, never sees the key, and is not used for an http host',
  async (variable) => {
    const environment = { [variable]: proxy.url };
    const https = 'https://api.example.test/v1';
    const error = errorOf(await ask(openAiSearch(https, { ...createProxyFetch(environment), maxRetries: 0 })));
    expect(proxy.seen).toEqual(['CONNECT api.example.test:443']);
    expect(error).toMatchObject({ kind: 'connection_failed', host: 'api.example.test' });
    expect(readProxy(environment, https).proxy).toBe(proxy.url);
    expect(readProxy(environment, remote()).proxy).toBeUndefined();
  },
);

/** Which of these URLs are requested through the proxy: by the look at the variables, and by the requests. */
async function proxied(variables: Readonly<Record<string, string>>, ...urls: readonly string[]) {
  const environment = { HTTP_PROXY: proxy.url, ...variables };
  const { fetch, close } = createProxyFetch(environment);
  const requested: string[] = [];
  for (const url of urls) {
    const { length } = proxy.seen;
    await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => {});
    if (proxy.seen.length > length) requested.push(url);
  }
  await close();
  const looked = urls.filter((url) => readProxy(environment, url).proxy !== undefined);
  expect(requested).toEqual(looked);
  return looked;
}

test.each([
  ['example.test', []],
  ['.example.test', []],
  ['*', []],
  ['other.test, example.test:1', ['http://a.example.test']],
  ['[fd00::1]', ['http://a.example.test']],
])('NO_PROXY=%s bypasses the proxy for its hosts', async (bypass, expected) => {
  expect(await proxied({ NO_PROXY: bypass }, 'http://a.example.test')).toEqual(expected);
});

test.each(['', 'example.org', '::1'])(
  'no proxy gets requests to this machine, whatever NO_PROXY is (%j)',
  async (bypass) => {
    const own = ['127.0.0.1', 'localhost', '127.1.2.3', '[::1]', '[0:0:0:0:0:0:0:1]'].map(
      (host) => `http://${host}:${port}/v1`,
    );
    expect(await proxied({ NO_PROXY: bypass }, ...own, remote())).toEqual([remote()]);
  },
);

test('an abort closes the request through a proxy', async () => {
  api.reply(stallsMidStream());
  const controller = new AbortController();
  const observer = new ProgressLog(({ kind }) => kind === 'writing' && controller.abort());
  const search = openAiSearch(remote(), createProxyFetch({ HTTP_PROXY: proxy.url }));
  expect(errorOf(await search.search(searchRequest(), observer, controller.signal))).toEqual({ kind: 'aborted' });
  await api.waitForAbort(0);
  expectNoListener(controller.signal);
});

test.each(['HTTP_PROXY', 'http_proxy'])(
  'the program uses the proxy of %s, which may have no scheme, and warns that the key is sent unencrypted',
  async (variable) => {
    const log: string[] = [];
    const written = vi.spyOn(process.stderr, 'write').mockImplementation((text) => log.push(String(text)) > 0);
    onTestFinished(() => written.mockRestore());
    const withoutScheme = proxy.url.replace('http://', '');
    const askProgram = await composeOn(api, '', { [variable]: withoutScheme, OPENAI_BASE_URL: remote() });
    expect((await askProgram())._unsafeUnwrap().result.answer).toBe('Through the proxy 🎉.');
    const request = `api\\.example\\.test:${port}`;
    expect(proxy.seen).toEqual([
      expect.stringMatching(new RegExp(`^(?:CONNECT ${request}|POST http://${request}/v1/responses)$`)),
    ]);
    expect(api.requests).toMatchObject([{ method: 'POST', headers: { authorization: `Bearer ${API_KEY}` } }]);
    expect(log).toEqual([
      expect.stringMatching(
        / WARN openai\.base_url begins with http:\/\/: the API key and the questions are sent unencrypted\n$/,
      ),
    ]);
  },
);

test.each([
  ['HTTP_PROXY', 'not a url'],
  ['HTTP_PROXY', 'ftp://proxy.example.test'],
  ['https_proxy', 'socks5://127.0.0.1:1080'],
  ['HTTP_PROXY', 'http://'],
  ['HTTP_PROXY', 'user:100%@127.0.0.1:9'],
])('%s=%s is no proxy, which is reported', (variable, value) => {
  const reported: string[][] = [];
  const { proxy } = readProxy({ [variable]: value }, remote(), (...report) => reported.push(report));
  expect(proxy).toBeUndefined();
  expect(reported).toEqual([[variable, 'expected the URL of a proxy, such as http://proxy.example:8080', value]]);
});

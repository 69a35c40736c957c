import { promises } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fetch } from 'undici';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCitedPages, isPublicAddress } from '../../src/adapters/outbound/pages/create-cited-pages.ts';
import { createPageAgent } from '../../src/adapters/outbound/pages/page-connector.ts';
import { WebCitedPages } from '../../src/adapters/outbound/pages/web-cited-pages.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { daysOf } from './describe-cited-pages.ts';

const CLOCK = new FakeClock('2026-11-21T03:00:00Z');
const DATED = '<meta property="article:published_time" content="2024-03-05">';
const COMMON = {
  clock: CLOCK,
  logger: new RecordingLogger(),
  timeZone: 'Asia/Tokyo',
  userAgent: 'test',
  resolveDates: true,
  check: 'off' as const,
};

let pages: PageServer;

beforeEach(async () => {
  pages = await startPageServer();
  pages.serve('/', DATED);
});

afterEach(() => pages.close());

/** By their notation in URLs; each is this machine, another private network, or reserved. */
const FORBIDDEN = [
  // This machine.
  '127.255.255.254',
  '0.0.0.0',
  '[::1]',
  '[::]',
  // Private networks.
  '10.0.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '[fc00::1]',
  '[fec0::1]',
  // Link-local, with the metadata of clouds.
  '169.254.169.254',
  '[fe80::1]',
  '192.0.0.192',
  '168.63.129.16',
  '[::ffff:168.63.129.16]',
  // IPv4 inside IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::8.8.8.8]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001::1]',
  '[4000::1]',
  // Other notations of 127.0.0.1 and 169.254.169.254.
  '2130706433',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '127.1',
  '127.0.0.1.',
  '１２７.０.０.１',
  '0xa9fea9fe',
  // Multicast, broadcast, documentation, benchmarks, reserved.
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '[ff02::1]',
  '[2001:db8::1]',
  '[100::1]',
];

const LOCAL_NAMES = ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost'];

/** The address in a URL as a connection gets it. */
const addressIn = (host: string) => new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, '');

describe('an address', () => {
  test.each(FORBIDDEN)('%s is not public', (host) => {
    expect(isPublicAddress(addressIn(host))).toBe(false);
  });

  test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test.each(['', 'example.com', '127.0.0.1/8', 'fe80::1%eth0'])('%j is not a public address', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

const NO_SECOND_LOOPBACK = 'only Linux has the address 127.0.0.2 without configuration';

// S49
describe('the connection alone refuses', () => {
  /** Any host and any port are allowed before. */
  function guarded(
    isAllowed = isPublicAddress,
    resolve: Parameters<typeof createPageAgent>[1] = (host) => promises.lookup(host, { all: true }),
  ) {
    const dispatcher = createPageAgent(isAllowed, resolve);
    onTestFinished(() => dispatcher.destroy());
    const citedPages = new WebCitedPages({
      ...COMMON,
      dispatcher,
      isPort: () => true,
      isAllowedHost: () => true,
      canResolve: () => true,
    });
    const reasonOf = async (url: string) => {
      const failure = await fetch(url, { dispatcher }).then(
        () => undefined,
        (error: unknown) => error,
      );
      return String((failure as Error | undefined)?.cause ?? failure);
    };
    return { citedPages, reasonOf };
  }

  test.each(['127.0.0.1', '[::ffff:127.0.0.1]', '2130706433', 'localhost'])('%s', async (host) => {
    const { citedPages, reasonOf } = guarded();
    for (const url of [`http://${host}:${pages.port}/`, `https://${host}:${pages.port}/`]) {
      expect(await daysOf(citedPages, [url])).toEqual(new Map());
      expect(await reasonOf(url)).toMatch(/is not a public address$/);
    }
    expect(pages.connections()).toBe(0);
  });

  test('nothing if everything is allowed: the server of this test responds', async () => {
    const { citedPages } = guarded(() => true);
    const urls = ['127.0.0.1', '[::1]', '2130706433', 'localhost'].map((host) => `http://${host}:${pages.port}/`);
    expect((await daysOf(citedPages, urls)).size).toBe(urls.length);
  });

  /** Each name has these addresses, one list per lookup. */
  function resolves(...answers: readonly (readonly string[])[]) {
    const lookups: string[] = [];
    const resolve = async (host: string) => {
      const addresses = answers[Math.min(lookups.length, answers.length - 1)] ?? [];
      lookups.push(host);
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    };
    return { lookups, resolve };
  }

  test.each([
    ['this machine', ['127.0.0.1']],
    ['a public address and this machine', ['8.8.8.8', '127.0.0.1']],
    ['this machine and a public address', ['::1', '8.8.8.8']],
    ['nothing', []],
  ])('a name that resolves to %s', async (_name, addresses) => {
    const { resolve } = resolves(addresses);
    const { citedPages, reasonOf } = guarded(isPublicAddress, resolve);
    const url = `http://rebind.example:${pages.port}/`;
    expect(await daysOf(citedPages, [url])).toEqual(new Map());
    expect(await reasonOf(url)).toMatch(/rebind\.example is not a public address$/);
    expect(pages.connections()).toBe(0);
  });

  test('a name whose address changes after the first lookup', async ({ skip }) => {
    skip(process.platform !== 'linux', NO_SECOND_LOOPBACK);
    // 127.0.0.2 plays the public address.
    const { lookups, resolve } = resolves(['127.0.0.2'], ['127.0.0.1']);
    const { citedPages } = guarded((address) => address === '127.0.0.2', resolve);
    const page = (path: string) => `http://rebind.example:${pages.port}${path}`;
    pages.serve('/first', (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html', connection: 'close' }).end(DATED),
    );
    expect((await daysOf(citedPages, [page('/first')])).size).toBe(1);
    // One lookup per connection: what was checked is what was connected to.
    expect(lookups).toHaveLength(1);
    expect(await daysOf(citedPages, [page('/')])).toEqual(new Map());
    expect(lookups.length).toBeGreaterThan(1);
    expect(pages.requests.map(({ path }) => path)).toEqual(['/first']);
  });

  test('a name only as long as its address is not public', async () => {
    // 127.0.0.1 plays the public address.
    const { resolve } = resolves(['10.0.0.1'], ['127.0.0.1']);
    const { citedPages } = guarded((address) => address === '127.0.0.1', resolve);
    const url = `http://moved.example:${pages.port}/`;
    expect((await daysOf(citedPages, [url])).size).toBe(0);
    expect((await daysOf(citedPages, [url])).size).toBe(1);
  });

  test('a redirect to a forbidden address', async ({ skip }) => {
    skip(process.platform !== 'linux', NO_SECOND_LOOPBACK);
    const { resolve } = resolves(['127.0.0.2']);
    const { citedPages } = guarded((address) => address === '127.0.0.2', resolve);
    for (const host of ['127.0.0.1', '[::1]']) {
      pages.serve(`/${host}`, (_, response) =>
        response.writeHead(302, { location: `http://${host}:${pages.port}/` }).end(),
      );
      expect(await daysOf(citedPages, [`http://public.example:${pages.port}/${host}`])).toEqual(new Map());
    }
    expect(pages.requests.map(({ path }) => path)).toEqual(['/127.0.0.1', '/[::1]']);
  });
});

describe('in production', () => {
  async function fetched(urls: readonly string[], proxy?: string) {
    const { citedPages, close } = createCitedPages({ ...COMMON, proxy });
    onTestFinished(close);
    return daysOf(citedPages, urls);
  }

  async function startProxy() {
    const proxy = await startForwardProxy(pages.port);
    onTestFinished(() => proxy.close());
    return proxy;
  }

  test('no address that is not public is fetched, nor localhost, and no proxy is asked for one', async () => {
    const proxy = await startProxy();
    const urls = [...FORBIDDEN, ...LOCAL_NAMES].flatMap((host) => [`http://${host}/`, `https://${host}/`]);
    for (const url of [undefined, proxy.url]) expect(await fetched(urls, url)).toEqual(new Map());
    expect(pages.connections()).toBe(0);
    expect(proxy.seen).toEqual([]);
  });

  const OTHER_URLS = [
    'http://page.test:8080/',
    'https://page.test:8443/',
    'http://user@page.test/',
    'http://:password@page.test/',
    'ftp://page.test/',
    'file:///etc/passwd',
    'data:text/html,x',
    '//page.test/',
    'page.test',
    '',
  ];

  test('a proxy that hangs up is asked once', async () => {
    let connections = 0;
    const proxy = createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      socket.once('data', () => socket.destroy());
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void proxy.close());
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    expect(await fetched(['https://page.test/'], `http://127.0.0.1:${port}`)).toEqual(new Map());
    expect(connections).toBe(1);
  });

  test('a page whose text is fetched has the time limit of a page', async () => {
    const clock = new FakeClock();
    const proxy = await startProxy();
    pages.serve('/silent', () => undefined);
    const { fetchText, close } = createCitedPages({ ...COMMON, clock, proxy: proxy.url });
    onTestFinished(close);
    const fetching = fetchText('http://page.test/silent', new AbortController().signal);
    await pages.waitForRequests(1);
    await clock.advance(3000);
    expect(await fetching).toMatchObject({ state: 'unreadable', reason: 'timeout' });
  });

  test('a proxy is not asked for other ports, other schemes, users, or what is not a URL', async () => {
    const proxy = await startProxy();
    expect(await fetched(OTHER_URLS, proxy.url)).toEqual(new Map());
    expect(proxy.seen).toEqual([]);
    // The control: it is asked for the usual port.
    expect((await fetched(['http://page.test/', 'http://page.test:80/'], proxy.url)).size).toBe(2);
    expect(proxy.seen).not.toEqual([]);
    for (const seen of proxy.seen) expect(seen).toMatch(/^(?:CONNECT page\.test:80|GET http:\/\/page\.test\/)/);
  });

  test('a proxy is not asked for the target of a redirect to such an address', async () => {
    const proxy = await startProxy();
    const targets = ['http://169.254.169.254/latest/meta-data/', 'http://localhost/', 'http://a@b.test/'];
    for (const [index, location] of targets.entries()) {
      pages.serve(`/${index}`, (_, response) => response.writeHead(302, { location }).end());
      expect(await fetched([`http://page.test/${index}`], proxy.url)).toEqual(new Map());
    }
    expect(pages.requests.map(({ path }) => path)).toEqual(['/0', '/1', '/2']);
    expect(proxy.seen.join()).not.toMatch(/169\.254|localhost|b\.test/);
  });
});

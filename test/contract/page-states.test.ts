import { gzipSync } from 'node:zlib';
import { Agent } from 'undici';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createPageAgent } from '../../src/adapters/outbound/pages/page-connector.ts';
import { WebCitedPages, type WebCitedPagesOptions } from '../../src/adapters/outbound/pages/web-cited-pages.ts';
import { newCertificate, serveHttps } from '../support/certificates.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type PageHandler, type PageServer, startPageServer } from '../support/page-server.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { never } from './search-kit.ts';

const ROOT = newCertificate();
const TEXT = 'x'.repeat(200);
const HTML = { 'content-type': 'text/html' };

let pages: PageServer;

beforeEach(async () => {
  pages = await startPageServer();
});

afterEach(() => pages.close());

/** A name that does not exist, as name servers say it. */
const unknownName = (host: string) =>
  Promise.reject(Object.assign(new Error(`queryA ENOTFOUND ${host}`), { code: 'ENOTFOUND' }));

function start(over: Partial<WebCitedPagesOptions> & { readonly isAllowed?: (address: string) => boolean } = {}) {
  const dispatcher = createPageAgent(over.isAllowed ?? (() => true), unknownName);
  onTestFinished(() => dispatcher.destroy());
  return new WebCitedPages({
    dispatcher,
    isPort: () => true,
    isAllowedHost: (host) => host !== '10.0.0.1',
    canResolve: () => true,
    clock: new FakeClock('2026-11-21T03:00:00Z'),
    logger: new RecordingLogger(),
    timeZone: 'Asia/Tokyo',
    userAgent: 'test',
    resolveDates: false,
    check: 'evidence',
    ...over,
  });
}

async function readOne(url: string, citedPages = start()) {
  const { text, ...page } = (await citedPages.read([url], never())).get(url) ?? {};
  return { ...page, ...(text && { text }) };
}

const responds =
  (status: number, headers: Record<string, string> = {}, body: string | Buffer = TEXT): PageHandler =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

const dead = (status: number) => ({ state: 'dead', status });
const unreadable = (reason: string, status?: number) => ({ state: 'unreadable', reason, status });

// S50
describe('the state of a page', () => {
  test.each(['Application/XHTML+XML; charset=utf-8', 'text/plain', 'text/markdown;charset=utf-8'])(
    'is ok with the type %s',
    async (type) => {
      const page = await readOne(pages.serve('/', responds(200, { 'content-type': type })));
      expect(page).toMatchObject({ state: 'ok', status: 200, text: { visible: TEXT, isCut: false } });
    },
  );

  test.each([
    [404, dead(404)],
    [410, dead(410)],
    [304, unreadable('http_304', 304)],
    [403, unreadable('http_403', 403)],
    [500, unreadable('http_500', 500)],
  ])('with status %i', async (status, expected) => {
    expect(await readOne(pages.serve('/', responds(status, HTML)))).toEqual(expected);
  });

  test.each<[string, PageHandler, string]>([
    ['a PDF', responds(200, { 'content-type': 'application/pdf' }), 'not_text'],
    ['a type that only begins in the same way', responds(200, { 'content-type': 'text/plainer' }), 'not_text'],
    ['no type', responds(200), 'not_text'],
    ['scripts and 199 characters', responds(200, HTML, `<script>x</script>${TEXT.slice(1)}`), 'no_text'],
    ['white space', responds(200, HTML, ' \n'.repeat(500)), 'empty'],
    ['only scripts', responds(200, HTML, `<div id=app></div><script>${TEXT}</script>`), 'no_text'],
    ['no type, and an empty body of unknown length', responds(200, { 'transfer-encoding': 'chunked' }, ''), 'empty'],
    ['no type, and a body of unknown length', responds(200, { 'transfer-encoding': 'chunked' }), 'not_text'],
    ['bytes that are no text', responds(200, HTML, Buffer.alloc(5000, 0xff)), 'not_text'],
    ['an unknown encoding', responds(200, { ...HTML, 'content-encoding': 'zst' }, Buffer.alloc(500, 0xb5)), 'not_text'],
  ])('with %s', async (_name, page, reason) => {
    expect(await readOne(pages.serve('/', page))).toEqual(unreadable(reason, 200));
  });

  // N4.7
  test.each<[string, string, object]>([
    ['application/pdf', '/a', { state: 'ok' }],
    ['application/x-pdf;q=1', '/a', { state: 'ok' }],
    ['application/octet-stream', '/a.PDF', { state: 'ok' }],
    ['application/octet-stream', '/a', unreadable('not_text', 200)],
  ])('of a PDF, of the type %s at %s', async (type, path, expected) => {
    const pdf = { read: async () => ({ bytes: Buffer.from(`${TEXT}\n1. a\fb\n\f`), isCut: false }) };
    const page = await readOne(pages.serve(path, responds(200, { 'content-type': type })), start({ pdf }));
    expect(page).toMatchObject(expected);
    if (page.state !== 'ok') return;
    expect(page.text).toEqual({ visible: `${TEXT}\n1. a\nb`, other: [], isCut: false, pages: [0, 206] });
  });

  test.each([
    ['without the program', { reason: 'no_pdf' as const }, 'no_pdf'],
    ['of images only', { bytes: Buffer.from('\f\f'), isCut: false }, 'empty_pdf'],
  ])('of a PDF %s', async (_, text, reason) => {
    const pdf = { read: async () => text };
    const url = pages.serve('/', responds(200, { 'content-type': 'application/pdf' }));
    expect(await readOne(url, start({ pdf }))).toEqual(unreadable(reason, 200));
  });

  // N4.7
  test.each<[string, string, string]>([
    ['text/csv', 'year,visitors\n2023,40\n', 'year,visitors\n2023,40'],
    ['text/tab-separated-values', 'a\tb\n1\t2', 'a b\n1 2'],
    ['application/json', '{\n  "visitors": 40\n}', '{\n"visitors": 40\n}'],
    ['application/vnd.api+json', '{"visitors": 40}', '{"visitors": 40}'],
    ['text/plain', 'Oslo,4,50\n', 'Oslo,4,50'],
  ])('of the type %s is read by its lines, also if it is short', async (type, body, visible) => {
    const page = await readOne(pages.serve('/', responds(200, { 'content-type': type }, body)));
    expect(page).toMatchObject({ state: 'ok', text: { visible, isData: true } });
  });

  test('without scripts may be short', async () => {
    expect(await readOne(pages.serve('/', responds(200, HTML, '<p>Yes.')))).toMatchObject({ state: 'ok' });
  });

  test.each([
    '<h1>Just a moment...</h1><p>Checking if the site connection is secure. Enable JavaScript and cookies to continue.',
    '<h1>One more step</h1><p>Please verify you are a human to go on.',
    '<p>Making sure you’re not a bot!',
    '<p>Our systems have detected unusual traffic from your computer network.',
    '<p>あなたが人間であることを確認してください。',
  ])('that checks who visits, with status 200, is not the page: %s', async (body) => {
    expect(await readOne(pages.serve('/', responds(200, HTML, body)))).toEqual(unreadable('robot_check', 200));
  });

  test('that says much more is the page', async () => {
    const body = `<p>Sites ask visitors to verify that they are human.${'<p>They do so for many reasons.'.repeat(60)}`;
    expect(await readOne(pages.serve('/', responds(200, HTML, body)))).toMatchObject({ state: 'ok' });
  });

  test('with up to 1 % of characters that are unknown', async () => {
    const page = (unknown: number) => Buffer.concat([Buffer.alloc(1000 - unknown, 0x61), Buffer.alloc(unknown, 0xff)]);
    expect(await readOne(pages.serve('/10', responds(200, HTML, page(10))))).toMatchObject({ state: 'ok' });
    expect(await readOne(pages.serve('/11', responds(200, HTML, page(11))))).toMatchObject({ reason: 'not_text' });
  });

  test('with a connection that breaks while it is read', async () => {
    const breaks: PageHandler = (_, response) => {
      response.writeHead(200, HTML).write(TEXT, () => response.destroy());
    };
    expect(await readOne(pages.serve('/', breaks))).toEqual(unreadable('network', 200));
  });

  test('that never ends is timeout', async () => {
    const clock = new FakeClock();
    const slow = pages.serve('/slow', (_, response) => void response.writeHead(200, HTML).write(TEXT));
    const silent = pages.serve('/silent', () => undefined);
    const reading = start({ clock }).read([slow, silent], never());
    await pages.waitForRequests(2);
    await clock.advance(3000);
    const read = await reading;
    expect(read.get(slow)).toMatchObject({ state: 'unreadable', reason: 'timeout' });
    expect(read.get(silent)).toEqual(unreadable('timeout'));
    expect(clock.pendingSleeps).toBe(0);
  });
});

// N4.7
describe('a busy site', () => {
  const busy = (status: number, wait: string, next: PageHandler): PageHandler => {
    let requests = 0;
    return (request, response) => {
      requests += 1;
      if (requests === 1) responds(status, { 'retry-after': wait })(request, response);
      else next(request, response);
    };
  };

  test.each([
    [429, '3'],
    [503, '10'],
    [429, '0'],
  ])('with status %i is asked once more after %s s', async (status, wait) => {
    const page = await readAfter(busy(status, wait, responds(200, HTML)), Number(wait) * 1000);
    expect(page).toMatchObject({ state: 'ok', status: 200 });
    expect(pages.requests).toHaveLength(2);
  });

  test('is not asked a third time', async () => {
    const page = await readAfter(busy(503, '1', responds(503, { 'retry-after': '1' })), 1000);
    expect(page).toEqual(unreadable('http_503', 503));
    expect(pages.requests).toHaveLength(2);
  });

  /** Reads a page, whose site gets the time that it asks for. */
  async function readAfter(page: PageHandler, waitMs: number) {
    const clock = new FakeClock();
    const reading = readOne(pages.serve('/', page), start({ clock, pageMs: 60_000 }));
    await expect.poll(() => clock.slept).toContain(waitMs);
    await clock.advance(waitMs);
    return reading;
  }

  test.each([
    [429, '11'],
    [429, 'soon'],
    [429, ''],
    [500, '1'],
  ])('with status %i and the wait %j is not asked again', async (status, wait) => {
    expect(await readOne(pages.serve('/', responds(status, { 'retry-after': wait })))).toEqual(
      unreadable(`http_${status}`, status),
    );
    expect(pages.requests).toHaveLength(1);
  });
});

// N4.7
test.each([
  ['certificate_expired', newCertificate({ issuer: ROOT, notAfter: '20200101000000Z' })],
  ['certificate', newCertificate({ issuer: ROOT, host: 'other.example' })],
  ['certificate', newCertificate()],
])('a site whose certificate is not valid has the reason %s', async (reason, certificate) => {
  const dispatcher = new Agent({ connect: { ca: ROOT.cert } });
  onTestFinished(() => dispatcher.destroy());
  const url = await serveHttps(certificate);
  expect(await readOne(url, start({ dispatcher }))).toEqual(unreadable(reason));
});

describe('a redirect', () => {
  const to = (location: string) => responds(302, { location });

  test.each<[string, string, object]>([
    ['to a page that does not exist', '/none', { ...dead(404), finalUrl: expect.stringMatching(/\/none$/) }],
    ['to a forbidden host', 'http://10.0.0.1/', { ...unreadable('forbidden', 302), finalUrl: 'http://10.0.0.1/' }],
    ['to another scheme', 'file:///etc/passwd', unreadable('http_302', 302)],
    ['in a circle', '/', unreadable('redirects', 302)],
    [
      'to a name that does not exist',
      'http://none.example/',
      { state: 'dead', reason: 'no_such_host', status: 302, finalUrl: 'http://none.example/' },
    ],
  ])('%s', async (_name, location, expected) => {
    expect(await readOne(pages.serve('/', to(location)))).toMatchObject(expected);
  });

  test('is shown, and whether it is permanent', async () => {
    pages.serve('/new', responds(200, HTML, TEXT));
    for (const status of [301, 302, 308]) {
      const read = await readOne(pages.serve('/old', responds(status, { location: '/new' })));
      expect(read).toMatchObject({ state: 'ok', finalUrl: pages.url('/new'), isMoved: status !== 302 });
    }
  });

  test('to an address in UTF-8 is followed', async () => {
    pages.serve('/%E6%9D%B1%E4%BA%AC', responds(200, HTML, TEXT));
    const location = Buffer.from('/東京').toString('latin1');
    expect(await readOne(pages.serve('/ja', responds(301, { location })))).toMatchObject({ state: 'ok' });
  });

  test('to the home page, or to a page that asks for a password, is not the page', async () => {
    pages.serve('/', responds(200, HTML, TEXT));
    pages.serve('/login', responds(200, HTML, `${TEXT}<form><input type="password"></form>`));
    expect(await readOne(pages.serve('/old', to('/')))).toMatchObject(unreadable('home_page', 200));
    expect(await readOne(pages.serve('/members', to('/login')))).toMatchObject(unreadable('sign_in', 200));
    expect(await readOne(pages.url('/login'))).toMatchObject({ state: 'ok' });
  });
});

describe('a host', () => {
  test('that does not exist is dead', async () => {
    expect(await readOne('http://none.example/')).toEqual({ state: 'dead', reason: 'no_such_host', status: undefined });
  });

  test('that does not exist is no dead link where no name can be resolved', async () => {
    const citedPages = start({ canResolve: () => false });
    expect(await readOne('http://none.example/', citedPages)).toEqual(unreadable('network'));
  });

  test('with an address that is not public is forbidden, and gets no request', async () => {
    const citedPages = start({ isAllowed: () => false });
    expect(await readOne(pages.url('/'), citedPages)).toEqual(unreadable('forbidden'));
    expect(await readOne('http://10.0.0.1/', citedPages)).toEqual(unreadable('forbidden'));
    expect(pages.connections()).toBe(0);
  });
});

test('a page that is large only after decompression is cut', async () => {
  const bomb = gzipSync(Buffer.concat([Buffer.from(`<p>${TEXT}</p>`), Buffer.alloc(50_000_000, 32)]));
  const page = await readOne(pages.serve('/', responds(200, { ...HTML, 'content-encoding': 'gzip' }, bomb)));
  expect(page).toMatchObject({ state: 'ok', text: { visible: TEXT, isCut: true } });
});

test('a page of exactly 2,000,000 bytes is not cut', async () => {
  const page = await readOne(pages.serve('/', responds(200, HTML, TEXT.padEnd(2_000_000))));
  expect(page).toMatchObject({ text: { isCut: false } });
});

test('a page is decoded', async () => {
  const body = Buffer.concat([Buffer.from([0x93, 0x8c, 0x8b, 0x9e]), Buffer.from(TEXT)]);
  const page = await readOne(pages.serve('/', responds(200, { 'content-type': 'text/html; charset=Shift_JIS' }, body)));
  expect(page.text?.visible).toBe(`東京${TEXT}`);
});

test('links does not return the text; the debug log has URL, state and time, and never the text', async () => {
  const logger = new RecordingLogger({ isDebug: true });
  const citedPages = start({ check: 'links', logger });
  const url = pages.serve('/', responds(200, HTML));
  expect(await readOne(url, citedPages)).toEqual({ state: 'ok', status: 200, reason: undefined });
  await readOne(pages.url('/none'), citedPages);
  expect(logger.lines).toEqual([
    `debug pages: url=${url} {"state":"ok","status":200} ms=0`,
    `debug pages: url=${url}none {"state":"dead","status":404} ms=0`,
  ]);
});

test('other messages are handled between two pages', async () => {
  const urls = [1, 2, 3].map((id) => pages.serve(`/${id}`, responds(200, HTML)));
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const decoded: number[] = [];
  const clock = new FakeClock();
  clock.now = () => {
    decoded.push(turns);
    return new Date('2026-11-21T03:00:00Z');
  };
  setImmediate(count);
  await start({ clock, resolveDates: true }).read(urls, never());
  expect(new Set(decoded).size).toBe(3);
  isOver = true;
});

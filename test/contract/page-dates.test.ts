import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createPageAgent } from '../../src/adapters/outbound/pages/page-connector.ts';
import { WebCitedPages } from '../../src/adapters/outbound/pages/web-cited-pages.ts';
import type { Clock } from '../../src/application/ports/services.ts';
import type { CitationCheck } from '../../src/domain/answers/citation.ts';
import { FakeCitedPages } from '../support/fake-cited-pages.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { daysOf, describeCitedPages } from './describe-cited-pages.ts';

const TODAY = '2026-11-21';
const NOW = `${TODAY}T03:00:00Z`;
const USER_AGENT = 'openai-responses-mcp/1.2.3 (test)';
const DATED = '<meta property="article:published_time" content="2024-03-05">';

let pages: PageServer;

beforeEach(async () => {
  pages = await startPageServer();
});

afterEach(() => pages.close());

/** The adapter with permission to fetch from this machine, which no configuration gives. */
function newCitedPages(clock: Clock = new FakeClock(NOW), check: CitationCheck = 'off'): WebCitedPages {
  const dispatcher = createPageAgent(() => true);
  onTestFinished(() => dispatcher.destroy());
  const permissions = { isPort: () => true, isAllowedHost: () => true, canResolve: () => true };
  const options = { clock, logger: new RecordingLogger(), timeZone: 'Asia/Tokyo', userAgent: USER_AGENT };
  return new WebCitedPages({ ...permissions, ...options, dispatcher, resolveDates: true, check });
}

const html = (head: string, body = '<p>Text</p>') =>
  `<!doctype html><html><head><title>A</title>${head}</head><body>${body}</body></html>`;
const TEXT = `<p>A long text. ${'x'.repeat(200)}</p>`;

describeCitedPages('FakeCitedPages', async () => {
  const hanging = 'https://hanging.example/';
  const text = { visible: 'A long text.', other: [], isCut: false };
  const ok = { state: 'ok', status: 200 } as const;
  return {
    citedPages: new FakeCitedPages(
      {
        'https://dated.example/': { ...ok, publishedOn: '2024-03-05', text },
        'https://undated.example/': ok,
        'https://missing.example/': { state: 'dead', status: 404 },
      },
      [hanging],
    ),
    dated: 'https://dated.example/',
    undated: 'https://undated.example/',
    missing: 'https://missing.example/',
    broken: 'https://broken.example/',
    hanging,
    asked: settled,
  };
});

describeCitedPages('WebCitedPages', async () => ({
  citedPages: newCitedPages(new FakeClock(NOW), 'evidence'),
  dated: pages.serve('/dated', html(DATED, TEXT)),
  undated: pages.serve('/undated', html('', TEXT)),
  missing: pages.url('/missing'),
  broken: pages.serve('/broken', ({ socket }) => socket.resetAndDestroy()),
  hanging: pages.serve('/hanging', () => undefined),
  asked: () => pages.waitForRequests(1),
}));

test('today is that of the time zone', async () => {
  const url = pages.serve('/page', html(DATED.replace('2024-03-05', '2026-11-22')));
  const dates = await daysOf(newCitedPages(new FakeClock('2026-11-21T15:00:00Z')), [url]);
  expect(dates.get(url)).toBe('2026-11-22');
});

test('an endless page is not read to its end', async () => {
  let written = 0;
  const closed = new Promise<void>((resolve) => {
    pages.serve('/endless', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write(html(DATED));
      const more = () => {
        while (response.write(Buffer.alloc(65_536, 32))) written += 65_536;
        written += 65_536;
      };
      response.on('drain', more).once('close', resolve);
      more();
    });
  });
  const url = pages.url('/endless');
  expect((await daysOf(newCitedPages(), [url])).get(url)).toBe('2024-03-05');
  await closed;
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test.each([
  [3, '2024-03-05'],
  [4, undefined],
])('after %i redirects the day is %s: three are followed', async (length, day) => {
  for (let at = 0; at < length; at += 1)
    pages.serve(`/${at}`, (_, response) =>
      response.writeHead(at % 2 === 0 ? 301 : 308, { location: `/${at + 1}` }).end(),
    );
  pages.serve(`/${length}`, html(DATED));
  const url = pages.url('/0');
  expect((await daysOf(newCitedPages(), [url])).get(url)).toBe(day);
  expect(pages.requests.map(({ path }) => path)).toEqual(['/0', '/1', '/2', '/3']);
});

test('requests say truthfully who asks, and contain no cookies', async () => {
  pages.serve('/target', html(DATED));
  const url = pages.serve('/page', (_, response) =>
    response.writeHead(302, { location: '/target', 'set-cookie': 'id=1; Path=/' }).end(),
  );
  const citedPages = newCitedPages();
  await daysOf(citedPages, [url]);
  await daysOf(citedPages, [pages.url('/other')]);
  expect(pages.requests.map(({ path }) => path)).toEqual(['/page', '/target', '/other']);
  for (const { headers } of pages.requests) {
    expect(headers['user-agent']).toBe(USER_AGENT);
    for (const name of ['cookie', 'authorization', 'referer', 'origin']) expect(headers).not.toHaveProperty(name);
  }
});

test('a page that could not be read is read by the next answer', async () => {
  const url = pages.serve('/page', (_, response) => response.writeHead(429).end());
  const citedPages = newCitedPages();
  expect((await daysOf(citedPages, [url])).size).toBe(0);
  pages.serve('/page', html(DATED));
  expect((await daysOf(citedPages, [url])).get(url)).toBe('2024-03-05');
});

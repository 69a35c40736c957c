import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createPageAgent } from '../../src/adapters/outbound/pages/page-connector.ts';
import { WebCitedPages } from '../../src/adapters/outbound/pages/web-cited-pages.ts';
import type { Clock } from '../../src/application/ports/clock.ts';
import type { CitationCheck } from '../../src/domain/answers/known-page.ts';
import { FakeCitedPages } from '../support/fake-cited-pages.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { type PageHandler, type PageServer, startPageServer } from '../support/page-server.ts';
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

async function dayOf(page: string | Buffer | PageHandler, contentType?: string): Promise<string | undefined> {
  const url = pages.serve('/page', page, contentType);
  return (await daysOf(newCitedPages(), [url])).get(url);
}

const html = (head: string, body = '<p>Text</p>') =>
  `<!doctype html><html><head><title>A</title>${head}</head><body>${body}</body></html>`;
const jsonLdText = (text: string) => `<script type="application/ld+json">${text}</script>`;
const jsonLd = (value: unknown) => jsonLdText(JSON.stringify(value));
const meta = (name: string, content: string) => `<meta name="${name}" content="${content}">`;

const TEXT = `<p>A long text. ${'x'.repeat(200)}</p>`;

describeCitedPages('FakeCitedPages', async () => {
  const hanging = 'https://hanging.example/';
  const text = async () => ({ visible: 'A long text.', other: [], isCut: false });
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

describe('a page says its date in', () => {
  test.each([
    ['JSON-LD', jsonLd({ '@type': 'NewsArticle', datePublished: '2024-03-05T10:00:00Z' })],
    [
      'JSON-LD in @graph',
      jsonLd({ '@graph': [{ '@type': 'WebSite' }, { '@type': 'Article', datePublished: '2024-03-05' }] }),
    ],
    ['nested JSON-LD', jsonLd({ mainEntity: { hasPart: [{ datePublished: '2024-03-05' }] } })],
    ['a list of JSON-LD', jsonLd([{ '@type': 'Organization' }, { datePublished: '2024-03-05' }])],
    ['the second of two JSON-LD', `${jsonLd({ '@type': 'Organization' })}${jsonLd({ datePublished: '2024-03-05' })}`],
    [
      'JSON-LD after invalid JSON-LD',
      `<script type="application/ld+json">{oops</script>${jsonLd({ datePublished: '2024-03-05' })}`,
    ],
    ['JSON-LD with parameters', jsonLd({ datePublished: '2024-03-05' }).replace('ld+json', 'LD+JSON; charset=utf-8')],
    ['article:published_time', '<meta property="article:published_time" content="2024-03-05T23:30:00+09:00">'],
    ['article:published_time as a name', meta('article:published_time', '2024-03-05')],
    ['citation_publication_date', meta('citation_publication_date', '2024/03/05')],
    ['citation_date', meta('citation_date', '2024/3/5')],
    ['DC.date.issued', meta('DC.date.issued', '2024-03-05')],
    ['a compact date', meta('pubdate', '20240305')],
    ['itemprop', '<meta itemprop="datePublished" content="2024-03-05">'],
  ])('%s', async (_name, head) => {
    expect(await dayOf(html(head))).toBe('2024-03-05');
  });

  test.each([
    ['<time pubdate>', '<time pubdate datetime="2024-03-05T08:00">5 March</time>'],
    ['<time itemprop>', '<time itemprop="datePublished" datetime="2024-03-05">5 March</time>'],
    ['JSON-LD in the body', jsonLd({ datePublished: '2024-03-05' })],
  ])('%s', async (_name, body) => {
    expect(await dayOf(html('', body))).toBe('2024-03-05');
  });
});

test('the places have this order, wherever they are on the page', async () => {
  const time = '<time pubdate datetime="2020-01-04">';
  const citation = meta('citation_publication_date', '2020-01-03');
  const article = meta('article:published_time', '2020-01-02');
  const ld = jsonLd({ datePublished: '2020-01-01' });
  expect(await dayOf(html('', `${time}${citation}${article}${ld}`))).toBe('2020-01-01');
  expect(await dayOf(html('', `${time}${citation}${article}`))).toBe('2020-01-02');
  expect(await dayOf(html('', `${time}${citation}`))).toBe('2020-01-03');
  expect(await dayOf(html('', time))).toBe('2020-01-04');
});

describe('no date is', () => {
  test.each([
    ['a text', 'yesterday'],
    ['a day that does not exist', '2024-02-30'],
    ['a month that does not exist', '2024-13-01'],
    ['a year only', '2024'],
    ['the time before 1990', '1989-12-31'],
    ['the epoch', '1970-01-01T00:00:00Z'],
    ['tomorrow', '2026-11-22'],
    ['the far future', '9999-01-01'],
    ['nothing', ''],
    ['a longer number', '202403051'],
  ])('%s', async (_name, content) => {
    expect(await dayOf(html(meta('article:published_time', content)))).toBeUndefined();
    // The next place counts.
    expect(await dayOf(html(meta('article:published_time', content), '<time pubdate datetime="2024-03-05">'))).toBe(
      '2024-03-05',
    );
  });

  test.each([
    ['another type of script', `<script>${JSON.stringify({ datePublished: '2024-03-05' })}</script>`],
    ['dateModified', jsonLd({ dateModified: '2024-03-05' })],
    ['another time', '<time datetime="2024-03-05">'],
    ['a comment', `<!-- ${DATED} -->`],
    [
      'JSON-LD that is nested very deeply',
      jsonLdText(`${'{"a":'.repeat(20_000)}{"datePublished":"2024-03-05"}${'}'.repeat(20_000)}`),
    ],
  ])('%s', async (_name, head) => {
    expect(await dayOf(html(head))).toBeUndefined();
  });
});

test.each([
  ['1990-01-01', '1990-01-01'],
  ['2026-11-21T23:59:59Z', TODAY],
  ['2024-03-05T00:30:00+09:00', '2024-03-05'],
  ['2024-03-05T23:30:00-08:00', '2024-03-05'],
  [' 2024-03-05 ', '2024-03-05'],
])('%s is %s: the day as written', async (content, day) => {
  expect(await dayOf(html(meta('article:published_time', content)))).toBe(day);
});

test('today is that of the time zone', async () => {
  const page = html(meta('article:published_time', '2026-11-22'));
  const url = pages.serve('/page', page);
  const dates = await daysOf(newCitedPages(new FakeClock('2026-11-21T15:00:00Z')), [url]);
  expect(dates.get(url)).toBe('2026-11-22');
});

describe('the encoding', () => {
  /** In Shift_JIS, the second byte of 表 is a backslash, which would change the JSON. */
  const shiftJis = (head: string) =>
    Buffer.concat([
      Buffer.from(`<html><head>${head}<script type="application/ld+json">{"name":"`),
      Buffer.from([0x95, 0x5c]),
      Buffer.from('","datePublished":"2024-03-05"}</script></head></html>'),
    ]);

  test.each([
    ['the header', '', 'text/html; charset=Shift_JIS'],
    ['a <meta>', '<meta charset="shift_jis">', 'text/html'],
    ['an old <meta>', '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', 'text/html'],
  ])('is named by %s', async (_name, head, contentType) => {
    expect(await dayOf(shiftJis(head), contentType)).toBe('2024-03-05');
  });

  test('is named by a byte order mark', async () => {
    const page = Buffer.from(`\uFEFF${html(DATED)}`, 'utf16le');
    expect(await dayOf(page, 'text/html; charset=utf-8')).toBe('2024-03-05');
    expect(await dayOf(`\uFEFF${html(DATED)}`, 'text/html')).toBe('2024-03-05');
  });

  test('that does not exist is UTF-8', async () => {
    expect(await dayOf(html(DATED), 'text/html; charset=klingon')).toBe('2024-03-05');
  });
});

describe('a page is read', () => {
  test('in slices that split names and characters', async () => {
    const bytes = Buffer.from(
      html(`<meta name="description" content="天気予報">${jsonLd({ name: '表', datePublished: '2024-03-05' })}`),
    );
    const slices: PageHandler = async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      for (let at = 0; at < bytes.length; at += 7) {
        response.write(bytes.subarray(at, at + 7));
        await settled();
      }
      response.end();
    };
    expect(await dayOf(slices)).toBe('2024-03-05');
  });

  test('without reading an endless page to its end', async () => {
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
});

describe('redirects', () => {
  const redirect = (location: string | undefined, status = 302): PageHandler => {
    return (_, response) =>
      response.writeHead(status, { ...(location && { location }), 'content-type': 'text/html' }).end(html(DATED));
  };

  /** `/0` redirects to `/1`, and so on. */
  function chain(length: number): string {
    for (let at = 0; at < length; at += 1) pages.serve(`/${at}`, redirect(`/${at + 1}`));
    pages.serve(`/${length}`, html(DATED));
    return pages.url('/0');
  }

  test.each([1, 2, 3])('%i are followed', async (length) => {
    const url = chain(length);
    expect((await daysOf(newCitedPages(), [url])).get(url)).toBe('2024-03-05');
    expect(pages.requests).toHaveLength(length + 1);
  });

  test('a fourth is not followed', async () => {
    const url = chain(4);
    expect((await daysOf(newCitedPages(), [url])).get(url)).toBeUndefined();
    expect(pages.requests.map(({ path }) => path)).toEqual(['/0', '/1', '/2', '/3']);
  });

  test.each([301, 303, 307, 308])('with status %i are followed', async (status) => {
    pages.serve('/target', html(DATED));
    expect(await dayOf(redirect('/target', status))).toBe('2024-03-05');
  });
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

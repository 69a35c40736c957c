import { describe, expect, test } from 'vitest';
import { checkSources, matchesGlob } from '../../../../src/application/check/check-sources.ts';
import type { CitedPages, PageReading } from '../../../../src/application/ports/readers.ts';
import { FakeCitedPages } from '../../../support/fake-cited-pages.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FakeTextReader } from '../../../support/fake-text-reader.ts';

const A = 'https://a.com/x';
const B = 'https://b.com/x';

function pageOf(visible: string, isCut = false): PageReading {
  return { state: 'ok', status: 200, text: { visible, other: [], isCut } };
}

const never = () => new AbortController().signal;

function start(
  pages: Readonly<Record<string, PageReading>> = {},
  hanging: readonly string[] = [],
  texts = new FakeTextReader(),
) {
  const citedPages = new FakeCitedPages(pages, hanging);
  const clock = new FakeClock('2026-11-21T03:00:00Z');
  const check = checkSources({ citedPages, texts, clock });
  return {
    citedPages,
    clock,
    check,
    ofText: async (text: string) => (await check({ caller: 'alice', text }, never()))._unsafeUnwrap(),
  };
}

describe('a claim with figures', () => {
  test('has the figures that are not on the page, and the nearest passage', async () => {
    const { ofText } = start({ [A]: pageOf('The tower of the town has 42 steps.\nIt is red.') });
    expect(
      await ofText(`The tower has 43 steps [1](${A}). The tower has 42 steps [1](${A}). It is a tower [1](${A}).`),
    ).toMatchObject({
      links: [{ url: A, state: 'ok', status: 200, places: [{ line: 1, column: 24 }, {}, {}] }],
      claims: [
        {
          urls: [A],
          place: { line: 1, column: 1 },
          claim: 'The tower has 43 steps.',
          state: 'compared',
          missing: ['43'],
          passages: { [A]: { text: 'The tower of the town has 42 steps.' } },
        },
        { urls: [A], claim: 'The tower has 42 steps.', missing: [] },
      ],
    });
  });

  test('that cites several pages needs each figure on one of them', async () => {
    const { ofText } = start({
      [A]: pageOf('The tower of the town has 42 steps.'),
      [B]: pageOf('The tower of the town is 300 metres long.'),
    });
    const { claims } = await ofText(`The tower has 42 steps, 7 doors and is 300 metres long [1](${A})[2](${B}).`);
    expect(claims.map(({ urls, missing }) => ({ urls, missing }))).toEqual([{ urls: [A, B], missing: ['7'] }]);
  });

  test('of which one page could not be read is not reported, but not compared either', async () => {
    const { ofText } = start({
      [A]: pageOf('The tower of the town has 42 steps.'),
      [B]: { state: 'unreadable', reason: 'http_403' },
    });
    const { claims } = await ofText(`The tower has 42 steps [1](${A})[2](${B}). It has 7 doors [1](${A})[2](${B}).`);
    expect(claims.map(({ state, missing }) => [state, missing])).toEqual([
      ['compared', []],
      ['unread', []],
    ]);
  });

  test.each([
    ['that was cut', 'page_too_long', pageOf('The tower of the town has 42 steps.', true)],
    ['in another language', 'language', pageOf('Der Turm der Stadt hat 42 Stufen und ist nicht sehr alt.')],
  ])('makes a page %s one that cannot be read: %s', async (_, reason, page) => {
    const report = await start({ [A]: page }).ofText(`The tower has 43 steps [1](${A}).`);
    expect(report).toMatchObject({
      links: [{ url: A, state: 'unreadable', status: 200, reason }],
      claims: [{ state: 'unread', missing: [] }],
    });
  });
});

test('a page that is not there is dead, and one that cannot be read is unreadable, which is no claim', async () => {
  const { ofText } = start({ [A]: { state: 'dead', status: 404 }, [B]: { state: 'unreadable', reason: 'http_403' } });
  expect(await ofText(`It is 4 [1](${A}). It is 5 [1](${B}).`)).toMatchObject({
    links: [
      { url: A, state: 'dead', status: 404 },
      { url: B, state: 'unreadable', reason: 'http_403' },
    ],
    claims: [{ state: 'unread' }, { state: 'unread' }],
  });
});

describe('a text that takes too much to read', () => {
  test.each(['too_slow', 'too_large'] as const)('is refused: %s', async (reason) => {
    const { check } = start({}, [], new FakeTextReader({ hostile: reason }));
    const checked = await check({ caller: 'alice', text: `hostile ${A}` }, never());
    expect(checked._unsafeUnwrapErr()).toEqual({ kind: 'text_unread', reason });
  });

  test('makes only its page unreadable, if it is that of a page', async () => {
    const pages = {
      [A]: pageOf('It is hostile, and the tower of the town has 42 steps.'),
      [B]: pageOf('It is 5 and the end.'),
    };
    const { ofText } = start(pages, [], new FakeTextReader({ 'is hostile': 'too_slow' }));
    expect(await ofText(`It is 4 [1](${A}). It is 5 [1](${B}).`)).toMatchObject({
      links: [
        { url: A, state: 'unreadable', status: 200, reason: 'too_slow' },
        { url: B, state: 'ok' },
      ],
      claims: [{ state: 'unread' }, { urls: [B], missing: [] }],
    });
  });
});

test('a failed connection is tried again after the other pages', async () => {
  const { citedPages, ofText } = start({ [B]: pageOf('A page.') });
  await ofText(`${A} ${B}`);
  expect(citedPages.asked.flat()).toEqual([A, B, A]);
});

test('links after the first hundred are named, and not read', async () => {
  const { citedPages, ofText } = start({ [A]: pageOf('A page.') });
  const { links, skipped } = await ofText(`${A} ${Array.from({ length: 100 }, (_, at) => `${B}/${at}`).join(' ')}`);
  expect(new Set(citedPages.asked.flat()).size).toBe(100);
  expect(links).toHaveLength(100);
  expect(skipped).toMatchObject([{ url: `${B}/99`, reason: 'limit' }]);
});

test('links that match a pattern are ignored, and claims that cite nothing else', async () => {
  const { check } = start({ [A]: pageOf('The tower of the town has 42 steps.') });
  const text = `It is 4 [1](${B}). The tower has 42 steps [1](${A}).`;
  const checked = await check({ caller: 'alice', text, ignored: ['https://b.*/x'] }, never());
  expect(checked._unsafeUnwrap()).toMatchObject({
    links: [{ url: A }],
    skipped: [{ url: B, reason: 'ignored', place: { line: 1, column: 9 } }],
    claims: [{ urls: [A] }],
  });
});

test.each([
  ['https://a.com/x', 'https://a.com/x', true],
  ['https://a.com/x', 'https://a.com/*', true],
  ['https://a.com/x', '*a.com*', true],
  ['https://a.com/x', 'https://*/x', true],
  ['https://a.com/x', 'a.com', false],
  ['https://a.com/x', 'https://a.com/x*x', false],
  ['https://a.com/x', '*/y/*', false],
])('%s matches %s: %s', (url, pattern, matches) => {
  expect(matchesGlob(url, pattern)).toBe(matches);
});

test('a text of more than 200,000 characters is refused', async () => {
  const refused = await start().check({ caller: 'alice', text: 'x'.repeat(200_001) }, never());
  expect(refused._unsafeUnwrapErr()).toEqual({ kind: 'text_too_long', characters: 200_001, max: 200_000 });
});

test('the HTML of a text does not count as characters', async () => {
  const { ofText } = start({ [A]: pageOf('A page.') });
  const html = `<!doctype html>${`<p class="${'x'.repeat(900)}">`.repeat(250)}<a href="${A}">It is</a> 4.`;
  expect((await ofText(html)).links).toHaveLength(1);
});

test('at most two pages of a host, and eight in all, are read at the same time', async () => {
  const running: string[] = [];
  const most = { ofHost: 0, inAll: 0 };
  const citedPages: CitedPages = {
    read: async ([url = '']) => {
      const { host } = new URL(url);
      running.push(host);
      most.ofHost = Math.max(most.ofHost, running.filter((one) => one === host).length);
      most.inAll = Math.max(most.inAll, running.length);
      await new Promise((resolve) => setImmediate(resolve));
      running.splice(running.indexOf(host), 1);
      return new Map([[url, { state: 'ok', status: 200 }]]);
    },
  };
  const check = checkSources({ citedPages, texts: new FakeTextReader(), clock: new FakeClock('2026-11-21T03:00:00Z') });
  const text = Array.from({ length: 60 }, (_, at) => `https://${at < 30 ? 'a' : at % 10}.com/${at}`).join(' ');
  const { links } = (await check({ caller: 'alice', text }, never()))._unsafeUnwrap();
  expect(links.every(({ state }) => state === 'ok')).toBe(true);
  expect(most).toEqual({ ofHost: 2, inAll: 8 });
});

test('after a minute, what was not read is not readable', async () => {
  const { clock, check } = start({ [A]: pageOf('A page.') }, [B]);
  const checking = check({ caller: 'alice', text: `${A} ${B}` }, never());
  await clock.advance(60_000);
  expect((await checking)._unsafeUnwrap().links).toMatchObject([
    { url: A, state: 'ok', status: 200 },
    { url: B, state: 'unreadable', reason: 'timeout' },
  ]);
});

test('a cancellation ends the check', async () => {
  const controller = new AbortController();
  const checking = start({}, [A]).check({ caller: 'alice', text: A }, controller.signal);
  controller.abort();
  expect((await checking)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
});

test('progress counts the links', async () => {
  const seen: string[] = [];
  const { check } = start({ [A]: pageOf('A page.'), [B]: pageOf('A page.') });
  await check({ caller: 'alice', text: `${A} ${B}`, onProgress: (done, all) => seen.push(`${done}/${all}`) }, never());
  expect(seen).toEqual(['0/2', '1/2', '2/2']);
});

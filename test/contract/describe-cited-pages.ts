import { describe, expect, test } from 'vitest';
import type { CitedPages } from '../../src/application/ports/readers.ts';
import { expectNoListener, never } from './search-kit.ts';

export interface StartedCitedPages {
  /** Reads dates, and checks with evidence. */
  readonly citedPages: CitedPages;
  /** The page says 2024-03-05, and `A long text.` */
  readonly dated: string;
  /** The page says no date. */
  readonly undated: string;
  /** The page does not exist: 404. */
  readonly missing: string;
  /** The connection breaks. */
  readonly broken: string;
  /** The page never responds. */
  readonly hanging: string;
  /** Resolves when the page that never responds was asked for. */
  readonly asked: () => Promise<void>;
}

/** The days of the pages that say one. */
export async function daysOf(citedPages: CitedPages, urls: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const pages = await citedPages.read(urls, never());
  return new Map(
    [...pages].flatMap(([url, { publishedOn }]) => (publishedOn === undefined ? [] : [[url, publishedOn]])),
  );
}

const TIMED_OUT = { state: 'unreadable', reason: 'timeout' };

/** What every CitedPages promises (see the port). */
export function describeCitedPages(name: string, start: () => Promise<StartedCitedPages>): void {
  describe(`${name} as CitedPages`, () => {
    test('returns the state of each page by its URL, and the day and the text of those that say it', async () => {
      const { citedPages, dated, undated, missing, broken } = await start();
      const pages = await citedPages.read([missing, undated, dated, broken], never());
      expect(pages.size).toBe(4);
      expect(pages.get(dated)).toMatchObject({ state: 'ok', status: 200, publishedOn: '2024-03-05' });
      expect(pages.get(dated)?.text?.visible).toContain('A long text.');
      expect(pages.get(undated)).toMatchObject({ state: 'ok' });
      expect(pages.get(undated)?.publishedOn).toBeUndefined();
      expect(pages.get(missing)).toMatchObject({ state: 'dead', status: 404 });
      expect(pages.get(broken)).toMatchObject({ state: 'unreadable', reason: 'network' });
    });

    test('reads nothing if there is nothing to read', async () => {
      expect(await (await start()).citedPages.read([], never())).toEqual(new Map());
    });

    test('reads a page that is listed twice', async () => {
      const { citedPages, dated } = await start();
      expect([...(await citedPages.read([dated, dated], never())).keys()]).toEqual([dated]);
    });

    test('settles when the signal aborts, keeps what it has read, and leaves no listener', async () => {
      const { citedPages, dated, hanging, asked } = await start();
      const controller = new AbortController();
      const reading = citedPages.read([hanging, dated], controller.signal);
      await asked();
      controller.abort();
      expect((await reading).get(hanging)).toMatchObject(TIMED_OUT);
      expectNoListener(controller.signal);
    });

    test('settles at once if the signal is already aborted', async () => {
      const { citedPages, dated, hanging } = await start();
      const controller = new AbortController();
      controller.abort();
      const pages = await citedPages.read([dated, hanging], controller.signal);
      for (const url of [dated, hanging]) expect(pages.get(url)).toMatchObject(TIMED_OUT);
      expectNoListener(controller.signal);
    });
  });
}

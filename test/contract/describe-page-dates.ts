import { describe, expect, test } from 'vitest';
import type { PageDates } from '../../src/application/ports/page-dates.ts';
import { expectNoListener, never } from './search-kit.ts';

export interface StartedPageDates {
  readonly pageDates: PageDates;
  /** The page says 2024-03-05. */
  readonly dated: string;
  /** The page says no date. */
  readonly undated: string;
  /** The page cannot be read. */
  readonly broken: string;
  /** The page never responds. */
  readonly hanging: string;
  /** Resolves when the page that never responds was asked for. */
  readonly asked: () => Promise<void>;
}

/** What every PageDates promises (see the port). */
export function describePageDates(name: string, start: () => Promise<StartedPageDates>): void {
  describe(`${name} as PageDates`, () => {
    test('returns the day of each page that says it, by its URL', async () => {
      const { pageDates, dated, undated } = await start();
      expect(await pageDates.publishedOn([undated, dated], never())).toEqual(new Map([[dated, '2024-03-05']]));
    });

    test('a page that cannot be read affects only its own date', async () => {
      const { pageDates, dated, broken } = await start();
      const urls = [broken, dated, 'not a URL', ''];
      expect(await pageDates.publishedOn(urls, never())).toEqual(new Map([[dated, '2024-03-05']]));
    });

    test('reads nothing if there is nothing to read', async () => {
      expect(await (await start()).pageDates.publishedOn([], never())).toEqual(new Map());
    });

    test('reads a page that is listed twice', async () => {
      const { pageDates, dated } = await start();
      expect(await pageDates.publishedOn([dated, dated], never())).toEqual(new Map([[dated, '2024-03-05']]));
    });

    test('settles when the signal aborts, and leaves no listener', async () => {
      const { pageDates, dated, hanging, asked } = await start();
      const controller = new AbortController();
      const reading = pageDates.publishedOn([hanging, dated], controller.signal);
      await asked();
      controller.abort();
      expect((await reading).has(hanging)).toBe(false);
      expectNoListener(controller.signal);
    });

    test('settles at once if the signal is already aborted', async () => {
      const { pageDates, dated, hanging } = await start();
      const controller = new AbortController();
      controller.abort();
      expect(await pageDates.publishedOn([dated, hanging], controller.signal)).toEqual(new Map());
      expectNoListener(controller.signal);
    });
  });
}

import type { CitedPages, PageReading } from '../../src/application/ports/readers.ts';

/** Knows some pages, or only their days; pages in `hanging` never respond. Records what it was asked. */
export class FakeCitedPages implements CitedPages {
  readonly asked: (readonly string[])[] = [];
  readonly #pages: Readonly<Record<string, string | PageReading>>;
  readonly #hanging: readonly string[];

  constructor(pages: Readonly<Record<string, string | PageReading>> = {}, hanging: readonly string[] = []) {
    this.#pages = pages;
    this.#hanging = hanging;
  }

  async read(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, PageReading>> {
    this.asked.push(urls);
    const isOver = signal.aborted;
    if (!isOver && urls.some((url) => this.#hanging.includes(url))) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    }
    const readingOf = (url: string): PageReading => {
      if (isOver || this.#hanging.includes(url)) return { state: 'unreadable', reason: 'timeout' };
      const page = this.#pages[url];
      if (typeof page === 'string') return { state: 'ok', status: 200, publishedOn: page };
      return page ?? { state: 'unreadable', reason: 'network' };
    };
    return new Map(urls.map((url) => [url, readingOf(url)]));
  }
}

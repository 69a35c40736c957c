import type { PageDates } from '../../src/application/ports/page-dates.ts';

/** Knows the days of some pages; pages in `hanging` never respond. Records what it was asked. */
export class FakePageDates implements PageDates {
  readonly asked: (readonly string[])[] = [];
  readonly #days: Readonly<Record<string, string>>;
  readonly #hanging: readonly string[];

  constructor(days: Readonly<Record<string, string>> = {}, hanging: readonly string[] = []) {
    this.#days = days;
    this.#hanging = hanging;
  }

  async publishedOn(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    this.asked.push(urls);
    if (signal.aborted) return new Map();
    if (urls.some((url) => this.#hanging.includes(url))) {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    }
    const known = urls.flatMap((url) => {
      const day = this.#hanging.includes(url) ? undefined : this.#days[url];
      return day === undefined ? [] : [[url, day] as const];
    });
    return new Map(known);
  }
}

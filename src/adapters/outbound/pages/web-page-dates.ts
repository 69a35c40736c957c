import { type Dispatcher, fetch as undiciFetch } from 'undici';
import type { Clock } from '../../../application/ports/clock.ts';
import type { PageDates } from '../../../application/ports/page-dates.ts';
import { publishedOn } from '../../../domain/published-date.ts';
import { zonedDate } from '../../../domain/zoned-date.ts';
import { DateParser } from './date-parser.ts';
import { isFetchable } from './fetchable-url.ts';

interface WebPageDatesOptions {
  /** Connects to public addresses only. */
  readonly dispatcher: Dispatcher;
  /** The proxy resolves names, so that only addresses in URLs can be checked here. */
  readonly isPort: (port: string) => boolean;
  readonly isAllowedHost: (host: string) => boolean;
  readonly clock: Clock;
  readonly timeZone: string;
  readonly userAgent: string;
}

/** Limits of a page (ruling A15). */
const PAGE_MS = 3000;
const MAX_BYTES = 512 * 1024;
const MAX_REDIRECTS = 3;
const MAX_CACHED = 1000;

/** Reads the dates of publication from the pages themselves. Results are kept while the process runs. */
export class WebPageDates implements PageDates {
  readonly #options: WebPageDatesOptions;
  /** The oldest entry is dropped first. Undefined: the page has no date. */
  readonly #cache = new Map<string, string | undefined>();

  constructor(options: WebPageDatesOptions) {
    this.#options = options;
  }

  async publishedOn(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const dates = new Map<string, string>();
    const read = async (url: string) => {
      const day = this.#cache.has(url) ? this.#cache.get(url) : await this.#read(url, signal);
      if (!signal.aborted) this.#remember(url, day);
      if (day !== undefined) dates.set(url, day);
    };
    await Promise.all([...new Set(urls)].map(read));
    return dates;
  }

  async #read(url: string, signal: AbortSignal): Promise<string | undefined> {
    const { clock } = this.#options;
    const limit = new AbortController();
    const onAbort = () => limit.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) limit.abort();
    void clock.sleep(PAGE_MS, limit.signal).then(onAbort);
    try {
      return await this.#fetchDay(url, limit.signal);
    } catch {
      // Only the date of this page is affected.
      return undefined;
    } finally {
      limit.abort();
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #fetchDay(url: string, signal: AbortSignal): Promise<string | undefined> {
    const { dispatcher, clock, timeZone, userAgent } = this.#options;
    let target = url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      if (!isFetchable(target, this.#options)) return undefined;
      const headers = { 'user-agent': userAgent, accept: 'text/html,application/xhtml+xml' };
      const response = await undiciFetch(target, {
        dispatcher,
        signal,
        headers,
        redirect: 'manual',
        credentials: 'omit',
      });
      const location = response.headers.get('location');
      if (response.status >= 300 && response.status < 400 && location !== null) {
        await response.body?.cancel();
        if (!URL.canParse(location, target)) return undefined;
        target = new URL(location, target).href;
        continue;
      }
      const isHtml = /^\s*(?:text\/html|application\/xhtml\+xml)/i.test(response.headers.get('content-type') ?? '');
      if (!response.ok || !isHtml || response.body === null) {
        await response.body?.cancel();
        return undefined;
      }
      return publishedOn(await parse(response.body), zonedDate(clock.now(), timeZone));
    }
    return undefined;
  }

  #remember(url: string, day: string | undefined): void {
    this.#cache.delete(url);
    this.#cache.set(url, day);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
  }
}

async function parse(body: AsyncIterable<Uint8Array>) {
  const parser = new DateParser();
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    parser.write(
      decoder.decode(chunk.subarray(0, Math.max(0, chunk.length - Math.max(0, bytes - MAX_BYTES))), { stream: true }),
    );
    if (bytes >= MAX_BYTES) break;
  }
  return parser.end();
}

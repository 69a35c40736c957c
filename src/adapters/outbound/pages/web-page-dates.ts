import { type Dispatcher, fetch as undiciFetch } from 'undici';
import type { Clock } from '../../../application/ports/clock.ts';
import type { PageDates } from '../../../application/ports/page-dates.ts';
import { publishedOn } from '../../../domain/published-date.ts';
import { zonedDate } from '../../../domain/zoned-date.ts';
import { dateCandidatesIn } from './date-parser.ts';
import { isFetchable } from './fetchable-url.ts';
import { decoderFor } from './page-decoder.ts';

interface WebPageDatesOptions {
  /** Connects to public addresses only. */
  readonly dispatcher: Dispatcher;
  readonly isPort: (port: string) => boolean;
  /** A proxy resolves names, so that only addresses in URLs can be checked here. */
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

/** A page that was read; without a day if it does not say one. */
interface ReadPage {
  readonly day: string | undefined;
}

/** Reads the dates of publication from the pages themselves. Results are kept while the process runs. */
export class WebPageDates implements PageDates {
  readonly #options: WebPageDatesOptions;
  /** The entry that was not used for longest is dropped first. */
  readonly #cache = new Map<string, ReadPage>();

  constructor(options: WebPageDatesOptions) {
    this.#options = options;
  }

  async publishedOn(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const dates = new Map<string, string>();
    // One listener for all pages: Node.js warns about more than ten on a signal.
    const limits = new Set<AbortController>();
    const onAbort = () => {
      for (const limit of limits) limit.abort();
    };
    const read = async (url: string) => {
      const limit = new AbortController();
      limits.add(limit);
      const page = this.#cache.get(url) ?? (await this.#read(url, limit));
      if (page === undefined) return;
      this.#remember(url, page);
      if (page.day !== undefined) dates.set(url, page.day);
    };
    if (signal.aborted) return dates;
    signal.addEventListener('abort', onAbort, { once: true });
    await Promise.all([...new Set(urls)].map(read));
    signal.removeEventListener('abort', onAbort);
    return dates;
  }

  /** Undefined if the page could not be read, which may be different next time. */
  async #read(url: string, limit: AbortController): Promise<ReadPage | undefined> {
    const { clock } = this.#options;
    void clock.sleep(PAGE_MS, limit.signal).then(() => limit.abort());
    try {
      return { day: await this.#fetchDay(url, limit.signal) };
    } catch {
      // Only the date of this page is affected.
      return undefined;
    } finally {
      // Ends the timer.
      limit.abort();
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
      const contentType = response.headers.get('content-type') ?? '';
      const isHtml = /^\s*(?:text\/html|application\/xhtml\+xml)/i.test(contentType);
      if (!response.ok || !isHtml || response.body === null) {
        await response.body?.cancel();
        if (response.status >= 500) throw new Error(`HTTP ${response.status}`);
        return undefined;
      }
      const candidates = dateCandidatesIn(await textOf(response.body, contentType));
      return publishedOn(candidates, zonedDate(clock.now(), timeZone));
    }
    return undefined;
  }

  #remember(url: string, page: ReadPage): void {
    this.#cache.delete(url);
    this.#cache.set(url, page);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
  }
}

/** The text of a page, as far as it is read. */
async function textOf(body: AsyncIterable<Uint8Array>, contentType: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, MAX_BYTES - bytes));
    bytes += chunk.length;
    if (bytes >= MAX_BYTES) break;
  }
  const page = Buffer.concat(chunks);
  return decoderFor(page, contentType).decode(page);
}

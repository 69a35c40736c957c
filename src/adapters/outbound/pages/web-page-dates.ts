import { setMaxListeners } from 'node:events';
import { type Dispatcher, fetch as undiciFetch } from 'undici';
import { forwardAbort, withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { PageDates } from '../../../application/ports/page-dates.ts';
import { publishedOn } from '../../../domain/values/published-date.ts';
import { zonedDate } from '../../../domain/values/zoned-date.ts';
import { dateCandidatesIn } from './date-parser.ts';
import { decoderFor } from './page-decoder.ts';

export interface WebPageDatesOptions {
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

/** Reads the dates of publication from the pages themselves. Results are kept while the process runs. */
export class WebPageDates implements PageDates {
  readonly #options: WebPageDatesOptions;
  /** The days of the pages that were read, if they say one. The entry that was not used for longest is dropped first. */
  readonly #cache = new Map<string, { readonly day: string | undefined }>();

  constructor(options: WebPageDatesOptions) {
    this.#options = options;
  }

  async publishedOn(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const dates = new Map<string, string>();
    if (signal.aborted) return dates;
    // All pages share one listener: Node.js warns about more than ten on a signal.
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    const stopForwarding = forwardAbort(signal, controller);
    const read = async (url: string) => {
      const day = await this.#dayOf(url, controller.signal);
      if (day !== undefined) dates.set(url, day);
    };
    await Promise.all([...new Set(urls)].map(read));
    stopForwarding();
    return dates;
  }

  /** A page that could not be read has no day, and is read again next time. */
  async #dayOf(url: string, signal: AbortSignal): Promise<string | undefined> {
    const read = (limited: AbortSignal) =>
      this.#fetchDay(url, limited).then(
        (day) => ({ day }),
        () => undefined,
      );
    const page = this.#cache.get(url) ?? (await withDeadline(this.#options.clock, PAGE_MS, signal, read)).outcome;
    if (page !== undefined) this.#remember(url, page);
    return page?.day;
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

  #remember(url: string, page: { readonly day: string | undefined }): void {
    this.#cache.delete(url);
    this.#cache.set(url, page);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED && oldest !== undefined) this.#cache.delete(oldest);
  }
}

/** Whether a page may be fetched at all: http(s), usual ports, no user, and no host that names another network. */
function isFetchable(url: string, { isPort, isAllowedHost }: WebPageDatesOptions): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, port, hostname, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return /^https?:$/.test(protocol) && isPort(port) && `${username}${password}` === '' && isAllowedHost(host);
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

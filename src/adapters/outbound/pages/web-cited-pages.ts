import { setImmediate as nextTurn } from 'node:timers/promises';
import { withDeadline } from '../../../application/async/deadline.ts';
import type { CitedPages, PageReading } from '../../../application/ports/readers.ts';
import type { Clock, Logger } from '../../../application/ports/services.ts';
import { publishedOn } from '../../../domain/values/published-date.ts';
import { zonedDate } from '../../../domain/values/zoned-date.ts';
import { type FetchOptions, fetchPage, HTML, PDF_TEXT } from './fetch-page.ts';
import { decoderFor, isRobotCheck, readPage, readPdf } from './page-text.ts';

export interface WebCitedPagesOptions extends FetchOptions {
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'isDebug' | 'debug'>;
  readonly timeZone: string;
  readonly resolveDates: boolean;
  /** The time limit of a page, in milliseconds. */
  readonly pageMs?: number;
  /** Whether names can be resolved here. Only then does a name that does not exist mean a dead page. */
  readonly canResolve: () => boolean;
}

/** The default time limit of a page. All pages are requested at the same time. */
export const PAGE_MS = 3000;
/** A page with fewer visible characters counts as a page without text. */
const MIN_VISIBLE = 200;

/** Reads cited pages over the internet. */
export class WebCitedPages implements CitedPages {
  readonly #options: WebCitedPagesOptions;
  #lastTurn = Promise.resolve();

  constructor(options: WebCitedPagesOptions) {
    this.#options = options;
  }

  async read(urls: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, PageReading>> {
    const { clock, pageMs = PAGE_MS } = this.#options;
    const startedMs = clock.elapsedMs();
    const read = async (url: string, limit: AbortSignal) => {
      const page = await this.#read(url, limit);
      return { url, page, ms: Math.round(clock.elapsedMs() - startedMs) };
    };
    const readAll = (limit: AbortSignal) => Promise.all([...new Set(urls)].map((url) => read(url, limit)));
    const { outcome: pages } = await withDeadline(clock, pageMs, signal, readAll);
    // Reported after all pages were read, because any of them may show that names can be resolved.
    return new Map(pages.map(({ url, page, ms }) => [url, this.#report(url, page, ms)]));
  }

  async #read(url: string, signal: AbortSignal): Promise<PageReading> {
    const { clock, timeZone, resolveDates, check } = this.#options;
    const fetched = await fetchPage(url, this.#options, signal);
    if (!('bytes' in fetched)) return fetched;
    const { bytes, contentType, status, finalUrl, isMoved } = fetched;
    await this.#turn();
    const decoded = decoderFor(bytes, contentType).decode(bytes);
    const isPdf = contentType === PDF_TEXT;
    const { text, candidates, asksForPassword, hasScripts } = isPdf
      ? readPdf(decoded, fetched.isCut)
      : readPage(decoded, contentType, fetched.isCut);
    const isDated = resolveDates && HTML.test(contentType);
    const day =
      isDated && candidates !== undefined ? publishedOn(candidates, zonedDate(clock.now(), timeZone)) : undefined;
    // More than 1 % could not be decoded.
    const isMisread = decoded.split('\uFFFD').length - 1 > decoded.length / 100;
    const isSignIn = finalUrl !== undefined && asksForPassword;
    const isEmpty = text.visible.trim() === '' || (hasScripts && text.visible.length < MIN_VISIBLE);
    const empty = isPdf ? 'empty_pdf' : hasScripts ? 'no_text' : 'empty';
    const reason = [
      isMisread && 'not_text',
      isSignIn && 'sign_in',
      HTML.test(contentType) && isRobotCheck(text.visible) && 'robot_check',
      isEmpty && empty,
    ].find((one) => one !== false);
    const read = { status, publishedOn: day, ...(finalUrl !== undefined && { finalUrl, isMoved }) };
    if (reason !== undefined) return { ...read, state: 'unreadable', reason };
    return { ...read, state: 'ok', ...(check === 'evidence' && { text }) };
  }

  /** Waits until other messages were handled, which happens between two pages. */
  #turn(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => nextTurn());
    return this.#lastTurn;
  }

  /** Logs a reading, and removes its state if pages are not checked. A name that does not exist is no dead link if no name can be resolved. */
  #report(url: string, { state = 'unreadable', status, reason, ...page }: PageReading, ms: number): PageReading {
    const { check, logger, canResolve } = this.#options;
    if (check === 'off') return page;
    const isUnresolved = reason === 'no_such_host' && !canResolve();
    const shown: PageReading = isUnresolved
      ? { state: 'unreadable', status, reason: 'network' }
      : { state, status, reason };
    if (logger.isDebug) logger.debug(`pages: url=${url} ${JSON.stringify(shown)} ms=${ms}`);
    return { ...page, ...shown };
  }
}

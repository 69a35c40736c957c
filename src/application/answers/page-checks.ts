import { type AnswerContext, type AnswerResult, toAnswerResult } from '../../domain/answers/answer-result.ts';
import { pageKey } from '../../domain/answers/citation.ts';
import type { KnownPage, PageCheck } from '../../domain/answers/known-page.ts';
import { isWebUrl } from '../../domain/values/web-url.ts';
import type { CitedPages } from '../ports/cited-pages.ts';
import type { Config } from '../ports/config.ts';
import type { SearchReply } from '../ports/llm-search.ts';

/** `page`: the page says when it was published; `resource`: the last change of an own source; `access`: the day of the answer. */
type DateOrigin = 'page' | 'resource' | 'access';

/** What was found about the cited pages: the origin of their dates, and the states of those that were requested (ruling E6). */
export interface PagesReport {
  readonly dates?: readonly { readonly url: string; readonly origin: DateOrigin }[] | undefined;
  readonly checks?: readonly (PageCheck & { readonly url: string })[] | undefined;
}

type KnownPages = ReadonlyMap<string, KnownPage>;

/** Reads the pages that an answer cites, once per answer (rulings A15 and E2). */
export class PageChecks {
  /** The pages of all answers, by state. */
  readonly counts = { ok: 0, dead: 0, unreadable: 0 };
  readonly #citedPages: CitedPages;
  readonly #config: Pick<Config, 'resolveDates' | 'citationCheck'>;

  constructor(citedPages: CitedPages, config: Pick<Config, 'resolveDates' | 'citationCheck'>) {
    this.#citedPages = citedPages;
    this.#config = config;
  }

  /** The pages that were read, by URL. When `signal` aborts, the others are `unreadable`. */
  async read(reply: SearchReply, context: AnswerContext, signal: AbortSignal): Promise<KnownPages> {
    const cited = toAnswerResult(reply, context);
    const citations = cited.isOk() ? cited.value.citations : [];
    const urls = citations.map(({ url }) => url).filter((url) => isWebUrl(url) && mayBeFetched(url, reply));
    if (urls.length === 0) return new Map();
    const readings = await this.#citedPages.read(urls, signal);
    // The texts of pages are not kept (ruling E16).
    const known = new Map<string, KnownPage>([...readings].map(([url, { text: _, ...page }]) => [url, page]));
    const texts = [...readings].flatMap(([url, { text }]) => (text === undefined ? [] : [[url, text] as const]));
    const answer = texts.length === 0 ? undefined : toAnswerResult(reply, { ...context, pages: known });
    if (answer?.isOk() !== true) return known;
    const { evidenceFor } = await import('../../domain/evidence/evidence.ts');
    for (const [url, text] of texts) {
      const page = await text();
      if (signal.aborted) break;
      known.set(url, { ...known.get(url), evidence: evidenceFor(answer.value.answer, url, page) });
    }
    return known;
  }

  /** What the report of an answer says about its pages. */
  report({ citations }: AnswerResult, reply: SearchReply, pages: KnownPages): PagesReport {
    const { resolveDates, citationCheck } = this.#config;
    const dates = resolveDates
      ? citations.map(({ url }) => ({ url, origin: dateOrigin(url, reply, pages) }))
      : undefined;
    if (citationCheck === undefined || citationCheck === 'off') return { dates };
    const checks = citations.flatMap(({ url }) => {
      const { state, status, reason } = pages.get(url) ?? {};
      return state === undefined ? [] : [{ url, state, status, reason }];
    });
    for (const { state } of checks) this.counts[state] += 1;
    return { dates, checks };
  }
}

/** Not an address that an own tool named, or that the model wrote after a private output: it may contain private data (ruling L19). */
function mayBeFetched(url: string, { own }: SearchReply): boolean {
  const isAmong = (urls: readonly string[]) => urls.some((other) => pageKey(other) === pageKey(url));
  return own === undefined || (isAmong(own.publicPages) && !isAmong(own.answered.map(({ url }) => url)));
}

function dateOrigin(url: string, { own }: SearchReply, pages: KnownPages): DateOrigin {
  if (pages.get(url)?.publishedOn !== undefined) return 'page';
  const source = own?.answered.find((source) => source.url === url);
  return source?.changedOn === undefined ? 'access' : 'resource';
}

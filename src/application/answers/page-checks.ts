import type { AnswerResult } from '../../domain/answers/answer-result.ts';
import type { ChosenCitations } from '../../domain/answers/chosen-citations.ts';
import { type KnownPage, pageKey } from '../../domain/answers/citation.ts';
import { isWebUrl } from '../../domain/values/web-url.ts';
import type { Config } from '../ports/config.ts';
import type { SearchReply } from '../ports/llm-search.ts';
import type { CitedPages, TextReader, Unread } from '../ports/readers.ts';
import type { DateOrigin, PagesReport } from '../tools/tool-call.ts';

/** A page that was read, but not compared with the answer in its time. The deadline of an answer ends only the comparison. */
const NOT_COMPARED: Readonly<Record<Unread['kind'], Partial<KnownPage>>> = {
  cancelled: {},
  too_slow: { state: 'unreadable', reason: 'too_slow' },
  too_large: { state: 'unreadable', reason: 'too_large' },
};

type KnownPages = ReadonlyMap<string, KnownPage>;

/** Reads the pages that an answer cites, once per answer. */
export class PageChecks {
  /** The number of pages of all answers, by state. */
  readonly counts = { ok: 0, dead: 0, unreadable: 0 };
  readonly #citedPages: CitedPages;
  readonly #texts: TextReader;
  readonly #config: Config['citations'];

  constructor(citedPages: CitedPages, texts: TextReader, config: Config['citations']) {
    this.#citedPages = citedPages;
    this.#texts = texts;
    this.#config = config;
  }

  /** The pages that were read, by URL, for a caller. When `signal` aborts, the others are `unreadable`. */
  async read(
    { body, citations }: Pick<ChosenCitations, 'body' | 'citations'>,
    reply: SearchReply,
    caller: string,
    signal: AbortSignal,
  ): Promise<KnownPages> {
    const urls = citations.map(({ url }) => url).filter((url) => isWebUrl(url) && mayBeFetched(url, reply));
    if (urls.length === 0) return new Map();
    const readings = await this.#citedPages.read(urls, signal);
    const known = new Map<string, KnownPage>();
    for (const [url, { text, ...page }] of readings) {
      const compared = text && (await this.#texts.read('evidence', [body, url, text], caller, signal));
      // The texts of pages are not kept, only the findings.
      if (compared === undefined || compared.isOk()) known.set(url, { ...page, evidence: compared?.value });
      else known.set(url, { ...page, ...NOT_COMPARED[compared.error.kind] });
    }
    return known;
  }

  /** The part of an answer's report about its pages. */
  report({ citations }: AnswerResult, reply: SearchReply, pages: KnownPages): PagesReport {
    const { resolveDates, check } = this.#config;
    const dates = resolveDates
      ? citations.map(({ url }) => ({ url, origin: dateOrigin(url, reply, pages) }))
      : undefined;
    if (check === 'off') return { dates };
    const checks = citations.flatMap(({ url }) => {
      const { state, status, reason } = pages.get(url) ?? {};
      return state === undefined ? [] : [{ url, state, status, reason }];
    });
    for (const { state } of checks) this.counts[state] += 1;
    return { dates, checks };
  }
}

/**
 * Whether a cited page may be requested. After a private output none may, because the choice and the addresses of the pages could reveal a part of it.
 * An address that an own tool named may not, because the address itself can be a key.
 */
function mayBeFetched(url: string, { own }: SearchReply): boolean {
  if (own === undefined) return true;
  return !own.hasPrivateOutput && own.answered.every((source) => pageKey(source.url) !== pageKey(url));
}

function dateOrigin(url: string, { own }: SearchReply, pages: KnownPages): DateOrigin {
  if (pages.get(url)?.publishedOn !== undefined) return 'page';
  const source = own?.answered.find((source) => source.url === url);
  return source?.changedOn === undefined ? 'access' : 'resource';
}

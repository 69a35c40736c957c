import { cleanLine, MAX_EXAMINED, shortLine, withoutTracking } from '../values/clean-text.ts';
import { toWebUrl } from '../values/web-url.ts';
import type { CitationEvidence } from './known-page.ts';

export interface CitedPage {
  readonly url: string;
  readonly title?: string | undefined;
}

/**
 * A source of an answer in the output contract. `url` is an http(s) URL, or the ID of a source without one (`oai-weather`).
 * `published_at` is `YYYY-MM-DD`: the day that the page states if it was read, otherwise the day of access in the configured time zone.
 */
export interface Citation extends CitedPage {
  readonly published_at: string;
  readonly evidence?: CitationEvidence | undefined;
}

/** The sources that a reply names, in the order of the reply. */
export interface NamedSources {
  /** `url_citation` annotations, in order of appearance. */
  readonly cited: readonly CitedPage[];
  /** The sources of the searches: URLs, or IDs such as `oai-weather`. */
  readonly consulted: readonly string[];
  /** Pages that the model opened or searched in. */
  readonly opened: readonly string[];
  /** Own sources without an http(s) URL. */
  readonly own?: readonly string[];
}

/**
 * The citations of a reply, at most `max`: the cited pages, each once, or else the consulted and opened ones. The first page
 * takes the first place, then source IDs take theirs, then the other pages. In the list, pages precede IDs.
 */
export function toCitations(sources: NamedSources, max: number, accessedOn: string): Citation[] {
  const cited = toPages(sources.cited);
  const pages = cited.length > 0 ? cited : toPages([...sources.consulted, ...sources.opened].map((url) => ({ url })));
  // Any other text could be a URL that contains code.
  const consultedIds = sources.consulted.map(cleanLine).filter((text) => /^[\w.-]{1,64}$/.test(text));
  const ids = [...new Set([...(sources.own ?? []), ...consultedIds])];

  const first = pages.slice(0, Math.min(1, max));
  const kept = ids.slice(0, max - first.length).map((url): CitedPage => ({ url }));
  const others = pages.slice(1, Math.max(1, max - kept.length));
  return [...first, ...others, ...kept].map((source) => ({ ...source, published_at: accessedOn }));
}

/** URLs with the same key are the same page: without `utm_source=openai`, fragment and trailing slash. */
export function pageKey(url: string): string {
  return withoutTracking(url).replace(/#.*$/s, '').replace(/\/$/, '');
}

/** Keeps the first entry of each page. If it has no title, it gets that of a later entry. */
function toPages(pages: readonly CitedPage[]): CitedPage[] {
  const byPage = new Map<string, CitedPage>();
  for (const page of pages.flatMap(toPage)) {
    const key = pageKey(page.url);
    const { url, title = page.title } = byPage.get(key) ?? page;
    byPage.set(key, { url, title });
  }
  return [...byPage.values()];
}

const MAX_TITLE = 300;

/** The page as a citation shows it; nothing if its URL cannot be shown. */
function toPage({ url: received, title = '' }: CitedPage): readonly CitedPage[] {
  const url = toWebUrl(withoutTracking(cleanLine(received.slice(0, MAX_EXAMINED))));
  return url === undefined ? [] : [{ url, title: shortLine(title, MAX_TITLE) || undefined }];
}

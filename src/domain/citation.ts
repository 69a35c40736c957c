import { cleanLine, withoutTracking } from './clean-text.ts';

/**
 * A source of an answer, as the output contract shows it (spec 3.2).
 *
 * `url` is an http(s) URL, or the id of a source that has none (`oai-weather`); `published_at` is a day, `YYYY-MM-DD`:
 * the day of access in Asia/Tokyo, since the API tells no other (ruling 7).
 */
export interface Citation {
  readonly url: string;
  readonly title?: string;
  readonly published_at: string;
}

/** A page that the text cites, in order of appearance. */
export interface CitedPage {
  readonly url: string;
  readonly title?: string;
}

/** What a reply names as its sources, before it is put in order. */
export interface NamedSources {
  /** `url_citation` annotations, in order of appearance. */
  readonly cited: readonly CitedPage[];
  /** What searches consulted: URLs, or ids such as `oai-weather`. */
  readonly consulted: readonly string[];
  /** Pages that the model opened or searched in. */
  readonly opened: readonly string[];
}

/**
 * The citations of a reply, at most `max` (rulings 7 and 8).
 *
 * Cited pages come first, one entry a page; where none is cited, consulted and then opened pages stand in. Of the
 * places the first page has one, then the source ids, then the other pages; in the list pages come before ids.
 */
export function toCitations(sources: NamedSources, max: number, accessedOn: string): Citation[] {
  const cited = onePerPage(sources.cited.map(cleanPage).filter((page) => isWebUrl(page.url)));
  const pages = cited.length > 0 ? cited : onePerPage(standIns(sources));
  const ids = [...new Set(sources.consulted.map(cleanLine).filter((source) => source !== '' && !isWebUrl(source)))];

  const first = pages.slice(0, Math.min(1, max));
  const kept = ids.slice(0, max - first.length);
  const others = pages.slice(1, Math.max(1, max - kept.length));
  return [...first, ...others, ...kept.map((id): CitedPage => ({ url: id }))].map((source) => ({
    ...source,
    published_at: accessedOn,
  }));
}

/** What tells pages apart: the URL without `utm_source=openai`, fragment and final slash (ruling 8). */
export function pageOf(url: string): string {
  return withoutTracking(url).replace(/#.*$/s, '').replace(/\/$/, '');
}

export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text);
}

function cleanPage({ url, title }: CitedPage): CitedPage {
  const name = title === undefined ? '' : cleanLine(title);
  const address = withoutTracking(cleanLine(url));
  return name === '' ? { url: address } : { url: address, title: name };
}

function standIns({ consulted, opened }: NamedSources): CitedPage[] {
  return [...consulted, ...opened].map((url) => cleanPage({ url })).filter((page) => isWebUrl(page.url));
}

/** The first entry of each page; a title that it lacks is taken from a later one. */
function onePerPage(pages: readonly CitedPage[]): CitedPage[] {
  const byPage = new Map<string, CitedPage>();
  for (const page of pages) {
    const key = pageOf(page.url);
    const known = byPage.get(key);
    if (known === undefined || (known.title === undefined && page.title !== undefined)) {
      byPage.set(key, { ...page, url: known?.url ?? page.url });
    }
  }
  return [...byPage.values()];
}

import { cleanLine, MAX_EXAMINED, shortLine, withoutTracking } from '../values/clean-text.ts';
import { toWebUrl } from '../values/web-url.ts';
import type { Language } from './question.ts';

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

/** How far cited pages are checked. */
export const CITATION_CHECKS = ['off', 'links', 'evidence'] as const;

export type CitationCheck = (typeof CITATION_CHECKS)[number];

/** The outcome of a request for a page. `status` is the HTTP status of the last response. */
export interface PageCheck {
  readonly state: 'ok' | 'dead' | 'unreadable';
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  /** The address to which the page was redirected. */
  readonly finalUrl?: string | undefined;
  /** Whether the first redirect is permanent. */
  readonly isMoved?: boolean | undefined;
}

/** Findings of a comparison of a page with the text that cites it. At least one key is present. */
export interface CitationEvidence {
  readonly quote?: string;
  readonly missing?: readonly string[];
  readonly unrelated?: true;
}

/** Facts about a cited page that was read. */
export interface KnownPage extends Partial<PageCheck> {
  /** The day of publication, `YYYY-MM-DD`. */
  readonly publishedOn?: string | undefined;
  readonly evidence?: CitationEvidence | undefined;
}

/** The end of a line of `Sources:` for a page that does not exist; empty for any other page. */
export function deadMark({ state, status }: KnownPage, language: Language): string {
  if (state !== 'dead') return '';
  return ` [${language === 'ja' ? '見つかりません' : 'not found'}: ${deadReason(status, language)}]`;
}

/** Why a page does not exist: its server says so, or there is no such server. */
export function deadReason(status: number | undefined, language: Language): string {
  if (status === 404 || status === 410) return `HTTP ${status}`;
  return language === 'ja' ? 'ホスト名がありません' : 'no such host';
}

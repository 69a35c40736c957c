import type { PageCheck } from '../../domain/answers/citation.ts';
import type { ReadText, TextClaim, TextQuote } from '../../domain/check/checked-text.ts';
import type { Place } from '../../domain/check/text-places.ts';
import type { FigureFinding } from '../../domain/evidence/evidence.ts';
import type { Passage } from '../../domain/evidence/passages.ts';
import type { QuoteFinding } from '../../domain/evidence/quotes.ts';

/** A page that a text links to, in the order of its first place. */
export interface ReportedLink extends PageCheck {
  /** `reason`: also `too_long`, for a URL of which only the beginning is shown, `user_name`, and, if claims cannot be compared, `page_too_long` and `language`. */
  readonly url: string;
  readonly places: readonly Place[];
}

/** What is compared with pages, and how far. */
interface Compared {
  readonly place: Place;
  /** The pages that are cited for it. */
  readonly urls: readonly string[];
  /** The pages with which it was compared. */
  readonly compared: readonly string[];
  /** The most similar passage of each page that was read, by URL. */
  readonly passages: Readonly<Record<string, Passage>>;
}

/** A claim with figures. */
export interface ReportedClaim extends Compared {
  readonly claim: string;
  /** `unread`: a page that it cites could not be read. The others cite no page. */
  readonly state: 'compared' | 'unread' | NonNullable<TextClaim['uncited']>;
  /** The figures that are on none of its pages; empty if it was not compared. */
  readonly missing: readonly string[];
}

/** A quotation with a link. */
export interface ReportedQuote extends Compared {
  readonly quote: string;
  /** `missing`: it is on none of its pages. `unread`: not on those that could be read. */
  readonly state: 'found' | 'missing' | 'unread';
}

/** The findings about the sources of a text. */
export interface SourcesReport {
  readonly links: readonly ReportedLink[];
  readonly skipped: ReadText['skipped'];
  readonly claims: readonly ReportedClaim[];
  readonly quotes: readonly ReportedQuote[];
  /** The number of links after the first 2,000, which were not read; absent if there are none. */
  readonly further?: number;
}

interface OfPage {
  readonly url: string;
  readonly place: Place;
}

/** A page with what it has of each claim and each quotation that cite it. */
export interface CheckedLink {
  readonly link: ReportedLink;
  readonly findings: readonly (FigureFinding & OfPage)[];
  readonly quotes: readonly (QuoteFinding & OfPage)[];
}

/** A claim with what its pages have. Only figures that are on none of them are missing, and only if all of them could be read. */
export function toReportedClaim({ uncited, ...claim }: TextClaim, pages: readonly CheckedLink[]): ReportedClaim {
  const found = pages.flatMap(({ findings }) => findings.filter(({ place }) => place === claim.place));
  const [first, ...others] = found;
  const missing = (first?.missing ?? []).filter((figure) => others.every((other) => other.missing.includes(figure)));
  const isKnown = missing.length === 0 || found.length === claim.urls.length;
  const state = uncited ?? (first !== undefined && isKnown ? 'compared' : 'unread');
  const compared = state === 'compared' ? found.map(({ url }) => url) : [];
  return { ...claim, state, compared, missing: state === 'compared' ? missing : [], passages: passagesOf(found) };
}

/** A quotation with what its pages have. It must be on one of them. */
export function toReportedQuote(quote: TextQuote, pages: readonly CheckedLink[]): ReportedQuote {
  const found = pages.flatMap(({ quotes }) => quotes.filter(({ place }) => place === quote.place));
  const having = found.filter(({ state }) => state === 'found').map(({ url }) => url);
  if (having.length > 0) return { ...quote, state: 'found', compared: having, passages: {} };
  const isKnown = found.length === quote.urls.length && found.every(({ state }) => state === 'missing');
  const compared = isKnown ? found.map(({ url }) => url) : [];
  return { ...quote, state: isKnown ? 'missing' : 'unread', compared, passages: passagesOf(found) };
}

function passagesOf(found: readonly (OfPage & { readonly passage?: Passage | undefined })[]) {
  return Object.fromEntries(found.flatMap(({ url, passage }) => (passage === undefined ? [] : [[url, passage]])));
}

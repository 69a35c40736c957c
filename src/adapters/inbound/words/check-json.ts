import type { Language } from '../../../domain/answers/question.ts';
import type { Place } from '../../../domain/check/text-places.ts';
import type { Passage } from '../../../domain/evidence/passages.ts';
import { whyOf } from './check-messages.ts';
import { findingsIn } from './check-report.ts';
import { type Checked, checkSummary } from './check-summary.ts';

const NOWHERE: Place = { line: 1, column: 1 };

/** The report for programs. A claim or a quotation has an entry for each page with which it was compared, or else for each that it cites. */
export function toCheckJson(checked: readonly Checked[], language: Language, isStrict = false) {
  const further = checked.reduce((sum, { report }) => sum + (report.further ?? 0), 0);
  return {
    summary: checkSummary(checked, language),
    findings: findingsIn(checked, isStrict),
    links: checked.flatMap(({ file, report }) =>
      report.links.map(({ places, finalUrl, isMoved, ...link }) => ({
        ...link,
        reason: whyOf(link, language),
        ...(finalUrl !== undefined && { final_url: finalUrl, ...(isMoved && { moved: true }) }),
        file,
        ...(places[0] ?? NOWHERE),
        ...(places.length > 1 && { places }),
      })),
    ),
    claims: checked.flatMap(({ file, report }) =>
      report.claims.flatMap(({ claim, missing, state, place, ...of }) =>
        perPage(of).map((page) => ({ claim, missing, state, file, ...place, ...page })),
      ),
    ),
    quotes: checked.flatMap(({ file, report }) =>
      report.quotes.flatMap(({ quote, state, place, ...of }) =>
        perPage(of).map((page) => ({ quote, state, file, ...place, ...page })),
      ),
    ),
    skipped: checked.flatMap(({ file, report }) =>
      report.skipped.map(({ place, ...skipped }) => ({ ...skipped, file, ...place })),
    ),
    ...(further > 0 && { further_links: further }),
  };
}

interface OfPages {
  readonly urls: readonly string[];
  readonly compared: readonly string[];
  readonly passages: Readonly<Record<string, Passage>>;
}

/** The pages of a claim or a quotation; one entry without a page if it cites none. */
function perPage({ urls, compared, passages }: OfPages) {
  const named = compared.length > 0 ? compared : urls;
  const pages: readonly (string | undefined)[] = named.length > 0 ? named : [undefined];
  return pages.map((url) => {
    const { text: passage, page } = passages[url ?? ''] ?? {};
    return { url, passage, ...(page !== undefined && { page }) };
  });
}

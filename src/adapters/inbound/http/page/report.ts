import type { toCheckJson } from '../../words/check-messages.ts';

/** The body of `POST /mcp/check`. */
export type CheckReport = ReturnType<typeof toCheckJson>;

/** A line of the report about one link. */
export interface ReportItem {
  /** Opens the page, at the passage if there is one. */
  readonly href: string;
  readonly url: string;
  readonly problem: string | undefined;
  readonly claim?: string;
  readonly passage?: string | undefined;
}

/** The findings: figures that are not on their page, then dead links. */
export function findingsOf({ claims, links }: CheckReport): readonly ReportItem[] {
  const missing = claims
    .filter(({ missing }) => missing.length > 0)
    .map(({ url, claim, missing, passage }) => {
      const problem = `${missing.map((figure) => `"${figure}"`).join(', ')} not on the page`;
      return { href: hrefAt(url, passage), url, problem, claim, passage };
    });
  return [...missing, ...withState(links, 'dead')];
}

export function unreadableOf({ links }: CheckReport): readonly ReportItem[] {
  return withState(links, 'unreadable');
}

function withState(links: CheckReport['links'], wanted: string): readonly ReportItem[] {
  return links.filter(({ state }) => state === wanted).map(({ url, reason }) => ({ href: url, url, problem: reason }));
}

/** Number of words that the URL names at each end of a longer passage. The text between them may be in several elements. */
const WORDS = 5;

/** A URL that scrolls to a passage (URL Fragment Text Directives). */
function hrefAt(url: string, passage = ''): string {
  const words = passage.replace(/^…|…$/g, '').split(' ');
  const ends = words.length > 2 * WORDS ? [words.slice(0, WORDS), words.slice(-WORDS)] : [words];
  const text = ends.map((part) => encodeURIComponent(part.join(' ')).replaceAll('-', '%2D')).join(',');
  return text === '' ? url : `${url}${url.includes('#') ? '' : '#'}:~:text=${text}`;
}

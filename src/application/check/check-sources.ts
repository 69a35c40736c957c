import { err, ok, type Result } from 'neverthrow';
import type { PageCheck } from '../../domain/answers/known-page.ts';
import { withMarkdownLinks } from '../../domain/check/html-links.ts';
import { linksIn, type TextLink } from '../../domain/check/text-links.ts';
import { figureComparison, hasFigures } from '../../domain/evidence/evidence.ts';
import type { Kind } from '../../domain/values/kind.ts';
import { never, withDeadline } from '../async/deadline.ts';
import { Places } from '../async/places.ts';
import type { CitedPages } from '../ports/cited-pages.ts';
import type { Clock } from '../ports/clock.ts';

/** Maximum length of a text without its HTML, in UTF-16 code units. */
const MAX_TEXT_CHARS = 200_000;
/** Maximum number of links that are checked. */
export const MAX_LINKS = 100;
const TOTAL_MS = 60_000;
const MAX_PER_HOST = 2;
const MAX_AT_ONCE = 8;

/** A claim with figures that was compared with the page that it cites. */
export interface ComparedClaim {
  readonly claim: string;
  readonly url: string;
  /** The figures that are not on the page. */
  readonly missing: readonly string[];
  /** The passage of the page that is most similar to the claim. */
  readonly passage?: string | undefined;
}

/** The findings about the sources of a text. */
export interface SourcesReport {
  /** `reason`: also `too_many`, for links after the first hundred, `too_long`, for a URL of which only the beginning is shown, and `not_comparable`, if the page is too long or in another language. */
  readonly links: readonly (PageCheck & { readonly url: string })[];
  /** The number of links after the first 2,000, which were not read; absent if there are none. */
  readonly further?: number;
  readonly claims: readonly ComparedClaim[];
}

type CheckError = Kind<'cancelled'> | Kind<'text_too_long', { readonly characters: number; readonly max: number }>;

interface CheckInput {
  readonly text: string;
  readonly onProgress?: ((done: number, all: number) => void) | undefined;
}

export type CheckSources = ReturnType<typeof checkSources>;

/** Checks whether the pages that a text links to exist, and have the figures of the sentences that cite them. */
export function checkSources({ citedPages, clock }: { readonly citedPages: CitedPages; readonly clock: Clock }) {
  return async (input: CheckInput, signal: AbortSignal): Promise<Result<SourcesReport, CheckError>> => {
    const { onProgress } = input;
    const text = withMarkdownLinks(input.text);
    if (text.length > MAX_TEXT_CHARS) {
      return err({ kind: 'text_too_long', characters: text.length, max: MAX_TEXT_CHARS });
    }
    const { links, further } = linksIn(text);
    const first = links.slice(0, MAX_LINKS);
    let done = 0;
    const readAll = async (limit: AbortSignal) => {
      onProgress?.(done, first.length);
      const checked = await inPlaces(first, async (link) => {
        const one = await read(link, citedPages, limit);
        done += 1;
        onProgress?.(done, first.length);
        return one;
      });
      // Tried again: another connection may succeed, and a host counts as missing only if other names can be resolved.
      const failed = first.filter((_, at) => checked[at]?.reason === 'network');
      const again = await inPlaces(failed, (link) => read(link, citedPages, limit));
      return checked.map((one) => again.find(({ url }) => url === one.url) ?? one);
    };
    const { outcome } = await withDeadline(clock, TOTAL_MS, signal, readAll);
    if (signal.aborted) return err({ kind: 'cancelled' });
    const rest = links.slice(MAX_LINKS).map(({ url }) => ({ url, state: 'unreadable', reason: 'too_many' }) as const);
    return ok({
      links: [...outcome.map(({ claims: _, ...link }) => link), ...rest],
      ...(further > 0 && { further }),
      claims: citedTogether(outcome.flatMap(({ claims }) => claims)),
    });
  };
}

/** Only figures that are on none of the pages of a claim are missing. */
function citedTogether(compared: readonly ComparedClaim[]): readonly ComparedClaim[] {
  const isOnNone = (claim: string, figure: string) =>
    compared.every((other) => other.claim !== claim || other.missing.includes(figure));
  return compared.map((one) => ({ ...one, missing: one.missing.filter((figure) => isOnNone(one.claim, figure)) }));
}

type CheckedLink = PageCheck & {
  readonly url: string;
  readonly claims: readonly ComparedClaim[];
};

/** Reads pages, with a limit of requests at a time in all and per host. */
function inPlaces<T>(links: readonly TextLink[], readOne: (link: TextLink) => Promise<T>): Promise<readonly T[]> {
  const places = new Places(MAX_AT_ONCE);
  const placesOfHosts = new Map<string, Places>();
  const readInPlace = async (link: TextLink) => {
    // It is not requested, and only a part of it is known.
    if (link.isTooLong) return readOne(link);
    const { host } = new URL(link.url);
    const ofHost = placesOfHosts.get(host) ?? new Places(MAX_PER_HOST);
    placesOfHosts.set(host, ofHost);
    await ofHost.acquire('', undefined, never());
    await places.acquire(host, undefined, never());
    const outcome = await readOne(link);
    places.release();
    ofHost.release();
    return outcome;
  };
  return Promise.all(links.map(readInPlace));
}

/** Reads a page, and compares the claims with it. The page is `unreadable` when `limit` aborts. */
async function read(
  { url, claims, isTooLong }: TextLink,
  citedPages: CitedPages,
  limit: AbortSignal,
): Promise<CheckedLink> {
  if (isTooLong) return { url, state: 'unreadable', reason: 'too_long', claims: [] };
  const { state = 'unreadable', status, reason, text } = (await citedPages.read([url], limit)).get(url) ?? {};
  const link = { url, state, status, reason, claims: [] };
  const withFigures = claims.filter(hasFigures);
  if (text === undefined || withFigures.length === 0) return link;
  const compare = figureComparison(await text());
  if (compare === undefined) return { ...link, state: 'unreadable', reason: 'not_comparable' };
  const compared: ComparedClaim[] = [];
  for (const claim of withFigures) {
    // Other work gets a turn between two claims.
    await text();
    if (limit.aborted) return { ...link, state: 'unreadable', reason: 'timeout' };
    const { missing, quote } = compare(claim);
    compared.push({ claim, url, missing, passage: quote });
  }
  return { ...link, claims: compared };
}

import { err, ok, type Result } from 'neverthrow';
import type { PageCheck } from '../../domain/answers/known-page.ts';
import { MAX_TEXT_CHARS, type ReadText, type TextClaim, type TextLink } from '../../domain/check/checked-text.ts';
import type { Place } from '../../domain/check/text-places.ts';
import type { SkipReason } from '../../domain/check/written-url.ts';
import type { FigureFinding } from '../../domain/evidence/evidence.ts';
import type { Kind } from '../../domain/values/kind.ts';
import { never, withDeadline } from '../async/deadline.ts';
import { Places } from '../async/places.ts';
import type { CitedPages, TextReader, Unread } from '../ports/readers.ts';
import type { Clock } from '../ports/services.ts';

/** Maximum number of links that are checked. */
export const MAX_LINKS = 100;
const TOTAL_MS = 60_000;
const MAX_PER_HOST = 2;
const MAX_AT_ONCE = 8;

/** A page that a text links to, in the order of its first place. */
export interface ReportedLink extends PageCheck {
  /** `reason`: also `too_long`, for a URL of which only the beginning is shown, `user_name`, and `not_comparable`, if the page is too long or in another language. */
  readonly url: string;
  readonly places: readonly Place[];
}

/** A claim with figures. */
export interface ReportedClaim {
  readonly claim: string;
  readonly place: Place;
  /** `unread`: a page that it cites could not be read. The others cite no page. */
  readonly state: 'compared' | 'unread' | NonNullable<TextClaim['uncited']>;
  /** The pages that it cites. */
  readonly urls: readonly string[];
  /** The figures that are on none of its pages; empty if it was not compared. */
  readonly missing: readonly string[];
  /** The pages with which it was compared. */
  readonly compared: readonly string[];
  /** The most similar passage of each page that was read, by URL. */
  readonly passages: Readonly<Record<string, string>>;
}

/** The findings about the sources of a text. */
export interface SourcesReport {
  readonly links: readonly ReportedLink[];
  readonly skipped: ReadText['skipped'];
  readonly claims: readonly ReportedClaim[];
  /** The number of links after the first 2,000, which were not read; absent if there are none. */
  readonly further?: number;
}

/** `unread`: the text needs more time or memory than a text may have. */
export type CheckError =
  | Kind<'cancelled'>
  | Kind<'text_too_long', { readonly characters: number; readonly max: number }>
  | Kind<'text_unread', { readonly reason: Exclude<Unread['kind'], 'cancelled'> }>;

interface CheckInput {
  readonly text: string;
  /** Who asks: the texts of callers take turns. */
  readonly caller: string;
  readonly onProgress?: ((done: number, all: number) => void) | undefined;
  /** Patterns of URLs that are not checked, with `*` for any text. */
  readonly ignored?: readonly string[] | undefined;
}

export type CheckSources = ReturnType<typeof checkSources>;

interface Ports {
  readonly citedPages: CitedPages;
  readonly texts: TextReader;
  readonly clock: Clock;
}

/** Checks whether the pages that a text links to exist, and have the figures of the sentences that cite them. */
export function checkSources(ports: Ports) {
  return async (input: CheckInput, signal: AbortSignal): Promise<Result<SourcesReport, CheckError>> => {
    const { onProgress, caller } = input;
    const found = await linksOf(input, ports, signal);
    if (found.isErr()) return err(found.error);
    const { claims, further, skipped } = found.value;
    const { links, others } = chosenLinks(found.value, input.ignored);
    let done = 0;
    const readAll = async (limit: AbortSignal) => {
      onProgress?.(done, links.length);
      const cited = links.map((link) => ({ ...link, claims: claims.filter(({ urls }) => urls.includes(link.url)) }));
      const checked = await inPlaces(cited, async (link) => {
        const one = await read(link, ports, caller, limit);
        done += 1;
        onProgress?.(done, links.length);
        return one;
      });
      // Tried again: another connection may succeed, and a host counts as missing only if other names can be resolved.
      const failed = cited.filter((_, at) => checked[at]?.link.reason === 'network');
      const again = await inPlaces(failed, (link) => read(link, ports, caller, limit));
      return checked.map((one) => {
        const isFailed = one.link.reason === 'network';
        return (isFailed ? again.find(({ link }) => link.url === one.link.url) : undefined) ?? one;
      });
    };
    const { outcome } = await withDeadline(ports.clock, TOTAL_MS, signal, readAll);
    if (signal.aborted) return err({ kind: 'cancelled' });
    const ignored = new Set(others.filter(({ reason }) => reason === 'ignored').map(({ url }) => url));
    return ok({
      links: outcome.map(({ link }) => link),
      skipped: inOrder([...skipped, ...others]),
      claims: claims.flatMap((claim) => {
        const urls = claim.urls.filter((url) => !ignored.has(url));
        return urls.length === 0 && claim.urls.length > 0 ? [] : [toReported({ ...claim, urls }, outcome)];
      }),
      ...(further > 0 && { further }),
    });
  };
}

/** The links that are checked, and the others, with the reason. */
function chosenLinks({ links }: ReadText, patterns: readonly string[] = []) {
  const isIgnored = ({ url }: TextLink) => patterns.some((pattern) => matchesGlob(url, pattern));
  const skippedFor = (reason: SkipReason, some: readonly TextLink[]) =>
    some.flatMap(({ url, places }) => places.slice(0, 1).map((place) => ({ url, reason, place })));
  const wanted = links.filter((link) => !isIgnored(link));
  return {
    links: wanted.slice(0, MAX_LINKS),
    others: [...skippedFor('ignored', links.filter(isIgnored)), ...skippedFor('limit', wanted.slice(MAX_LINKS))],
  };
}

function inOrder(skipped: ReadText['skipped']): ReadText['skipped'] {
  return [...skipped].sort(({ place: a }, { place: b }) => a.line - b.line || a.column - b.column);
}

/** A claim with what its pages have. Only figures that are on none of them are missing, and only if all of them could be read. */
function toReported({ claim, place, urls, uncited }: TextClaim, pages: readonly CheckedLink[]): ReportedClaim {
  const found = pages.flatMap(({ findings }) => findings.filter((finding) => finding.place === place));
  const passages = Object.fromEntries(
    found.flatMap(({ url, passage }) => (passage === undefined ? [] : [[url, passage]])),
  );
  const [first, ...others] = found;
  const missing = (first?.missing ?? []).filter((figure) => others.every((other) => other.missing.includes(figure)));
  const isKnown = missing.length === 0 || found.length === urls.length;
  const state = uncited ?? (first !== undefined && isKnown ? 'compared' : 'unread');
  const compared = state === 'compared' ? found.map(({ url }) => url) : [];
  return { claim, place, state, urls, compared, missing: state === 'compared' ? missing : [], passages };
}

async function linksOf({ text, caller }: CheckInput, { texts }: Ports, signal: AbortSignal) {
  const read = await texts.read('links', [text], caller, signal);
  if (read.isErr()) {
    const { kind } = read.error;
    return err<never, CheckError>(kind === 'cancelled' ? { kind } : { kind: 'text_unread', reason: kind });
  }
  const { value } = read;
  if (value.kind === 'text') return ok(value);
  return err<never, CheckError>({ kind: 'text_too_long', characters: value.characters, max: MAX_TEXT_CHARS });
}

type CitedLink = TextLink & { readonly claims: readonly TextClaim[] };

/** A page with what it has of each claim that cites it. */
interface CheckedLink {
  readonly link: ReportedLink;
  readonly findings: readonly (FigureFinding & { readonly url: string; readonly place: Place })[];
}

/** Reads pages, with a limit of requests at a time in all and per host. */
function inPlaces<T>(links: readonly CitedLink[], readOne: (link: CitedLink) => Promise<T>): Promise<readonly T[]> {
  const places = new Places(MAX_AT_ONCE);
  const placesOfHosts = new Map<string, Places>();
  const readInPlace = async (link: CitedLink) => {
    // It is not requested, and only a part of it is known.
    if (link.refusal !== undefined) return readOne(link);
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
async function read(cited: CitedLink, ports: Ports, caller: string, limit: AbortSignal): Promise<CheckedLink> {
  const { url, places, claims, refusal } = cited;
  if (refusal !== undefined) return { link: { url, places, state: 'unreadable', reason: refusal }, findings: [] };
  const { text, publishedOn: _, ...page } = (await ports.citedPages.read([url], limit)).get(url) ?? {};
  const link = { ...page, url, places, state: page.state ?? ('unreadable' as const) };
  if (text === undefined || claims.length === 0) return { link, findings: [] };
  const unreadable = (reason: string) => ({ link: { ...link, state: 'unreadable', reason }, findings: [] }) as const;
  const compared = await ports.texts.read('figures', [claims.map(({ claim }) => claim), text], caller, limit);
  if (compared.isErr()) return unreadable(compared.error.kind === 'cancelled' ? 'timeout' : compared.error.kind);
  if (compared.value === undefined) return unreadable('not_comparable');
  const findings = compared.value.flatMap((finding, at) => {
    const place = claims[at]?.place;
    return place === undefined ? [] : [{ ...finding, url, place }];
  });
  return { link, findings };
}

/** Whether a text is a pattern, which may have `*` for any text anywhere. */
export function matchesGlob(text: string, pattern: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

import { err, ok, type Result } from 'neverthrow';
import {
  MAX_TEXT_CHARS,
  type ReadText,
  type TextClaim,
  type TextLink,
  type TextQuote,
} from '../../domain/check/checked-text.ts';
import type { Place } from '../../domain/check/text-places.ts';
import type { SkipReason } from '../../domain/check/written-url.ts';
import type { Kind } from '../../domain/values/kind.ts';
import { never, withDeadline } from '../async/deadline.ts';
import { Places } from '../async/places.ts';
import type { CitedPages, TextReader, Unread } from '../ports/readers.ts';
import type { Clock } from '../ports/services.ts';
import { type CheckedLink, type SourcesReport, toReportedClaim, toReportedQuote } from './sources-report.ts';

/** Maximum number of links that are checked. */
export const MAX_LINKS = 100;
const TOTAL_MS = 60_000;
const MAX_PER_HOST = 2;
const MAX_AT_ONCE = 8;

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

/** Checks whether the pages that a text links to exist, and have the figures and the quotations of the sentences that cite them. */
export function checkSources(ports: Ports) {
  return async (input: CheckInput, signal: AbortSignal): Promise<Result<SourcesReport, CheckError>> => {
    const { onProgress, caller } = input;
    const found = await linksOf(input, ports, signal);
    if (found.isErr()) return err(found.error);
    const { claims, quotes, further, skipped } = found.value;
    const { links, others } = chosenLinks(found.value, input.ignored);
    let done = 0;
    const readAll = async (limit: AbortSignal) => {
      onProgress?.(done, links.length);
      const citing = ({ url }: TextLink) => ({
        claims: claims.filter(({ urls }) => urls.includes(url)),
        quotes: quotes.filter(({ urls }) => urls.includes(url)),
      });
      const cited = links.map((link) => ({ ...link, ...citing(link) }));
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
      claims: withoutPages(claims, ignored).map((claim) => toReportedClaim(claim, outcome)),
      quotes: withoutPages(quotes, ignored).map((quote) => toReportedQuote(quote, outcome)),
      ...(further > 0 && { further }),
    });
  };
}

/** Claims or quotations without the pages that are ignored. One that cites no other page is ignored, too. */
function withoutPages<T extends { readonly urls: readonly string[] }>(all: readonly T[], ignored: ReadonlySet<string>) {
  return all.flatMap((one) => {
    const urls = one.urls.filter((url) => !ignored.has(url));
    return urls.length === 0 && one.urls.length > 0 ? [] : [{ ...one, urls }];
  });
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

type CitedLink = TextLink & { readonly claims: readonly TextClaim[]; readonly quotes: readonly TextQuote[] };

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

/** Reads a page, and compares claims and quotations with it. The page is `unreadable` when `limit` aborts. */
async function read(cited: CitedLink, ports: Ports, caller: string, limit: AbortSignal): Promise<CheckedLink> {
  const { url, places, claims, quotes, refusal } = cited;
  const nothing = { findings: [], quotes: [] };
  if (refusal !== undefined) return { link: { url, places, state: 'unreadable', reason: refusal }, ...nothing };
  const { text, publishedOn: _, ...page } = (await ports.citedPages.read([url], limit)).get(url) ?? {};
  const link = { ...page, url, places, state: page.state ?? ('unreadable' as const) };
  if (text === undefined) return { link, ...nothing };
  const unreadable = ({ kind }: Unread) => ({ ...link, state: 'unreadable', reason: reasonOf(kind) }) as const;
  const wanted = quotes.map(({ quote }) => quote);
  const looked = quotes.length === 0 ? ok([]) : await ports.texts.read('quotes', [wanted, text], caller, limit);
  if (looked.isErr()) return { link: unreadable(looked.error), ...nothing };
  const checked = { link, findings: [], quotes: withPlaces(looked.value, quotes, url) };
  if (claims.length === 0) return checked;
  const compared = await ports.texts.read('figures', [claims.map(({ claim }) => claim), text], caller, limit);
  if (compared.isErr()) return { ...checked, link: unreadable(compared.error) };
  const { value } = compared;
  const reason = text.isCut ? 'page_too_long' : 'language';
  if (value === undefined) return { ...checked, link: { ...link, state: 'unreadable', reason } };
  return { ...checked, findings: withPlaces(value, claims, url) };
}

function reasonOf(kind: Unread['kind']): string {
  return kind === 'cancelled' ? 'timeout' : kind;
}

/** The findings of a page, each with the place of its claim or quotation. */
function withPlaces<T>(findings: readonly T[], of: readonly { readonly place: Place }[], url: string) {
  return findings.flatMap((finding, at) => {
    const place = of[at]?.place;
    return place === undefined ? [] : [{ ...finding, url, place }];
  });
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

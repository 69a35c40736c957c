import { err, ok, type Result } from 'neverthrow';
import type { PageCheck } from '../../domain/answers/known-page.ts';
import { MAX_TEXT_CHARS, type TextLink } from '../../domain/check/checked-text.ts';
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

/** A claim with figures that was compared with the page that it cites. */
interface ComparedClaim extends FigureFinding {
  readonly claim: string;
  readonly url: string;
}

/** The findings about the sources of a text. */
export interface SourcesReport {
  /** `reason`: also `too_many`, for links after the first hundred, `too_long`, for a URL of which only the beginning is shown, and `not_comparable`, if the page is too long or in another language. */
  readonly links: readonly (PageCheck & { readonly url: string })[];
  /** The number of links after the first 2,000, which were not read; absent if there are none. */
  readonly further?: number;
  readonly claims: readonly ComparedClaim[];
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
    const { links: pages, claims, further } = found.value;
    const links = pages.map((link) => ({
      ...link,
      claims: claims.filter(({ urls }) => urls.includes(link.url)).map(({ claim }) => claim),
    }));
    const first = links.slice(0, MAX_LINKS);
    let done = 0;
    const readAll = async (limit: AbortSignal) => {
      onProgress?.(done, first.length);
      const checked = await inPlaces(first, async (link) => {
        const one = await read(link, ports, caller, limit);
        done += 1;
        onProgress?.(done, first.length);
        return one;
      });
      // Tried again: another connection may succeed, and a host counts as missing only if other names can be resolved.
      const failed = first.filter((_, at) => checked[at]?.reason === 'network');
      const again = await inPlaces(failed, (link) => read(link, ports, caller, limit));
      return checked.map((one) => again.find(({ url }) => url === one.url) ?? one);
    };
    const { outcome } = await withDeadline(ports.clock, TOTAL_MS, signal, readAll);
    if (signal.aborted) return err({ kind: 'cancelled' });
    const rest = links.slice(MAX_LINKS).map(({ url }) => ({ url, state: 'unreadable', reason: 'too_many' }) as const);
    return ok({
      links: [...outcome.map(({ claims: _, ...link }) => link), ...rest],
      ...(further > 0 && { further }),
      claims: citedTogether(outcome.flatMap(({ claims }) => claims)),
    });
  };
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

/** Only figures that are on none of the pages of a claim are missing. */
function citedTogether(compared: readonly ComparedClaim[]): readonly ComparedClaim[] {
  const isOnNone = (claim: string, figure: string) =>
    compared.every((other) => other.claim !== claim || other.missing.includes(figure));
  return compared.map((one) => ({ ...one, missing: one.missing.filter((figure) => isOnNone(one.claim, figure)) }));
}

type CitedLink = TextLink & { readonly claims: readonly string[] };

type CheckedLink = PageCheck & {
  readonly url: string;
  readonly claims: readonly ComparedClaim[];
};

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
async function read(
  { url, claims, refusal }: CitedLink,
  ports: Ports,
  caller: string,
  limit: AbortSignal,
): Promise<CheckedLink> {
  if (refusal !== undefined) return { url, state: 'unreadable', reason: refusal, claims: [] };
  const { state = 'unreadable', status, reason, text } = (await ports.citedPages.read([url], limit)).get(url) ?? {};
  const link = { url, state, status, reason, claims: [] };
  if (text === undefined || claims.length === 0) return link;
  const unreadable = (reason: string) => ({ ...link, state: 'unreadable', reason }) as const;
  const compared = await ports.texts.read('figures', [claims, text], caller, limit);
  if (compared.isErr()) return unreadable(compared.error.kind === 'cancelled' ? 'timeout' : compared.error.kind);
  if (compared.value === undefined) return unreadable('not_comparable');
  return { ...link, claims: compared.value.map((finding, at) => ({ claim: claims[at] ?? '', url, ...finding })) };
}

import { type Dispatcher, fetch as undiciFetch } from 'undici';
import type { CitationCheck, PageCheck } from '../../../domain/answers/known-page.ts';

export interface FetchOptions {
  /** Connects to public addresses only. */
  readonly dispatcher: Dispatcher;
  readonly isPort: (port: string) => boolean;
  /** A proxy resolves names, so that only addresses in URLs can be checked here. */
  readonly isAllowedHost: (host: string) => boolean;
  readonly userAgent: string;
  readonly check: CitationCheck;
}

/** The beginning of a page that has text. */
interface FetchedPage {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** The page is longer. */
  readonly isCut: boolean;
}

/** Limits of a page (rulings A15 and E3). */
const MAX_BYTES = 2_000_000;
const MAX_REDIRECTS = 3;

const ACCEPT = 'text/html,application/xhtml+xml';

/** The types of pages that may say a date. */
export const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)/i;
const TEXT = /^\s*text\/(?:plain|markdown)(?=[\s;,]|$)/i;

/** Why a page has no text. `isFailed`: the exchange broke off, and may not the next time. */
type Unread = PageCheck & { readonly isFailed?: true };

/** Requests a page, or says why it has no text (ruling E4): the first reason, in the order of the exchange. Never rejects. */
export async function fetchPage(
  url: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<FetchedPage | Unread> {
  const { dispatcher, userAgent, check } = options;
  const headers = { 'user-agent': userAgent, accept: check === 'off' ? ACCEPT : `${ACCEPT},text/plain` };
  const init = { dispatcher, signal, headers, redirect: 'manual', credentials: 'omit' } as const;
  let status: number | undefined;
  const unreadable = (reason: string) => ({ state: 'unreadable', status, reason }) as const;
  try {
    let target = url;
    for (let redirects = 0; ; redirects += 1) {
      if (!isFetchable(target, options)) return unreadable('forbidden');
      const response = await undiciFetch(target, init);
      status = response.status;
      const { body, headers } = response;
      const location = status >= 300 && status < 400 ? headers.get('location') : null;
      const next = location !== null && URL.canParse(location, target) ? new URL(location, target) : undefined;
      const contentType = headers.get('content-type') ?? '';
      const hasText = HTML.test(contentType) || (check !== 'off' && TEXT.test(contentType));
      if (response.ok && hasText && body !== null) return { status, contentType, ...(await beginningOf(body)) };
      // Without a known length, the first bytes show whether there are any.
      const isEmpty =
        response.ok &&
        check !== 'off' &&
        !(Number(headers.get('content-length')) > 0) &&
        (body === null || !(await hasBytes(body)));
      await body?.cancel();
      if (status === 404 || status === 410) return { state: 'dead', status };
      if (response.ok) return unreadable(isEmpty ? 'no_text' : 'not_text');
      if (next === undefined || !/^https?:$/.test(next.protocol)) return unreadable(`http_${status}`);
      if (redirects === MAX_REDIRECTS) return unreadable('redirects');
      target = next.href;
    }
  } catch (error) {
    const failed = (reason: string) => ({ ...unreadable(reason), isFailed: true }) as const;
    if (signal.aborted) return failed('timeout');
    const { cause } = error as { cause?: { code?: unknown } };
    const code = String(cause?.code);
    if (code === 'ENOTFOUND') return { ...failed('no_such_host'), state: 'dead' };
    if (code === 'FORBIDDEN_ADDRESS') return failed('forbidden');
    return failed(/^UND_ERR_\w+_TIMEOUT$/.test(code) ? 'timeout' : 'network');
  }
}

/** Whether a page may be fetched at all: http(s), usual ports, no user, and no host that names another network. */
function isFetchable(url: string, { isPort, isAllowedHost }: FetchOptions): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, port, hostname, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return /^https?:$/.test(protocol) && isPort(port) && `${username}${password}` === '' && isAllowedHost(host);
}

/** The bytes of a page, as far as it is read. */
async function beginningOf(body: AsyncIterable<Uint8Array>) {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk.subarray(0, MAX_BYTES - bytes));
    bytes += chunk.length;
    if (bytes > MAX_BYTES) break;
  }
  return { bytes: Buffer.concat(chunks), isCut: bytes > MAX_BYTES };
}

async function hasBytes(body: AsyncIterable<Uint8Array>): Promise<boolean> {
  for await (const { length } of body) if (length > 0) return true;
  return false;
}

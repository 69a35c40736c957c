import { type Dispatcher, fetch as undiciFetch } from 'undici';
import type { CitationCheck, PageCheck } from '../../../domain/answers/known-page.ts';
import { readBytes } from '../network/read-bytes.ts';

export interface FetchOptions {
  /** Connects to public addresses only, or to the proxy. */
  readonly dispatcher: Dispatcher;
  readonly isPort: (port: string) => boolean;
  /** Checks the host of a URL. With a proxy, which resolves the names, nothing else is checked. */
  readonly isAllowedHost: (host: string) => boolean;
  readonly userAgent: string;
  readonly check: CitationCheck;
}

/** The beginning of a page that has text. */
interface FetchedPage {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Whether the page is longer. */
  readonly isCut: boolean;
}

const MAX_BYTES = 2_000_000;
const MAX_REDIRECTS = 3;

const ACCEPT = 'text/html,application/xhtml+xml';

/** The types of pages that may state a date. */
export const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)/i;
const TEXT = /^\s*text\/(?:plain|markdown)(?=[\s;,]|$)/i;

/** Requests a page. The result is its beginning, or the first reason why it has no text. Never rejects. */
export async function fetchPage(
  url: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<FetchedPage | PageCheck> {
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
      const { body, headers } = response;
      status = response.status;
      if (response.ok) {
        const contentType = headers.get('content-type') ?? '';
        const hasText = HTML.test(contentType) || (check !== 'off' && TEXT.test(contentType));
        const beginning = await readBytes(body, hasText ? MAX_BYTES : 0);
        if (hasText) return { status, contentType, ...beginning };
        return unreadable(beginning.isCut ? 'not_text' : 'no_text');
      }
      await body?.cancel();
      if (status === 404 || status === 410) return { state: 'dead', status };
      const location = status < 400 ? headers.get('location') : null;
      const next = location !== null && URL.canParse(location, target) ? new URL(location, target).href : '';
      if (!/^https?:/.test(next)) return unreadable(`http_${status}`);
      if (redirects === MAX_REDIRECTS) return unreadable('redirects');
      target = next;
    }
  } catch (error) {
    if (signal.aborted) return unreadable('timeout');
    const { cause } = error as { cause?: { code?: unknown } };
    const code = String(cause?.code);
    if (code === 'ENOTFOUND') return { ...unreadable('no_such_host'), state: 'dead' };
    if (code === 'FORBIDDEN_ADDRESS') return unreadable('forbidden');
    return unreadable(/^UND_ERR_\w+_TIMEOUT$/.test(code) ? 'timeout' : 'network');
  }
}

/** Whether a page may be fetched at all: http(s), usual ports, no user, and no host that names another network. */
function isFetchable(url: string, { isPort, isAllowedHost }: FetchOptions): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, port, hostname, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  return /^https?:$/.test(protocol) && isPort(port) && `${username}${password}` === '' && isAllowedHost(host);
}

import { type Dispatcher, fetch as undiciFetch } from 'undici';
import type { Clock } from '../../../application/ports/services.ts';
import type { CitationCheck, PageCheck } from '../../../domain/answers/citation.ts';
import { readBytes } from '../network/read-bytes.ts';
import type { PdfReader } from './pdf-reader.ts';

export interface FetchOptions {
  /** Connects to public addresses only, or to the proxy. */
  readonly dispatcher: Dispatcher;
  readonly isPort: (port: string) => boolean;
  /** Checks the host of a URL. With a proxy, which resolves the names, nothing else is checked. */
  readonly isAllowedHost: (host: string) => boolean;
  readonly userAgent: string;
  readonly check: CitationCheck;
  readonly clock: Clock;
  /** Reads documents in PDF; undefined if they count as pages without text. */
  readonly pdf?: Pick<PdfReader, 'read'>;
}

/** The beginning of a page that has text. */
interface FetchedPage {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Whether the page is longer. */
  readonly isCut: boolean;
  /** The address to which the page was redirected. */
  readonly finalUrl?: string;
  readonly isMoved?: boolean;
}

const MAX_BYTES = 2_000_000;
const MAX_REDIRECTS = 3;

/** The type of the text of a PDF, in which form feeds end pages. */
export const PDF_TEXT = 'application/pdf; charset=utf-8';
const PDF = /^\s*application\/(?:x-)?pdf(?=[\s;,]|$)/i;
/** The types of files that their server does not know. */
const UNKNOWN = /^\s*(?:(?:application|binary)\/octet-stream|application\/force-download)(?=[\s;,]|$)/i;

const ACCEPT = 'text/html,application/xhtml+xml';

/** The types of pages that may state a date. */
export const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)/i;
const TEXT = /^\s*(?:text\/(?:plain|markdown|csv|tab-separated-values)|application\/(?:[\w.-]+\+)?json)(?=[\s;,]|$)/i;

/** Requests a page. The result is its beginning, or the first reason why it has no text. Never rejects. */
export async function fetchPage(
  url: string,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<FetchedPage | PageCheck> {
  const { dispatcher, userAgent, check } = options;
  const headers = {
    'user-agent': userAgent,
    accept: check === 'off' ? ACCEPT : `${ACCEPT},text/plain,text/csv,application/json,application/pdf`,
  };
  const init = { dispatcher, signal, headers, redirect: 'manual', credentials: 'omit' } as const;
  let status: number | undefined;
  let target = url;
  let isMoved = false;
  const moved = () => (target === url ? {} : { finalUrl: target, isMoved });
  const unreadable = (reason: string) => ({ state: 'unreadable', status, reason, ...moved() }) as const;
  try {
    let isRepeated = false;
    for (let redirects = 0; ; ) {
      const refusal = refusalOf(target, options);
      if (refusal !== undefined) return unreadable(refusal);
      const response = await undiciFetch(target, init);
      const { body, headers } = response;
      status = response.status;
      if (response.ok) {
        if (isHomePage(url, target)) {
          await body?.cancel();
          return unreadable('home_page');
        }
        const text = await textOf({ body, contentType: headers.get('content-type') ?? '', target }, options, signal);
        return 'reason' in text ? unreadable(text.reason) : { status, ...text, ...moved() };
      }
      await body?.cancel();
      if (status === 404 || status === 410) return { state: 'dead', status, ...moved() };
      const waitMs = isRepeated ? undefined : waitOf(status, headers.get('retry-after'));
      if (waitMs !== undefined) {
        isRepeated = true;
        await options.clock.sleep(waitMs, signal);
        continue;
      }
      const next = status < 400 ? locationOf(headers.get('location'), target) : undefined;
      if (next === undefined) return unreadable(`http_${status}`);
      if (redirects === MAX_REDIRECTS) return unreadable('redirects');
      if (redirects === 0) isMoved = status === 301 || status === 308;
      redirects += 1;
      target = next;
    }
  } catch (error) {
    if (signal.aborted) return unreadable('timeout');
    const { cause } = error as { cause?: { code?: unknown } };
    const code = String(cause?.code);
    if (code === 'ENOTFOUND') return { ...unreadable('no_such_host'), state: 'dead' };
    return unreadable(REASONS[code] ?? (/^UND_ERR_\w+_TIMEOUT$/.test(code) ? 'timeout' : 'network'));
  }
}

interface Received {
  readonly body: ReadableStream<Uint8Array> | null;
  readonly contentType: string;
  readonly target: string;
}

/** The beginning of the text of a response, or why it has none. */
async function textOf({ body, contentType, target }: Received, { check, pdf }: FetchOptions, signal: AbortSignal) {
  const isNamed = UNKNOWN.test(contentType) && /\.pdf$/i.test(new URL(target).pathname);
  if (check !== 'off' && pdf !== undefined && (PDF.test(contentType) || isNamed)) {
    const text = await pdf.read(body, signal);
    // A document that was not received to its end.
    if ('reason' in text && body?.locked === false) await body.cancel();
    return 'reason' in text ? text : { ...text, contentType: PDF_TEXT };
  }
  const hasText = HTML.test(contentType) || (check !== 'off' && TEXT.test(contentType));
  const beginning = await readBytes(body, hasText ? MAX_BYTES : 0);
  if (hasText) return { contentType, ...beginning };
  return { reason: beginning.isCut ? 'not_text' : 'empty' };
}

/** The reasons of failed connections, by their code. */
const REASONS: Readonly<Record<string, string>> = {
  FORBIDDEN_ADDRESS: 'forbidden',
  CERT_HAS_EXPIRED: 'certificate_expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate',
};

/** The address to which a page is redirected. Its bytes above 127 are UTF-8, although headers are read as Latin-1. */
function locationOf(header: string | null, base: string): string | undefined {
  if (header === null) return undefined;
  const isLatin1 = /^[\u0000-\u00FF]*$/.test(header);
  const location = isLatin1 ? Buffer.from(header, 'latin1').toString('utf8') : header;
  const next = URL.canParse(location, base) ? new URL(location, base) : undefined;
  return next !== undefined && /^https?:$/.test(next.protocol) ? next.href : undefined;
}

const MAX_WAIT_S = 10;

/** The wait that a busy site asks for, if it is short. */
function waitOf(status: number, header: string | null): number | undefined {
  const seconds = Number(header?.trim() || Number.NaN);
  const isBusy = status === 429 || status === 503;
  return isBusy && seconds >= 0 && seconds <= MAX_WAIT_S ? seconds * 1000 : undefined;
}

/** Whether a page that is gone was replaced by the home page of its host. */
function isHomePage(url: string, target: string): boolean {
  const [from, to] = [new URL(url), new URL(target)];
  return url !== target && from.pathname !== '/' && to.pathname === '/' && to.search === '' && from.host === to.host;
}

/** Why a page may not be fetched: not http(s), another port, a user, or a host that names another network. */
function refusalOf(url: string, { isPort, isAllowedHost }: FetchOptions): string | undefined {
  if (!URL.canParse(url)) return 'forbidden';
  const { protocol, port, hostname, username, password } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!/^https?:$/.test(protocol) || !isAllowedHost(host)) return 'forbidden';
  if (`${username}${password}` !== '') return 'user_name';
  return isPort(port) ? undefined : 'port';
}

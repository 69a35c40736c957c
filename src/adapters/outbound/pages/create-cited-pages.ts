import { isIP } from 'node:net';
import { Agent } from 'undici';
import { withDeadline } from '../../../application/async/deadline.ts';
import { createProxyAgent } from '../network/proxy-fetch.ts';
import { fetchPage } from './fetch-page.ts';
import { createPageAgent, resolvePageName } from './page-connector.ts';
import { decoderFor } from './page-decoder.ts';
import { PdfReader } from './pdf-reader.ts';
import { isPublicAddress } from './public-address.ts';
import { PAGE_MS, WebCitedPages, type WebCitedPagesOptions } from './web-cited-pages.ts';

type Options = Omit<WebCitedPagesOptions, 'dispatcher' | 'isPort' | 'isAllowedHost' | 'canResolve'> & {
  /** The URL of the proxy, which then resolves the names; undefined without one. */
  readonly proxy: string | undefined;
  /** Whether pages of this machine, of private networks and on all ports may be requested. */
  readonly isPrivate?: boolean;
};

/** Creates the reader of pages, which reaches only the public internet. */
export function createCitedPages({ proxy, isPrivate = false, ...options }: Options) {
  let hasResolved = false;
  const resolve = async (host: string) => {
    const addresses = await resolvePageName(host);
    hasResolved ||= addresses.length > 0;
    return addresses;
  };
  const direct = () => (isPrivate ? new Agent() : createPageAgent(isPublicAddress, resolve));
  const dispatcher = proxy === undefined ? direct() : createProxyAgent(proxy);
  const fetchOptions = {
    ...options,
    dispatcher,
    isPort: (port: string) => isPrivate || port === '' || port === '80' || port === '443',
    isAllowedHost: (host: string) =>
      isPrivate || (isIP(host) === 0 ? !/(?:^|\.)localhost\.?$/i.test(host) : isPublicAddress(host)),
    canResolve: () => hasResolved || isPrivate,
  };
  return {
    citedPages: new WebCitedPages({ ...fetchOptions, pdf: new PdfReader(options.clock) }),
    /** The HTML or the text of a page, or why it has none. */
    fetchText: async (url: string, signal: AbortSignal) => {
      const fetchIt = (limit: AbortSignal) => fetchPage(url, fetchOptions, limit);
      const { outcome: page } = await withDeadline(options.clock, options.pageMs ?? PAGE_MS, signal, fetchIt);
      return 'bytes' in page ? decoderFor(page.bytes, page.contentType).decode(page.bytes) : page;
    },
    close: () => dispatcher.destroy(),
  };
}

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent } from 'undici';
import { withDeadline } from '../../../application/async/deadline.ts';
import { createProxyAgent } from '../network/proxy-fetch.ts';
import { fetchPage } from './fetch-page.ts';
import { createPageAgent, resolvePageName } from './page-connector.ts';
import { decoderFor } from './page-text.ts';
import { PdfReader } from './pdf-reader.ts';
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

/** Global unicast, the only part of IPv6 that is in use on the internet (RFC 4291). It excludes `::127.0.0.1`. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** An address of Azure's platform. It looks public, but only machines in Azure reach it. */
const PLATFORM = '168.63.129.16';

/** Whether an IP address is one of the public internet: not of this machine, of a private network, or reserved. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // Converts `::ffff:127.0.0.1` to 127.0.0.1.
  const known = ipaddr.process(address);
  if (known.toString() === PLATFORM) return false;
  return known.range() === 'unicast' && (known instanceof ipaddr.IPv4 || known.match(GLOBAL_UNICAST));
}

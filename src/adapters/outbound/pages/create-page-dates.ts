import { isIP } from 'node:net';
import { createProxyAgent } from '../network/proxy-fetch.ts';
import { createPageAgent } from './page-connector.ts';
import { isPublicAddress } from './public-address.ts';
import { WebPageDates, type WebPageDatesOptions } from './web-page-dates.ts';

type Options = Pick<WebPageDatesOptions, 'clock' | 'timeZone' | 'userAgent'> & {
  /** The URL of the proxy, if one is configured: it resolves the names. */
  readonly proxy: string | undefined;
};

const CONNECT_MS = 3000;

/** The reader of pages for production: nothing but the public internet is reached. */
export function createPageDates({ proxy, ...options }: Options) {
  const dispatcher = proxy === undefined ? createPageAgent(isPublicAddress, CONNECT_MS) : createProxyAgent(proxy);
  const pageDates = new WebPageDates({
    ...options,
    dispatcher,
    isPort: (port) => port === '' || port === '80' || port === '443',
    isAllowedHost: (host) => (isIP(host) === 0 ? !/(?:^|\.)localhost\.?$/i.test(host) : isPublicAddress(host)),
  });
  return { pageDates, close: () => dispatcher.destroy() };
}

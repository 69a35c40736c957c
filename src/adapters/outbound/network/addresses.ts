import { decoded } from '../../../domain/values/web-url.ts';

/** Where a server listens; port 0 is any free port. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 3917;

/** Reads `host:port`, `[v6]:port`, `host`, `:port` or `port`; undefined if it is none of them. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const full = /^\d+$/.test(text) ? `:${text}` : text;
  const [, bracketed, name, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]*))(?::(\d+))?$/.exec(full) ?? [];
  // `URL` shortens `0:0:0:0:0:0:0:1` to `::1`.
  const host = bracketed === undefined ? name : toHttpUrl(`http://[${bracketed}]/`)?.hostname.slice(1, -1);
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  if (host === undefined || (host === '' && digits === undefined) || port > 65_535) return undefined;
  return { host: host || DEFAULT_HOST, port };
}

/** Whether only this machine can reach a host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether others on the network can read what is sent to an http(s) URL. */
export function isUnencrypted(url: string): boolean {
  return /^http:/i.test(url) && !isLoopbackUrl(url);
}

/** Whether the host of a URL is this machine. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopback(new URL(url).hostname.replace(/[[\]]/g, ''));
}

/** Whether nobody else can read or change what is sent to a URL: https://, or http:// on this machine. */
export function isSecureUrl(text: string): boolean {
  const url = toHttpUrl(text);
  return url !== undefined && `${url.username}${url.password}` === '' && !isUnencrypted(url.href);
}

export function toHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** The host of the API, and the proxy on the way to it, for people. */
export function routeTo(baseUrl: string, proxy: string | undefined): string {
  const { host } = new URL(baseUrl);
  return proxy === undefined ? host : `${host} via the proxy ${new URL(proxy).host}`;
}

/** Adds the scheme to the URL of a proxy, which people often leave out. */
export function withScheme(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
}

/** The password in a URL, with or without a scheme, in the forms in which a message may contain it; empty if there is no password. */
export function passwordsOf(text: string): readonly string[] {
  const url = withScheme(text);
  if (!URL.canParse(url)) return [];
  const { username, password } = new URL(url);
  if (password === '') return [];
  // A malformed escape is taken as it is.
  const [user, plain] = [username, password].map((part) => decoded(part) ?? part);
  const basic = Buffer.from(`${user}:${plain}`).toString('base64');
  return [...new Set([password, plain ?? '', basic.replace(/=+$/, '')])];
}

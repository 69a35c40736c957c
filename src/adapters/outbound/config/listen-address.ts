/** Where a server listens; port 0 is any free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 3917;

/** Reads `host:port`, `[v6]:port`, `host`, `:port` or `port`; undefined if it is none of them. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const full = /^\d+$/.test(text) ? `:${text}` : text;
  const [, bracketed, name, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]*))(?::(\d+))?$/.exec(full) ?? [];
  const host = bracketed === undefined ? name : normalizedIpV6(bracketed);
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  if (host === undefined || (host === '' && digits === undefined) || port > 65_535) return undefined;
  return { host: host || DEFAULT_HOST, port };
}

/** `host:port` as in a URL. */
export function toHostPort({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether only this machine can reach the address. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Whether others on the network can read what is sent to an http(s) URL. */
export function isUnencrypted(url: string): boolean {
  if (!/^http:/i.test(url)) return false;
  return !isLoopback({ host: new URL(url).hostname.replace(/[[\]]/g, ''), port: 0 });
}

/** `0:0:0:0:0:0:0:1` is `::1`. */
function normalizedIpV6(address: string): string | undefined {
  const url = `http://[${address}]/`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
}

/** Where a server listens; port 0 is any that is free. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 3917;

/** Reads `host:port`, `[v6]:port`, `host`, `:port` or `port`; undefined where it is none of them. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  if (/^\d+$/.test(text)) return withPort(DEFAULT_HOST, text);
  const [, bracketed, name, port] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]*))(?::(\d+))?$/.exec(text) ?? [];
  if (bracketed !== undefined && !URL.canParse(`http://[${bracketed}]/`)) return undefined;
  const host = bracketed ?? name;
  if (host === undefined || (host === '' && port === undefined)) return undefined;
  return withPort(host === '' ? DEFAULT_HOST : host, port);
}

/** `host:port` again, as it stands in a URL. */
export function toHostPort({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether only this machine can reach it. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function withPort(host: string, digits: string | undefined): ListenAddress | undefined {
  const port = digits === undefined ? DEFAULT_PORT : Number(digits);
  return port <= 65_535 ? { host, port } : undefined;
}

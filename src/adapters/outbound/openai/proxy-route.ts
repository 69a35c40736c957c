import type { ProxyOptions } from './proxy-fetch.ts';

/** The proxy that requests to a URL go through, as host and port; undefined if they go directly. */
export function proxyFor(url: string, { http, https, bypass }: ProxyOptions): string | undefined {
  const { protocol, hostname, port } = new URL(url);
  const proxy = protocol === 'https:' ? (https ?? http) : http;
  if (proxy === undefined || proxy === '' || isBypassed(hostname, port, bypass ?? '')) return undefined;
  return new URL(proxy).host;
}

/** `NO_PROXY`: hosts with their subdomains, each with a port or without; `*` for all. */
function isBypassed(hostname: string, port: string, bypass: string): boolean {
  return bypass
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, host = '', only = ''] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const isHost = entry === '*' || hostname === host || hostname.endsWith(`.${host}`);
      return isHost && (only === '' || only === port);
    });
}

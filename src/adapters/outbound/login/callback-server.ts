import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../network/addresses.ts';

const PATH = '/callback';
const PAGES = {
  200: 'You can close this page and return to the terminal.',
  400: 'This is not the answer to the login that is in progress.',
  403: 'Not allowed.',
  404: 'Not found.',
  405: 'Not allowed.',
} as const;

/** Waits on this machine for the browser that returns from the issuer (ruling O11). */
export class CallbackServer {
  readonly #server: Server;
  readonly redirectUri: string;

  private constructor(server: Server) {
    this.#server = server;
    this.redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
  }

  /** `accept` gets the parameters of a callback, and says whether they are those of the login. Rejects if the port is in use. */
  static open(port: number, accept: (parameters: URLSearchParams) => boolean): Promise<CallbackServer> {
    return new Promise((resolve, reject) => {
      const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
        const status = statusOf(request, port === 0 ? (server.address() as AddressInfo).port : port, accept);
        // Nothing of the request is repeated.
        const headers = {
          'Content-Type': 'text/plain',
          'Cache-Control': 'no-store',
          'X-Content-Type-Options': 'nosniff',
        };
        response.writeHead(status, { ...headers, Connection: 'close' }).end(`${PAGES[status]}\n`);
      });
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve(new CallbackServer(server)));
    });
  }

  /** Whether a URL, which a person pasted, is one to which the issuer redirects. */
  accepts(url: URL): boolean {
    const { port } = new URL(this.redirectUri);
    return isLoopback(url.hostname) && url.port === port && url.pathname === PATH;
  }

  close(): void {
    this.#server.close();
    // The browser may still read the last response.
    this.#server.closeIdleConnections();
  }
}

function statusOf(
  { url = '', method, headers: { host = '' } }: IncomingMessage,
  port: number,
  accept: (parameters: URLSearchParams) => boolean,
): keyof typeof PAGES {
  const target = URL.canParse(url, 'http://127.0.0.1') ? new URL(url, 'http://127.0.0.1') : undefined;
  const [, name = '', hostPort] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  if (!isLoopback(name.replace(/^\[|\]$/g, '')) || hostPort !== String(port)) return 403;
  if (target?.pathname !== PATH) return 404;
  if (method !== 'GET') return 405;
  return accept(target.searchParams) ? 200 : 400;
}

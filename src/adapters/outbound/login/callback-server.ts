import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../network/addresses.ts';

const PATH = '/callback';
const HEADERS = {
  'Content-Type': 'text/plain',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
};
/** Nothing of a request is repeated. */
const PAGES = {
  200: 'You can close this page and return to the terminal.',
  400: 'This is not the answer to the login that is in progress.',
  403: 'Not allowed.',
  404: 'Not found.',
  405: 'Not allowed.',
} as const;

/** What waits on this machine for the browser that returns from the issuer. */
export type Callback = Awaited<ReturnType<typeof openCallback>>;

/** Waits for a callback with this state (ruling O11), until `close`. Rejects if the port is in use. */
export async function openCallback(port: number, state: string) {
  let onReturned = (_: URLSearchParams): void => {};
  const returned = new Promise<URLSearchParams>((resolve) => {
    onReturned = resolve;
  });
  /** Takes the parameters of a callback, and says whether they are those of the login. */
  const accept = (parameters: URLSearchParams) => {
    const isRight = parameters.get('state') === state;
    if (isRight) onReturned(parameters);
    return isRight;
  };
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    const status = statusOf(request, accept);
    response.writeHead(status, HEADERS).end(`${PAGES[status]}\n`);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  // A connection that cannot be accepted is no reason to give up.
  server.on('error', () => {});
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;
  const close = () => {
    server.close();
    // The browser may still read the last response.
    server.closeIdleConnections();
  };
  return { redirectUri, returned, accept, close };
}

function statusOf(
  { url = '', method, socket, headers: { host = '' } }: IncomingMessage,
  accept: Callback['accept'],
): keyof typeof PAGES {
  const target = URL.canParse(url, 'http://127.0.0.1') ? new URL(url, 'http://127.0.0.1') : undefined;
  const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  if (!isLoopback(name.replace(/^\[|\]$/g, '')) || port !== String(socket.localPort)) return 403;
  if (target?.pathname !== PATH) return 404;
  if (method !== 'GET') return 405;
  return accept(target.searchParams) ? 200 : 400;
}

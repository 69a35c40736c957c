import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { until } from './until.ts';

export type PageHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface PageServer {
  readonly port: number;
  /** `http://127.0.0.1:PORT/path`. */
  url(path: string): string;
  /** Serves a page of HTML, or what a function sends. */
  serve(path: string, page: string | Buffer | PageHandler, contentType?: string): string;
  /** Every request, in order. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  /** The number of connections, also without a request. */
  connections(): number;
  /** Resolves when there were so many requests. */
  waitForRequests(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Web pages on a local port, on every address of this machine, also that of IPv6. */
export async function startPageServer(): Promise<PageServer> {
  const pages = new Map<string, PageHandler>();
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    const page = pages.get(request.url ?? '');
    if (page === undefined) response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Not found</p>');
    else page(request, response);
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
  });
  server.listen(0, '::');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const url = (path: string) => `http://127.0.0.1:${address.port}${path}`;
  return {
    port: address.port,
    url,
    serve: (path, page, contentType = 'text/html; charset=utf-8') => {
      const send: PageHandler = (_, response) => response.writeHead(200, { 'content-type': contentType }).end(page);
      pages.set(path, typeof page === 'function' ? page : send);
      return url(path);
    },
    requests,
    connections: () => connections,
    waitForRequests: (count) => until(() => requests.length >= count),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface RoundRobinProxy {
  /** The endpoint that clients use. */
  readonly url: string;
  /** The replica, by its index, that answered each request. */
  readonly answeredBy: readonly number[];
  close(): void;
}

/**
 * A minimal load balancer: each request goes to the next replica. If that one cannot be reached, closes the connection
 * before it has answered, or returns 503, the request goes to the one after it. A response is passed on as it arrives.
 */
export async function startProxy(replicas: readonly string[]): Promise<RoundRobinProxy> {
  const answeredBy: number[] = [];
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    void buffer(incoming).then((body) => forward(incoming, outgoing, body, replicas.length));
  });

  const forward = (incoming: IncomingMessage, outgoing: ServerResponse, body: Buffer, attempts: number): void => {
    if (attempts === 0) {
      outgoing.writeHead(502).end();
      return;
    }
    const index = turn % replicas.length;
    turn += 1;
    const { method, headers } = incoming;
    const upstream = request(replicas[index] ?? '', { method, headers, agent: false });
    const tryNext = () => forward(incoming, outgoing, body, attempts - 1);
    upstream.once('error', tryNext);
    upstream.once('response', (response) => {
      upstream.off('error', tryNext).on('error', () => outgoing.destroy());
      if (response.statusCode === 503) {
        response.resume();
        tryNext();
        return;
      }
      answeredBy.push(index);
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      response.pipe(outgoing);
      response.once('error', () => outgoing.destroy());
    });
    outgoing.once('close', () => upstream.destroy());
    upstream.end(body);
  };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/mcp`, answeredBy, close };
}

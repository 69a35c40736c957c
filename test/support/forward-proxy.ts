import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface ForwardProxy {
  readonly url: string;
  /** `CONNECT host:port`, or `POST http://...`, in order. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

/**
 * An HTTP proxy that forwards absolute URLs and tunnels CONNECT. A host that ends in `.test` is this machine, at `testPort`.
 * A tunnel to port 443 is refused with 502.
 */
export async function startForwardProxy(testPort?: number): Promise<ForwardProxy> {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const upstreamOf = (authority: string) => {
    const { hostname, port } = new URL(`http://${authority}`);
    return hostname.endsWith('.test') ? { host: '127.0.0.1', port: testPort } : { host: hostname, port: Number(port) };
  };
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    const { pathname, host } = new URL(incoming.url ?? '');
    const { method, headers } = incoming;
    const upstream = httpRequest({ ...upstreamOf(host), path: pathname, method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  });
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (incoming, client: Socket, head) => {
    seen.push(`CONNECT ${incoming.url}`);
    if (incoming.url?.endsWith(':443')) return void client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    const { host, port = 0 } = upstreamOf(incoming.url ?? '');
    const upstream = connect(port, host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    sockets.add(upstream);
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

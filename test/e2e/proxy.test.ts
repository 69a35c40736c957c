import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { answerOf, serveWithApi } from './serve.ts';

test('HTTP_PROXY leads the calls through the proxy', async () => {
  const proxy = await startProxy();
  const { api, server } = await serveWithApi({ env: { HTTP_PROXY: proxy.url } });
  api.replyAlways(answers('By a detour.'));
  expect(answerOf(await server.callTool('answer', { query: 'q' })).answer).toBe('By a detour.');
  expect(proxy.targets).toEqual([new URL(api.url).host]);
  expect(server.stderr()).toBe('');
});

test('NO_PROXY bypasses the proxy', async () => {
  const proxy = await startProxy();
  const { api, server } = await serveWithApi({ env: { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' } });
  api.replyAlways(answers('Straight.'));
  expect(answerOf(await server.callTool('answer', { query: 'q' })).answer).toBe('Straight.');
  expect(proxy.targets).toEqual([]);
});

interface Proxy {
  readonly url: string;
  /** Where it was asked to connect. */
  readonly targets: readonly string[];
}

/** An HTTP proxy, by CONNECT or by absolute URL. */
async function startProxy(): Promise<Proxy> {
  const targets: string[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((incoming, response) => {
    targets.push(new URL(incoming.url ?? '').host);
    const { method, headers } = incoming;
    const upstream = httpRequest(
      incoming.url ?? '',
      { ...(method === undefined ? {} : { method }), headers },
      (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      },
    );
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  });
  server.on('connect', (incoming, client, head) => {
    targets.push(incoming.url ?? '');
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return { url: `http://127.0.0.1:${address.port}`, targets };
}

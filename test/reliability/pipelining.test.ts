import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';

const CONNECTIONS = 32;
const TOKEN = 'token-of-bob-0123456789';
const body = JSON.stringify(legacy('ping'));
const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

/** A connection that writes requests again and again, without waiting for responses. */
function flood(url: string, requests: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const write = () => {
    while (!socket.destroyed && socket.write(requests));
  };
  return socket
    .on('connect', write)
    .on('drain', write)
    .on('error', () => {})
    .resume();
}

test.for([
  ['a token', `${head}Content-Length: ${body.length}\r\n\r\n${body}`],
  ['an allowed host', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['either, to a probe', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a pause', `${head}Authorization: Bearer ${TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
] as const)('clients that send requests without %s are disconnected, and callers are served', async ([, request]) => {
  const { url } = await startHttpProcess({ env: { MCP_HTTP_TOKEN: TOKEN } });
  const requests = request.repeat(Math.ceil(65_536 / request.length));
  const sockets = Array.from({ length: CONNECTIONS }, () => flood(url, requests));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  const ping = () => send(url, { headers: { Authorization: `Bearer ${TOKEN}` }, body: legacy('ping') });
  expect((await ping()).status).toBe(200);
  await closed;
  expect((await ping()).status).toBe(200);
});

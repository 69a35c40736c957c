import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';

const CONNECTIONS = 32;
const TOKEN = 'token-of-bob-0123456789';
const body = JSON.stringify(legacy('ping'));
const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

const ping = (url: string) => send(url, { headers: { Authorization: `Bearer ${TOKEN}` }, body: legacy('ping') });

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
] as const)('clients that send requests without %s are disconnected, and callers are served', async ([, request]) => {
  const { url } = await startHttpProcess({ env: { MCP_HTTP_TOKEN: TOKEN } });
  const requests = request.repeat(Math.ceil(65_536 / request.length));
  const sockets = Array.from({ length: CONNECTIONS }, () => flood(url, requests));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  expect((await ping(url)).status).toBe(200);
  await closed;
  expect((await ping(url)).status).toBe(200);
});

test('a caller that sends requests without a pause is served, and does not keep others from it', async () => {
  const { url } = await startHttpProcess({ env: { MCP_HTTP_TOKEN: TOKEN } });
  const request = `${head}Authorization: Bearer ${TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const requests = request.repeat(Math.ceil(65_536 / request.length));
  const sockets = Array.from({ length: CONNECTIONS }, () => flood(url, requests));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'data')));
  expect((await ping(url)).status).toBe(200);
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual([]);
});

const manifest = readFileSync(new URL('../../deploy/kubernetes.yaml', import.meta.url), 'utf8');
const HEAP = /--max-old-space-size=\d+ --max-semi-space-size=\d+/.exec(manifest)?.[0] ?? '';

/** The program with the heap of the manifest; `ended` says how it has ended, or `none`. */
async function startWithHeap() {
  expect(HEAP).not.toBe('');
  const { url, exited } = await startHttpProcess({ env: { MCP_HTTP_TOKEN: TOKEN, NODE_OPTIONS: HEAP } });
  let exit: unknown = 'none';
  void exited.then((status) => {
    exit = status;
  });
  return { url, ended: () => exit };
}

test('bodies of a caller in millions of parts do not fill the heap of the manifest', { timeout: 120_000 }, async () => {
  const { url, ended } = await startWithHeap();
  const parts = Buffer.from(`${'1\r\na\r\n'.repeat(130_000)}0\r\n\r\n`);
  const uploads = Array.from({ length: 20 }, async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
    onTestFinished(() => void socket.destroy());
    socket.write(`${head}Authorization: Bearer ${TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n`);
    socket.write(parts);
    return String(await once(socket, 'data')).slice(0, 12);
  });
  expect(new Set(await Promise.all(uploads))).toEqual(new Set(['HTTP/1.1 400']));
  expect((await ping(url)).status).toBe(200);
  expect(ended()).toBe('none');
});

test.for([
  ['a probe', 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a refusal', `${head}Content-Length: ${body.length}\r\n\r\n${body}`],
] as const)(
  '1,000 connections of strangers with 255 KB of requests for %s do not fill the heap of the manifest',
  { timeout: 120_000 },
  async ([, request]) => {
    const { url, ended } = await startWithHeap();
    const requests = request.repeat(Math.ceil((255 * 1024) / request.length));
    const closed = Array.from({ length: 999 }, () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(requests));
      socket.resume().on('error', () => {});
      return new Promise((resolve) => socket.once('close', resolve));
    });
    await Promise.race(closed);
    const pinged = ping(url).then(({ status }) => status, String);
    await Promise.all(closed);
    expect(ended()).toBe('none');
    expect(await pinged).toBe(200);
  },
);

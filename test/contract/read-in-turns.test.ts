import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { readInTurns } from '../../src/adapters/outbound/network/read-in-turns.ts';
import { countTurns } from '../support/count-turns.ts';
import { serveHttpRequests } from '../support/servers/remote-servers.ts';

const PARTS = 20_000;
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n';
/** Parts of one byte each. */
const TINY = `\r\n${'1\r\nx\r\n'.repeat(PARTS)}0\r\n\r\n`;

type Answer = (socket: Socket, response: ServerResponse) => void;
const writes =
  (response: string): Answer =>
  (socket) =>
    socket.write(response);

/** Requests to servers that answer with bytes. `partsOfTurns`: how many parts were read in each turn. */
function start() {
  const { countItem, stop } = countTurns();
  const count: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (...more) => handler.onRequestStart?.(...more),
      onResponseStart: (...more) => handler.onResponseStart?.(...more),
      onResponseData(...more) {
        countItem();
        handler.onResponseData?.(...more);
      },
      onResponseEnd: (...more) => handler.onResponseEnd?.(...more),
      onResponseError: (...more) => handler.onResponseError?.(...more),
    });
  const { connector, interceptor } = readInTurns();
  const agent = new Agent({ connect: connector(buildConnector({})) });
  onTestFinished(async () => {
    stop();
    await agent.destroy();
  });
  const dispatcher = agent.compose(interceptor, count);
  const serverOf = async (answer: Answer) => {
    const sockets = new Set<unknown>();
    const { origin } = await serveHttpRequests((_, response) => {
      const { socket } = response;
      sockets.add(socket);
      if (socket !== null) answer(socket, response);
    });
    const request = (options: object = {}) => dispatcher.request({ origin, path: '/', method: 'GET', ...options });
    return { request, read: async () => text((await request()).body), sockets };
  };
  return { serverOf, partsOfTurns: stop };
}

test('bodies in tiny parts are complete, and share the turns', async () => {
  const { serverOf, partsOfTurns } = start();
  const { read } = await serverOf(writes(CHUNKED + TINY));
  const texts = await Promise.all(Array.from({ length: 8 }, read));
  expect(texts.map(({ length }) => length)).toEqual(texts.map(() => PARTS));
  // The first read of a connection has 4 KiB: what it contains is not known yet.
  expect(Math.max(...partsOfTurns())).toBeLessThan(2000);
});

test('large parts are read at once', async () => {
  const { serverOf, partsOfTurns } = start();
  const { read } = await serverOf(writes(`HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n${'x'.repeat(5_000_000)}`));
  expect((await read()).length).toBe(5_000_000);
  const parts = partsOfTurns().reduce((sum, count) => sum + count, 0);
  expect(5_000_000 / parts).toBeGreaterThan(8 * 1024);
});

test('a reader that pauses gets the rest when it continues', async () => {
  const { serverOf } = start();
  const { request } = await serverOf(writes(CHUNKED + TINY));
  const { body } = await request({ highWaterMark: 16 });
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length % 5000 === 0) await new Promise(setImmediate);
  }
  expect(length).toBe(PARTS);
});

test.each([
  ['is reset', (socket: Socket) => socket.resetAndDestroy()],
  ['ends', (socket: Socket) => socket.end()],
])('a body in tiny parts whose connection %s fails, or is complete', async (_, end) => {
  const { serverOf } = start();
  for (const head of [CHUNKED, `${CHUNKED}Connection: close\r\n`]) {
    const { read } = await serverOf((socket) => socket.write(head + TINY, () => end(socket)));
    const lengthOrFailure = () =>
      read().then(
        ({ length }) => length,
        (error: unknown) => error instanceof Error && 'failed',
      );
    const outcomes = await Promise.all(Array.from({ length: 8 }, lengthOrFailure));
    for (const outcome of outcomes) expect([PARTS, 'failed']).toContain(outcome);
  }
});

test('a reader that has paused when its connection is reset gets the end, and the process lives', async () => {
  const { serverOf } = start();
  let reset = () => {};
  const head = 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n';
  const { request } = await serverOf((socket) => {
    socket.write(head + 'x'.repeat(70_000));
    reset = () => void socket.resetAndDestroy();
  });
  const { body } = await request({ highWaterMark: 16 });
  const closed = once(
    body.on('error', () => {}),
    'close',
  );
  // The client has read what it wants.
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  reset();
  await new Promise(setImmediate);
  body.resume();
  await closed;
});

test.each([
  ['is closed', 'Connection: close\r\n'],
  ['could be used again', ''],
])('beside tiny parts, a response is complete whose connection %s and ends at once', async (_, header) => {
  const { serverOf } = start();
  const noisy = await serverOf(writes(CHUNKED + TINY));
  const quiet = await serverOf((socket) => socket.end(`HTTP/1.1 200 OK\r\n${header}Content-Length: 2\r\n\r\n{}`));
  const noise = Promise.all(Array.from({ length: 4 }, noisy.read));
  for (let times = 0; times < 20; times += 1) expect(await quiet.read()).toBe('{}');
  await noise;
});

test('a connection is used again after its reader has paused, and after an interim response', async () => {
  const { serverOf } = start();
  const { read, sockets } = await serverOf((_, response) => {
    response.writeProcessing();
    response.write('a'.repeat(100_000));
    response.end('b');
  });
  for (let times = 0; times < 5; times += 1) expect((await read()).length).toBe(100_001);
  expect(sockets.size).toBeLessThanOrEqual(2);
});

test('a request that is aborted keeps no other', async () => {
  const { serverOf } = start();
  const { request, read } = await serverOf(writes(CHUNKED + TINY));
  const leaving = new AbortController();
  const { body } = await request({ signal: leaving.signal });
  const left = text(body);
  leaving.abort();
  await expect(left).rejects.toThrow(/abort/);
  expect((await read()).length).toBe(PARTS);
});

import { text } from 'node:stream/consumers';
import { Agent, type Dispatcher } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { partsInTurns } from '../../src/adapters/outbound/network/parts-in-turns.ts';
import { countTurns } from '../support/count-turns.ts';
import { serveHttpRequests } from '../support/servers/remote-servers.ts';

const PARTS = 5000;
const LENGTH = PARTS + 2;

/** A server whose responses arrive at once, in parts of one byte. */
async function start() {
  const head = 'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n';
  const { origin } = await serveHttpRequests((_, response) => {
    response.socket?.write(`${head}${'1\r\nx\r\n'.repeat(PARTS)}0\r\n\r\n`);
  });
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
  const agent = new Agent();
  onTestFinished(async () => {
    stop();
    await agent.destroy();
  });
  const dispatcher = agent.compose(partsInTurns(), count);
  const request = (options: object = {}) => dispatcher.request({ origin, path: '/', method: 'GET', ...options });
  return { request, mostOfTurn: () => Math.max(...stop()) };
}

test('a body in tiny parts is complete, and read in many turns', async () => {
  const { request, mostOfTurn } = await start();
  const { body } = await request();
  expect((await text(body)).length).toBe(LENGTH);
  expect(mostOfTurn()).toBeLessThanOrEqual(250);
});

test('several bodies share the turns', async () => {
  const { request, mostOfTurn } = await start();
  const bodies = await Promise.all(Array.from({ length: 8 }, async () => (await request()).body));
  const texts = await Promise.all(bodies.map(text));
  expect(texts.map(({ length }) => length)).toEqual(texts.map(() => LENGTH));
  expect(mostOfTurn()).toBeLessThanOrEqual(250 + bodies.length);
});

test('a reader that pauses gets the rest when it continues', async () => {
  const { request } = await start();
  const { body } = await request({ highWaterMark: 16 });
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length % 500 === 0) await new Promise(setImmediate);
  }
  expect(length).toBe(LENGTH);
});

test('a request that is aborted while it waits for its turn keeps no other', async () => {
  const { request } = await start();
  const leaving = new AbortController();
  const { body } = await request({ signal: leaving.signal });
  const left = text(body);
  leaving.abort();
  await expect(left).rejects.toThrow(/abort/);
  expect((await text((await request()).body)).length).toBe(LENGTH);
});

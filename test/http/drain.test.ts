import { once } from 'node:events';
import { connect } from 'node:net';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeLlmSearch, hangs, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { legacy, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const CALL = legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } });

test('reports that it is alive and ready', async () => {
  const { at } = await serveHttp();
  expect(await send(at('/healthz'), { method: 'GET', headers: { Host: '10.0.0.1:80' } })).toMatchObject({
    status: 200,
  });
  expect((await send(at('/readyz'), { method: 'GET' })).text).toBe('{"ok":true}');
});

test('reports that it is alive but not ready without a key', async () => {
  const { at } = await serveHttp({ http: { canAnswer: false } });
  expect((await send(at('/healthz'), { method: 'GET' })).status).toBe(200);
  expect(await send(at('/readyz'), { method: 'GET' })).toMatchObject({
    status: 503,
    text: '{"ok":false,"why":"no key"}',
  });
});

test('while it drains it is not ready and accepts no calls, and calls in flight are answered', async () => {
  const search = repliesLate();
  const clock = new FakeClock();
  const { server, begin, post, at } = await serveHttp({ clock, llmSearch: new FakeLlmSearch(search.configured) });
  const call = begin(CALL);
  await call.until('progress');
  const drained = server.drain();

  expect(await send(at('/readyz'), { method: 'GET' })).toMatchObject({
    status: 503,
    text: '{"ok":false,"why":"draining"}',
  });
  expect((await send(at('/healthz'), { method: 'GET' })).status).toBe(200);
  const refused = await post(CALL);
  expect(refused.status).toBe(503);
  expect(refused.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });

  search.settle(ok(searchReply()));
  expect((await call.reply).events.at(-1)?.result).toBeDefined();
  await clock.advance(100);
  await drained;
  await expect(post(CALL)).rejects.toThrow('ECONNREFUSED');
});

test('ends soon if nothing is in flight', async () => {
  const clock = new FakeClock();
  const { server } = await serveHttp({ clock });
  const drained = server.drain();
  await clock.advance(100);
  await drained;
});

test('a request that had arrived when the drain began gets a response, on a connection that was idle', async () => {
  const clock = new FakeClock();
  const { url, server } = await serveHttp({ clock });
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  const body = JSON.stringify(legacy('ping'));
  const ping = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  socket.write(ping);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 200 /);
  const answered = once(socket, 'data');
  socket.write(ping);
  const drained = server.drain();
  expect(String(await answered)).toMatch(/^HTTP\/1.1 503 /);
  await clock.advance(100);
  await drained;
});

test('a request that arrived while the process was busy for the whole wait gets a response', async () => {
  const { url, server } = await serveHttp({ clock: new SystemClock() });
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  await once(socket, 'connect');
  const body = JSON.stringify(legacy('ping'));
  const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const drained = server.drain();
  const answered = once(socket, 'data');
  setImmediate(() => {
    socket.write(`${head}\r\n\r\n${body}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  });
  expect(String(await answered)).toMatch(/^HTTP\/1.1 503 /);
  await drained;
});

test('aborts what is not answered when the time is over', async () => {
  const clock = new FakeClock();
  const llmSearch = new FakeLlmSearch(hangs);
  const { server, begin, accessLines } = await serveHttp({ clock, llmSearch, http: { drainMs: 25_000 } });
  const call = begin(CALL);
  await call.until('progress');
  let isDrained = false;
  const drained = server.drain().then(() => {
    isDrained = true;
  });
  await clock.advance(24_999);
  expect(isDrained).toBe(false);
  await clock.advance(1);
  await drained;
  await expect(call.reply).rejects.toThrow();
  expect(llmSearch.signals[0]?.aborted).toBe(true);
  expect(accessLines.at(-1)).toMatchObject({ method: 'tools/call', outcome: 'cancelled' });
});

test('ends at once when it is asked a second time', async () => {
  const llmSearch = new FakeLlmSearch(hangs);
  const { server, begin } = await serveHttp({ llmSearch });
  const call = begin(CALL);
  await call.until('progress');
  const drained = server.drain();
  await server.close();
  await drained;
  expect(llmSearch.signals[0]?.aborted).toBe(true);
});

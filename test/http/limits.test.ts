import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { ok } from 'neverthrow';
import { describe, expect, test, vi } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeLlmSearch, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { legacy, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const [ALICE, BOB] = TOKENS.map(({ token }) => ({ Authorization: `Bearer ${token}` }));

test('limits the calls in flight of a token, independently of other tokens', async () => {
  const [first, second] = [repliesLate(), repliesLate()];
  const llmSearch = new FakeLlmSearch(first.configured, second.configured, async () => ok(searchReply()));
  const { begin, post } = await serveHttp({ llmSearch, http: { tokens: TOKENS, maxCallsPerToken: 1 } });
  const call = (id: string) =>
    legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: id } }, id);

  const alice = begin(call('a1'), ALICE);
  const bob = begin(call('b1'), BOB);
  await Promise.all([alice.until('progress'), bob.until('progress')]);

  const refused = await post(call('a2'), ALICE);
  expect(refused.status).toBe(429);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.message).toMatchObject({ id: 'a2', error: { code: -32600 } });
  expect((await post(legacy('tools/list'), ALICE)).status).toBe(200);

  first.settle(ok(searchReply()));
  second.settle(ok(searchReply()));
  await Promise.all([alice.reply, bob.reply]);
  expect((await post(call('a3'), ALICE)).status).toBe(200);
});

describe('the bodies in progress of a caller', () => {
  const http = { tokens: TOKENS, maxBodyBytes: 4 * 1024 * 1024 };
  const large = (bytes: number) =>
    legacy('tools/call', {
      name: 'answer',
      arguments: { query: 'q', more: 'x'.repeat(bytes) },
      _meta: { progressToken: 1 },
    });

  test('are limited, independently of other callers', async () => {
    const search = repliesLate();
    const llmSearch = new FakeLlmSearch(search.configured, async () => ok(searchReply()));
    const { begin, post, untilLogged } = await serveHttp({ llmSearch, http });
    const first = begin(large(3 * 1024 * 1024), ALICE);
    await first.until('progress');
    const refused = await post(large(2 * 1024 * 1024), ALICE);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(refused.message.error?.message).toBe(
      'Too many bytes of requests in progress. Try again when one has finished.',
    );
    expect((await post(large(2 * 1024 * 1024), BOB)).status).toBe(200);
    search.settle(ok(searchReply()));
    await first.reply;
    await untilLogged(3);
    expect((await post(large(2 * 1024 * 1024), ALICE)).status).toBe(200);
  });

  test('count while they arrive, also without a length', async () => {
    const { url, post, untilLogged } = await serveHttp({ http });
    const upload = request(url, { method: 'POST', headers: { ...ALICE, 'Content-Type': 'application/json' } });
    upload.on('error', () => {});
    await new Promise((resolve) => upload.write('x'.repeat(3 * 1024 * 1024), resolve));
    await vi.waitFor(async () => expect((await post(large(2 * 1024 * 1024), ALICE)).status).toBe(429));
    upload.destroy();
    await untilLogged(2);
    await vi.waitFor(async () => expect((await post(large(2 * 1024 * 1024), ALICE)).status).toBe(200));
  });
});

test('a call frees its place when its client leaves', async () => {
  const search = repliesLate();
  const llmSearch = new FakeLlmSearch(search.configured, async () => ok(searchReply()));
  const { begin, post, untilLogged } = await serveHttp({ llmSearch, http: { maxCallsPerToken: 1 } });
  const call = legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } });
  const left = begin(call);
  await left.until('progress');
  left.leave();
  search.settle(ok(searchReply()));
  await untilLogged(1);
  expect((await post(call)).status).toBe(200);
});

test('limits the number of connections', async () => {
  const { url } = await serveHttp({ clock: new FakeClock(), http: { maxConnections: 1 } });
  const { port } = new URL(url);
  const first = connect(Number(port), '127.0.0.1');
  await new Promise<void>((resolve) => first.once('connect', () => resolve()));
  await expect(send(url, { body: legacy('ping') })).rejects.toThrow();
  first.destroy();
});

const HEAD = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

test.for([
  ['headers', HEAD],
  ['a body', `${HEAD}Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{`],
  ['the rest of a body that is too large', `${HEAD}Content-Length: 99999999\r\n\r\n{`],
] as const)('a client that never ends %s loses its connection', async ([, bytes]) => {
  const timeouts = { headersMs: 100, requestMs: 200, checkEveryMs: 20 };
  const { url, accessLines } = await serveHttp({ http: { timeouts } });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const closed = once(socket, 'close');
  socket.resume().on('error', () => {});
  socket.write(bytes);
  await closed;
  expect(accessLines.filter(({ status }) => Number(status) < 400)).toEqual([]);
});

test('a client that waits for its answer is not disconnected', async () => {
  const search = repliesLate();
  const timeouts = { headersMs: 10, requestMs: 20, checkEveryMs: 5 };
  const { begin } = await serveHttp({ llmSearch: new FakeLlmSearch(search.configured), http: { timeouts } });
  const call = begin(legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } }));
  await call.until('progress');
  await wait(60);
  search.settle(ok(searchReply()));
  expect((await call.reply).status).toBe(200);
});

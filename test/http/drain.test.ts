import { once } from 'node:events';
import { connect } from 'node:net';
import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeLlmSearch, hangs, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { begin, type Exchange, legacy, modern, send } from '../support/http-client.ts';
import { type ServeHttpOptions, serveHttp } from './serve-http.ts';

type Served = Awaited<ReturnType<typeof serveHttp>>;

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

// S28
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

const AGAIN = 'The server is shutting down; ask again.';
const IS_ERROR = { isError: true, content: [{ type: 'text', text: `answer failed: ${AGAIN}` }] };
const MODERN_CALL = modern('tools/call', { name: 'answer', arguments: { query: 'q' } }, { progressToken: 1 });

describe('what is not answered when the time is over', () => {
  /** The call, and the reply that its client gets. */
  async function cut(
    options: ServeHttpOptions,
    start: (served: Served) => Exchange,
    isPending: (call: Exchange, llmSearch: FakeLlmSearch) => Promise<unknown>,
  ) {
    const clock = new FakeClock();
    const llmSearch = new FakeLlmSearch(hangs);
    const served = await serveHttp({ clock, llmSearch, ...options });
    const call = start(served);
    await isPending(call, llmSearch);
    let isDrained = false;
    const drained = served.server.drain().then(() => {
      isDrained = true;
    });
    await clock.advance(24_999);
    expect(isDrained).toBe(false);
    await clock.advance(1);
    const reply = await call.reply;
    await drained;
    expect(llmSearch.signals.every(({ aborted }) => aborted)).toBe(true);
    return { reply, line: served.accessLines.at(-1) };
  }
  const untilProgress = (call: Exchange) => call.until('progress');
  const untilAsked = (_: Exchange, { requests }: FakeLlmSearch) => expect.poll(() => requests).toHaveLength(1);

  test.for([
    ['an error', CALL, 'protocol', { error: { code: -32001, message: 'answer failed', data: { message: AGAIN } } }],
    ['a result, if that is configured', CALL, 'result', { result: IS_ERROR }],
    ['a result in the modern era', MODERN_CALL, 'protocol', { result: { resultType: 'complete', ...IS_ERROR } }],
  ] as const)('gets %s as the last event of its stream', async ([, message, toolErrors, expected]) => {
    const { reply, line } = await cut({ toolErrors }, ({ begin }) => begin(message), untilProgress);
    expect(reply.status).toBe(200);
    expect(reply.events.at(-1)).toMatchObject(expected);
    expect(line).toMatchObject({ method: 'tools/call', tool: 'answer', status: 200, outcome: 'shutting_down' });
  });

  test('gets 503 if there was no response yet', async () => {
    const { reply, line } = await cut(
      { toolErrors: 'result' },
      ({ begin }) => begin(CALL, { Accept: 'application/json' }),
      untilAsked,
    );
    expect(reply.status).toBe(503);
    expect(reply.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
    expect(reply.message).toMatchObject({ id: 1, error: { code: -32600 } });
    expect(line).toMatchObject({ tool: 'answer', status: 503, outcome: 'shutting_down' });
  });

  test('gets 503 SHUTTING_DOWN over REST', async () => {
    const { reply, line } = await cut(
      {},
      ({ at }) => begin(at('/mcp/tools/openai-responses-mcp/answer'), { body: { query: 'q' } }),
      untilAsked,
    );
    expect(reply.status).toBe(503);
    expect(reply.message.error).toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(line).toMatchObject({ status: 503, outcome: 'shutting_down' });
  });
});

test('a client that does not read its last event does not keep the process', async () => {
  const clock = new FakeClock();
  const { server, begin } = await serveHttp({ clock, llmSearch: new FakeLlmSearch(hangs), http: { drainMs: 1 } });
  const call = begin(CALL);
  await call.until('progress');
  call.reply.catch(() => {});
  const drained = server.drain();
  await clock.advance(1);
  await clock.advance(500);
  await drained;
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

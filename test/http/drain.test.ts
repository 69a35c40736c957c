import { once } from 'node:events';
import { connect } from 'node:net';
import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { LongAnswers } from '../../src/application/answers/long-answers.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeHandleSigner } from '../support/fake-handle-signer.ts';
import { FakeLlmSearch, hangs, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { FakeLongApi } from '../support/fake-long-api.ts';
import { FakeTokenVerifier } from '../support/fake-token-verifier.ts';
import { begin, type Exchange, legacy, modern, send } from '../support/http-client.ts';
import { until } from '../support/until.ts';
import { type ServeHttpOptions, serveHttp } from './serve-http.ts';

type Served = Awaited<ReturnType<typeof serveHttp>>;

const CALL = legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } });
const JSON_ONLY = { Accept: 'application/json' };
const ANSWER_PATH = '/mcp/tools/openai-responses-mcp/answer';

test.each([
  [true, 200, '{"ok":true}'],
  [false, 503, '{"ok":false,"why":"no key"}'],
])('reports that it is alive, and ready if it has a key: %s', async (canAnswer, status, text) => {
  const { at } = await serveHttp({ http: { canAnswer } });
  expect((await send(at('/healthz'), { method: 'GET', headers: { Host: '10.0.0.1:80' } })).status).toBe(200);
  expect(await send(at('/readyz'), { method: 'GET' })).toMatchObject({ status, text });
});

test('is not ready until the keys of the issuer were read and the store of quotas was reached, and says which is missing', async () => {
  const verifier = new FakeTokenVerifier({}, false);
  const oauth = { issuer: 'https://auth.example.com', resource: 'https://mcp.example.com/mcp', scopes: [], verifier };
  const quota = { isReady: false, admit: () => Promise.reject(new Error('not called')) };
  const { at } = await serveHttp({ http: { oauth, quota } });
  const ready = async () => {
    const { status, text } = await send(at('/readyz'), { method: 'GET' });
    return [status, text];
  };
  expect(await ready()).toEqual([503, '{"ok":false,"why":"issuer keys not read"}']);
  verifier.isReady = true;
  expect(await ready()).toEqual([503, '{"ok":false,"why":"quota store not reached"}']);
  quota.isReady = true;
  expect(await ready()).toEqual([200, '{"ok":true}']);
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
  const rest = await send(at(ANSWER_PATH), { body: { query: 'q' } });
  expect(rest.message.error).toMatchObject({
    code: 'SHUTTING_DOWN',
    message: 'The gateway is shutting down. Try again later.',
  });
  for (const refused of [await post(CALL), rest]) {
    expect(refused.status).toBe(503);
    expect(refused.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
  }

  search.settle(ok(searchReply()));
  expect((await call.reply).events.at(-1)?.result).toBeDefined();
  await clock.advance(100);
  await drained;
  await expect(post(CALL)).rejects.toThrow('ECONNREFUSED');
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
  // It has arrived within the first 100 ms.
  await clock.advance(100);
  await clock.advance(100);
  await drained;
});

// S28
test('goes on to refuse calls while they arrive, for at most 3 s, because a balancer that does not know of the drain would lose them', async () => {
  const clock = new FakeClock();
  const { server, post } = await serveHttp({ clock });
  let isDrained = false;
  const drained = server.drain().then(() => {
    isDrained = true;
  });
  for (let tenth = 1; tenth <= 30; tenth += 1) {
    expect([(await post(CALL)).status, isDrained]).toEqual([503, false]);
    await clock.advance(100);
  }
  await drained;
  await expect(post(CALL)).rejects.toThrow('ECONNREFUSED');
});

const AGAIN = 'The server is shutting down; ask again.';
const IS_ERROR = { isError: true, content: [{ type: 'text', text: `answer failed: ${AGAIN}` }] };
const MODERN_CALL = modern('tools/call', { name: 'answer', arguments: { query: 'q' } }, { progressToken: 1 });

describe('what is not answered when the time is over', () => {
  /** The reply that a call gets, and its line in the access log. */
  async function cut(start: (served: Served) => Exchange, options: ServeHttpOptions = {}) {
    const clock = new FakeClock();
    const llmSearch = new FakeLlmSearch(hangs);
    const served = await serveHttp({ clock, llmSearch, ...options });
    const call = start(served);
    await until(() => llmSearch.requests.length === 1);
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

  test.for([
    ['an error', CALL, 'protocol', { error: { code: -32001, message: 'answer failed', data: { message: AGAIN } } }],
    ['a result, if that is configured', CALL, 'result', { result: IS_ERROR }],
    ['a result in the modern era', MODERN_CALL, 'protocol', { result: { resultType: 'complete', ...IS_ERROR } }],
  ] as const)('gets %s as the last event of its stream', async ([, message, toolErrors, expected]) => {
    const { reply, line } = await cut(({ begin }) => begin(message), { toolErrors });
    expect(reply.status).toBe(200);
    expect(reply.events.at(-1)).toMatchObject(expected);
    expect(line).toMatchObject({ method: 'tools/call', tool: 'answer', status: 200, outcome: 'shutting_down' });
  });

  test.for<[string, (served: Served) => Exchange, string | number]>([
    ['MCP', ({ begin }) => begin(CALL, JSON_ONLY), -32600],
    ['REST', ({ at }) => begin(at(ANSWER_PATH), { body: { query: 'q' } }), 'CALL_INTERRUPTED'],
  ])(
    'gets 502 over %s if there was no response yet, and no advice to repeat a call that may have had effects',
    async ([, start, code]) => {
      const { reply, line } = await cut(start);
      expect(reply.status).toBe(502);
      expect(reply.headers).toMatchObject({ connection: 'close' });
      expect(reply.headers).not.toHaveProperty('retry-after');
      const message =
        'The server is shutting down, and the call was ended. It may have had effects: check that before you repeat it.';
      expect(reply.message.error).toMatchObject({ code, message });
      expect(line).toMatchObject({ tool: 'answer', status: 502, outcome: 'shutting_down' });
    },
  );

  test('gets a handle if its response is known, and its search continues; a call without a handle fails', async () => {
    const api = new FakeLongApi();
    const { clock } = api;
    const llmSearch = new FakeLlmSearch(hangs);
    const keepMs = 3_600_000;
    const config = { longAnswers: { tools: ['answer_detailed' as const], keepMs } };
    const long = new LongAnswers({ llmSearch: api, responses: api, signer: new FakeHandleSigner(), clock, keepMs });
    const http = { endWaits: () => long.endWaits() };
    const { begin, server, accessLines } = await serveHttp({ clock, llmSearch, long, config, http });
    const [short, detailed] = ['answer', 'answer_detailed'].map((name) =>
      begin(legacy('tools/call', { name, arguments: { query: `What does ${name} do?` } }), JSON_ONLY),
    );
    await until(() => api.posts.length + llmSearch.requests.length === 2);
    const drained = server.drain();
    await clock.advance(25_000);
    const reply = await detailed?.reply;
    expect(reply?.status).toBe(200);
    expect(reply?.message.result?._meta).toMatchObject({
      'io.github.uchimanajet7.openai-responses-mcp/report': { state: 'unfinished', handle: expect.any(String) },
    });
    await clock.advance(500);
    expect((await short?.reply)?.status).toBe(502);
    await drained;
    expect(accessLines).toMatchObject([
      { status: 200, outcome: 'unfinished' },
      { status: 502, outcome: 'shutting_down' },
    ]);
    expect(api.cancels).toEqual([]);
  });
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

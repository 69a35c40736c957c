import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { ok } from 'neverthrow';
import { describe, expect, test, vi } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeLlmSearch, hangs, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { legacy, modern, modernHeaders, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const [ALICE, BOB] = TOKENS.map(({ token }) => ({ Authorization: `Bearer ${token}` }));

const TIMEOUTS = { headersMs: 10_000, requestMs: 10_000, unreadMs: 60_000, checkEveryMs: 20 };

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
    const llmSearch = new FakeLlmSearch(hangs);
    const { url, begin } = await serveHttp({ llmSearch, http });
    await begin(large(3 * 1024 * 1024), ALICE).until('progress');
    const upload = request(url, { method: 'POST', headers: { ...ALICE, 'Content-Type': 'application/json' } });
    upload.on('error', () => {}).write('x'.repeat(2 * 1024 * 1024));
    const [response] = (await once(upload, 'response')) as [{ readonly statusCode: number }];
    expect(response.statusCode).toBe(429);
    upload.destroy();
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
  const timeouts = { ...TIMEOUTS, headersMs: 100, requestMs: 200 };
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
  const timeouts = { headersMs: 10, requestMs: 20, unreadMs: 20, checkEveryMs: 5 };
  const { begin } = await serveHttp({ llmSearch: new FakeLlmSearch(search.configured), http: { timeouts } });
  const call = begin(legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } }));
  await call.until('progress');
  await wait(60);
  search.settle(ok(searchReply()));
  expect((await call.reply).status).toBe(200);
});

describe('a connection', () => {
  const PING = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n`;
  const pings = (count: number, headers = '') =>
    `${PING}${headers}\r\n{"jsonrpc":"2.0","id":1,"method":"ping"}`.repeat(count);

  /** What arrives on a connection that sends these bytes, until it ends. */
  async function received(url: string, bytes: string, isOver: (text: string) => boolean): Promise<string> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
    let text = '';
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        text += chunk;
        if (isOver(text)) socket.destroy();
      });
    socket.write(bytes);
    await once(socket, 'close');
    return text;
  }
  const answersIn = (text: string) => text.match(/HTTP\/1.1 \d+/g) ?? [];

  test('may send any number of requests at once', async () => {
    const { url } = await serveHttp();
    const text = await received(url, pings(1000), (text) => answersIn(text).length === 1000);
    expect(new Set(answersIn(text))).toEqual(new Set(['HTTP/1.1 200']));
  });

  test('gets its turn while others send many requests at once', async () => {
    const { url, accessLines } = await serveHttp();
    const [connections, requests] = [32, 200];
    const burst = Promise.all(
      Array.from({ length: connections }, () =>
        received(url, pings(requests), (text) => answersIn(text).length === requests),
      ),
    );
    let [served, most] = [0, 0];
    while (served < connections * requests) {
      await nextTurn();
      most = Math.max(most, accessLines.length - served);
      served = accessLines.length;
    }
    await burst;
    expect(most).toBeLessThan(600);
  });

  test('may have 100 requests that wait for a response, and is closed at the next', async () => {
    const llmSearch = new FakeLlmSearch(...Array.from({ length: 101 }, () => hangs));
    const { url } = await serveHttp({ llmSearch, http: { maxCallsPerToken: 200 } });
    const calls = (count: number) =>
      Array.from({ length: count }, (_, id) => {
        const body = JSON.stringify(legacy('tools/call', { name: 'answer', arguments: { query: `q ${id}` } }, id));
        return `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
      }).join('');
    const socket = connect(Number(new URL(url).port), '127.0.0.1').resume();
    const closed = once(
      socket.on('error', () => {}),
      'close',
    );
    socket.write(calls(100));
    await vi.waitFor(() => expect(llmSearch.requests).toHaveLength(100), { timeout: 10_000 });
    expect(socket.destroyed).toBe(false);
    socket.write(calls(1));
    await closed;
    expect(llmSearch.requests).toHaveLength(100);
  });

  test.for([
    ['a missing token', 'HTTP/1.1 401', { tokens: TOKENS }, ''],
    ['a foreign page', 'HTTP/1.1 403', {}, 'Origin: https://evil.example\r\n'],
  ] as const)('ends with the refusal of %s, whatever else it sent', async ([, status, http, header]) => {
    const { url, untilLogged, accessLines } = await serveHttp({ http });
    const text = await received(url, pings(100, header), () => false);
    expect(answersIn(text)).toEqual([status]);
    expect(text).toContain('Connection: close');
    await untilLogged(1);
    expect(accessLines).toHaveLength(1);
  });

  test.each(['/healthz', '/readyz'])('ends with the response to %s', async (path) => {
    const { url } = await serveHttp();
    const text = await received(url, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(100), () => false);
    expect(answersIn(text)).toEqual(['HTTP/1.1 200']);
  });

  test('ends with the response to a request with an unknown expectation', async () => {
    const { url } = await serveHttp({ http: { tokens: TOKENS } });
    const text = await received(url, `${HEAD}Expect: x\r\nContent-Length: 0\r\n\r\n`.repeat(100), () => false);
    expect(answersIn(text)).toEqual(['HTTP/1.1 401']);
  });

  test('stays open after a request with a token, and on loopback without tokens', async () => {
    for (const [tokens, header] of [
      [TOKENS, `Authorization: ${ALICE?.Authorization}\r\n`] as const,
      [[], ''] as const,
    ]) {
      const { url } = await serveHttp({ http: { tokens } });
      const text = await received(url, pings(2, header), (text) => answersIn(text).length === 2);
      expect(text).toContain('Connection: keep-alive');
    }
  });
});

test('a stranger gets the refusal of a request whose body is on its way', async () => {
  const { url } = await serveHttp({ http: { tokens: TOKENS } });
  const upload = request(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Length': 100_000 },
  });
  upload.write('x'.repeat(50_000));
  const answered = once(upload, 'response');
  await wait(20);
  upload.end('x'.repeat(50_000));
  const [response] = (await answered) as [{ readonly statusCode: number }];
  expect(response.statusCode).toBe(401);
});

test('a stranger cannot keep sending a body', async () => {
  const clock = new FakeClock();
  const { url } = await serveHttp({ clock, http: { tokens: TOKENS } });
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  socket.write(`${HEAD}Content-Length: 100000\r\n\r\n{`);
  await vi.waitFor(() => expect(clock.pendingSleeps).toBe(1));
  const answered = once(socket, 'data');
  await clock.advance(1000);
  expect(String(await answered)).toMatch(/^HTTP\/1.1 401 /);
  await once(socket, 'close');
});

test('a stranger cannot send a body in thousands of parts', async () => {
  const { url } = await serveHttp({ clock: new FakeClock(), http: { tokens: TOKENS } });
  const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1');
  const answered = once(socket, 'data');
  socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(1000)}`);
  expect(String(await answered)).toMatch(/^HTTP\/1.1 401 /);
  socket.destroy();
});

describe('a response that nobody reads', () => {
  const http = {
    timeouts: { ...TIMEOUTS, unreadMs: 150 },
    tools: {
      list: () => [{ name: 'x'.repeat(50_000_000), inputSchema: {} }],
      unknownTool: () => '',
      call: async () => ({ result: { text: 'x'.repeat(50_000_000) } }),
    },
  };

  const CALL_BYTES = JSON.stringify(legacy('tools/call', { name: 'answer', arguments: { query: 'q' } }));
  /** A client that sends a request, and reads nothing of the response. */
  function unread(url: string, head: string, body = ''): Socket {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
    socket.pause().write(`${head} HTTP/1.1\r\nHost: localhost\r\n${length}\r\n${body}`);
    return socket;
  }
  const status = async (reply: Promise<{ readonly status: number }>) => (await reply).status;
  const timeouts = TIMEOUTS;
  const WAIT = { timeout: 15_000 };

  test('keeps the place of its call, and frees it with its connection', async () => {
    const { url, at, post } = await serveHttp({ http: { ...http, timeouts, maxCallsPerToken: 1 } });
    const client = unread(url, 'POST /mcp', CALL_BYTES);
    const call = () => status(post(legacy('tools/call', { name: 'answer', arguments: { query: 'q' } })));
    await vi.waitFor(async () => expect(await call()).toBe(429), WAIT);
    const list = await send(at('/mcp/servers'), { method: 'GET' });
    expect(list.status).toBe(429);
    expect(list.message.error).toMatchObject({ code: 'OVERLOADED' });
    expect(await status(send(at('/metrics'), { method: 'GET' }))).toBe(200);
    client.destroy();
    await vi.waitFor(async () => expect(await status(send(at('/mcp/servers'), { method: 'GET' }))).toBe(200), WAIT);
  });

  test('counts its bytes for its caller, whose further responses are refused', async () => {
    const { url, post } = await serveHttp({ http: { ...http, timeouts } });
    const client = unread(url, 'POST /mcp', CALL_BYTES);
    const call = legacy('tools/call', { name: 'answer', arguments: { query: 'q' } });
    await vi.waitFor(async () => expect(await status(post(call))).toBe(429), WAIT);
    expect((await post(call)).message).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('bytes of responses') },
    });
    const streamed = await post(call, { Accept: 'text/event-stream' });
    expect(streamed.status).toBe(429);
    client.destroy();
    await vi.waitFor(async () => expect(await status(post(call))).toBe(200), WAIT);
  });

  test('is discarded with its connection after a while', async () => {
    const { url, untilLogged } = await serveHttp({ http });
    const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
    socket.on('error', () => {});
    const body = JSON.stringify(legacy('tools/list'));
    socket.write(`${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`);
    await untilLogged(1);
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    socket.resume();
    await once(socket, 'close');
    expect(received).toBeLessThan(50_000_000);
  });

  test('is complete for a client that reads slowly', async () => {
    const { url } = await serveHttp({ http });
    const list = request(url, { method: 'POST', headers: { 'Content-Type': 'application/json' } });
    list.end(JSON.stringify(legacy('tools/list')));
    const [response] = (await once(list, 'response')) as [AsyncIterable<Buffer>];
    let length = 0;
    for await (const chunk of response) {
      const isMore = Math.floor(length / 10_000_000) < Math.floor((length + chunk.length) / 10_000_000);
      length += chunk.length;
      if (isMore) await wait(70);
    }
    expect(length).toBeGreaterThan(50_000_000);
  });
});

const LONG = 'x'.repeat(100_000);

test.for([
  ['a method', '/mcp', legacy(LONG), {}],
  ['a method of the modern era', '/mcp', modern(LONG), { 'Mcp-Method': 'tools/list' }],
  ['a tool', '/mcp', modern('tools/call', { name: LONG }), { 'Mcp-Name': 'answer' }],
  ['a header', '/mcp', modern('tools/call', { name: 'answer' }), { 'Mcp-Name': LONG.slice(0, 10_000) }],
  ['a version', '/mcp', modern('tools/list', {}, { 'io.modelcontextprotocol/protocolVersion': LONG }), {}],
  ['an ID', '/mcp', legacy('ping', {}, LONG), {}],
  ['an argument', '/mcp', legacy('tools/call', { name: 'answer', arguments: { query: 'q', domains: LONG } }), {}],
  ['a server', '/mcp/call', { server: LONG, toolName: 'read' }, {}],
  ['a tool of a server', '/mcp/call', { server: 'openai-responses-mcp', toolName: LONG }, {}],
  ['an unknown key', '/mcp/call', { [LONG]: 1 }, {}],
  [
    'unknown keys',
    '/mcp/call',
    Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, 1])),
    {},
  ],
] as const)('a response does not repeat %s of any length', async ([, path, body, headers]) => {
  const { at } = await serveHttp({ llmSearch: new FakeLlmSearch() });
  const common = path === '/mcp' && 'params' in body ? modernHeaders(body as { method: string; params: object }) : {};
  const isModern = JSON.stringify(body).includes('io.modelcontextprotocol');
  const safe = Object.fromEntries(Object.entries(common).map(([name, value]) => [name, value.slice(0, 1000)]));
  const reply = await send(at(path), { body, headers: { ...(isModern ? safe : {}), ...headers } });
  expect(reply.status).toBeLessThan(500);
  expect(reply.text).toMatch(/error/);
  expect(reply.text.length).toBeLessThan(4000);
});

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { ok } from 'neverthrow';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeLlmSearch, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { legacy, modern, modernHeaders, send } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const [ALICE, BOB] = TOKENS.map(({ token }) => ({ Authorization: `Bearer ${token}` }));

const TIMEOUTS = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 };

// S26
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

test('limits the number of connections', async () => {
  const { url } = await serveHttp({ clock: new FakeClock(), http: { maxConnections: 1 } });
  const { port } = new URL(url);
  const first = connect(Number(port), '127.0.0.1');
  await new Promise<void>((resolve) => first.once('connect', () => resolve()));
  await expect(send(url, { body: legacy('ping') })).rejects.toThrow();
  first.destroy();
});

test('an error of the listening socket is logged, and the server continues', async () => {
  const { post, logger } = await serveHttp();
  const found = new Promise<Server>((resolve) => {
    const onRequest = (message: unknown) => resolve((message as { readonly server: Server }).server);
    subscribe('http.server.request.start', onRequest);
    onTestFinished(() => void unsubscribe('http.server.request.start', onRequest));
  });
  await post(legacy('ping'));
  // As Node.js does if no more files can be opened.
  (await found).emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
  expect(logger.lines).toEqual([expect.stringContaining('a connection could not be accepted (EMFILE)')]);
  expect((await post(legacy('ping'))).status).toBe(200);
});

const HEAD = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

test.for([
  ['headers', HEAD],
  ['a body', `${HEAD}Accept: application/json, text/event-stream\r\nContent-Length: 100\r\n\r\n{`],
  ['the rest of a body that is too large', `${HEAD}Content-Length: 99999999\r\n\r\n{`],
] as const)('a client that never ends %s loses its connection', async ([, bytes]) => {
  const { url, accessLines } = await serveHttp({ http: { timeouts: TIMEOUTS } });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const closed = once(socket, 'close');
  socket.resume().on('error', () => {});
  socket.write(bytes);
  await closed;
  expect(accessLines.filter(({ status }) => Number(status) < 400)).toEqual([]);
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

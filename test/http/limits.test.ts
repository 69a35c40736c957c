import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { ok } from 'neverthrow';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeLlmSearch, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { legacy, modern, modernHeaders, send } from '../support/http-client.ts';
import { hangs, ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { serveGateway } from './serve-gateway.ts';
import { serveHttp } from './serve-http.ts';

const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const [ALICE = {}, BOB = {}] = TOKENS.map(({ token }) => ({ Authorization: `Bearer ${token}` }));

const TIMEOUTS = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 };

// S26
test('limits what a caller has in flight over MCP and REST together, independently of other callers', async () => {
  const search = repliesLate();
  const llmSearch = new FakeLlmSearch(search.configured);
  const files = new ScriptedToolServer({ read: says('Hello.'), wait: hangs });
  const http = { tokens: TOKENS, maxCallsPerToken: 2 };
  const { begin, beginCall, call, post, get, at } = await serveGateway({ files }, { llmSearch, http });
  const read = { server: 'files', toolName: 'read' };
  const overRest = beginCall({ server: 'files', toolName: 'wait' }, ALICE);
  const question = { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } };
  const overMcp = begin(legacy('tools/call', question), ALICE);
  await Promise.all([until(() => files.calls.length === 1), overMcp.until('progress')]);

  const message = 'Too many calls in flight: at most 2 per token. Try again when one has finished.';
  const rest = [
    await call(read, ALICE),
    await get('/mcp/tools', ALICE),
    await send(at('/mcp/servers/files/restart'), { body: {}, headers: ALICE }),
  ];
  for (const { message: body } of rest) expect(body.error).toMatchObject({ code: 'OVERLOADED', message });
  const mcp = [
    await post(legacy('tools/call', { name: 'files__read' }, 'a'), ALICE),
    await post(legacy('prompts/get', { name: 'files__plan' }, 'a'), ALICE),
  ];
  for (const { message: body } of mcp) expect(body).toMatchObject({ id: 'a', error: { code: -32600, message } });
  for (const { status, headers } of [...rest, ...mcp]) expect([status, headers['retry-after']]).toEqual([429, '1']);
  expect((await post(legacy('tools/list'), ALICE)).status).toBe(200);
  expect((await call(read, BOB)).status).toBe(200);
  expect(files.starts).toBe(1);

  search.settle(ok(searchReply()));
  await overMcp.reply;
  expect((await call(read, ALICE)).status).toBe(200);
  overRest.leave();
});

test('limits the number of connections', async () => {
  const { url } = await serveHttp({ clock: new FakeClock(), http: { maxConnections: 1 } });
  const first = connect(Number(new URL(url).port), '127.0.0.1');
  await once(first, 'connect');
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
const MANY_KEYS = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`key${index}`, 1]));

test.for<[string, string, object, Readonly<Record<string, string>>?]>([
  ['a method', '/mcp', legacy(LONG)],
  ['a tool', '/mcp', modern('tools/call', { name: LONG }), { 'Mcp-Name': 'answer' }],
  ['a header', '/mcp', modern('tools/call', { name: 'answer' }), { 'Mcp-Name': LONG.slice(0, 10_000) }],
  ['a version', '/mcp', modern('tools/list', {}, { 'io.modelcontextprotocol/protocolVersion': LONG })],
  ['an ID', '/mcp', legacy('ping', {}, LONG)],
  ['an argument', '/mcp', legacy('tools/call', { name: 'answer', arguments: { query: 'q', domains: LONG } })],
  ['a server', '/mcp/call', { server: LONG, toolName: 'read' }],
  ['a tool of a server', '/mcp/call', { server: 'openai-responses-mcp', toolName: LONG }],
  ['an unknown key', '/mcp/call', { [LONG]: 1 }],
  ['unknown keys', '/mcp/call', MANY_KEYS],
])('a response does not repeat %s of any length', async ([, path, body, headers]) => {
  const { at } = await serveHttp({ llmSearch: new FakeLlmSearch() });
  const isModern = JSON.stringify(body).includes('io.modelcontextprotocol');
  const all = { ...(isModern ? modernHeaders(body as { readonly method: string }) : {}), ...headers };
  const reply = await send(at(path), { body, headers: all });
  expect(reply.status).toBeLessThan(500);
  expect(reply.text).toMatch(/error/);
  expect(reply.text.length).toBeLessThan(4000);
});

import { expect, test } from 'vitest';
import { legacy, modern, send } from '../support/http-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { serveHttp } from './serve-http.ts';

const PING = legacy('ping');

// S22
test('requests of both eras are answered with JSON, without a preceding initialize', async () => {
  const { post } = await serveHttp();
  const reply = await post(legacy('tools/list', {}, 0));
  expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
  expect(reply.message).toMatchObject({ jsonrpc: '2.0', id: 0 });
  expect(reply.message.result?.tools).toHaveLength(3);
  expect((await post(modern('tools/list'))).message.result).toMatchObject({
    resultType: 'complete',
    cacheScope: 'public',
  });
});

test.each([
  ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ['a response', { jsonrpc: '2.0', id: 1, result: {} }],
  ['a notification of the modern era', { ...modern('notifications/cancelled', { requestId: 1 }), id: undefined }],
])('accepts %s with 202 and no body', async (_, message) => {
  const { post } = await serveHttp();
  const reply = await post(message);
  expect(reply).toMatchObject({ status: 202, text: '' });
  expect(reply.headers['content-length']).toBe('0');
});

const nested = (levels: number) =>
  `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;

test.each([
  ['nothing', '', 'the body is not valid JSON'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'the body is not valid UTF-8'],
  ['65 levels', nested(65), 'the body nests more than 64 levels deep'],
])('rejects %s as a parse error', async (_, body, problem) => {
  const { url } = await serveHttp();
  const reply = await send(url, { body });
  expect(reply.status).toBe(400);
  expect(reply.message).toEqual({ jsonrpc: '2.0', error: { code: -32700, message: `Parse error: ${problem}` } });
});

test('accepts 64 levels, and brackets in a text', async () => {
  const { url, post } = await serveHttp();
  expect((await send(url, { body: nested(64) })).status).toBe(200);
  expect((await post(legacy('ping', { text: '['.repeat(1000) }))).status).toBe(200);
});

test.each([
  ['a batch', [PING]],
  ['an ID that is null', { ...PING, id: null }],
])('rejects %s as an invalid request', async (_, value) => {
  const { url } = await serveHttp();
  const reply = await send(url, { body: JSON.stringify(value) });
  expect(reply.status).toBe(400);
  expect(reply.message.error?.code).toBe(-32600);
});

test.each<[number, Readonly<Record<string, string>>]>([
  [415, { 'Content-Type': '' }],
  [415, { 'Content-Type': 'text/plain' }],
  [415, { 'Content-Type': 'application/jsonp' }],
  [415, { 'Content-Encoding': 'gzip' }],
  [200, { 'Content-Type': 'Application/JSON; charset=utf-8' }],
])('%i for a body with %j', async (status, headers) => {
  const { post } = await serveHttp();
  expect((await post(PING, headers)).status).toBe(status);
});

test('rejects a body above the limit, announced or not, and the sender can read the reason', async () => {
  const small = JSON.stringify(PING);
  const { url } = await serveHttp({ http: { maxBodyBytes: small.length } });
  const body = JSON.stringify(legacy('ping', { filler: 'x'.repeat(200_000) }));
  const announced = await send(url, { body });
  const streamed = await send(url, { body, headers: { 'Transfer-Encoding': 'chunked' } });
  for (const reply of [announced, streamed]) {
    expect(reply.status).toBe(413);
    expect(reply.message.error?.message).toContain(`${small.length} bytes`);
  }
  expect((await send(url, { body: small })).status).toBe(200);
});

test('other methods get 405 at once, and the DELETE of a client that believes in a session 204', async () => {
  const { url } = await serveHttp();
  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
    const reply = await send(url, { method, headers: { Accept: 'text/event-stream' } });
    expect([reply.status, reply.headers.allow]).toEqual([405, 'POST']);
  }
  const reply = await send(url, { method: 'DELETE', headers: { 'Mcp-Session-Id': 'abc' } });
  expect(reply).toMatchObject({ status: 204, text: '' });
});

test.each(['/', '/mcp/', '/MCP', '//mcp'])('answers 404 at %s', async (path) => {
  const { url } = await serveHttp();
  const reply = await send(new URL(url).origin + path, { body: PING });
  expect(reply.status).toBe(404);
  expect(reply.text).toContain('MCP is served at /mcp');
});

test.each(['/', '/mcp/rpc'])('MCP can be served at %s, with any query; REST stays under /mcp', async (path) => {
  const { at } = await serveHttp({ http: { path } });
  expect((await send(at(`${path}?x=1`), { body: PING })).message.result).toEqual({});
  expect((await send(at('/mcp'), { body: PING })).status).toBe(404);
  expect((await send(at('/mcp/tools'), { method: 'GET' })).text).toContain('"success":true');
});

test('a bug is answered with 500, and the server continues', async () => {
  const broken = new RecordingLogger();
  broken.debug = () => {
    throw new Error('planted');
  };
  const { post, logger } = await serveHttp({ logger: broken });
  const reply = await post(PING);
  expect(reply.status).toBe(500);
  expect(reply.message.error).toEqual({ code: -32603, message: 'Internal error' });
  expect(logger.lines).toEqual([expect.stringContaining('planted')]);
  expect((await post(PING)).status).toBe(500);
});

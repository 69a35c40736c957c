import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { begin, legacy, modern, send } from '../support/http-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { serveHttp } from './serve-http.ts';

const PING = legacy('ping');

test('answers a request with JSON', async () => {
  const { post } = await serveHttp();
  const reply = await post(legacy('initialize', { protocolVersion: '2025-11-25' }, 0));
  expect(reply.status).toBe(200);
  expect(reply.headers['content-type']).toBe('application/json');
  expect(reply.message).toMatchObject({ jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18' } });
});

// S22
test('serves requests without a preceding initialize', async () => {
  const { post } = await serveHttp();
  expect((await post(legacy('tools/list'))).message.result?.tools).toHaveLength(3);
  expect((await post(modern('tools/list'))).message.result).toMatchObject({
    resultType: 'complete',
    cacheScope: 'public',
  });
});

test.each([
  ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
  ['an unknown notification', { jsonrpc: '2.0', method: 'notifications/whatever' }],
  ['a response', { jsonrpc: '2.0', id: 1, result: {} }],
  ['an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: '' } }],
  ['a notification of the modern era', { ...modern('notifications/cancelled', { requestId: 1 }), id: undefined }],
])('accepts %s with 202 and no body', async (_, message) => {
  const { post } = await serveHttp();
  const reply = await post(message);
  expect(reply).toMatchObject({ status: 202, text: '' });
  expect(reply.headers['content-length']).toBe('0');
});

test.each([
  ['an incomplete message', '{"jsonrpc":'],
  ['nothing', ''],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
])('rejects %s as a parse error', async (_, body) => {
  const { url } = await serveHttp();
  const reply = await send(url, { body });
  expect(reply.status).toBe(400);
  expect(reply.message).toMatchObject({ jsonrpc: '2.0', error: { code: -32700 } });
  expect(reply.message).not.toHaveProperty('id');
});

test('rejects a body that nests too deeply', async () => {
  const { url, post } = await serveHttp();
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  const message = (levels: number) => `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${nested(levels - 2)}}}`;
  expect((await send(url, { body: message(64) })).status).toBe(200);
  const reply = await send(url, { body: message(65) });
  expect(reply.status).toBe(400);
  expect(reply.message.error).toEqual({
    code: -32700,
    message: 'Parse error: the body nests more than 64 levels deep',
  });
  expect((await post(legacy('ping', { text: '['.repeat(1000) }))).status).toBe(200);
});

test.each([
  ['a batch', [PING]],
  ['an empty batch', []],
  ['a number', 42],
  ['an id that is null', { ...PING, id: null }],
  ['another version of JSON-RPC', { ...PING, jsonrpc: '1.0' }],
])('rejects %s as an invalid request', async (_, value) => {
  const { url } = await serveHttp();
  const reply = await send(url, { body: JSON.stringify(value) });
  expect(reply.status).toBe(400);
  expect(reply.message.error?.code).toBe(-32600);
});

test.each([[undefined], ['text/plain'], ['application/x-www-form-urlencoded'], ['application/jsonp']])(
  'rejects the content type %s with 415',
  async (type) => {
    const { url } = await serveHttp();
    const headers = type === undefined ? {} : { 'Content-Type': type };
    const { response } = begin(url, {
      body: Buffer.from(JSON.stringify(PING)),
      headers: { 'Content-Type': '', ...headers },
    });
    expect((await response).statusCode).toBe(415);
  },
);

test('accepts JSON with parameters, and in any case', async () => {
  const { post } = await serveHttp();
  expect((await post(PING, { 'Content-Type': 'Application/JSON; charset=utf-8' })).status).toBe(200);
});

test('rejects a compressed body with 415', async () => {
  const { post } = await serveHttp();
  expect((await post(PING, { 'Content-Encoding': 'gzip' })).status).toBe(415);
});

test('rejects a body that is too large, announced or not, and the sender can read the reason', async () => {
  const { url } = await serveHttp({ http: { maxBodyBytes: 1024 } });
  const body = JSON.stringify(legacy('ping', { filler: 'x'.repeat(200_000) }));
  const announced = await send(url, { body });
  const streamed = await send(url, { body, headers: { 'Transfer-Encoding': 'chunked' } });
  for (const reply of [announced, streamed]) {
    expect(reply.status).toBe(413);
    expect(reply.message.error?.message).toContain('1024 bytes');
  }
});

test('accepts a body of exactly the limit', async () => {
  const body = JSON.stringify(PING);
  const { url } = await serveHttp({ http: { maxBodyBytes: body.length } });
  expect((await send(url, { body })).status).toBe(200);
});

test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'rejects %s at once with 405 and the allowed methods',
  async (method) => {
    const { url } = await serveHttp();
    const reply = await send(url, { method, headers: { Accept: 'text/event-stream' } });
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe('POST');
  },
);

test.each(['/healthz', '/metrics', '/mcp/tools', '/mcp/servers', '/openapi.json'])(
  'HEAD of %s is answered as GET, without the body',
  async (path) => {
    const { at } = await serveHttp();
    expect(await send(at(path), { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  },
);

test('answers the DELETE of a client that believes in a session with 204', async () => {
  const { url } = await serveHttp();
  const reply = await send(url, { method: 'DELETE', headers: { 'Mcp-Session-Id': 'abc' } });
  expect(reply).toMatchObject({ status: 204, text: '' });
});

test.each(['/', '/mcp/', '/mcp2', '/MCP', '//mcp'])('answers 404 at %s', async (path) => {
  const { url } = await serveHttp();
  const reply = await send(new URL(url).origin + path, { body: PING });
  expect(reply.status).toBe(404);
  expect(reply.text).toContain('MCP is served at /mcp');
});

test('accepts a complete URL as target, as a proxy may send it', async () => {
  const { url } = await serveHttp();
  const { port } = new URL(url);
  const body = JSON.stringify(PING);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(
    `POST http://127.0.0.1:${port}/mcp?x=1 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
});

test('serves at the configured path, with any query', async () => {
  const { at } = await serveHttp({ http: { path: '/v1/mcp' } });
  expect((await send(at('/v1/mcp?x=1'), { body: PING })).status).toBe(200);
  expect((await send(at('/mcp'), { body: PING })).status).toBe(404);
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

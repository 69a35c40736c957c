import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { RemoteToolServer } from '../../src/adapters/outbound/mcp-client/remote-tool-server.ts';
import { createProxyFetch } from '../../src/adapters/outbound/network/proxy-fetch.ts';
import { textOf } from '../../src/domain/gateway/tool-result.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import {
  type Answer,
  serveHttpRequests,
  startModernServer,
  startSessionServer,
  startSseServer,
} from '../support/servers/remote-servers.ts';
import { call, callWaiting, EventLog } from './describe-tool-server.ts';
import { errorOf, never } from './search-kit.ts';

type RemoteOptions = ConstructorParameters<typeof RemoteToolServer>[0];

const MAX_BYTES = 20_000;

function remote(url: string, options: Partial<RemoteOptions> = {}): RemoteToolServer {
  return new RemoteToolServer({
    name: 'remote',
    url,
    transport: 'auto',
    headers: {},
    maxBytes: MAX_BYTES,
    identity: { name: 'contract', version: '1.0.0' },
    fetch,
    clock: new SystemClock(),
    ...options,
  });
}

async function connect(url: string, options: Partial<RemoteOptions> = {}) {
  const events = new EventLog();
  const connected = await remote(url, options).connect(events, never());
  if (connected.isErr()) throw new Error(`The server cannot be connected: ${connected.error}`);
  onTestFinished(() => connected.value.close());
  return { connection: connected.value, events };
}

async function echo({ connection }: Awaited<ReturnType<typeof connect>>): Promise<string> {
  return textOf((await call(connection, 'echo', { text: 'a' }))._unsafeUnwrap());
}

function answers(status: number, body = '', headers: Record<string, string> = {}): Answer {
  return (_, response) => void response.writeHead(status, headers).end(body);
}

const EVENTS = { 'Content-Type': 'text/event-stream' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const rpcError = (code: number) => JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: 'refused' } });
const hangsUp: Answer = (request) => void request.socket.destroy();

const KINDS = [
  ['Streamable HTTP', startModernServer],
  ['Streamable HTTP with sessions', startSessionServer],
  ['SSE', startSseServer],
] as const;

describe('which transport', () => {
  test.each([
    ['2026-07-28 over Streamable HTTP', startModernServer, 'http', '2026-07-28'],
    ['2025-11-25 over Streamable HTTP', startSessionServer, 'http', '2025-11-25'],
    ['SSE, with a server that has nothing else', startSseServer, 'sse', '2025-11-25'],
  ])('auto finds %s', async (_, start, transport, revision) => {
    const { url } = await start();
    const { connection } = await connect(url);
    expect(connection).toMatchObject({ transport, protocolVersion: revision });
  });

  test.each([400, 404, 405])('auto falls back to SSE if the first POST is answered with %d', async (status) => {
    const server = await startSseServer();
    server.answerNext('any', answers(status, 'no'), answers(status, '{"error":"no"}', JSON_TYPE));
    const { connection } = await connect(server.url);
    expect(connection.transport).toBe('sse');
  });

  test.each([400, 404, 405])('auto does not fall back if %d comes with a JSON-RPC error', async (status) => {
    const server = await startSseServer();
    const refused = answers(status, rpcError(-32600), JSON_TYPE);
    server.answerNext('any', refused, refused);
    expect(errorOf(await remote(server.url).connect(new EventLog(), never()))).toContain(`HTTP ${status}`);
    expect(server.seen.filter(({ method }) => method === 'GET')).toEqual([]);
  });

  test.each([401, 403, 429, 500, 502, 503])('auto does not fall back after %d', async (status) => {
    const server = await startSseServer();
    server.answerNext('any', answers(status), answers(status));
    expect(errorOf(await remote(server.url).connect(new EventLog(), never()))).toContain(`HTTP ${status}`);
    expect(server.seen.filter(({ method }) => method === 'GET')).toEqual([]);
  });

  test('auto does not fall back after a connection that broke', async () => {
    const server = await startSseServer();
    server.answerNext('any', hangsUp, hangsUp);
    expect((await remote(server.url).connect(new EventLog(), never())).isErr()).toBe(true);
    expect(server.seen.filter(({ method }) => method === 'GET')).toEqual([]);
  });

  test('http never uses SSE', async () => {
    const server = await startSseServer();
    expect((await remote(server.url, { transport: 'http' }).connect(new EventLog(), never())).isErr()).toBe(true);
    expect(server.seen.filter(({ method }) => method === 'GET')).toEqual([]);
  });

  test('sse uses nothing else', async () => {
    const server = await startSseServer();
    await connect(server.url, { transport: 'sse' });
    expect(server.seen[0]).toMatchObject({ method: 'GET' });
  });
});

describe.each(KINDS)('credentials over %s', (_, start) => {
  test.each([401, 403])('a first connection that is refused with %d says so', async (status) => {
    const server = await start();
    server.answerNext('any', ...Array.from({ length: 3 }, () => answers(status)));
    const transport = start === startSseServer ? 'sse' : 'auto';
    expect(errorOf(await remote(server.url, { transport }).connect(new EventLog(), never()))).toBe(
      `the server did not accept the credentials (HTTP ${status}); check its headers`,
    );
  });

  test.each([401, 403])('a later %d is `unauthorized`, and the connection stays', async (status) => {
    const server = await start();
    const connected = await connect(server.url);
    server.answerNext('tools/call', answers(status));
    expect(errorOf(await call(connected.connection, 'echo'))).toEqual({ kind: 'unauthorized', status });
    expect(connected.events.lost).toEqual([]);
    expect(await echo(connected)).toBe('a');
  });

  test('only the configured headers are sent, with every request', async () => {
    const server = await start();
    const connected = await connect(server.url, { headers: { Authorization: 'Bearer of-the-server', 'X-Team': 'a' } });
    await echo(connected);
    await connected.connection.close();
    expect(server.seen.length).toBeGreaterThan(2);
    for (const { headers } of server.seen) {
      expect(headers).toMatchObject({ authorization: 'Bearer of-the-server', 'x-team': 'a' });
    }
  });
});

describe('a session that the server no longer knows', () => {
  const KINDS_WITH_SESSIONS = KINDS.filter(([, start]) => start !== startModernServer);

  test.each(KINDS_WITH_SESSIONS)('is begun again, and the call is sent once more (%s)', async (_, start) => {
    const server = await start();
    const connected = await connect(server.url);
    server.forgetSessions();
    expect(await echo(connected)).toBe('a');
    expect(await echo(connected)).toBe('a');
    expect(connected.events.lost).toEqual([]);
    expect(server.sessions.size).toBe(1);
    // The event stream of the earlier session is closed.
    await server.untilOpen(1);
  });

  test.each(KINDS_WITH_SESSIONS)('is begun again without harm for calls in flight (%s)', async (_, start) => {
    const server = await start();
    const connected = await connect(server.url);
    const { outcome, controller } = await callWaiting(connected.connection);
    server.answerNext('tools/call', answers(404));
    expect(await echo(connected)).toBe('a');
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expect(textOf((await call(connected.connection, 'cancelled'))._unsafeUnwrap())).toBe('1');
    await server.untilOpen(1);
  });

  test.each(KINDS_WITH_SESSIONS)('is begun again once for several calls (%s)', async (_, start) => {
    const server = await start();
    const connected = await connect(server.url);
    server.forgetSessions();
    expect(await Promise.all([echo(connected), echo(connected), echo(connected)])).toEqual(['a', 'a', 'a']);
    expect(connected.events.lost).toEqual([]);
    expect(server.sessions.size).toBe(1);
  });

  test('still reports changed tools', async () => {
    const server = await startSessionServer();
    const { connection, events } = await connect(server.url);
    server.forgetSessions();
    await call(connection, 'change');
    await events.until(() => events.changes > 0);
  });

  test.each([
    ['no JSON-RPC error', 'Unknown session'],
    [
      'an error that answers the request',
      '{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no such session"}}',
    ],
  ])('is not begun again after 400 with %s', async (_, body) => {
    const server = await startSessionServer();
    const { connection } = await connect(server.url);
    server.answerNext('tools/call', answers(400, body, JSON_TYPE));
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'json_rpc' });
    expect(server.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  test('is begun again if the server answers 400 instead of 404', async () => {
    const server = await startSessionServer();
    const connected = await connect(server.url);
    const body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID"}}';
    server.answerNext('tools/call', answers(400, body, JSON_TYPE));
    expect(await echo(connected)).toBe('a');
  });

  test.each(KINDS_WITH_SESSIONS)('fails only the call if the second request gets 404 too (%s)', async (_, start) => {
    const server = await start();
    const { connection, events } = await connect(server.url);
    server.answerNext('tools/call', answers(404), answers(404));
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'json_rpc' });
    expect(events.lost).toEqual([]);
    expect(server.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
  });

  test('is lost if no other can be begun', async () => {
    const server = await startSessionServer();
    const { connection, events } = await connect(server.url);
    server.answerNext('tools/call', answers(404));
    server.answerNext('server/discover', hangsUp);
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'crashed' });
    expect(events.lost).toHaveLength(1);
  });

  test('404 to a request without a session is an error of the call', async () => {
    const server = await startModernServer();
    const connected = await connect(server.url);
    server.answerNext('tools/call', answers(404));
    expect(errorOf(await call(connected.connection, 'echo'))).toMatchObject({
      kind: 'json_rpc',
      message: 'the server answered with HTTP 404',
    });
    expect(await echo(connected)).toBe('a');
  });
});

describe('a connection that is lost during a call', () => {
  test.each(KINDS)('fails the call (%s)', async (_, start) => {
    const server = await start();
    const { connection } = await connect(server.url);
    const { outcome } = await callWaiting(connection);
    server.cut();
    expect(errorOf(await outcome)).toMatchObject({ kind: 'crashed' });
  });

  // S55
  test.each(KINDS)('is never followed by the same call (%s)', async (_, start) => {
    const server = await start();
    const { connection } = await connect(server.url);
    server.answerNext('tools/call', hangsUp);
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'crashed' });
    expect(server.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  test('fails only its own call over Streamable HTTP, and leaves the server available', async () => {
    const server = await startModernServer();
    const connected = await connect(server.url);
    const { outcome, controller } = await callWaiting(connected.connection);
    const cutsItsStream: Answer = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': nothing yet\n\n');
      setImmediate(() => response.destroy());
    };
    server.answerNext('tools/call', cutsItsStream);
    expect(errorOf(await call(connected.connection, 'echo'))).toEqual({
      kind: 'crashed',
      reason: 'the connection was closed before the response',
    });
    expect(connected.events.lost).toEqual([]);
    expect(await echo(connected)).toBe('a');
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
  });

  test('does not end the notifications of changed tools over Streamable HTTP', async () => {
    const server = await startModernServer();
    const { connection, events } = await connect(server.url);
    server.cut();
    await events.until(() => events.changes === 1);
    await call(connection, 'change');
    await events.until(() => events.changes === 2);
    expect(events.lost).toEqual([]);
  });

  test('is the loss of the server if its event stream ends (SSE)', async () => {
    const server = await startSseServer();
    const { events } = await connect(server.url);
    server.cut();
    await events.until(() => events.lost.length > 0);
    expect(events.lost).toEqual(['the event stream was closed']);
  });
});

test.each([
  ['says where to send messages', ''],
  ['answers `initialize`', 'event: endpoint\ndata: /messages\n\n'],
])('an event stream that ends before the server %s is a failed start', async (_, sent) => {
  const server = await serveHttpRequests((request, response) => {
    if (request.method === 'POST') return response.writeHead(202).end('Accepted');
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(sent);
    setTimeout(() => response.end(), 50);
  });
  const events = new EventLog();
  expect((await remote(`${server.origin}/sse`, { transport: 'sse' }).connect(events, never())).isErr()).toBe(true);
  await server.untilOpen(0);
  expect(events.lost).toEqual([]);
});

describe('a response of a server over Streamable HTTP', () => {
  test.each([
    ['is not JSON', 'nonsense', JSON_TYPE],
    ['is not a message', '{"answer":42}', JSON_TYPE],
    ['has no usable type', 'nonsense', { 'Content-Type': 'text/plain' }],
  ])('that %s is not a result', async (_, body, type) => {
    const server = await startModernServer();
    const connected = await connect(server.url);
    server.answerNext('tools/call', answers(200, body, type));
    expect(errorOf(await call(connected.connection, 'echo')).kind).toBe('invalid_result');
    expect(await echo(connected)).toBe('a');
    expect(connected.events.lost).toEqual([]);
  });

  test('with an HTTP error and a JSON-RPC error is that error', async () => {
    const server = await startModernServer();
    const { connection } = await connect(server.url);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'oh', data: { a: 1 } } });
    server.answerNext('tools/call', answers(500, body, JSON_TYPE));
    expect(errorOf(await call(connection, 'echo'))).toEqual({
      kind: 'json_rpc',
      code: -32603,
      message: 'oh',
      data: { a: 1 },
    });
  });
});

test('an event without an end is too large', async () => {
  const server = await startModernServer();
  const { connection } = await connect(server.url);
  server.answerNext('tools/call', (_, response) => {
    response.writeHead(200, EVENTS);
    for (let sent = 0; sent < 10 * MAX_BYTES; sent += 9000) response.write(`data: ${'x'.repeat(9000)}\n`);
  });
  expect(errorOf(await call(connection, 'echo'))).toEqual({ kind: 'too_large', maxBytes: MAX_BYTES });
});

test('a call that was cancelled is not asked for again', async () => {
  const server = await startSessionServer();
  const clock = new FakeClock();
  const { connection } = await connect(server.url, { clock });
  const controller = new AbortController();
  server.answerNext('tools/call', (_, response) => void response.writeHead(200, EVENTS).end('id: 7\ndata: \n\n'));
  const outcome = connection.callTool('echo', { text: 'a' }, {}, controller.signal);
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  controller.abort();
  expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
  await expect.poll(() => server.seen.some(({ method }) => method === 'notifications/cancelled')).toBe(true);
  const { length } = server.seen.filter(({ method }) => method === 'GET');
  await clock.advance(60_000);
  await call(connection, 'echo', { text: 'a' });
  expect(server.seen.filter(({ method }) => method === 'GET')).toHaveLength(length);
});

describe('a redirect', () => {
  test.each(KINDS)('to another origin is refused (%s)', async (_, start) => {
    const other = await start();
    const server = await serveHttpRequests((_, response) => {
      response.writeHead(307, { Location: other.url }).end();
    });
    const transport = start === startSseServer ? 'sse' : 'auto';
    const secret = { Authorization: 'Bearer of-the-server' };
    const connecting = remote(`${server.origin}/mcp`, { transport, headers: secret }).connect(new EventLog(), never());
    expect(errorOf(await connecting)).toBe(
      'the server redirects to another origin (HTTP 307), which is refused; check its url',
    );
    expect(other.seen).toEqual([]);
  });

  test('within the origin is followed', async () => {
    const server = await startModernServer();
    server.answerNext('any', answers(307, '', { Location: '/mcp?moved' }));
    expect(await echo(await connect(server.url))).toBe('a');
  });
});

test.each(KINDS)('the configured proxy is used (%s)', async (_, start) => {
  const server = await start();
  const port = Number(new URL(server.origin).port);
  const proxy = await startForwardProxy(port);
  const { fetch, close } = createProxyFetch({ HTTP_PROXY: proxy.url });
  onTestFinished(async () => {
    await close();
    await proxy.close();
  });
  const { pathname } = new URL(server.url);
  const url = `http://server.test${pathname}`;
  const connected = await connect(url, { fetch });
  expect(await echo(connected)).toBe('a');
  const { outcome } = await callWaiting(connected.connection);
  const size = { size: 50 * MAX_BYTES };
  expect(errorOf(await call(connected.connection, 'big', size))).toEqual({ kind: 'too_large', maxBytes: MAX_BYTES });
  await connected.connection.close();
  expect(errorOf(await outcome)).toMatchObject({ kind: 'crashed' });
  expect(proxy.seen.length).toBeGreaterThan(0);
  expect(proxy.seen.every((line) => line.includes('server.test'))).toBe(true);
});

// In the modern era, the name of a tool is also a header.
test.each(KINDS.filter(([kind]) => kind !== 'Streamable HTTP'))(
  'the message of an error has at most 65,536 characters (%s)',
  async (_, start) => {
    const { connection } = await connect((await start()).url, { maxBytes: 1_000_000 });
    const name = 'x'.repeat(70_000);
    expect(errorOf(await call(connection, name))).toMatchObject({
      kind: 'json_rpc',
      message: `Unknown tool: ${name}`.slice(0, 65_535).concat('…'),
    });
  },
);

test.each(['retry: 0', 'retry: 99999999999'])(
  'an event stream that ends at once with %j is opened again after 100 ms to 60 s',
  async (retry) => {
    const server = await startSessionServer();
    const clock = new FakeClock();
    const streams = () => server.seen.filter(({ method }) => method === 'GET').length;
    server.answerNext('GET', ...Array.from({ length: 5 }, () => answers(200, `${retry}\n\n`, EVENTS)));
    const connected = await connect(server.url, { clock });
    for (const opened of [1, 2, 3]) {
      await expect.poll(streams).toBe(opened);
      // The end of the stream is noticed while the server answers calls.
      await expect.poll(() => clock.pendingSleeps).toBe(1);
      expect(await echo(connected)).toBe('a');
      expect(streams()).toBe(opened);
      await clock.advance(60_000);
    }
  },
);

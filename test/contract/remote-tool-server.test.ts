import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { RemoteToolServer } from '../../src/adapters/outbound/mcp-client/remote-tool-server.ts';
import { createProxyFetch } from '../../src/adapters/outbound/network/proxy-fetch.ts';
import type { ServerConnection } from '../../src/application/ports/tool-server.ts';
import { textOf } from '../../src/domain/gateway/tool-result.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import {
  type Answer,
  type RemoteServer,
  serveHttpRequests,
  startModernServer,
  startSessionServer,
  startSseServer,
  type TestHttpServer,
} from '../support/servers/remote-servers.ts';
import { until } from '../support/until.ts';
import { call, callWaiting, EventLog } from './describe-tool-server.ts';
import { errorOf, never } from './search-kit.ts';

type RemoteOptions = ConstructorParameters<typeof RemoteToolServer>[0];

const MAX_BYTES = 20_000;

function remote(url: string, options: Partial<RemoteOptions> = {}): RemoteToolServer {
  return new RemoteToolServer({
    logger: new RecordingLogger(),
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

async function connectTo(start: () => Promise<RemoteServer>, options: Partial<RemoteOptions> = {}) {
  const server = await start();
  return { server, ...(await connect(server.url, options)) };
}

async function echo(connection: ServerConnection): Promise<string> {
  return textOf((await call(connection, 'echo', { text: 'a' }))._unsafeUnwrap());
}

function requestsOf({ seen }: TestHttpServer, wanted: string) {
  return seen.filter(({ method }) => method === wanted);
}

function answers(status: number, body = '', headers: Record<string, string> = {}): Answer {
  return (_, response) => void response.writeHead(status, headers).end(body);
}

const EVENTS = { 'Content-Type': 'text/event-stream' };
const JSON_TYPE = { 'Content-Type': 'application/json' };
const RPC_ERROR = { code: -32000, message: 'No valid session ID', data: { a: 1 } };
const rpcError = (id: number | string | null) => JSON.stringify({ jsonrpc: '2.0', id, error: RPC_ERROR });
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

  test.each([
    ['auto', '404 with a JSON-RPC error', answers(404, rpcError(null), JSON_TYPE), 'HTTP 404'],
    ['auto', '401', answers(401), 'HTTP 401'],
    ['auto', '503', answers(503), 'HTTP 503'],
    ['auto', 'a connection that broke', hangsUp, 'fetch failed'],
    ['http', '404', answers(404), 'HTTP 404'],
  ] as const)('%s does not fall back after %s', async (transport, _, answer, reason) => {
    const server = await startSseServer();
    server.answerNext('any', answer, answer);
    expect(errorOf(await remote(server.url, { transport }).connect(new EventLog(), never()))).toContain(reason);
    expect(requestsOf(server, 'GET')).toEqual([]);
  });

  test.each<[string, Answer]>([
    ['401', answers(401)],
    ['403', answers(403, 'Forbidden')],
    ['500', answers(500, rpcError(null), JSON_TYPE)],
    ['a connection that broke', hangsUp],
    ['a page', answers(200, '<html>', { 'Content-Type': 'text/html' })],
    ['a parse error without an ID', answers(200, rpcError(null), JSON_TYPE)],
    ['an event that is no message', answers(200, 'data: {}\n\n', EVENTS)],
  ])('the earlier revision is used if the question for the new one gets %s', async (_, answer) => {
    const server = await startSessionServer();
    server.answerNext('server/discover', answer);
    const { connection } = await connect(server.url);
    expect(connection.protocolVersion).toBe('2025-11-25');
    expect(await echo(connection)).toBe('a');
  });

  test.each<[string, Answer]>([
    ['no answer', () => {}],
    ['202', answers(202)],
  ])('the earlier revision is used if the question for the new one gets %s for 5 s', async (_, answer) => {
    const clock = new FakeClock();
    const server = await startSessionServer();
    server.answerNext('server/discover', answer);
    const connecting = connect(server.url, { clock });
    await expect.poll(() => requestsOf(server, 'server/discover')).toHaveLength(1);
    await clock.advance(5000);
    expect((await connecting).connection.protocolVersion).toBe('2025-11-25');
  });

  test('the reason of a failed start is that of `initialize`, and not that of a fallback', async () => {
    const server = await startSessionServer();
    server.answerNext('server/discover', answers(500, 'no such method'));
    server.answerNext('initialize', answers(405, 'closed for today'));
    server.answerNext('GET', answers(500, 'no stream'));
    expect(errorOf(await remote(server.url).connect(new EventLog(), never()))).toContain('HTTP 405');
  });

  test('sse uses nothing else', async () => {
    const server = await startSseServer();
    await connect(server.url, { transport: 'sse' });
    expect(server.seen[0]).toMatchObject({ method: 'GET' });
  });
});

describe('credentials', () => {
  test.each([
    ['Streamable HTTP', 401, startModernServer, 'http'],
    ['Streamable HTTP', 403, startModernServer, 'http'],
    ['SSE', 401, startSseServer, 'sse'],
  ] as const)(
    'that are refused over %s with %d are the reason of a failed start',
    async (_, status, start, transport) => {
      const server = await start();
      server.answerNext('any', ...Array.from({ length: 3 }, () => answers(status)));
      expect(errorOf(await remote(server.url, { transport }).connect(new EventLog(), never()))).toBe(
        `the server did not accept the credentials (HTTP ${status}); check its headers`,
      );
    },
  );

  test.each([
    ['Streamable HTTP', 401, startModernServer],
    ['Streamable HTTP with sessions', 403, startSessionServer],
    ['SSE', 401, startSseServer],
  ] as const)(
    'that are refused later over %s (%d) fail the call, and the connection stays',
    async (_, status, start) => {
      const { server, connection, events } = await connectTo(start);
      server.answerNext('tools/call', answers(status));
      expect(errorOf(await call(connection, 'echo'))).toEqual({ kind: 'unauthorized', status });
      expect(events.lost).toEqual([]);
      expect(await echo(connection)).toBe('a');
    },
  );

  test.each(KINDS)('are sent with every request, as the configured headers (%s)', async (_, start) => {
    const { server, connection } = await connectTo(start, {
      headers: { Authorization: 'Bearer of-the-server', 'X-Team': 'a' },
    });
    await echo(connection);
    await connection.close();
    expect(server.seen.length).toBeGreaterThan(2);
    for (const { headers } of server.seen) {
      expect(headers).toMatchObject({ authorization: 'Bearer of-the-server', 'x-team': 'a' });
    }
  });
});

describe('a session that the server no longer knows', () => {
  const KINDS_WITH_SESSIONS = KINDS.filter(([, start]) => start !== startModernServer);

  test.each(KINDS_WITH_SESSIONS)('is begun again once, and each call is sent once more (%s)', async (_, start) => {
    const { server, connection, events } = await connectTo(start);
    server.forgetSessions();
    expect(await Promise.all([echo(connection), echo(connection), echo(connection)])).toEqual(['a', 'a', 'a']);
    expect(events.lost).toEqual([]);
    expect(server.sessions.size).toBe(1);
    // The event stream of the earlier session is closed.
    await server.untilOpen(1);
  });

  test.each(KINDS_WITH_SESSIONS)('is begun again without harm for calls in flight (%s)', async (_, start) => {
    const { server, connection } = await connectTo(start);
    const { outcome, controller } = await callWaiting(connection);
    server.answerNext('tools/call', answers(404));
    expect(await echo(connection)).toBe('a');
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expect(textOf((await call(connection, 'cancelled'))._unsafeUnwrap())).toBe('1');
    await server.untilOpen(1);
  });

  test('still reports changed tools', async () => {
    const { server, connection, events } = await connectTo(startSessionServer);
    server.forgetSessions();
    await call(connection, 'change');
    await until(() => events.changes > 0);
  });

  test('is lost if no other can be begun', async () => {
    const { server, connection, events } = await connectTo(startSessionServer);
    server.answerNext('tools/call', answers(404));
    server.answerNext('server/discover', hangsUp);
    server.answerNext('initialize', hangsUp);
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'crashed' });
    expect(events.lost).toHaveLength(1);
  });
});

// A request whose session is unknown is sent once more.
test.each([
  [404, 'Not found', 2],
  [400, rpcError(null), 2],
  [400, rpcError('server-error'), 2],
  [400, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"}}', 2],
  [400, '{"detail":"no session"}', 2],
  [400, 'Unknown "session"', 2],
  [410, 'Gone', 2],
  [422, 'Unprocessable', 1],
])(
  'a call that is always answered with %d and %s fails alone, and is sent %d times at most',
  async (status, body, times) => {
    const { server, connection, events } = await connectTo(startSessionServer);
    const refused = answers(status, body, JSON_TYPE);
    server.answerNext('tools/call', refused, refused);
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'json_rpc' });
    expect(events.lost).toEqual([]);
    expect(requestsOf(server, 'tools/call')).toHaveLength(times);
  },
);

describe('a connection that is lost during a call', () => {
  // S55
  test.each(KINDS)('is never followed by the same call (%s)', async (_, start) => {
    const { server, connection } = await connectTo(start);
    server.answerNext('tools/call', hangsUp);
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'crashed' });
    expect(requestsOf(server, 'tools/call')).toHaveLength(1);
  });

  test('fails only its own call over Streamable HTTP, and leaves the server available', async () => {
    const { server, connection, events } = await connectTo(startModernServer);
    const { outcome, controller } = await callWaiting(connection);
    const cutsItsStream: Answer = (_, response) => {
      response.writeHead(200, EVENTS).write('data: {"jsonrpc":"2.0",');
      setImmediate(() => response.destroy());
    };
    server.answerNext('tools/call', cutsItsStream);
    expect(errorOf(await call(connection, 'echo'))).toEqual({
      kind: 'crashed',
      reason: 'the connection was closed before the response',
    });
    expect(events.lost).toEqual([]);
    expect(await echo(connection)).toBe('a');
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
  });

  test('does not end the notifications of changed tools over Streamable HTTP', async () => {
    const clock = new FakeClock();
    const { server, connection, events } = await connectTo(startModernServer, { clock });
    server.cut();
    await expect.poll(() => clock.pendingSleeps).toBe(1);
    await clock.advance(3000);
    await until(() => events.changes === 1);
    await call(connection, 'change');
    await until(() => events.changes === 2);
    expect(events.lost).toEqual([]);
  });

  test('is the loss of the server if its event stream ends (SSE)', async () => {
    const { server, events } = await connectTo(startSseServer);
    server.cut();
    await until(() => events.lost.length > 0);
    expect(events.lost).toEqual(['the event stream was closed']);
  });
});

test.each([
  ['says where to send messages', ''],
  ['answers `initialize`', 'event: endpoint\ndata: /messages\n\n'],
])('an event stream that ends before the server %s is a failed start', async (_, sent) => {
  const server = await serveHttpRequests((request, response) => {
    if (request.method === 'POST') return response.writeHead(202).end('Accepted');
    response.writeHead(200, EVENTS).write(sent);
    setTimeout(() => response.end(), 50);
  });
  const events = new EventLog();
  expect((await remote(`${server.origin}/sse`, { transport: 'sse' }).connect(events, never())).isErr()).toBe(true);
  await server.untilOpen(0);
  expect(events.lost).toEqual([]);
});

const result = (id: unknown) => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
});

/** An event with so many fields `data` as the text has lines. */
const event = (text: string) => `${text.replace(/^/gm, 'data: ')}\n\n`;

describe('a response of a server over Streamable HTTP', () => {
  test.each([
    ['indented over several lines', (id: unknown) => event(JSON.stringify(result(id), undefined, 2))],
    ['sent twice', (id: unknown) => event(JSON.stringify(result(id))).repeat(2)],
  ])('may be an event that is %s', async (_, eventsFor) => {
    const { server, connection } = await connectTo(startModernServer);
    server.answerNext('tools/call', (_, response, __, id) => void response.writeHead(200, EVENTS).end(eventsFor(id)));
    expect(textOf((await call(connection, 'echo'))._unsafeUnwrap())).toBe('done');
    expect(await echo(connection)).toBe('a');
  });

  test.each<[string, Record<string, string>, (id: unknown) => string]>([
    ['JSON without a type', {}, (id) => JSON.stringify(result(id))],
    ['JSON of another type', { 'Content-Type': 'text/plain' }, (id) => JSON.stringify(result(id))],
    ['JSON with the ID of another request', JSON_TYPE, () => JSON.stringify(result(1))],
    ['JSON with an ID that is no number', JSON_TYPE, () => JSON.stringify(result('server'))],
    ['an event of another name', EVENTS, (id) => `event: response\n${event(JSON.stringify(result(id)))}`],
  ])('may be %s', async (_, type, bodyFor) => {
    const { server, connection } = await connectTo(startModernServer);
    server.answerNext('tools/call', (_, response, __, id) => void response.writeHead(200, type).end(bodyFor(id)));
    expect(textOf((await call(connection, 'echo'))._unsafeUnwrap())).toBe('done');
    expect(await echo(connection)).toBe('a');
  });

  test.each([400, 404, 500])('to a notification is none: a refusal (%d) has no effect', async (status) => {
    const server = await startSessionServer();
    server.answerNext('notifications/initialized', answers(status));
    expect(await echo((await connect(server.url)).connection)).toBe('a');
  });

  test('may come later, on a stream that continues the first', async () => {
    const clock = new FakeClock();
    const { server, connection } = await connectTo(startSessionServer, { clock });
    await expect.poll(() => requestsOf(server, 'GET')).toHaveLength(1);
    server.answerNext('tools/call', (_, response, __, id) => {
      server.answerNext('GET', answers(200, event(JSON.stringify(result(id))), EVENTS));
      response.writeHead(200, EVENTS).end('id: 7\ndata: \n\n');
    });
    const outcome = call(connection, 'echo');
    await expect.poll(() => clock.pendingSleeps).toBe(1);
    await clock.advance(60_000);
    expect(textOf((await outcome)._unsafeUnwrap())).toBe('done');
    expect(requestsOf(server, 'GET')[1]?.headers).toMatchObject({ 'last-event-id': '7' });
  });

  test.each([
    ['that is not JSON', 200, 'nonsense', JSON_TYPE, { kind: 'invalid_result' }],
    ['that is not a message', 200, '{"answer":42}', JSON_TYPE, { kind: 'invalid_result' }],
    [
      'that is a web page',
      200,
      '<html>',
      { 'Content-Type': 'text/html' },
      { detail: 'the answer is a web page, and no JSON-RPC message; check the url' },
    ],
    ['that has no usable type', 200, 'nonsense', { 'Content-Type': 'text/plain' }, { kind: 'invalid_result' }],
    ['that is an event that is not JSON', 200, 'data: {]\n\n', EVENTS, { kind: 'crashed' }],
    ['with an HTTP error', 404, '', {}, { kind: 'json_rpc', message: 'the server answered with HTTP 404' }],
    ['with that and a JSON-RPC error', 500, rpcError(1), JSON_TYPE, { ...RPC_ERROR, kind: 'json_rpc' }],
  ])('%s fails only its call', async (_, status, body, type, error) => {
    const { server, connection, events } = await connectTo(startModernServer);
    server.answerNext('tools/call', answers(status, body, type));
    expect(errorOf(await call(connection, 'echo'))).toMatchObject(error);
    expect(await echo(connection)).toBe('a');
    expect(events.lost).toEqual([]);
  });
});

test('an event without an end is too large', async () => {
  const { server, connection } = await connectTo(startModernServer);
  server.answerNext('tools/call', (_, response) => {
    response.writeHead(200, EVENTS);
    for (let sent = 0; sent < 10 * MAX_BYTES; sent += 9000) response.write(`data: ${'x'.repeat(9000)}\n`);
  });
  expect(errorOf(await call(connection, 'echo'))).toEqual({ kind: 'too_large', maxBytes: MAX_BYTES });
});

test('a call that was cancelled is not asked for again', async () => {
  const clock = new FakeClock();
  const { server, connection } = await connectTo(startSessionServer, { clock });
  const controller = new AbortController();
  server.answerNext('tools/call', (_, response) => void response.writeHead(200, EVENTS).end('id: 7\ndata: \n\n'));
  const outcome = connection.callTool('echo', { text: 'a' }, {}, controller.signal);
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  controller.abort();
  expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
  await expect.poll(() => server.seen.some(({ method }) => method === 'notifications/cancelled')).toBe(true);
  const { length } = requestsOf(server, 'GET');
  await clock.advance(60_000);
  await call(connection, 'echo', { text: 'a' });
  expect(requestsOf(server, 'GET')).toHaveLength(length);
});

describe('a redirect', () => {
  test.each([
    ['Streamable HTTP', startModernServer, 'http'],
    ['SSE', startSseServer, 'sse'],
  ] as const)('to another origin is refused (%s)', async (_, start, transport) => {
    const other = await start();
    const server = await serveHttpRequests((_, response) => {
      response.writeHead(307, { Location: other.url }).end();
    });
    const headers = { Authorization: 'Bearer of-the-server' };
    const connecting = remote(`${server.origin}/mcp`, { transport, headers }).connect(new EventLog(), never());
    expect(errorOf(await connecting)).toBe(
      'the server redirects to another origin (HTTP 307), which is refused; check its url',
    );
    expect(other.seen).toEqual([]);
  });

  test('within the origin is followed', async () => {
    const server = await startModernServer();
    server.answerNext('any', answers(307, '', { Location: '/mcp?moved' }));
    expect(await echo((await connect(server.url)).connection)).toBe('a');
  });
});

test.each(KINDS)('the configured proxy is used (%s)', async (_, start) => {
  const server = await start();
  const { origin, pathname } = new URL(server.url);
  const proxy = await startForwardProxy(Number(new URL(origin).port));
  const { fetch, close } = createProxyFetch({ HTTP_PROXY: proxy.url });
  onTestFinished(async () => {
    await close();
    await proxy.close();
  });
  const { connection } = await connect(`http://server.test${pathname}`, { fetch });
  expect(await echo(connection)).toBe('a');
  await connection.close();
  expect(proxy.seen.length).toBeGreaterThan(0);
  expect(proxy.seen.every((line) => line.includes('server.test'))).toBe(true);
});

test('the message of an error has at most 65,536 characters', async () => {
  // In the modern era, the name of a tool is also a header.
  const { connection } = await connect((await startSessionServer()).url, { maxBytes: 1_000_000 });
  const name = 'x'.repeat(70_000);
  expect(errorOf(await call(connection, name))).toMatchObject({
    kind: 'json_rpc',
    message: `Unknown tool: ${name}`.slice(0, 65_535).concat('…'),
  });
});

test.each(['retry: 0', 'retry: 99999999999'])(
  'an event stream that ends at once with %j is opened again after 100 ms to 60 s',
  async (retry) => {
    const server = await startSessionServer();
    const clock = new FakeClock();
    const streams = () => requestsOf(server, 'GET').length;
    server.answerNext('GET', ...Array.from({ length: 5 }, () => answers(200, `${retry}\n\n`, EVENTS)));
    const { connection } = await connect(server.url, { clock });
    for (const opened of [1, 2, 3]) {
      await expect.poll(streams).toBe(opened);
      // The end of the stream is noticed while the server answers calls.
      await expect.poll(() => clock.pendingSleeps).toBe(1);
      expect(await echo(connection)).toBe('a');
      expect(streams()).toBe(opened);
      await clock.advance(60_000);
    }
  },
);

const PARENT = {
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: 'congo=t61rcWkgMzE',
};
const BAGGAGE = { baggage: 'user=alice,tier=gold' };
const STATIC = { baggage: 'static=1' };

describe.each(KINDS)('with a call over %s, a server gets', (kind, start) => {
  const hasHeaders = kind !== 'SSE';

  test.each([
    ['the parent of a trace', { ...PARENT, ...BAGGAGE }, false, PARENT, { ...PARENT, ...STATIC }],
    ['the baggage too, if that is configured', { ...PARENT, ...BAGGAGE }, true, { ...PARENT, ...BAGGAGE }, BAGGAGE],
    ['nothing of a trace without a parent', BAGGAGE, false, {}, STATIC],
  ])('%s', async (_, trace, forwardBaggage, meta, headers) => {
    const { server, connection } = await connectTo(start, { headers: STATIC, forwardBaggage });
    await connection.callTool('echo', { text: 'a' }, { trace, onProgress: () => {} }, never());
    const [called] = requestsOf(server, 'tools/call');
    expect(called?.meta).toHaveProperty('progressToken');
    const inMeta = Object.entries({ ...called?.meta }).filter(([name]) => /trace|baggage/.test(name));
    expect(Object.fromEntries(inMeta)).toEqual(meta);
    if (hasHeaders) expect(called?.headers).toMatchObject(headers);
    const traced = server.seen.filter(({ headers }) => headers.traceparent !== undefined);
    expect(traced).toEqual(hasHeaders && 'traceparent' in meta ? [called] : []);
  });

  test('no progress token, if nothing listens to progress', async () => {
    const { server, connection } = await connectTo(start);
    expect((await connection.callTool('echo', { text: 'a' }, {}, never())).isOk()).toBe(true);
    expect(requestsOf(server, 'tools/call')[0]?.meta ?? {}).not.toHaveProperty('progressToken');
  });
});

test('an event stream that ends at once is opened ever more rarely', async () => {
  const server = await startSessionServer();
  const clock = new FakeClock();
  server.answerNext('GET', ...Array.from({ length: 9 }, () => answers(200, '', EVENTS)));
  await connect(server.url, { clock });
  for (const [index, ms] of [1000, 1000, 2000, 4000].entries()) {
    await expect.poll(() => requestsOf(server, 'GET')).toHaveLength(index + 1);
    await expect.poll(() => clock.pendingSleeps).toBe(1);
    await clock.advance(ms - 1);
    expect(requestsOf(server, 'GET')).toHaveLength(index + 1);
    await clock.advance(1);
  }
});

test.each([200, 204])('a server that answers %d without an event stream is not asked for one again', async (status) => {
  const server = await startSessionServer();
  const clock = new FakeClock();
  server.answerNext('GET', answers(status, status === 200 ? '{"ok":true}' : '', JSON_TYPE));
  const { connection } = await connect(server.url, { clock });
  await expect.poll(() => requestsOf(server, 'GET')).toHaveLength(1);
  expect(await echo(connection)).toBe('a');
  expect(clock.pendingSleeps).toBe(0);
});

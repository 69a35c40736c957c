import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { deferred, FakeLlmSearch, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { type Ask, legacy, type Reply, send } from '../support/http-client.ts';
import { hangs, ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { type ServeGatewayOptions, serveGateway } from './serve-gateway.ts';

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;
const READ = { server: 'files', toolName: 'read' };
const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const [ALICE = {}, BOB = {}] = TOKENS.map(({ token }) => ({ Authorization: `Bearer ${token}` }));

async function serveFiles(options: ServeGatewayOptions = {}) {
  const files = new ScriptedToolServer({ read: says('Hello.'), wait: hangs });
  return { files, ...(await serveGateway({ files }, options)) };
}

const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/mcp/tools'],
  ['GET', '/mcp/servers'],
  ['POST', '/mcp/call'],
  ['POST', '/mcp/tools/files/read'],
  ['POST', '/mcp/servers/files/restart'],
  ['GET', '/openapi.json'],
];

describe.each(ROUTES)('%s %s', (method, path) => {
  const ask = (headers: Ask['headers'] = {}): Ask => ({
    method,
    headers,
    ...(method === 'POST' ? { body: path === '/mcp/call' ? READ : {} } : {}),
  });

  test('requires the token, and refuses another Host, Origin or method', async () => {
    const { at, files } = await serveFiles({ http: { tokens: TOKENS } });
    await until(() => files.starts === 1);
    const statusOf = async (asked: Ask) => (await send(at(path), asked)).status;
    expect(await statusOf(ask())).toBe(401);
    expect(await statusOf(ask({ ...ALICE, Host: 'evil.example' }))).toBe(403);
    expect(await statusOf(ask({ ...ALICE, Origin: 'https://evil.example' }))).toBe(403);
    expect(files).toMatchObject({ calls: [], starts: 1 });
    const other = await send(at(path), { method: 'PUT', headers: ALICE });
    expect(other.status).toBe(405);
    expect(other.headers.allow).toBe(method === 'GET' ? 'GET, HEAD' : method);
    expect(await statusOf(ask(ALICE))).toBeLessThan(300);
  });

  test('is not stored by caches, and browsers do not guess its type, also of an error', async () => {
    const { at } = await serveFiles({ http: { tokens: TOKENS } });
    for (const headers of [{}, ALICE]) {
      const reply = await send(at(path), ask(headers));
      const isList = path === '/mcp/tools' && reply.status === 200;
      expect(reply.headers).toMatchObject({
        'cache-control': isList ? 'private, no-cache' : 'no-store',
        'x-content-type-options': 'nosniff',
      });
    }
  });
});

test('an error has the form of REST, with the ID of the request', async () => {
  const { get } = await serveFiles({ http: { tokens: TOKENS } });
  const reply = await get('/mcp/tools');
  expect(reply.headers['www-authenticate']).toBe('Bearer realm="mcp"');
  expect(json(reply)).toEqual({
    success: false,
    error: {
      code: 'UNAUTHORIZED',
      message: 'Unauthorized: send a valid token (Authorization: Bearer ...)',
      details: { requestId: reply.headers['x-request-id'] },
    },
  });
});

test('a response has the ID of the request if it is usable, otherwise a new one', async () => {
  const { get } = await serveFiles();
  const idOf = async (headers: Ask['headers'] = {}) =>
    String((await get('/mcp/servers', headers)).headers['x-request-id']);
  const usable = 'Az09_.-'.repeat(10).slice(0, 64);
  expect(await idOf({ 'X-Request-Id': usable })).toBe(usable);
  for (const unusable of [`${usable}x`, '', 'a b', 'a,b', 'ü']) {
    expect(await idOf({ 'X-Request-Id': Buffer.from(unusable).toString('latin1') })).toMatch(/^[\w-]{36}$/);
  }
  expect(await idOf()).not.toBe(await idOf());
});

describe('paths', () => {
  test.each(['/mcp/none', '/mcp/call/', '/mcp/tools/files', '/mcp/tools/a/b/c', '/mcp/servers/files', '/mcp/'])(
    '%s does not exist',
    async (path) => {
      const { at } = await serveFiles();
      const reply = await send(at(path), { body: {} });
      expect(reply.status).toBe(404);
      expect(json(reply)).toMatchObject({
        success: false,
        error: { code: 'NOT_FOUND', details: { requestId: reply.headers['x-request-id'] } },
      });
    },
  );

  test('other paths and the endpoint of MCP have no REST form', async () => {
    const { at, url } = await serveFiles();
    for (const reply of [await send(at('/none')), await send(url, { body: '{', headers: JSON_TYPE })]) {
      expect(reply.headers).not.toHaveProperty('x-request-id');
      expect(json(reply)).toMatchObject({ jsonrpc: '2.0' });
    }
  });

  test.each(['/', '/rpc', '/mcp/rpc'])('stay under /mcp if MCP is served at %s', async (path) => {
    const { url, at, get, call } = await serveFiles({ http: { path } });
    expect(new URL(url).pathname).toBe(path);
    expect((await send(url, { body: legacy('ping') })).message.result).toEqual({});
    expect((await get('/mcp/tools')).status).toBe(200);
    expect((await get('/openapi.json')).status).toBe(200);
    expect(json(await call(READ))).toEqual({ success: true, result: 'Hello.' });
    expect((await send(at('/mcp'), { body: legacy('ping') })).status).toBe(404);
  });
});

const JSON_TYPE = { 'Content-Type': 'application/json' };

test.each(['/mcp/call', '/mcp/tools/files/read'])('a body of %s must be JSON, and has a limit', async (path) => {
  const { at, files } = await serveFiles({ http: { maxBodyBytes: 1024 } });
  const typed = await send(at(path), { headers: { 'Content-Type': 'text/plain' }, body: JSON.stringify(READ) });
  expect(json(typed)).toMatchObject({ success: false, error: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
  const large = await send(at(path), { body: { ...READ, input: { text: 'x'.repeat(1024) } } });
  expect([typed.status, large.status]).toEqual([415, 413]);
  expect(json(large)).toMatchObject({ success: false, error: { code: 'PAYLOAD_TOO_LARGE' } });
  expect(files.calls).toEqual([]);
});

describe('pages of an allowed origin', () => {
  const Origin = 'https://chat.example.com';
  const http = { allowedOrigins: [Origin], tokens: TOKENS };

  test('may ask before each route, without the token', async () => {
    const { at } = await serveFiles({ http });
    for (const [, path] of ROUTES) {
      const reply = await send(at(path), { method: 'OPTIONS', headers: { Origin } });
      expect(reply.status).toBe(204);
      expect(reply.headers).toMatchObject({
        'access-control-allow-origin': Origin,
        'access-control-allow-methods': 'GET,POST',
        vary: expect.stringContaining('Origin'),
      });
      expect(reply.headers['access-control-allow-headers']).toMatch(/Authorization.*If-None-Match.*X-Request-Id/);
    }
  });

  test('may read responses and errors with their headers', async () => {
    const { get } = await serveFiles({ http });
    for (const headers of [{ Origin }, { Origin, ...ALICE }]) {
      expect((await get('/mcp/tools', headers)).headers).toMatchObject({
        'access-control-allow-origin': Origin,
        'access-control-expose-headers': 'ETag,RateLimit,RateLimit-Policy,Retry-After,WWW-Authenticate,X-Request-Id',
      });
    }
  });
});

test('a token in a result is masked', async () => {
  const files = new ScriptedToolServer({ read: says('the token is bob-token-0123456789') });
  const { call } = await serveGateway({ files }, { http: { tokens: TOKENS } });
  expect(json(await call(READ, ALICE))).toEqual({ success: true, result: 'the token is [redacted]' });
});

describe('the limit of calls per caller', () => {
  test('is shared by REST and MCP, and is independent of other callers', async () => {
    const search = repliesLate();
    const llmSearch = new FakeLlmSearch(search.configured);
    const http = { tokens: TOKENS, maxCallsPerToken: 2 };
    const { begin: beginMcp, beginCall, call, post, files, get } = await serveFiles({ llmSearch, http });
    const overRest = beginCall({ server: 'files', toolName: 'wait' }, ALICE);
    const overMcp = beginMcp(
      legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } }),
      ALICE,
    );
    await Promise.all([until(() => files.calls.length === 1), overMcp.until('progress')]);

    const refused = await call(READ, ALICE);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('1');
    expect(json(refused)).toMatchObject({
      error: {
        code: 'OVERLOADED',
        message: 'Too many calls in flight: at most 2 per token. Try again when one has finished.',
      },
    });
    expect((await post(legacy('tools/call', { name: 'files__read' }), ALICE)).status).toBe(429);
    expect((await get('/mcp/tools', ALICE)).status).toBe(429);
    expect((await call(READ, BOB)).status).toBe(200);

    search.settle(ok(searchReply()));
    await overMcp.reply;
    expect((await call(READ, ALICE)).status).toBe(200);
    overRest.leave();
  });
});

describe('a caller that leaves', () => {
  test('aborts the call, frees its place, and is logged with 499', async () => {
    const { beginCall, call, files, accessLines, untilLogged } = await serveFiles({ http: { maxCallsPerToken: 1 } });
    const left = beginCall({ server: 'files', toolName: 'wait' });
    await until(() => files.calls.length === 1);
    left.leave();
    await untilLogged(1);
    expect(files.calls[0]?.signal.aborted).toBe(true);
    expect(accessLines).toMatchObject([{ server: 'files', tool: 'wait', status: 499, outcome: 'cancelled' }]);
    expect((await call(READ)).status).toBe(200);
  });
});

describe('a shutdown', () => {
  test('refuses new calls, and answers those in flight', async () => {
    const gate = deferred<void>();
    const files = new ScriptedToolServer({
      read: async (...call) => {
        await gate.promise;
        return says('Hello.')(...call);
      },
    });
    const { server, clock, beginCall, call, at } = await serveGateway({ files });
    const running = beginCall(READ);
    await until(() => files.calls.length === 1);
    const drained = server.drain();
    for (const reply of [await call(READ), await send(at('/mcp/tools/files/read'), { body: {} })]) {
      expect(reply.status).toBe(503);
      expect(reply.headers).toMatchObject({ 'retry-after': '1', connection: 'close' });
      expect(json(reply)).toMatchObject({
        error: { code: 'SHUTTING_DOWN', message: 'The gateway is shutting down. Try again later.' },
      });
    }
    gate.settle();
    expect(json(await running.reply)).toEqual({ success: true, result: 'Hello.' });
    await clock.advance(100);
    await drained;
  });
});

describe('/readyz', () => {
  const NOT_READY = (why: string) => ({ status: 503, text: JSON.stringify({ ok: false, why }) });

  test('reports that servers are starting until each first start has settled', async () => {
    const slow = new ScriptedToolServer({}, 'hangs');
    const broken = new ScriptedToolServer({}, 'no such command');
    const { get, gateway } = await serveGateway({ slow, broken }, { definitions: { broken: { restart: 'never' } } });
    expect(await get('/readyz')).toMatchObject(NOT_READY('servers starting'));
    expect((await get('/healthz')).status).toBe(200);
    slow.letConnect();
    await until(() => gateway.readiness() !== 'starting');
    expect(await get('/readyz')).toMatchObject({ status: 200, text: '{"ok":true}' });
  });
});

test('a gateway needs no key to be ready', async () => {
  const { get, gateway } = await serveGateway({ files: new ScriptedToolServer({}) }, { http: { canAnswer: false } });
  await until(() => gateway.readiness() !== 'starting');
  expect((await get('/readyz')).status).toBe(200);
});

describe('while the gateway is being loaded', () => {
  test('it is not ready, and requests wait for it', async () => {
    const loaded = deferred<void>();
    let isLoading = true;
    const rest = { loading: () => (isLoading ? loaded.promise : undefined) };
    const { get, call, accessLines } = await serveFiles({ rest });
    expect(await get('/readyz')).toMatchObject({ status: 503, text: '{"ok":false,"why":"servers starting"}' });
    const replies = [get('/mcp/tools'), call(READ)];
    // A request that needs no server is not held up.
    expect((await get('/metrics')).status).toBe(200);
    expect(accessLines).toHaveLength(1);
    isLoading = false;
    loaded.settle();
    for (const reply of await Promise.all(replies)) expect(reply.status).toBe(200);
  });
});

test('an internal error has the form of REST, and shows nothing of the program', async () => {
  const rest = {
    gateway: () => {
      throw new Error(`cannot read ${import.meta.filename}`);
    },
  };
  const { get, call, logger } = await serveFiles({ rest });
  for (const reply of [await get('/mcp/servers'), await call(READ)]) {
    expect(reply.status).toBe(500);
    expect(json(reply)).toEqual({
      success: false,
      error: {
        code: 'INTERNAL_ERROR',
        message: 'Internal error',
        details: { requestId: reply.headers['x-request-id'] },
      },
    });
  }
  expect(logger.lines).toHaveLength(2);
  expect(logger.lines[0]).toContain('cannot read');
});

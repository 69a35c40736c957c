import { describe, expect, test } from 'vitest';
import { deferred } from '../support/fake-llm-search.ts';
import { type Ask, type Reply, send } from '../support/http-client.ts';
import { loadedServers } from '../support/loaded-servers.ts';
import { hangs, ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { type ServeGatewayOptions, serveGateway } from './serve-gateway.ts';

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;
const READ = { server: 'files', toolName: 'read' };
const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const ALICE = { Authorization: 'Bearer alice-token-0123456789' };

async function serveFiles(options: ServeGatewayOptions = {}) {
  const files = new ScriptedToolServer({ read: says('Hello.'), wait: hangs });
  return { files, ...(await serveGateway({ files }, options)) };
}

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

test('responses are not stored by caches, and browsers do not guess their type, also of an error', async () => {
  const { get } = await serveFiles({ http: { tokens: TOKENS } });
  for (const [path, headers, cacheControl] of [
    ['/mcp/tools', {}, 'no-store'],
    ['/mcp/tools', ALICE, 'private, no-cache'],
    ['/mcp/servers', ALICE, 'no-store'],
    ['/openapi.json', ALICE, 'no-store'],
  ] as const) {
    const expected = { 'cache-control': cacheControl, 'x-content-type-options': 'nosniff' };
    expect((await get(path, headers)).headers).toMatchObject(expected);
  }
});

test('a response has the ID of the request if it is usable, otherwise a new one', async () => {
  const { get } = await serveFiles();
  const idOf = async (headers: Ask['headers'] = {}) =>
    String((await get('/mcp/servers', headers)).headers['x-request-id']);
  const usable = 'Az09_.-'.repeat(10).slice(0, 64);
  expect(await idOf({ 'X-Request-Id': usable })).toBe(usable);
  for (const unusable of [`${usable}x`, '', 'a b', 'ü']) {
    expect(await idOf({ 'X-Request-Id': Buffer.from(unusable).toString('latin1') })).toMatch(/^[\w-]{36}$/);
  }
  expect(await idOf()).not.toBe(await idOf());
});

test.each(['/mcp/none', '/mcp/check', '/mcp/call/', '/mcp/tools/files', '/mcp/tools/a/b/c', '/mcp/servers/files'])(
  'the path %s does not exist',
  async (path) => {
    const { at } = await serveFiles();
    const reply = await send(at(path), { body: {} });
    expect(reply.status).toBe(404);
    expect(json(reply)).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
  },
);

test.each([
  ['GET, HEAD', ['/mcp/tools', '/mcp/servers', '/openapi.json']],
  ['POST', ['/mcp/call', '/mcp/tools/files/read', '/mcp/servers/files/restart']],
])('only %s is allowed at %j', async (allow, paths) => {
  const { at } = await serveFiles();
  for (const path of paths) {
    const { status, headers } = await send(at(path), { method: 'PUT' });
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow });
  }
});

test.each(['/mcp/call', '/mcp/tools/files/read'])('a body of %s must be JSON, and has a limit', async (path) => {
  const { at, files } = await serveFiles({ http: { maxBodyBytes: 1024 } });
  const typed = await send(at(path), { headers: { 'Content-Type': 'text/plain' }, body: JSON.stringify(READ) });
  const large = await send(at(path), { body: { ...READ, input: { text: 'x'.repeat(1024) } } });
  expect([typed.status, large.status]).toEqual([415, 413]);
  expect(json(typed)).toMatchObject({ success: false, error: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
  expect(json(large)).toMatchObject({ success: false, error: { code: 'PAYLOAD_TOO_LARGE' } });
  expect(files.calls).toEqual([]);
});

test('a caller that leaves aborts the call, and is logged with 499', async () => {
  const { beginCall, files, accessLines, untilLogged } = await serveFiles();
  const left = beginCall({ server: 'files', toolName: 'wait' });
  await until(() => files.calls.length === 1);
  left.leave();
  await untilLogged(1);
  expect(files.calls[0]?.signal.aborted).toBe(true);
  expect(accessLines).toMatchObject([{ server: 'files', tool: 'wait', status: 499, outcome: 'cancelled' }]);
});

describe('readiness', () => {
  test('waits until each first start of a server has settled, and needs no key', async () => {
    const slow = new ScriptedToolServer({}, 'hangs');
    const broken = new ScriptedToolServer({}, 'no such command');
    const definitions = { broken: { restart: 'never' as const } };
    const { get, gateway } = await serveGateway({ slow, broken }, { definitions, http: { canAnswer: false } });
    expect(await get('/readyz')).toMatchObject({ status: 503, text: '{"ok":false,"why":"servers starting"}' });
    expect((await get('/healthz')).status).toBe(200);
    slow.letConnect();
    await until(() => gateway.readiness() !== 'starting');
    expect(await get('/readyz')).toMatchObject({ status: 200, text: '{"ok":true}' });
  });

  test('waits while the gateway is being loaded, as do requests that need it', async () => {
    const loaded = deferred<void>();
    const { get, call, accessLines } = await serveFiles({ whenLoaded: loaded.promise });
    expect(await get('/readyz')).toMatchObject({ status: 503, text: '{"ok":false,"why":"servers starting"}' });
    const replies = [get('/mcp/tools'), call(READ)];
    // A request that needs no server is not held up.
    expect((await get('/metrics')).status).toBe(200);
    expect(accessLines).toHaveLength(1);
    loaded.settle();
    for (const reply of await Promise.all(replies)) expect(reply.status).toBe(200);
  });
});

test('an internal error has the form of REST, and shows nothing of the program', async () => {
  const servers = {
    ...loadedServers(),
    get gateway(): never {
      throw new Error(`cannot read ${import.meta.filename}`);
    },
  };
  const { get, logger } = await serveFiles({ http: { servers } });
  const reply = await get('/mcp/servers');
  expect(reply.status).toBe(500);
  expect(json(reply)).toEqual({
    success: false,
    error: {
      code: 'INTERNAL_ERROR',
      message: 'Internal error',
      details: { requestId: reply.headers['x-request-id'] },
    },
  });
  expect(logger.lines).toEqual([expect.stringContaining('cannot read')]);
});

import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { type Reply, send } from '../support/http-client.ts';
import { echoes, hangs, ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { serveGateway } from './serve-gateway.ts';

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;
const namesOf = (reply: Reply) =>
  (json(reply).tools as { server: string; name: string }[]).map(({ server, name }) => `${server}/${name}`);
const ANSWERS = ['answer', 'answer_detailed', 'answer_quick'].map((name) => `openai-responses-mcp/${name}`);

describe('GET /mcp/tools', () => {
  test('lists the tools as the servers described them', async () => {
    const described = {
      title: 'Read a file',
      description: 'Reads.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    };
    const files = new ScriptedToolServer({ read: { script: echoes, ...described }, plain: echoes });
    const { get } = await serveGateway({ files }, { definitions: { files: { timeoutMs: 1234 } } });
    const reply = await get('/mcp/tools?server=files');
    expect(reply.status).toBe(200);
    expect(json(reply)).toEqual({
      success: true,
      tools: [
        { name: 'read', ...described, server: 'files', timeout: 1234 },
        { name: 'plain', description: '', inputSchema: { type: 'object' }, server: 'files', timeout: 1234 },
      ],
      servers: [{ name: 'files', state: 'available' }],
    });
  });

  test('waits at most 5 s for first starts, and omits the tools of servers that are not available', async () => {
    const stuck = new ScriptedToolServer({ a: echoes }, 'hangs');
    const broken = new ScriptedToolServer({ b: echoes }, 'no such command');
    const up = new ScriptedToolServer({ c: echoes });
    const definitions = { broken: { restart: 'never' as const } };
    const { get, clock } = await serveGateway({ stuck, broken, up }, { definitions });
    const started = clock.pendingSleeps;
    let isListed = false;
    const listed = get('/mcp/tools').finally(() => {
      isListed = true;
    });
    await until(() => clock.pendingSleeps === started + 1);
    await clock.advance(4999);
    expect(isListed).toBe(false);
    await clock.advance(1);
    const reply = await listed;
    expect(namesOf(reply)).toEqual(['up/c', ...ANSWERS]);
    expect(json(reply).servers).toEqual([
      { name: 'stuck', state: 'starting' },
      { name: 'broken', state: 'failed' },
      { name: 'up', state: 'available' },
    ]);
  });

  test('contains the tools of one server only', async () => {
    const files = new ScriptedToolServer({ a: echoes });
    const web = new ScriptedToolServer({ b: echoes });
    const { get } = await serveGateway({ files, web });
    const reply = await get('/mcp/tools?server=web');
    expect(namesOf(reply)).toEqual(['web/b']);
    expect(json(reply).servers).toEqual([{ name: 'web', state: 'available' }]);
    expect(namesOf(await get('/mcp/tools?server=openai-responses-mcp'))).toEqual(ANSWERS);
  });

  test.each(['none', ''])('of an unknown server (%j) is 404 at once', async (name) => {
    const stuck = new ScriptedToolServer({}, 'hangs');
    const { get } = await serveGateway({ stuck });
    const reply = await get(`/mcp/tools?server=${name}`);
    expect(reply.status).toBe(404);
    expect(json(reply)).toMatchObject({
      error: {
        code: 'SERVER_NOT_FOUND',
        message: `There is no server "${name}". The servers are stuck, openai-responses-mcp.`,
        details: { server: name },
      },
    });
  });

  test('has an ETag, which is that of the content', async () => {
    const files = new ScriptedToolServer({ a: echoes });
    const { get } = await serveGateway({ files });
    const first = await get('/mcp/tools');
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[\w-]+"$/);
    expect(first.headers['cache-control']).toBe('private, no-cache');
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get('/mcp/tools', { 'If-None-Match': known });
      expect(again).toMatchObject({ status: 304, text: '' });
      expect(again.headers).toMatchObject({ etag, 'x-request-id': expect.any(String) });
    }
    expect((await get('/mcp/tools?server=files', { 'If-None-Match': etag })).status).toBe(200);

    files.change({ a: { script: echoes, description: 'New.' } });
    const changed = await get('/mcp/tools', { 'If-None-Match': etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
    files.crash();
    expect((await get('/mcp/tools', { 'If-None-Match': String(changed.headers.etag) })).status).toBe(200);
  });

  test('without servers contains the answer tools', async () => {
    const { get } = await serveGateway({});
    const reply = await get('/mcp/tools');
    expect(namesOf(reply)).toEqual(ANSWERS);
    expect(json(reply).servers).toEqual([]);
    expect(json(await get('/mcp/servers'))).toEqual({ success: true, servers: [] });
  });
});

describe('GET /mcp/servers', () => {
  test('shows what each server does', async () => {
    const up = new ScriptedToolServer({ a: echoes, b: echoes });
    const broken = new ScriptedToolServer({}, 'no such command');
    const definitions = { broken: { transport: 'http' as const, restart: 'never' as const } };
    const { get, gateway, clock } = await serveGateway({ up, broken }, { definitions });
    await gateway.whenStarted(1, new AbortController().signal);
    expect(json(await get('/mcp/servers'))).toEqual({
      success: true,
      servers: [
        {
          name: 'up',
          transport: 'stdio',
          state: 'available',
          since: '2026-01-05T03:00:00.000Z',
          restarts: 0,
          tools: 2,
          protocolVersion: '2025-11-25',
          serverInfo: { name: 'fake', version: '1.2.3' },
        },
        {
          name: 'broken',
          transport: 'http',
          state: 'failed',
          since: '2026-01-05T03:00:00.000Z',
          restarts: 0,
          tools: 0,
          lastError: 'no such command',
        },
      ],
    });
    await clock.advance(5000);
    up.crash();
    const crashed = json(await get('/mcp/servers')).servers as object[];
    expect(crashed[0]).toEqual({
      name: 'up',
      transport: 'stdio',
      state: 'unavailable',
      since: '2026-01-05T03:00:05.000Z',
      restarts: 0,
      tools: 0,
      lastError: 'killed by SIGKILL',
    });
    await clock.advance(1000);
    const restarted = json(await get('/mcp/servers')).servers as object[];
    expect(restarted[0]).toMatchObject({
      state: 'available',
      since: '2026-01-05T03:00:06.000Z',
      restarts: 1,
      tools: 2,
    });
  });
});

test('GET /mcp/servers says if there is no usable key for answers', async () => {
  const { get } = await serveGateway({}, { http: { canAnswer: false } });
  expect(json(await get('/mcp/servers'))).toEqual({ success: true, servers: [], canAnswer: false });
});

describe('POST /mcp/servers/{name}/restart', () => {
  const TYPE = { 'Content-Type': 'application/json' };
  const never = { definitions: { files: { restart: 'never' as const } } };

  test('starts the server, in any state, and answers at once; the body is optional', async () => {
    const files = new ScriptedToolServer({}, 'one', 'connects', 'hangs');
    const { at, gateway, clock } = await serveGateway({ files }, never);
    const restart = (body?: object) => send(at('/mcp/servers/files/restart'), { headers: TYPE, ...(body && { body }) });
    await until(() => gateway.servers[0]?.state === 'failed');
    expect(await restart()).toMatchObject({ status: 202, text: '{"success":true}' });
    await until(() => gateway.servers[0]?.state === 'available');
    await clock.advance(10_000);
    expect((await restart()).status).toBe(202);
    expect(gateway.servers).toMatchObject([{ state: 'starting' }]);
    await clock.advance(10_000);
    expect((await restart({ any: 'body' })).status).toBe(202);
    await until(() => files.starts === 4);
  });

  test('requires the content type of JSON, which a page of another origin cannot send without asking', async () => {
    const files = new ScriptedToolServer();
    const { at, gateway } = await serveGateway({ files });
    await gateway.whenStarted(1, new AbortController().signal);
    for (const headers of [{}, { 'Content-Type': 'text/plain' }]) {
      const reply = await send(at('/mcp/servers/files/restart'), { headers });
      expect(reply.status).toBe(415);
      expect(json(reply)).toMatchObject({ error: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    }
    expect(files.starts).toBe(1);
  });

  test('is refused for 10 s after the last restart of the same server by request', async () => {
    const [files, web] = [new ScriptedToolServer(), new ScriptedToolServer()];
    const { at, clock, gateway, accessLines, untilLogged } = await serveGateway({ files, web });
    await gateway.whenStarted(1, new AbortController().signal);
    const restart = (name: string) => send(at(`/mcp/servers/${name}/restart`), { headers: TYPE });
    expect((await restart('files')).status).toBe(202);
    await clock.advance(7500);
    const refused = await restart('files');
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '3' } });
    expect(json(refused)).toMatchObject({
      error: {
        code: 'OVERLOADED',
        message: 'The server files was restarted a moment ago. Try again in 2.5 s.',
        details: { server: 'files' },
      },
    });
    expect((await restart('web')).status).toBe(202);
    await clock.advance(2499);
    expect((await restart('files')).status).toBe(429);
    expect(files.starts).toBe(2);
    await clock.advance(1);
    expect((await restart('files')).status).toBe(202);
    await until(() => files.starts === 3);
    await untilLogged(5);
    expect(accessLines.slice(0, 2)).toMatchObject([
      { server: 'files', status: 202, outcome: 'answered' },
      { status: 429, outcome: 'refused', path: '/mcp/servers/files/restart', reason: 'restarted a moment ago' },
    ]);
  });

  test('counts as a call of its caller', async () => {
    const files = new ScriptedToolServer({ wait: hangs });
    const { at, call, beginCall, gateway } = await serveGateway({ files }, { http: { maxCallsPerToken: 1 } });
    await gateway.whenStarted(1, new AbortController().signal);
    const running = beginCall({ server: 'files', toolName: 'wait' });
    await until(() => files.calls.length === 1);
    const reply = await send(at('/mcp/servers/files/restart'), { headers: TYPE });
    expect(reply.status).toBe(429);
    expect(json(reply)).toMatchObject({ error: { message: expect.stringContaining('Too many calls in flight') } });
    expect(files.starts).toBe(1);
    running.leave();
    await until(() => files.calls[0]?.signal.aborted === true);
    expect((await call({ server: 'files', toolName: 'none' })).status).toBe(404);
  });

  test('of an unknown server is 404', async () => {
    const { at } = await serveGateway({ files: new ScriptedToolServer() });
    for (const name of ['none', 'openai-responses-mcp', '%E0%A4%A']) {
      const reply = await send(at(`/mcp/servers/${name}/restart`), { headers: TYPE });
      expect(reply.status).toBe(404);
      expect(json(reply)).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
    }
  });
});

describe('GET /openapi.json', () => {
  test('?server= describes one server, and 404 names those that exist', async () => {
    const { get } = await serveGateway({ files: new ScriptedToolServer({ read: says('x') }) });
    await get('/openapi.json');
    const { paths } = json(await get('/openapi.json?server=files')) as { readonly paths: object };
    expect(Object.keys(paths)).toEqual(['/mcp/tools/files/read']);
    const unknown = await get('/openapi.json?server=none');
    expect(unknown.status).toBe(404);
    expect(json(unknown)).toMatchObject({ error: { code: 'SERVER_NOT_FOUND' } });
  });

  const ODD = [
    'get weather',
    'get/weather',
    'get.weather',
    'a?b#c%d&e',
    '{id}',
    '天気',
    'x'.repeat(200),
    '..a',
    "it's",
  ];

  test('is valid, and every tool can be called on its path', async () => {
    const odd = new ScriptedToolServer(Object.fromEntries(ODD.map((name) => [name, says(`I am ${name}`)])));
    const { get, at } = await serveGateway({ odd });
    const reply = await get('/openapi.json');
    expect(reply.status).toBe(200);
    const document = json(reply) as { paths: Record<string, unknown>; servers: { url: string }[] };
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    const paths = Object.keys(document.paths);
    expect(paths).toHaveLength(ODD.length + 3);
    const replies = await Promise.all(paths.slice(0, ODD.length).map((path) => send(at(path), { body: {} })));
    expect(replies.map(({ text }) => JSON.parse(text) as unknown)).toEqual(ODD.map((name) => `I am ${name}`));
  });

  test('names the address that the client uses, and asks for a token only if there is one', async () => {
    const http = { allowedHosts: ['mcp.example.com'], tokens: [{ caller: 'a', token: 'token-of-a-0123456789' }] };
    const { get } = await serveGateway({}, { http });
    const headers = { Host: 'mcp.example.com', Authorization: 'Bearer token-of-a-0123456789' };
    const documentOf = async (over: object) => json(await get('/openapi.json', { ...headers, ...over }));
    expect(await documentOf({})).toMatchObject({
      servers: [{ url: 'http://mcp.example.com' }],
      security: [{ bearer: [] }],
    });
    for (const proto of ['https', 'https, http']) {
      expect(await documentOf({ 'X-Forwarded-Proto': proto })).toMatchObject({
        servers: [{ url: 'https://mcp.example.com' }],
      });
    }
    expect(json(await (await serveGateway({})).get('/openapi.json'))).toMatchObject({ security: [{}, { bearer: [] }] });
  });
});

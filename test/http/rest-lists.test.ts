import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { rightsBy } from '../../src/domain/gateway/access.ts';
import { type Reply, send } from '../support/http-client.ts';
import { echoes, ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
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

  test('contains the tools of one server only, and none of an unknown one is waited for', async () => {
    const stuck = new ScriptedToolServer({ a: echoes }, 'hangs');
    const web = new ScriptedToolServer({ b: echoes });
    const { get, clock } = await serveGateway({ stuck, web });
    const unknown = await get('/mcp/tools?server=');
    expect(unknown.status).toBe(404);
    expect(json(unknown)).toMatchObject({
      error: {
        code: 'SERVER_NOT_FOUND',
        message: 'There is no server "". The servers are stuck, web, openai-responses-mcp.',
        details: { server: '' },
      },
    });
    stuck.letConnect();
    await clock.advance(0);
    const reply = await get('/mcp/tools?server=web');
    expect(namesOf(reply)).toEqual(['web/b']);
    expect(json(reply).servers).toEqual([{ name: 'web', state: 'available' }]);
    expect(namesOf(await get('/mcp/tools?server=openai-responses-mcp'))).toEqual(ANSWERS);
  });

  test('has an ETag, which is that of the content', async () => {
    const files = new ScriptedToolServer({ a: echoes });
    const { get } = await serveGateway({ files });
    const first = await get('/mcp/tools');
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get('/mcp/tools', { 'If-None-Match': known });
      expect(again).toMatchObject({ status: 304, text: '' });
      expect(again.headers).toMatchObject({ etag, 'x-request-id': expect.any(String) });
    }
    files.change({ a: { script: echoes, description: 'New.' } });
    const changed = await get('/mcp/tools', { 'If-None-Match': etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(etag);
    files.crash();
    expect((await get('/mcp/tools', { 'If-None-Match': String(changed.headers.etag) })).status).toBe(200);
  });

  test('without servers contains the answer tools, with the time limit of a question', async () => {
    const { get } = await serveGateway({}, { http: { canAnswer: false } });
    const { tools, servers } = json(await get('/mcp/tools')) as { tools: object[]; servers: object[] };
    expect(tools.map((tool) => Object(tool).name)).toEqual(['answer', 'answer_detailed', 'answer_quick']);
    expect(tools[0]).toMatchObject({
      title: 'Answer with web search',
      server: 'openai-responses-mcp',
      timeout: 300_000,
      inputSchema: { required: ['query'] },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    });
    expect(servers).toEqual([]);
    // There is no usable key.
    expect(json(await get('/mcp/servers'))).toEqual({ success: true, servers: [], canAnswer: false });
  });
});

// S63
test('GET /mcp/servers shows warnings of the configuration to local callers and operators only', async () => {
  const warnings = () => ['grounding: no caller gets the tools\nof grounding.tools'];
  const seen = ['grounding: no caller gets the tools of grounding.tools'];
  const open = await serveGateway({}, { http: { warnings } });
  expect(json(await open.get('/mcp/servers'))).toMatchObject({ warnings: seen });
  const tokens = ['olga', 'alice'].map((caller) => ({ caller, token: `token-of-${caller}` }));
  const rightsOf = rightsBy({ olga: { operator: true }, '*': {} });
  const team = await serveGateway({}, { http: { warnings, tokens, rightsOf } });
  const listedFor = async (caller: string) =>
    json(await team.get('/mcp/servers', { authorization: `Bearer token-of-${caller}` }));
  expect(await listedFor('olga')).toMatchObject({ warnings: seen });
  expect(await listedFor('alice')).not.toHaveProperty('warnings');
});

test('GET /mcp/servers shows what each server does', async () => {
  const up = new ScriptedToolServer({ a: echoes, b: echoes });
  const broken = new ScriptedToolServer({}, 'no such command');
  const definitions = { broken: { transport: 'http' as const, restart: 'never' as const } };
  const { get, gateway } = await serveGateway({ up, broken }, { definitions });
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
});

describe('POST /mcp/servers/{name}/restart', () => {
  const TYPE = { 'Content-Type': 'application/json' };

  test('starts a server that has failed, and answers at once', async () => {
    const files = new ScriptedToolServer({}, 'one', 'hangs');
    const definitions = { files: { restart: 'never' as const } };
    const { at, gateway } = await serveGateway({ files }, { definitions });
    await until(() => gateway.servers[0]?.state === 'failed');
    const restarted = await send(at('/mcp/servers/files/restart'), { headers: TYPE });
    expect(restarted).toMatchObject({ status: 202, text: '{"success":true}' });
    expect(gateway.servers).toMatchObject([{ state: 'starting' }]);
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
  test('?server= describes one server', async () => {
    const { get } = await serveGateway({ files: new ScriptedToolServer({ read: says('x') }) });
    const { paths } = json(await get('/openapi.json?server=files')) as { readonly paths: object };
    expect(Object.keys(paths)).toEqual(['/mcp/tools/files/read']);
    expect((await get('/openapi.json?server=none')).status).toBe(404);
  });

  const ODD = ['get weather', 'get/weather', 'a?b#c%d&e', '{id}', '天気', 'x'.repeat(200), '..a', "it's"];

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

  test('names its own folder, for every proxy, and asks for a token only if there is one', async () => {
    const http = { tokens: [{ caller: 'a', token: 'token-of-a-0123456789' }] };
    const { get } = await serveGateway({}, { http });
    const headers = { Authorization: 'Bearer token-of-a-0123456789', 'X-Forwarded-Proto': 'https' };
    expect(json(await get('/openapi.json', headers))).toMatchObject({
      servers: [{ url: '.' }],
      security: [{ bearer: [] }],
    });
    expect(json(await (await serveGateway({})).get('/openapi.json'))).toMatchObject({ security: [{}, { bearer: [] }] });
  });
});

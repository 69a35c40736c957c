import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { type AccessEntry, type AccessPolicy, rightsBy } from '../../src/domain/gateway/access.ts';
import { says as answers, FakeLlmSearch } from '../support/fake-llm-search.ts';
import { untilAborted } from '../support/fake-tool-server.ts';
import { legacy, modern, type Reply, send } from '../support/http-client.ts';
import { ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { type ServedGateway, type ServeGatewayOptions, serveGateway } from './serve-gateway.ts';

const ACCESS: AccessPolicy = {
  reader: { servers: { files: 'read_only', down: ['x'] } },
  writer: { servers: { files: ['wri*'] }, answers: ['answer_quick'] },
  ops: { servers: 'all', answers: true, operator: true },
  nothing: {},
};
const CALLERS = [...Object.keys(ACCESS), 'unlisted'] as const;
type Caller = string;
const tokenOf = (caller: Caller) => `${caller}-token-0123456789`;
const as = (caller: Caller) => ({ Authorization: `Bearer ${tokenOf(caller)}`, 'X-Request-Id': 'same' });

async function serve(options: ServeGatewayOptions = {}) {
  const files = new ScriptedToolServer({
    read: { script: says('Read.'), annotations: { readOnlyHint: true } },
    write: says('Written.'),
  });
  const hidden = new ScriptedToolServer({ look: says('Seen.') });
  const down = new ScriptedToolServer({ x: says('x') }, 'cannot start', 'cannot start');
  const tokens = CALLERS.map((caller) => ({ caller, token: tokenOf(caller) }));
  const http = { tokens, rightsOf: rightsBy(ACCESS) };
  const llmSearch = new FakeLlmSearch(...Array.from({ length: 9 }, () => answers('Seen.')));
  const served = await serveGateway({ files, hidden, down }, { http, llmSearch, ...options });
  await until(() => served.gateway.tools.length === 3);
  return { ...served, files, hidden, down };
}

/** Every way to call a tool. */
const DOORS: Readonly<
  Record<string, (to: ServedGateway, caller: Caller, server: string, tool: string) => Promise<Reply>>
> = {
  '/mcp/call': (to, caller, server, tool) => to.call({ server, toolName: tool, input: { query: 'q' } }, as(caller)),
  '/mcp/tools': (to, caller, server, tool) =>
    send(to.at(`/mcp/tools/${server}/${tool}`), { body: { query: 'q' }, headers: as(caller) }),
  'legacy MCP': (to, caller, server, tool) =>
    to.post(legacy('tools/call', { name: nameOf(server, tool), arguments: { query: 'q' } }), as(caller)),
  'modern MCP': (to, caller, server, tool) =>
    to.post(modern('tools/call', { name: nameOf(server, tool), arguments: { query: 'q' } }), as(caller)),
};
const nameOf = (server: string, tool: string) => (server === ANSWERS ? tool : `${server}__${tool}`);
const ANSWERS = 'openai-responses-mcp';

/** Tools that exist, who may use each, and a name of the same kind that no configuration has. */
const TOOLS: readonly (readonly [
  server: string,
  tool: string,
  callers: readonly Caller[],
  unknown: readonly [string, string],
])[] = [
  ['files', 'read', ['reader', 'ops'], ['files', 'rea_']],
  ['hidden', 'look', ['ops'], ['hidde_', 'look']],
  [ANSWERS, 'answer_quick', ['writer', 'ops'], [ANSWERS, 'answer_quic_']],
];

/** A response, in which the name that was asked for is replaced. */
const seen = ({ status, headers, text }: Reply, server: string, tool: string) => {
  const { date: _, ...rest } = headers;
  const names = [`${server}__${tool}`, tool, server].filter((name) => name !== 'files' && name !== ANSWERS);
  const replace = (part: string) => names.reduce((left, name) => left.replaceAll(`"${name}"`, '"?"'), part);
  const plain = names.reduce(
    (left, name) => left.replace(new RegExp(`(?<![\\w/])${name}(?!\\w)`, 'g'), '?'),
    replace(text),
  );
  // Names may have other lengths.
  return { status, headers: { ...rest, 'content-length': '?' }, text: plain };
};

describe.each(Object.entries(DOORS))('over %s', (_, call) => {
  test.each(TOOLS)(
    '%s/%s is used by those who may, and does not exist for others',
    async (server, tool, callers, unknown) => {
      const served = await serve();
      for (const caller of CALLERS) {
        const reply = await call(served, caller, server, tool);
        if (callers.includes(caller)) {
          expect(reply.status).toBe(200);
          expect(reply.text).toMatch(/Read\.|Seen\.|structuredContent/);
        } else {
          const other = await call(served, caller, ...unknown);
          expect(reply.text).not.toMatch(/Read\.|Seen\./);
          expect(seen(reply, server, tool)).toEqual(seen(other, ...unknown));
        }
      }
      const called = [...served.files.calls, ...served.hidden.calls];
      expect(called).toHaveLength(server === ANSWERS ? 0 : callers.length);
    },
  );
});

describe('with tools that find and call others', () => {
  test('what a caller may not use is an unknown name, which is logged with a reason', async () => {
    const served = await serve({ expose: 'search' });
    const through = (caller: Caller, name: string) =>
      served.post(legacy('tools/call', { name: 'call_tool', arguments: { name } }), as(caller));
    const [hidden, unknown] = [await through('reader', 'hidden__look'), await through('reader', 'hidde___look')];
    expect(hidden.text).toContain('TOOL_NOT_FOUND: ');
    expect(seen(hidden, 'hidden', 'look')).toEqual(seen(unknown, 'hidde_', 'look'));
    expect((await through('ops', 'hidden__look')).text).toContain('Seen.');
    await served.untilLogged(3);
    expect(served.accessLines).toMatchObject([
      { reason: 'access', outcome: 'served' },
      { outcome: 'served' },
      { server: 'hidden', tool: 'look', outcome: 'answered' },
    ]);
    expect(served.hidden.calls).toHaveLength(1);
  });

  test('REST does not have these tools', async () => {
    const served = await serve({ expose: 'search' });
    expect((await served.get('/mcp/tools', as('ops'))).text).not.toContain('find_tools');
    const reply = await served.call({ server: ANSWERS, toolName: 'find_tools', input: {} }, as('ops'));
    expect(reply.status).toBe(404);
  });
});

// S65
describe('lists', () => {
  test('of a caller without an entry are empty, and the log says why', async () => {
    const served = await serve();
    for (const caller of ['unlisted', 'nothing'] as const) await served.get('/mcp/tools', as(caller));
    await served.untilLogged(2);
    expect(served.accessLines.map(({ caller, outcome, reason }) => [caller, outcome, reason])).toEqual([
      ['unlisted', 'served', 'no entry in access'],
      ['nothing', 'served', undefined],
    ]);
  });

  test.each<[Caller, readonly string[], readonly string[]]>([
    ['reader', ['down', 'files'], ['read']],
    ['writer', ['files'], ['answer_quick', 'write']],
    ['nothing', [], []],
  ])('of %s have the servers %j and the tools %j', async (caller, servers, names) => {
    const served = await serve();
    const jsonAt = async <T>(path: string) => JSON.parse((await served.get(path, as(caller))).text) as T;
    const { tools } = await jsonAt<{ tools: { server: string; name: string }[] }>('/mcp/tools');
    expect(tools.map(({ name }) => name).sort()).toEqual(names);
    const shown = (await jsonAt<{ servers: { name: string; tools: number }[] }>('/mcp/servers')).servers;
    expect(shown.map(({ name }) => name).sort()).toEqual(servers);
    for (const { name, tools: count } of shown)
      expect(count).toBe(tools.filter(({ server }) => server === name).length);
    const { paths } = await jsonAt<{ paths: object }>('/openapi.json');
    expect(Object.keys(paths)).toHaveLength(tools.length);
    const { result } = (await served.post(modern('tools/list'), as(caller))).message;
    expect(result).toMatchObject({ cacheScope: 'private' });
    expect(result?.tools).toHaveLength(tools.length);
    expect((await served.get('/mcp/tools?server=hidden', as(caller))).text).toBe(
      (await served.get('/mcp/tools?server=unknow', as(caller))).text.replaceAll('unknow', 'hidden'),
    );
  });

  test.each<[Caller, RegExp | undefined]>([
    ['ops', /Choose answer for most .*answer_quick .*answer_detailed /],
    ['writer', /^(?:(?!answer_detailed).)*The result is \{answer, .*$/s],
    ['reader', undefined],
  ])('and instructions name only answer tools that %s may use', async (caller, expected) => {
    const { post } = await serve();
    for (const request of [legacy('initialize'), modern('server/discover')]) {
      const { instructions } = (await post(request, as(caller))).message.result ?? {};
      if (expected === undefined) expect(instructions).toBeUndefined();
      else expect(instructions).toMatch(expected);
    }
  });

  test('have an ETag of what the caller sees', async () => {
    const served = await serve();
    const [reader, ops] = await Promise.all(['reader', 'ops'].map((name) => served.get('/mcp/tools', as(name))));
    const { etag = '' } = reader?.headers ?? {};
    expect(ops?.headers.etag).not.toBe(etag);
    expect((await served.get('/mcp/tools', { ...as('reader'), 'If-None-Match': etag })).status).toBe(304);
    served.hidden.change({ look: says('Seen.'), more: says('More.') });
    await served.clock.advance(0);
    expect((await served.get('/mcp/tools', { ...as('reader'), 'If-None-Match': etag })).status).toBe(304);
  });
});

describe('a server that is down', () => {
  test('is reported to callers who may use something of it, and to no others', async () => {
    const served = await serve();
    const call = (caller: Caller, server: string) => served.call({ server, toolName: 'x' }, as(caller));
    expect((await call('reader', 'down')).status).toBe(503);
    expect((await call('writer', 'down')).text).toBe((await call('writer', 'unkn')).text.replaceAll('unkn', 'down'));
  });

  test('is not waited for by others', async () => {
    const files = new ScriptedToolServer({ read: says('Read.') });
    const slow = new ScriptedToolServer({ x: says('x') });
    slow.connect = (_, signal) => untilAborted(signal).then(() => err('aborted'));
    const http = { tokens: [{ caller: 'reader', token: tokenOf('reader') }], rightsOf: rightsBy(ACCESS) };
    const served = await serveGateway({ files, hidden: slow }, { http });
    await until(() => served.gateway.tools.length === 1);
    // The time does not advance.
    for (const path of ['/mcp/tools', '/openapi.json']) expect((await served.get(path, as('reader'))).status).toBe(200);
    expect((await served.post(legacy('tools/list'), as('reader'))).status).toBe(200);
    expect((await served.call({ server: 'hidden', toolName: 'x' }, as('reader'))).status).toBe(404);
    expect((await served.post(legacy('tools/call', { name: 'hidden__x' }), as('reader'))).text).toContain(
      'Unknown tool',
    );
  });
});

describe('operators', () => {
  test('restart servers and read metrics; others learn nothing about servers', async () => {
    const served = await serve();
    const restart = (caller: Caller, server: string) =>
      send(served.at(`/mcp/servers/${server}/restart`), { body: {}, headers: as(caller) });
    const [known, unknown] = [await restart('reader', 'files'), await restart('reader', 'other')];
    await served.untilLogged(2);
    expect(served.accessLines.map(({ reason }) => reason)).toEqual(['access', 'access']);
    expect(known.status).toBe(403);
    expect(known.text).toContain('operator');
    expect(known.text).toContain('FORBIDDEN');
    expect(unknown.text).toBe(known.text);
    expect(served.files.starts).toBe(1);
    expect((await restart('ops', 'files')).status).toBe(202);
    expect((await restart('ops', 'other')).status).toBe(404);
    expect((await served.get('/metrics', as('reader'))).status).toBe(403);
    const { text } = await served.get('/metrics', as('ops'));
    expect(text).toContain('openai_responses_mcp_server_up{server="hidden"');
  });

  test('see what was refused, which is logged with a reason and no name', async () => {
    const served = await serve();
    for (const door of Object.values(DOORS)) await door(served, 'reader', 'hidden', 'look');
    await served.call({ server: ANSWERS, toolName: 'answer', input: {} }, as('reader'));
    await served.call({ server: 'unknown', toolName: 'x' }, as('reader'));
    await served.untilLogged(6);
    expect(served.accessLines.map(({ reason }) => reason === 'access')).toEqual([...Array(5).fill(true), false]);
    for (const { tool } of served.accessLines) expect(tool).toBeUndefined();
    const { text } = await served.get('/metrics', as('ops'));
    expect(text).toContain('openai_responses_mcp_access_denied_total 5');
    expect(text).not.toContain('server_calls_total{server="hidden"');
  });
});

describe('a caller with few rights', () => {
  const token = 'token-of-prometheus-0123';
  const headers = { Authorization: `Bearer ${token}` };
  const serveFor = (entry: AccessEntry, servers: Readonly<Record<string, ScriptedToolServer>>) =>
    serveGateway(servers, {
      http: { tokens: [{ caller: 'prometheus', token }], rightsOf: rightsBy({ prometheus: entry }) },
    });
  const files = () => ({ files: new ScriptedToolServer({ read: says('Read.') }) });

  test.each([
    [{ metrics: true }, 200, 403],
    [{ operator: true, servers: 'all' as const }, 200, 202],
    [{ servers: 'all' as const, answers: true }, 403, 403],
  ])('with %j gets %i for metrics, and %i for a restart', async (entry, metrics, restart) => {
    const { at } = await serveFor(entry, files());
    const read = await send(at('/metrics'), { method: 'GET', headers });
    expect(read.status).toBe(metrics);
    if (metrics === 403) expect(read.text).toContain('metrics: true');
    expect((await send(at('/mcp/servers/files/restart'), { body: {}, headers })).status).toBe(restart);
  });

  test('learns that access allows no servers, but not which there are', async () => {
    const { get, call } = await serveFor({ metrics: true }, files());
    for (const { text } of [
      await call({ server: 'files', toolName: 'read' }, headers),
      await call({ server: 'other', toolName: 'read' }, headers),
      await get('/mcp/tools?server=other', headers),
    ]) {
      expect(text).toContain('Access allows you no servers');
      expect(text).not.toContain('No servers are configured');
    }
    const listed = await get('/mcp/servers', headers);
    expect(JSON.parse(listed.text)).toMatchObject({ servers: [], noneAllowed: true });
    expect(listed.text).not.toContain('files');
  });

  test('reads otherwise that there are none', async () => {
    const { get, call } = await serveFor({ servers: 'all' }, {});
    expect((await call({ server: 'other', toolName: 'read' }, headers)).text).not.toContain('Access allows');
    expect(JSON.parse((await get('/mcp/servers', headers)).text)).not.toHaveProperty('noneAllowed');
  });
});

import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { type AccessPolicy, rightsBy } from '../../src/domain/gateway/access.ts';
import { says as answers, FakeLlmSearch } from '../support/fake-llm-search.ts';
import { untilAborted } from '../support/fake-tool-server.ts';
import { legacy, modern, type Reply, send } from '../support/http-client.ts';
import { ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { type ServedGateway, type ServeGatewayOptions, serveGateway } from './serve-gateway.ts';

const ACCESS: AccessPolicy = {
  reader: { servers: { files: 'read_only', down: ['x'] } },
  writer: { servers: { files: ['wri*'] }, answers: ['answer_quick'] },
  asker: { answers: true },
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
  unknown: [string, string],
])[] = [
  ['files', 'read', ['reader', 'ops'], ['files', 'rea_']],
  ['files', 'write', ['writer', 'ops'], ['files', 'writ_']],
  ['hidden', 'look', ['ops'], ['hidde_', 'look']],
  [ANSWERS, 'answer', ['asker', 'ops'], [ANSWERS, 'answer_q']],
  [ANSWERS, 'answer_quick', ['writer', 'asker', 'ops'], [ANSWERS, 'answer_quic_']],
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

describe.each(Object.keys(DOORS))('over %s', (door) => {
  test.each(TOOLS)(
    '%s/%s is used by those who may, and does not exist for others',
    async (server, tool, callers, unknown) => {
      const served = await serve();
      const call = DOORS[door];
      if (call === undefined) throw new Error('no door');
      for (const caller of CALLERS) {
        const reply = await call(served, caller, server, tool);
        if (callers.includes(caller)) {
          expect(reply.status).toBe(200);
          expect(reply.text).toMatch(/Read\.|Written\.|Seen\.|structuredContent|"answer"/);
        } else {
          const other = await call(served, caller, ...unknown);
          expect(reply.text).not.toMatch(/Read\.|Written\.|Seen\./);
          expect(seen(reply, server, tool)).toEqual(seen(other, ...unknown));
        }
      }
      const called = [...served.files.calls, ...served.hidden.calls];
      expect(called).toHaveLength(server === ANSWERS ? 0 : callers.length);
    },
  );
});

/** The same with the tools that call others. */
const SEARCH_DOORS = [
  { through: 'call_tool', era: 'legacy', message: legacy },
  { through: 'read_tool', era: 'modern', message: modern },
];
const searching = { search: { isAuto: false, always: [] } };

describe.each(SEARCH_DOORS)('over $through, $era', ({ through, message }) => {
  const callThrough = (to: ServedGateway, caller: Caller, server: string, tool: string) =>
    to.post(message('tools/call', { name: through, arguments: { name: nameOf(server, tool) } }), as(caller));

  test.each(TOOLS)(
    '%s/%s is used by those who may, and does not exist for others',
    async (server, tool, callers, unknown) => {
      const served = await serve(searching);
      const isRefused = through === 'read_tool' && tool !== 'read';
      for (const caller of CALLERS) {
        const reply = await callThrough(served, caller, server, tool);
        expect(reply.status).toBe(200);
        if (server !== ANSWERS && callers.includes(caller)) {
          expect(reply.text).toMatch(isRefused ? /"VALIDATION_ERROR: .*call_tool/ : /"(?:Read|Written|Seen)\."/);
        } else {
          const other = await callThrough(served, caller, ...unknown);
          expect(reply.text).toContain('"TOOL_NOT_FOUND: ');
          expect(seen(reply, server, tool)).toEqual(seen(other, ...unknown));
        }
      }
      const called = [...served.files.calls, ...served.hidden.calls];
      expect(called).toHaveLength(server === ANSWERS || isRefused ? 0 : callers.length);
    },
  );

  test('a refusal is logged with its reason, and any other call as a direct one', async () => {
    const served = await serve(searching);
    await callThrough(served, 'reader', 'hidden', 'look');
    await callThrough(served, 'reader', 'files', 'read');
    await callThrough(served, 'ops', 'files', 'write');
    await served.untilLogged(3);
    expect(served.accessLines[0]).toMatchObject({ reason: 'access', outcome: 'served' });
    expect(served.accessLines[1]).toMatchObject({ server: 'files', tool: 'read', outcome: 'answered' });
    const outcome = through === 'read_tool' ? 'not_read_only' : 'answered';
    expect(served.accessLines[2]).toMatchObject({ server: 'files', tool: 'write', outcome });
    const { text } = await served.get('/metrics', as('ops'));
    expect(text).toContain(`server_calls_total{server="files",outcome="${outcome}"} ${outcome === 'answered' ? 2 : 1}`);
  });
});

describe('find_tools', () => {
  test('finds only what the caller may use, also by the names of servers', async () => {
    const served = await serve(searching);
    const found = async (caller: Caller, query: string) => {
      const params = { name: 'find_tools', arguments: { query } };
      const { message } = await served.post(legacy('tools/call', params), as(caller));
      const { tools = [], servers = [] } = (message.result?.structuredContent ?? {}) as Record<
        string,
        { name: string }[]
      >;
      return [...tools, ...servers].map(({ name }) => name);
    };
    for (const [query, ofReader, ofOps] of [
      ['files hidden look', ['files__read'], ['hidden__look', 'files__read', 'files__write']],
      ['', ['files', 'down'], ['files', 'hidden', 'down']],
    ] as const) {
      expect(await found('reader', query)).toEqual(ofReader);
      expect(await found('ops', query)).toEqual(ofOps);
      expect(await found('nothing', query)).toEqual([]);
    }
    await served.untilLogged(6);
    expect(served.accessLines[0]).toMatchObject({ tool: 'find_tools', outcome: 'answered' });
    expect(served.accessLines[0]).not.toHaveProperty('server');
  });

  test.each([undefined, searching.search])('does not exist over REST (%j)', async (search) => {
    const served = await serve(search && { search });
    for (const name of ['find_tools', 'read_tool', 'call_tool']) {
      expect((await served.call({ server: ANSWERS, toolName: name, input: {} }, as('ops'))).status).toBe(404);
      expect((await served.get('/mcp/tools', as('ops'))).text).not.toContain(name);
      const direct = await served.post(legacy('tools/call', { name }), as('ops'));
      expect(direct.text.includes('Unknown tool')).toBe(search === undefined);
    }
  });
});

// S65
describe('lists', () => {
  const namesIn = (reply: Reply) =>
    [...reply.text.matchAll(/files|hidden|down|read|write|answer_detailed|answer_quick|"answer"/g)]
      .map(([name]) => name)
      .filter((name, index, all) => all.indexOf(name) === index)
      .sort();

  test('of a caller without an entry are empty, and the log says why', async () => {
    const served = await serve();
    for (const caller of ['unlisted', 'nothing'] as const) await served.get('/mcp/tools', as(caller));
    await served.untilLogged(2);
    expect(served.accessLines.map(({ caller, outcome, reason }) => [caller, outcome, reason])).toEqual([
      ['unlisted', 'served', 'no entry in access'],
      ['nothing', 'served', undefined],
    ]);
  });

  test.each<[Caller, readonly string[]]>([
    ['reader', ['down', 'files', 'read']],
    ['writer', ['answer_quick', 'files', 'write']],
    ['nothing', []],
    ['unlisted', []],
  ])('of %s have %j', async (caller, names) => {
    const served = await serve();
    const servers = names.filter((name) => ['files', 'hidden', 'down'].includes(name));
    const listed = await served.get('/mcp/tools', as(caller));
    const tools = (JSON.parse(listed.text) as { tools: { server: string; name: string }[] }).tools;
    expect(tools.map(({ name }) => name).sort()).toEqual(names.filter((name) => !servers.includes(name)));
    const { servers: shown } = JSON.parse((await served.get('/mcp/servers', as(caller))).text) as {
      servers: { name: string; tools: number }[];
    };
    expect(shown.map(({ name }) => name).sort()).toEqual(servers);
    for (const { name, tools: count } of shown)
      expect(count).toBe(tools.filter(({ server }) => server === name).length);
    const { paths } = JSON.parse((await served.get('/openapi.json', as(caller))).text) as { paths: object };
    expect(Object.keys(paths)).toHaveLength(tools.length);
    const { message } = await served.post(modern('tools/list'), as(caller));
    expect(message.result).toMatchObject({ cacheScope: 'private' });
    expect((message.result as { tools: unknown[] }).tools).toHaveLength(tools.length);
    expect(namesIn(listed).filter((name) => name === 'hidden')).toEqual([]);
    expect((await served.get('/mcp/tools?server=hidden', as(caller))).text).toBe(
      (await served.get('/mcp/tools?server=unknow', as(caller))).text.replaceAll('unknow', 'hidden'),
    );
  });

  test.each<[Caller, RegExp | undefined]>([
    ['asker', /Choose answer for most .*answer_quick .*answer_detailed /],
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
    await DOORS['/mcp/call']?.(served, 'reader', 'files', 'write');
    await DOORS['/mcp/call']?.(served, 'reader', ANSWERS, 'answer');
    await DOORS['legacy MCP']?.(served, 'reader', ANSWERS, 'answer');
    await DOORS['/mcp/call']?.(served, 'reader', 'unknown', 'x');
    await served.untilLogged(8);
    expect(served.accessLines.map(({ reason }) => reason === 'access')).toEqual([...Array(7).fill(true), false]);
    for (const { tool } of served.accessLines) expect(tool).toBeUndefined();
    const { text } = await served.get('/metrics', as('ops'));
    expect(text).toContain('openai_responses_mcp_access_denied_total 7');
    expect(text).not.toContain('server_calls_total{server="hidden"');
  });
});

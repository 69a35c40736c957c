import { describe, expect, test } from 'vitest';
import type { CallEvent } from '../../../../../src/application/tools/tool-call.ts';
import { rightsBy } from '../../../../../src/domain/gateway/access.ts';
import { EVERYTHING, type Rights } from '../../../../../src/domain/gateway/call-origin.ts';
import { keepReports } from '../../../../support/catalogue.ts';
import { settled } from '../../../../support/fake-clock.ts';
import { ANSWERS } from '../../../../support/mcp-session.ts';
import { callerOf } from '../../../../support/origins.ts';
import type { ScriptedGatewayOptions } from '../../../../support/scripted-gateway.ts';
import { echoes, failsWith, ScriptedToolServer, says } from '../../../../support/scripted-tool-server.ts';
import { toolSession } from '../../../../support/tool-session.ts';

const THREE = ['find_tools', 'read_tool', 'call_tool'];

interface Options {
  readonly expose?: 'search' | 'auto';
  readonly always?: readonly string[];
  readonly rights?: Rights;
  readonly on?: (event: CallEvent) => void;
  readonly gateway?: ScriptedGatewayOptions;
}

interface Listed {
  readonly name: string;
}

/** A session with the tools that find and call those of these servers. */
function start(servers: Readonly<Record<string, ScriptedToolServer>>, options: Options = {}) {
  const { expose = 'search', rights = EVERYTHING, ...others } = options;
  const session = toolSession(servers, { expose, by: callerOf('alice', { rights }), ...others });
  const { resultOf } = session;
  return {
    ...session,
    list: async () => (await resultOf('tools/list')).tools as readonly Listed[],
    find: async (args: object) => {
      const { structuredContent, content } = await resultOf('tools/call', { name: 'find_tools', arguments: args });
      expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
      return JSON.parse(JSON.stringify(structuredContent)) as { tools: Listed[]; matches: number };
    },
    textOf: async (name: string, args: object) => {
      const { content, isError } = await resultOf('tools/call', { name, arguments: args });
      expect(isError).toBe(true);
      return (content as { text: string }[])[0]?.text ?? '';
    },
  };
}

const namesOf = (tools: readonly Listed[]) => tools.map(({ name }) => name);
const readOnly = { annotations: { readOnlyHint: true } };
const many = (count: number) =>
  new ScriptedToolServer(Object.fromEntries(Array.from({ length: count }, (_, index) => [`t${index}`, echoes])));

describe('the list', () => {
  // S61
  test('has the answer tools, the three, and those of gateway.always', async () => {
    const files = new ScriptedToolServer({ read: echoes, read_all: echoes, write: echoes });
    const filesystem = new ScriptedToolServer({ read: echoes });
    expect(namesOf(await start({ files, filesystem }).list())).toEqual([...ANSWERS, ...THREE]);
    const { list } = start({ files, filesystem }, { always: ['files/read*', 'filesystem/*x'] });
    expect(namesOf(await list())).toEqual([...ANSWERS, ...THREE, 'files__read', 'files__read_all']);
  });

  test('has at most 3,000 bytes beside the answer tools, whatever the number of tools', async () => {
    const large = await start({ files: many(500) }).list();
    expect(large).toEqual(await start({ files: many(1) }).list());
    expect(Buffer.byteLength(JSON.stringify(large.slice(3)))).toBeLessThanOrEqual(3000);
  });

  test('is complete with auto while the caller has at most 40 tools', async () => {
    const files = many(40);
    const { list, tools } = start({ files }, { expose: 'auto', always: ['files/t1'] });
    expect(namesOf(await list())).toEqual([
      ...ANSWERS,
      ...Array.from({ length: 40 }, (_, index) => `files__t${index}`),
    ]);
    files.change(Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`t${index}`, echoes])));
    await settled();
    expect(tools.takeOutdated()).toBe(true);
    expect(namesOf(await list())).toEqual([...ANSWERS, ...THREE, 'files__t1']);
    const rights = rightsBy({ alice: { servers: { files: ['t1*'] } } })({ caller: 'alice' });
    expect(await start({ files: many(41) }, { expose: 'auto', rights }).list()).toHaveLength(11);
  });

  test('is explained in the instructions', async () => {
    const response = await start({}).request('initialize');
    expect(response).toMatchObject({ result: { instructions: expect.stringContaining('find_tools') } });
  });
});

describe('find_tools', () => {
  test('returns complete definitions, the best first, and counts all that match', async () => {
    const described = {
      title: 'Create an issue',
      description: 'Creates one.',
      inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } },
    };
    const others = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`issue_${i}`, echoes]));
    const github = new ScriptedToolServer({ ...others, create_issue: { script: echoes, ...described } });
    const { find } = start({ github });
    const found = await find({ query: 'create an issue' });
    expect(found.tools[0]).toEqual({ name: 'github__create_issue', ...described });
    expect([found.tools.length, found.matches]).toEqual([5, 8]);
    expect(found).not.toHaveProperty('servers');
    expect((await find({ query: 'create an issue', limit: 2 })).tools).toHaveLength(2);
    expect(await find({ query: 'weather' })).toEqual({ tools: [], matches: 0 });
  });

  test('lists the servers that the caller may use after an empty query', async () => {
    const rights = rightsBy({ alice: { servers: { files: ['t0', 't1'], down: 'all' } } })({ caller: 'alice' });
    const { find } = start(
      { files: many(3), web: many(1), down: new ScriptedToolServer({}, 'It is down.') },
      { rights },
    );
    const servers = [
      { name: 'files', tools: 2 },
      { name: 'down', tools: 0 },
    ];
    for (const query of [' \n', `${' '.repeat(1000)}t0`])
      expect(await find({ query })).toEqual({ tools: [], matches: 0, servers });
  });

  test('finds what this caller may call, as it is now', async () => {
    const files = new ScriptedToolServer({ read_note: { script: echoes, ...readOnly }, write_note: echoes });
    const hidden = new ScriptedToolServer({ note: echoes });
    const rights = rightsBy({ alice: { servers: { files: 'read_only' } } })({ caller: 'alice' });
    const { find } = start({ files, hidden }, { rights });
    expect(await find({ query: 'note' })).toMatchObject({ tools: [{ name: 'files__read_note' }], matches: 1 });
    files.change({ write_note: { script: echoes, ...readOnly } });
    await settled();
    expect(namesOf((await find({ query: 'note' })).tools)).toEqual(['files__write_note']);
  });

  test('can be cancelled while it waits for first starts, and is not reported then', async () => {
    const reports: object[] = [];
    const on = keepReports(reports);
    const { send, call, sent } = start({ slow: new ScriptedToolServer({}, 'hangs') }, { on });
    const cancelled = call('find_tools', { query: 'note' });
    await settled();
    await send({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await cancelled;
    expect([...sent, ...reports]).toEqual([]);
  });

  test.each([
    [{}, 'query'],
    [{ query: 'a', limit: 0 }, 'limit'],
    [{ query: 'a', limit: 6 }, 'limit'],
    [{ query: 'a', limit: 1.5 }, 'limit'],
  ])('refuses %j', async (args, wrong) => {
    expect(await start({}).textOf('find_tools', args)).toMatch(new RegExp(`^VALIDATION_ERROR: ${wrong}: expected `));
  });

  test('is reported as a call', async () => {
    const reports: object[] = [];
    const on = keepReports(reports);
    const { call, find } = start({ files: new ScriptedToolServer({ read: echoes }) }, { on });
    await find({ query: 'read' });
    await call('find_tools', { query: 7 });
    expect(reports).toEqual([{ server: '', tool: 'find_tools', outcome: 'answered', seconds: 0 }]);
  });
});

describe('read_tool and call_tool', () => {
  const serverOf = () =>
    new ScriptedToolServer({
      read: { script: says('Read.'), ...readOnly },
      write: says('Written.'),
      lie: { script: says('Read.'), annotations: { readOnlyHint: true, destructiveHint: true } },
      bad: failsWith({ kind: 'json_rpc', code: -32602, message: 'Bad.', data: 1 }),
      strict: { script: echoes, inputSchema: { type: 'object', required: ['a'] }, ...readOnly },
    });

  test.each([
    ['read_tool', 'read'],
    ['call_tool', 'write'],
    ['call_tool', 'bad'],
    ['call_tool', 'strict'],
  ])('%s of %s has the response, the progress and the report of a direct call', async (by, tool) => {
    const seen = async (name: string, args: object) => {
      const files = serverOf();
      const reports: object[] = [];
      const on = keepReports(reports);
      const { call, sent, clock } = start({ files }, { on });
      const called = call(name, args, { progressToken: 'p' });
      await settled();
      await clock.advance(25);
      await called;
      return { sent, calls: files.calls.map(({ tool, args }) => ({ tool, args })), reports };
    };
    const direct = await seen(`files__${tool}`, { x: 1 });
    expect(await seen(by, { name: `files__${tool}`, arguments: { x: 1 } })).toEqual(direct);
  });

  test.each(['write', 'lie'])(
    'read_tool refuses %s, and nothing is sent, also before the first start',
    async (tool) => {
      const files = serverOf();
      const { textOf } = start({ files });
      for (const _ of [1, 2]) expect(await textOf('read_tool', { name: `files__${tool}` })).toContain('call_tool');
      expect(files.calls).toEqual([]);
    },
  );

  test.each(['answer', 'find_tools', 'files__none', 'files/read'])('%s is an unknown name', async (name) => {
    const { textOf } = start({ files: serverOf() });
    expect(await textOf('call_tool', { name })).toMatch(/^TOOL_NOT_FOUND: .*find_tools/);
  });

  test.each([{}, { name: 'files__read', arguments: [] }])('refuse %j', async (args) => {
    const files = serverOf();
    expect(await start({ files }).textOf('call_tool', args)).toMatch(/^VALIDATION_ERROR: /);
    expect(files.calls).toEqual([]);
  });

  test('reach approved tools only, by the names that are configured', async () => {
    const files = serverOf();
    const renamed = { definitions: { files: { filter: { rename: { read: 'look' }, readOnly: ['write'] } } } };
    const { call, find, textOf } = start({ files }, { gateway: renamed });
    expect(await find({ query: 'look' })).toMatchObject({ tools: [{ name: 'files__look' }], matches: 1 });
    expect(await call('read_tool', { name: 'files__look' })).toMatchObject({
      result: { content: [{ text: 'Read.' }] },
    });
    expect(await call('read_tool', { name: 'files__write' })).toMatchObject({ result: {} });
    expect(await textOf('call_tool', { name: 'files__read' })).toMatch(/^TOOL_NOT_FOUND/);
    const locked = start({ files: serverOf() }, { gateway: { approved: { servers: {} } } });
    expect(await locked.find({ query: 'read' })).toEqual({ tools: [], matches: 0 });
    for (const through of ['read_tool', 'call_tool'])
      expect(await locked.textOf(through, { name: 'files__write' })).toMatch(/^TOOL_CHANGED/);
  });

  test('are not needed: a tool that is not listed can be called by its own name', async () => {
    const { call } = start({ files: serverOf() });
    expect(await call('files__write')).toMatchObject({ result: { content: [{ text: 'Written.' }] } });
  });
});

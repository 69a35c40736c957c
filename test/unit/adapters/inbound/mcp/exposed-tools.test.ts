import { describe, expect, test } from 'vitest';
import { exposedNames } from '../../../../../src/domain/gateway/unique-names.ts';
import { settled } from '../../../../support/fake-clock.ts';
import { ANSWERS, MODERN } from '../../../../support/mcp-session.ts';
import {
  echoes,
  failsWith,
  hangs,
  returns,
  ScriptedToolServer,
  says,
  type ToolScript,
} from '../../../../support/scripted-tool-server.ts';
import { toolSession } from '../../../../support/tool-session.ts';

function start(...[servers, options]: Parameters<typeof toolSession>) {
  const session = toolSession(servers, options);
  return { ...session, list: (params: object = {}) => session.resultOf('tools/list', params) };
}

const exposedName = (server: string, name: string) => exposedNames([{ server, name }], [server])[0] ?? '';
const namesOf = ({ tools }: { readonly tools?: unknown }) => (tools as { name: string }[]).map(({ name }) => name);

test('a tool that is not approved is not listed, whatever its name, and a call of it says so', async () => {
  const long = `a${'b'.repeat(70)}`;
  const web = new ScriptedToolServer({ read: echoes, [long]: echoes });
  const { list, call } = start({ web }, { gateway: { approved: { servers: {} } } });
  expect(namesOf(await list())).toEqual(ANSWERS);
  for (const name of ['web__read', exposedName('web', long)]) {
    const text = expect.stringMatching(/^TOOL_CHANGED: /);
    expect(await call(name)).toMatchObject({ result: { isError: true, content: [{ type: 'text', text }] } });
  }
});

describe('the list', () => {
  // S60
  test('contains the tools as the servers described them, after the answer tools', async () => {
    const described = {
      title: 'Read a file',
      description: 'Reads.',
      inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: true, title: 'x' },
      // Hosts find in it the page that shows the results.
      _meta: { ui: { resourceUri: 'ui://weather/card' } },
    };
    const files = new ScriptedToolServer({ read: { script: echoes, ...described } });
    const web = new ScriptedToolServer({ read: echoes });
    const { tools } = await start({ files, web }).list();
    expect((tools as object[]).slice(3)).toEqual([
      { name: 'files__read', ...described },
      { name: 'web__read', inputSchema: { type: 'object' } },
    ]);
  });

  test('starts the servers, and waits at most 500 ms for them', async () => {
    const slow = new ScriptedToolServer({ a: echoes }, 'hangs');
    const up = new ScriptedToolServer({ b: echoes });
    const { list, clock } = start({ slow, up });
    await settled();
    expect(up.starts).toBe(0);
    let names: readonly string[] | undefined;
    const listed = list().then((result) => {
      names = namesOf(result);
    });
    await clock.advance(499);
    expect(names).toBeUndefined();
    await clock.advance(1);
    await listed;
    expect(names).toEqual([...ANSWERS, 'up__b']);
    slow.letConnect();
    await settled();
    expect(namesOf(await list())).toEqual([...ANSWERS, 'slow__a', 'up__b']);
  });

  test('is one page, because many clients read no other', async () => {
    const many = new ScriptedToolServer(Object.fromEntries(Array.from({ length: 198 }, (_, i) => [`t${i}`, echoes])));
    const { list, request } = start({ many });
    const first = await list();
    expect(namesOf(first)).toHaveLength(201);
    expect(first).not.toHaveProperty('nextCursor');
    for (const cursor of ['300', '1', '-100', '1e2', 100, '']) {
      expect(await request('tools/list', { cursor })).toMatchObject({ error: { code: -32602 } });
    }
  });

  test('may be kept for 5 s only in the modern era, and has no hint in the other', async () => {
    const { list } = start({ files: new ScriptedToolServer({ a: echoes }) });
    expect(await list({ _meta: MODERN })).toMatchObject({ resultType: 'complete', ttlMs: 5000, cacheScope: 'public' });
    const legacy = await list();
    for (const member of ['ttlMs', 'cacheScope', 'resultType']) expect(legacy).not.toHaveProperty(member);
  });
});

describe('changes', () => {
  test.each([
    [true, { tools: { listChanged: true } }],
    [false, { tools: {} }],
  ])('are announced if the client can be notified: %s', async (notifiesOfChanges, capabilities) => {
    const { request } = start({}, { notifiesOfChanges });
    expect(await request('initialize', { protocolVersion: '2025-06-18' })).toMatchObject({ result: { capabilities } });
  });

  test('make the list of the client outdated once until it lists again, and nothing else does', async () => {
    const slow = new ScriptedToolServer({ a: echoes }, 'hangs');
    const files = new ScriptedToolServer({ b: echoes });
    const { tools, list, clock, gateway } = start({ slow, files });
    expect(tools.takeOutdated()).toBe(false);
    const listed = list();
    await clock.advance(5000);
    await listed;
    expect(tools.takeOutdated()).toBe(false);
    slow.letConnect();
    await settled();
    expect(tools.takeOutdated()).toBe(true);
    files.change({ c: echoes });
    await settled();
    expect(tools.takeOutdated()).toBe(false);
    await list();
    expect(tools.takeOutdated()).toBe(false);
    files.change({ b: { script: echoes, description: 'New.' } });
    await settled();
    expect(tools.takeOutdated()).toBe(true);
    await list();
    files.crash();
    gateway().restart('files');
    await settled();
    // The tools are the same again.
    expect(tools.takeOutdated()).toBe(false);
    // A server that starts again keeps its tools.
    files.crash();
    expect(tools.takeOutdated()).toBe(false);
    await gateway().close();
    expect(tools.takeOutdated()).toBe(true);
  });
});

describe('a call', () => {
  test('reaches the tool with its own name, and returns the result unchanged', async () => {
    const content = [{ type: 'resource_link', uri: 'file:///a', name: 'a' }];
    const result = { content, structuredContent: { a: 1 }, _meta: { 'example.com/x': 1 }, other: 2 };
    const files = new ScriptedToolServer({ 'read file': returns(result) });
    const { call } = start({ files });
    expect(await call('files__read file', { path: 'a' })).toEqual({ jsonrpc: '2.0', id: 1, result });
    expect(files.calls).toMatchObject([{ tool: 'read file', args: { path: 'a' } }]);
  });

  test('of a server with resources returns links that can be read here', async () => {
    const result = { content: [{ type: 'resource_link', uri: 'file:///a', name: 'a' }] };
    const files = new ScriptedToolServer({ read: returns(result) });
    files.capabilities = { resources: {} };
    const { call } = start({ files });
    expect(await call('files__read')).toMatchObject({
      result: { content: [{ type: 'resource_link', uri: 'gateway:///files/file:///a', name: 'a' }] },
    });
  });

  test('in the modern era has a result of that era', async () => {
    const files = new ScriptedToolServer({ read: returns({ resultType: 'complete', content: [], _meta: { x: 1 } }) });
    const { call } = start({ files });
    const modern = await call('files__read', {}, MODERN);
    expect(modern).toMatchObject({ result: { resultType: 'complete', content: [], _meta: { x: 1 } } });
    const legacy = await call('files__read');
    expect(legacy).toEqual({ jsonrpc: '2.0', id: 2, result: { content: [], _meta: { x: 1 } } });
  });

  test('returns the error of the server unchanged', async () => {
    const error = { code: -32602, message: 'Bad.', data: { field: 'a' } };
    const files = new ScriptedToolServer({ read: failsWith({ kind: 'json_rpc', ...error }) });
    expect(await start({ files }).call('files__read')).toEqual({ jsonrpc: '2.0', id: 1, error });
  });

  test('reaches the tool that was listed, however alike the names of servers are', async () => {
    const bank = new ScriptedToolServer({ _pay: says('bank/_pay') });
    const other = new ScriptedToolServer({ pay: says('bank_/pay') }, 'hangs');
    const { call, list } = start({ bank, bank_: other });
    const early = call('bank___pay_9b96c8f6');
    other.letConnect();
    expect(JSON.stringify(await early)).toContain('"bank/_pay"');
    expect(namesOf(await list()).slice(3)).toEqual(['bank___pay_9b96c8f6', 'bank___pay_8c13ab50']);
    expect(JSON.stringify(await call('bank___pay_9b96c8f6'))).toContain('"bank/_pay"');
    expect(JSON.stringify(await call('bank___pay_8c13ab50'))).toContain('"bank_/pay"');
    expect(await call('bank___pay')).toMatchObject({ error: { message: 'Unknown tool' } });
    expect([bank.calls.length, other.calls.length]).toEqual([2, 1]);
  });

  test('of an unknown tool gets the error of its era', async () => {
    const files = new ScriptedToolServer({ read: echoes });
    const { call } = start({ files });
    const legacy = { error: { code: -32601, message: 'Unknown tool' } };
    for (const name of ['files__none', 'none__read', 'none']) {
      expect(await call(name)).toMatchObject(legacy);
      expect(await call(name, {}, MODERN)).toMatchObject({ error: { code: -32602, message: `Unknown tool: ${name}` } });
    }
    expect(files.calls).toEqual([]);
  });

  test('of a tool that is probably mistyped gets the name that was meant', async () => {
    const { call } = start({ files: new ScriptedToolServer({ read_file: echoes }) });
    const data = { message: 'There is no tool "files__read-file". Did you mean files__read_file?' };
    expect(await call('files__read-file')).toMatchObject({ error: { data } });
  });

  test('of an unknown tool gets at most 20 of many names', async () => {
    const many = new ScriptedToolServer(Object.fromEntries(Array.from({ length: 198 }, (_, i) => [`t${i}`, echoes])));
    expect(JSON.stringify(await start({ many }).call('many__unknown')).match(/many__t/g)).toHaveLength(17);
  });

  test('of an unknown tool says nothing about the tools of servers that were not asked yet', async () => {
    const { request } = start({ files: new ScriptedToolServer({ read: echoes }) });
    const call = (name: string) => request('tools/call', { name, arguments: {} });
    const message = (advice: string) => ({ error: { data: { message: `There is no tool "write". ${advice}` } } });
    expect(await call('write')).toMatchObject(message('List the tools to see which there are.'));
    await request('tools/list', {});
    expect(await call('write')).toMatchObject(message(`The tools are ${ANSWERS.join(', ')}, files__read.`));
  });

  test('of an unknown tool without __ starts no server', async () => {
    const files = new ScriptedToolServer({ read: echoes });
    await start({ files }).call('none');
    await start({ files }).call('answer');
    expect(files.starts).toBe(0);
  });

  test('of a server that is down gets a result that begins with the code, also with a hash in the name', async () => {
    const long = 'x'.repeat(100);
    const files = new ScriptedToolServer({ read: echoes, [long]: echoes }, 'no such command');
    const { call } = start({ files });
    for (const name of ['files__read', exposedName('files', long)]) {
      expect(await call(name)).toMatchObject({
        result: { isError: true, content: [{ text: expect.stringMatching(/^SERVER_NOT_RUNNING: /) }] },
      });
    }
  });
});

describe('progress', () => {
  const reports: ToolScript = async (args, onProgress, signal) => {
    onProgress({ progress: 1, total: 2, message: 'half' });
    onProgress({ progress: 2 });
    return says('Done.')(args, onProgress, signal);
  };

  test('is passed on with the token of the client, and the response waits for it', async () => {
    const { call, sent, clock } = start({ files: new ScriptedToolServer({ read: reports }) });
    const called = call('files__read', {}, { progressToken: '' });
    await settled();
    const progress = [
      { progress: 0, message: 'Starting files' },
      { progress: 1, total: 2, message: 'half' },
      { progress: 2 },
    ].map((params) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { ...params, progressToken: '' },
    }));
    expect(sent).toEqual(progress);
    await clock.advance(24);
    expect(sent).toEqual(progress);
    await clock.advance(1);
    await called;
    expect(sent).toMatchObject([...progress, { id: 1, result: {} }]);
  });

  test('is not requested for a client whose token is invalid, and then nothing waits', async () => {
    const files = new ScriptedToolServer({ read: reports });
    const { call, sent, clock } = start({ files });
    await call('files__read', {}, { progressToken: {} });
    expect(sent).toMatchObject([{ id: 1, result: {} }]);
    expect(files.last.progressRequests).toBe(0);
    // The timers of Node.js take at least a millisecond, also for a wait without a length.
    expect(clock.slept.filter((ms) => ms <= 0)).toEqual([]);
  });
});

test('a call gets a failure when the process exits, in the form of its era', async () => {
  const files = new ScriptedToolServer({
    write: hangs,
    read: { script: hangs, annotations: { readOnlyHint: true } },
  });
  const { session, call, sent } = start({ files });
  void call('files__write');
  void call('files__write', {}, MODERN);
  void call('files__read');
  await settled();
  session.shutDown();
  await settled();
  expect(files.calls.map(({ signal }) => signal.aborted)).toEqual([true, true, true]);
  const text =
    'The server is shutting down, and the call was ended. It may have had effects: check that before you repeat it.';
  expect(sent).toMatchObject([
    { id: 1, error: { code: -32001, message: text } },
    { id: 2, result: { isError: true, content: [{ type: 'text', text }] } },
    { id: 3, error: { code: -32001, message: 'The server is shutting down; ask again.' } },
  ]);
});

test('a cancellation reaches the server, and there is no response', async () => {
  const files = new ScriptedToolServer({ read: hangs });
  const { send, call, sent } = start({ files });
  const called = call('files__read');
  await settled();
  await send({ method: 'notifications/cancelled', params: { requestId: 1 } });
  await called;
  expect(files.calls[0]?.signal.aborted).toBe(true);
  expect(sent).toEqual([]);
});

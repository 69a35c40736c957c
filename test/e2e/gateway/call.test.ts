import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/mcp-process.ts';
import { type ScriptedTool, scriptedServer, text } from '../../support/scripted-mcp.ts';
import { newFile, newFolder } from '../files.ts';
import { configure } from './servers.ts';

/** A server `notes` with one tool. */
function oneTool(tool: Partial<ScriptedTool>, entry: object = {}) {
  const server = scriptedServer([{ name: 'add', reactions: [text('ok')], ...tool }]);
  const { command, args, calls } = server;
  const config = newFile('config.json', JSON.stringify({ servers: [{ name: 'notes', command, args, ...entry }] }));
  const call = (...words: readonly string[]) => runCli(['call', ...words, '--config', config]);
  return { call, calls, config };
}

const TYPED = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    maybe: { type: ['string', 'null'] },
    either: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
    any: {},
    count: { type: 'integer' },
    flag: { $ref: '#/$defs/flag' },
    list: { type: 'array', items: { type: 'string' } },
    place: { allOf: [{ type: 'object' }] },
    level: { enum: [1, 2] },
    color: { enum: ['red', 1] },
  },
  additionalProperties: { type: 'number' },
  $defs: { flag: { type: 'boolean' } },
};

// S86
test('key=value is a text where the schema allows one, and JSON elsewhere', async () => {
  const { call, calls } = oneTool({ inputSchema: TYPED });
  const texts = ['text=1', 'maybe=null', 'either=3', 'any={"a":1}', 'color=1'];
  const others = ['count=-5', 'flag=true', 'list=["a=b"]', 'place={"x":1}', 'level=2', 'other=1.5'];
  expect(await call('notes', 'add', ...texts, ...others)).toMatchObject({ code: 0, stdout: 'ok\n', stderr: '' });
  const sent = {
    ...{ text: '1', maybe: 'null', either: '3', any: '{"a":1}', color: '1' },
    ...{ count: -5, flag: true, list: ['a=b'], place: { x: 1 }, level: 2, other: 1.5 },
  };
  expect(calls()).toEqual([`add ${JSON.stringify(sent)}`]);
});

test.each([
  [['text='], 'add {"text":""}'],
  [['text=a=b\n"c"'], 'add {"text":"a=b\\n\\"c\\""}'],
  [['text=--json'], 'add {"text":"--json"}'],
])('the value of %j begins after the first =', async (words, sent) => {
  const { call, calls } = oneTool({ inputSchema: TYPED });
  expect((await call('notes', 'add', ...words)).code).toBe(0);
  expect(calls()).toEqual([sent]);
});

test.each([
  [['a.b=1'], /^a\.b=: a member of an object is written as JSON/],
  [['a=1', '{"b":2}'], /not both/],
  [['a=1', '@input.json'], /not both/],
  [['-', 'a=1'], /not both/],
  [['a=1', 'b'], /^"b" is not key=value/],
  [['a=1', 'a=2'], /^a= is given twice/],
  [['=1'], /JSON object/],
  [['[1]'], /JSON object/],
  [['count=many'], /^count: "many" is not JSON\. The tool takes no text here, but JSON, such as 1, /],
  [['flag=yes', 'text=x'], /^flag: "yes" is not JSON/],
])('%j is refused, and nothing is sent', async (words, message) => {
  const { call, calls } = oneTool({ inputSchema: TYPED });
  expect(await call('notes', 'add', ...words)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(message),
  });
  expect(calls()).toEqual([]);
});

test.each(['notes/add', 'notes__add', 'notes.add'])('call and tools take %s', async (name) => {
  const { call, calls, config } = oneTool({});
  expect(await call(name, 'a=1', 'b=2')).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(calls()).toEqual(['add {"a":"1","b":"2"}']);
  expect((await runCli(['tools', name, '--config', config])).stdout).toContain('notes/add: The tool add.');
});

test('a name of MCP that ends with a hash is that of its tool, and a name with separators stays one', async () => {
  const long = `read_${'x'.repeat(70)}`;
  const { call, calls } = oneTool({ name: long });
  const [, hashed = ''] = /"(notes__\w+_[0-9a-f]{8})"/.exec(JSON.stringify(await namesOverMcp(long))) ?? [];
  expect(await call(hashed)).toMatchObject({ code: 0 });
  expect(calls()).toEqual([`${long} {}`]);
  const dotted = oneTool({ name: 'files.v1/read' });
  expect(await dotted.call('notes/files.v1/read')).toMatchObject({ code: 0 });
  expect(await dotted.call('notes', 'files.v1/read')).toMatchObject({ code: 0 });
});

async function namesOverMcp(name: string) {
  const { exposedNames } = await import('../../../src/domain/gateway/unique-names.ts');
  return exposedNames([{ server: 'notes', name }], ['notes']);
}

test('--timeout wins over the limits of YAML, of a file of another client and of DEFAULT_TIMEOUT', async () => {
  const { call } = oneTool({}, { timeout: 1 });
  expect(await call('notes', 'add', '--timeout=100')).toMatchObject({ code: 0, stdout: 'ok\n' });
  const { command, args } = scriptedServer([{ name: 'add', reactions: [text('ok')] }]);
  const file = newFile('.mcp.json', JSON.stringify({ mcpServers: { notes: { command, args } } }));
  const words = ['call', 'notes', 'add', '--servers', file, '--timeout', '100.5'];
  expect(await runCli(words, { env: { DEFAULT_TIMEOUT: '1' } })).toMatchObject({ code: 0, stdout: 'ok\n' });
});

test('a call that takes longer than --timeout fails, and says how to allow more', async () => {
  const { config } = configure(['one']);
  const { code, stderr, stdout } = await runCli([
    ...['call', 'one', 'wait', '--timeout=0.3', '--json'],
    ...['--config', config],
  ]);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'No answer within 0.3 s. The tool may still be running. Allow more time (--timeout=<seconds>), or ask for less.\n',
  });
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'TIMEOUT_ERROR', details: { timeoutMs: 300 } } });
});

test.each(['0', '-1', 'x', '1e3', '99999999'])('--timeout=%s is refused', async (seconds) => {
  expect((await runCli(['call', 'a', 'b', `--timeout=${seconds}`])).stderr).toMatch(/^--timeout needs seconds/);
});

const FILE = { text: '# Plan\n\n"Deploy"\n' };
const PICTURE = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };

test.each([
  ['a text as it is, also beside structured content', [{ type: 'text', ...FILE }], FILE, '# Plan\n\n"Deploy"\n'],
  [
    'a text of JSON as it is',
    [{ type: 'text', text: '{"id":12345678901234567890}' }],
    undefined,
    '{"id":12345678901234567890}\n',
  ],
  ['structured content without a text', [], { a: 1 }, '{\n  "a": 1\n}\n'],
  [
    'everything else in one line each',
    [
      { type: 'text', text: 'See:' },
      { type: 'resource_link', uri: 'file:///a.md', name: 'a.md' },
      PICTURE,
      { type: 'resource', resource: { uri: 'file:///b', text: 'B' } },
    ],
    undefined,
    'See:\na.md: file:///a.md\n[image, image/png, 8 bytes; --save=<folder> writes it to a file]\nB\n',
  ],
])('prints %s', async (_, content, structuredContent, stdout) => {
  const { call } = oneTool({ reactions: [{ result: { content, structuredContent } }] });
  expect(await call('notes', 'add')).toMatchObject({ code: 0, stdout, stderr: '' });
});

test('--save writes data to new files, whose endings come from their MIME types', async () => {
  const content = [
    PICTURE,
    { type: 'image', data: 'AAAA', mimeType: 'image/svg+xml' },
    { type: 'audio', data: 'AAAA', mimeType: 'audio/mpeg; rate=1' },
    { type: 'resource', resource: { uri: 'file:///b', blob: 'AAAA', mimeType: '../../x' } },
  ];
  const { call } = oneTool({ name: '../shot', reactions: [{ result: { content } }] });
  const folder = path.join(newFolder(), 'new', 'shots');
  const names = ['_shot-1.png', '_shot-1.svg', '_shot-1.mp3', '_shot-1.bin'];
  const { stdout, code } = await call('notes', '../shot', '--save', folder);
  expect({ code, stdout }).toEqual({ code: 0, stdout: names.map((name) => `${path.join(folder, name)}\n`).join('') });
  expect(readFileSync(path.join(folder, '_shot-1.png')).toString('hex')).toBe('89504e470d0a1a0a');
  const again = await call('notes', '../shot', '--save', folder, '--json');
  expect(JSON.parse(again.stdout)).toEqual({ success: true, result: null, content });
  expect(again.stderr).toContain('_shot-2.png');
  expect(readdirSync(folder)).toHaveLength(8);
  const file = newFile('file', '');
  expect(await call('notes', '../shot', '--save', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot be written'),
  });
});

/** Calls that succeed and fail in every way that a test can cause: the server, the tool and the input. */
const CALLS = [
  ['one', 'echo', { message: 'hi' }],
  ['one', 'sum', { a: 1, b: 2 }],
  ['one', 'picture', {}],
  ['one', 'fail', {}],
  ['one', 'refuse', {}],
  ['one', 'echo', { wrong: 1 }],
  ['one', 'nope', {}],
  ['none', 'echo', {}],
] as const;

// S86
test('--json prints what POST /mcp/call returns, but for requestId, and so does a running gateway', async () => {
  const { config } = configure(['one']);
  const { url } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
  for (const [server, toolName, input] of CALLS) {
    const response = await fetch(new URL('/mcp/call', url), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ server, toolName, input }),
    });
    const { error, ...rest } = (await response.json()) as { error?: { details: { requestId: string } } };
    const { requestId: _, ...details } = error?.details ?? {};
    const expected = { ...rest, ...(error && { error: { ...error, details } }) };
    const words = ['call', server, toolName, JSON.stringify(input), '--json'];
    expect(JSON.parse((await runCli([...words, '--config', config])).stdout)).toEqual(expected);
    const remote = await runCli([...words, '--url', new URL('/', url).href]);
    expect(JSON.parse(remote.stdout)).toEqual(expected);
    expect(remote.code).toBe(server === 'none' ? 2 : error === undefined ? 0 : 1);
  }
});

test('--url calls a running gateway, whose server keeps its state, with a token', async () => {
  const { config, started } = configure(['one']);
  const token = 'a-token-of-the-gateway-0123456789';
  const env = { MCP_HTTP_TOKEN: token };
  const running = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
  const base = new URL(running.url).origin;
  const call = (words: readonly string[], env = {}) => runCli(['call', ...words], { env });
  for (const url of [base, `${base}/`, `${base}/mcp`, `${base}/mcp/`]) {
    expect(await call(['one/echo', 'message=1', '--url', url], env)).toMatchObject({
      code: 0,
      stdout: '1\n',
      stderr: '',
    });
  }
  expect(await call(['one.picture', '--url', base], env)).toMatchObject({
    stdout: expect.stringMatching(/^A picture\n\[image, /),
  });
  const named = await call(['one', 'echo', 'message=x', '--url', base, '--token-env', 'MINE'], { MINE: token });
  expect(named).toMatchObject({ code: 0, stdout: 'x\n' });
  expect(started()).toHaveLength(1);
  const refused = await call(['one', 'fail', '--url', base, '--json']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Set the variable MCP_HTTP_TOKEN') });
  expect(JSON.parse(refused.stdout)).toMatchObject({ success: false, error: { code: 'UNAUTHORIZED' } });
  const listed = await runCli(['tools', 'one', 'echo', '--url', base, '--token-env', 'MINE'], { env: { MINE: token } });
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(` --url ${base} --token-env MINE\n`) });
  const unset = await call(['one', 'fail', '--url', base, '--token-env', 'MINE']);
  expect(unset).toMatchObject({ code: 2, stderr: 'The variable MINE (--token-env) is not set.\n' });
});

// S86
test('tools --url lists the tools of a running gateway, after --json exactly as REST does', async () => {
  const { config, started } = configure(['one', 'two']);
  const running = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
  const base = new URL(running.url).origin;
  interface Listed {
    readonly tools: readonly { readonly name: string }[];
    readonly servers: readonly { readonly state: string }[];
  }
  const rest = async (path: string) => (await (await fetch(`${base}${path}`)).json()) as Listed;
  await expect
    .poll(async () => (await rest('/mcp/tools')).servers.map(({ state }) => state))
    .toEqual(['available', 'available']);
  const listed = await runCli(['tools', '--url', `${base}/mcp`]);
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toMatch(
    /^one: available \(stdio\)\n(?: {2}.*\n)* {2}echo\b.*\n(?: {2}.*\n)*two: available \(stdio\)\n/,
  );
  const all = await rest('/mcp/tools');
  expect(JSON.parse((await runCli(['tools', '--url', base, '--json'])).stdout)).toEqual(all);
  const one = await rest('/mcp/tools?server=one');
  expect(JSON.parse((await runCli(['tools', 'one', '--url', base, '--json'])).stdout)).toEqual(one);
  const tools = one.tools.filter(({ name }) => name === 'echo');
  expect(JSON.parse((await runCli(['tools', 'one/echo', '--url', base, '--json'])).stdout)).toEqual({ ...one, tools });
  const { stdout } = await runCli(['tools', 'one', 'echo', '--url', base]);
  expect(stdout).toMatch(/^one\/echo\b/);
  expect(stdout).toMatch(new RegExp(`^Call it with: .* call one echo .*--url ${base}$`, 'm'));
  expect(started()).toHaveLength(2);

  expect(await runCli(['tools', 'none', '--url', base])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^There is no server "none"\./),
  });
  const missing = await runCli(['tools', 'one', 'nope', '--url', base, '--json']);
  expect(missing.code).toBe(1);
  expect(JSON.parse(missing.stdout)).toMatchObject({ success: false, error: { code: 'TOOL_NOT_FOUND' } });
});

test('--url: a limit can only be shortened, and what is no gateway is named', async () => {
  const { config } = configure(['one'], { last: { timeout: 300 } });
  const { url } = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config] });
  const slow = await runCli(['call', 'one', 'wait', '--url', url, '--timeout=100', '--json']);
  expect(JSON.parse(slow.stdout)).toMatchObject({ error: { code: 'TIMEOUT_ERROR', details: { timeoutMs: 300 } } });
  expect(slow.stderr).toContain('(timeout of the server)');
  const shorter = await runCli(['call', 'one', 'wait', '--url', url, '--timeout=0.1']);
  expect(shorter.stderr).toMatch(
    /^No answer within 0\.1 s\. .* Allow more time \(--timeout=<seconds>\), or ask for less\.\n$/,
  );
  const closedUrl = `http://127.0.0.1:${await freePort()}`;
  const closed = await runCli(['call', 'one', 'wait', '--url', closedUrl, '--json']);
  expect(closed).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`No gateway answers at ${closedUrl} (ECONNREFUSED)`),
  });
  expect(JSON.parse(closed.stdout)).toMatchObject({ success: false, error: { code: 'GATEWAY_NOT_REACHED' } });
  const other = await runCli(['call', 'one', 'wait', '--url', `${url}/elsewhere`, '--json']);
  expect(JSON.parse(other.stdout)).toMatchObject({ success: false });
});

test.each([
  [['call', 'one', 'echo', '{bad', '--json'], 2, 'VALIDATION_ERROR'],
  [['call', 'one', 'echo', '@no-such-file', '--json'], 2, 'VALIDATION_ERROR'],
  [['call', 'one', '--json'], 2, 'USAGE_ERROR'],
  [['call', 'one', 'echo', 'a.b=1', '--json'], 2, 'USAGE_ERROR'],
  [['tools', 'two', '--json'], 2, 'SERVER_NOT_FOUND'],
  [['tools', 'one', 'nope', '--json'], 1, 'TOOL_NOT_FOUND'],
  [['tools', '--diff', '--json'], 2, 'CONFIGURATION_ERROR'],
  [['ask', '', '--json'], 2, 'USAGE_ERROR'],
  [['ask', 'q', '--tool=answr', '--json'], 2, 'USAGE_ERROR'],
  [['--json', 'tool'], 2, 'USAGE_ERROR'],
  [['check', 'no-such-file', '--json'], 2, 'VALIDATION_ERROR'],
  [['check', '-', '--json'], 2, 'VALIDATION_ERROR'],
  [['doctor', 'x', '--json'], 2, 'USAGE_ERROR'],
  [['ask', 'q', '--json'], 1, 'TOOL_EXECUTION_ERROR'],
])('%j fails in the one form of JSON', async (words, code, name) => {
  const { config } = configure(['one']);
  const ran = await runCli([...words, '--config', config]);
  expect(ran).toMatchObject({ code });
  expect(JSON.parse(ran.stdout)).toMatchObject({
    success: false,
    error: { code: name, message: expect.stringMatching(/./), details: expect.any(Object) },
  });
  expect(ran.stderr).toMatch(/./);
});

test.each([['tools'], ['call', 'a', 'b'], ['ask', 'q'], ['logins']])(
  '%s with --json reports a problem of the configuration in this form',
  async (...words) => {
    const { code, stdout } = await runCli([...words, '--json', '--config', newFile('config.yaml', 'servers: 5')]);
    const { success, error } = JSON.parse(stdout);
    expect({ code, success, error }).toMatchObject({
      code: 1,
      success: false,
      error: { code: 'CONFIGURATION_ERROR', details: { problems: [{ where: 'servers' }] } },
    });
  },
);

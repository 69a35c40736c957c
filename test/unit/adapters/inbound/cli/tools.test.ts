import { expect, test } from 'vitest';
import { type LockOptions, listTools, lockTools } from '../../../../../src/adapters/inbound/cli/tools.ts';
import type { Gateway } from '../../../../../src/application/gateway/gateway.ts';
import { parseLock } from '../../../../../src/domain/gateway/approved-tools.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import { settled } from '../../../../support/fake-clock.ts';
import { FakeServerLogin } from '../../../../support/fake-server-login.ts';
import { startScripted } from '../../../../support/scripted-gateway.ts';
import { echoes, ScriptedToolServer, type ScriptedTools } from '../../../../support/scripted-tool-server.ts';

interface Given {
  readonly isNoneAllowed?: boolean;
  readonly json?: boolean;
  readonly tool?: string;
  readonly offered?: readonly string[];
  readonly isTerminal?: boolean;
  readonly columns?: number;
}

function run(gateway: Gateway | undefined, { offered = [], ...given }: Given = {}, signal = never()) {
  const { context, printed } = commandContext();
  return printed(listTools({ ...context, gateway, json: false, offered: () => offered, ...given }, signal));
}

const notes = () =>
  new ScriptedToolServer({
    search: {
      script: echoes,
      description: 'Searches\u001B[31m with sk-proj-Ab12cd34.\nSlowly.',
      inputSchema: {
        type: 'object',
        required: ['query', 'limit'],
        properties: {
          query: { type: 'string', description: 'What to\u0007 find.' },
          limit: { type: 'integer', default: 10 },
          kinds: { type: 'array', items: { enum: ['a', 'b'] } },
          since: { anyOf: [{ type: 'string' }, { type: 'null' }] },
          odd: true,
        },
      },
    },
    'odd\u0007name': echoes,
    wordy: { script: echoes, description: `${'word '.repeat(19)}supercalifragilistic` },
  });
const definitions = { broken: { restart: 'never' as const } };
const approved = { servers: {} };

// S77
test('names what a server listed that cannot be offered, with the reason', async () => {
  const server = new ScriptedToolServer({ echo: echoes });
  server.leftOut = [
    { list: 'tools', name: 'odd', reason: 'its inputSchema does not describe an object' },
    { list: 'prompts', name: '', reason: 'it has no name' },
  ];
  const { out, exitCode } = await run(startScripted({ notes: server }));
  expect([exitCode, out]).toEqual([
    0,
    `notes: available (stdio)
  left out, because MCP does not allow it: tool odd (its inputSchema does not describe an object), prompt (unnamed) (it has no name)
  echo
`,
  ]);
});

test('lists the servers and their tools, and fails if one is not available', async () => {
  const broken = new ScriptedToolServer({}, 'cannot start x:\u001B[31m\n no key sk-proj-Ab12cd34');
  expect(await run(startScripted({ notes: notes(), broken }, { definitions }), { offered: ['notes/search'] })).toEqual({
    exitCode: 1,
    out: `notes: available (stdio)
  * search: Searches with [redacted].
    oddname
    wordy: ${'word '.repeat(18)}word…
broken: failed (stdio): cannot start x: no key [redacted]
* offered to the model in answers (grounding.tools)
`,
    err: '',
  });
});

test('names the tools that the lock withholds, and the command that compares them', async () => {
  const locked = startScripted({ notes: new ScriptedToolServer({ a: echoes, 'b\u0007': echoes }) }, { approved });
  expect(await run(locked)).toEqual({
    exitCode: 0,
    out: 'notes: available (stdio)\n  2 tools are not approved: a, b (see: openai-responses-mcp tools --diff)\n',
    err: '',
  });
});

test('names the command that signs in, and fails', async () => {
  const server = notes();
  server.login = new FakeServerLogin('notes');
  const login = 'openai-responses-mcp login notes';
  const { exitCode, out } = await run(startScripted({ notes: server }));
  expect(exitCode).toBe(1);
  expect(out).toBe(`notes: login_required (stdio): requires a login; sign in with: ${login}\n`);
  const json = await run(startScripted({ notes: server }), { json: true });
  expect(JSON.parse(json.out)).toMatchObject({ servers: [{ state: 'login_required', login }], tools: [] });
});

test('one tool is shown completely, with its parameters', async () => {
  expect(await run(startScripted({ notes: notes() }), { tool: 'search' })).toEqual({
    exitCode: 0,
    out: `notes/search: Searches with [redacted].
Slowly.
  query (string, required): What to find.
  limit (integer, default 10)
  kinds (list of "a" or "b")
  since (string or null)
  odd (any)
It may change something.
Call it with: openai-responses-mcp call notes search '{"query":"","limit":10}'
`,
    err: '',
  });
  expect((await run(startScripted({ notes: notes() }), { tool: 'wordy' })).out).toContain('\n  (no parameters)\n');
});

test('the members of objects are shown, whether a tool only reads, and a call that can be copied', async () => {
  const entity = {
    type: 'object',
    required: ['name', 'notes'],
    properties: {
      name: { type: 'string', description: 'Who it is.' },
      notes: { type: 'array', items: { type: 'string' } },
      parent: { $ref: '#/$defs/entity' },
    },
  };
  const inputSchema = {
    type: 'object',
    required: ['entities'],
    properties: { entities: { type: 'array', items: { $ref: '#/$defs/entity' } }, at: { $ref: '#/$defs/no' } },
    $defs: { entity },
  };
  const annotations = { readOnlyHint: true };
  const memory = new ScriptedToolServer({ find: { script: echoes, inputSchema, annotations } });
  const { out } = await run(startScripted({ memory }), { tool: 'find' });
  const [title, entities, name, notes, parent, ...others] = out.split('\n');
  expect([title, entities, name, notes, parent]).toEqual([
    'memory/find',
    '  entities (list of object, required)',
    '    name (string, required): Who it is.',
    '    notes (list of string, required)',
    '    parent (object)',
  ]);
  expect(others.slice(-4)).toEqual([
    '  at (any)',
    'It declares that it only reads.',
    `Call it with: openai-responses-mcp call memory find '{"entities":[{"name":"","notes":[""]}]}'`,
    '',
  ]);
});

test.each([
  ['does not exist', undefined, 'serch', /^The server notes has no tool "serch"\. Did you mean search\?\n$/],
  ['is not approved', approved, 'search', /^1 tool is not approved: search /],
])('a tool that %s fails', async (_, approved, tool, err) => {
  const shown = await run(startScripted({ notes: notes() }, { approved }), { tool });
  expect(shown).toEqual({ exitCode: 1, out: '', err: expect.stringMatching(err) });
});

test('prints JSON with everything that is known, or with one tool; it controls and hides nothing on a terminal', async () => {
  const server = () =>
    new ScriptedToolServer({ read: { script: echoes, description: 'a\u009B31m\u202E\u{E0041}b' }, x: echoes });
  const { exitCode, out } = await run(startScripted({ files: server() }), { json: true, offered: ['files/read'] });
  expect(exitCode).toBe(0);
  expect(JSON.parse(out)).toEqual({
    servers: [
      {
        name: 'files',
        transport: 'stdio',
        state: 'available',
        since: '2026-01-05T03:00:00.000Z',
        restarts: 0,
        tools: 2,
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'fake', version: '1.2.3' },
      },
    ],
    tools: [
      expect.objectContaining({ name: 'read', description: 'a\u009B31m\u202E\u{E0041}b', offered: true }),
      expect.objectContaining({ name: 'x', offered: false }),
    ],
  });
  const one = await run(startScripted({ files: server() }), { json: true, tool: 'read', isTerminal: true });
  expect(JSON.parse(one.out).tools).toMatchObject([{ name: 'read', description: 'ab' }]);
});

test('without servers says how to configure them', async () => {
  expect((await run(undefined)).out).toMatch(/^No servers are configured .*\n$/);
  expect(JSON.parse((await run(undefined, { json: true })).out)).toEqual({ servers: [], tools: [] });
  expect((await run(undefined, { isNoneAllowed: true })).out).toMatch(/^Access allows you no servers/);
});

test('Ctrl-C ends the wait', async () => {
  const interruption = new AbortController();
  const slow = startScripted({ slow: new ScriptedToolServer({}, 'hangs') });
  const running = run(slow, {}, interruption.signal);
  await settled();
  interruption.abort();
  expect(await running).toMatchObject({ exitCode: 1, out: 'slow: starting (stdio)\n' });
});

const NOTES = {
  read: { script: echoes, description: 'Reads.\nSlowly.' },
  'odd\u001Bname': echoes,
};
const BROKEN = { broken: { restart: 'never' as const } };

/** What the command prints and writes, with these tools of `notes`; `broken` is a server that cannot start. */
async function runLock(
  tools: ScriptedTools,
  more: Partial<LockOptions> & { readonly isBroken?: boolean } = {},
  signal = never(),
) {
  const { context, printed } = commandContext();
  const saved: string[] = [];
  const save = async (_: string, text: string) => void saved.push(text);
  const broken = more.isBroken ? { broken: new ScriptedToolServer({}, 'no licence') } : {};
  const gateway = startScripted({ notes: new ScriptedToolServer(tools), ...broken }, { definitions: BROKEN });
  const locked = { action: 'diff', json: false, file: '/lock.json', approved: undefined, gateway, save } as const;
  return { ...(await printed(lockTools({ ...context, ...locked, ...more }, signal))), saved };
}

async function approvedOf(tools: ScriptedTools) {
  const { saved } = await runLock(tools, { action: 'lock' });
  return parseLock(saved[0] ?? '') ?? expect.fail('the file is damaged');
}

test('--lock writes the tools, and then there are no differences', async () => {
  expect(await runLock(NOTES, { action: 'lock' })).toMatchObject({
    exitCode: 0,
    out: 'Approved 2 tools in /lock.json.\n',
    err: '',
    saved: [expect.stringMatching(/^\{\n {2}"servers": \{\n {4}"notes": \{\n {6}"serverInfo": /)],
  });
  const approved = await approvedOf(NOTES);
  expect(await runLock(NOTES, { approved })).toMatchObject({ exitCode: 0, out: '', err: '', saved: [] });
  expect((await runLock(NOTES, { approved, json: true })).out).toBe('{\n  "differences": []\n}\n');
});

test('--lock keeps what was approved of a server that is not available, and fails', async () => {
  const notes = await approvedOf(NOTES);
  const approved = {
    servers: {
      broken: { tools: { a: { description: '', inputSchema: {} } } },
      gone: notes.servers.notes ?? { tools: {} },
    },
  };
  const { exitCode, err, saved } = await runLock(NOTES, { action: 'lock', approved, isBroken: true });
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'The server broken is not available (no licence). Its approved tools were neither compared nor changed.\n',
  });
  expect(parseLock(saved[0] ?? '')).toEqual({
    servers: { broken: approved.servers.broken, notes: notes.servers.notes },
  });
});

test('--diff does not succeed if a server cannot be compared', async () => {
  const approved = await approvedOf(NOTES);
  expect(await runLock(NOTES, { approved, isBroken: true })).toMatchObject({ exitCode: 1, out: '' });
});

test('a file that cannot be written is an error', async () => {
  const save = () => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' }));
  expect(await runLock(NOTES, { action: 'lock', save })).toMatchObject({
    exitCode: 1,
    out: '',
    err: 'The file /lock.json cannot be written (EACCES).\n',
  });
});

test('an interrupted start approves nothing', async () => {
  expect(await runLock(NOTES, { action: 'lock' }, AbortSignal.abort())).toMatchObject({
    exitCode: 130,
    out: '',
    saved: [],
  });
});

test('--diff shows hidden and control characters, and no line of a text looks like another one', async () => {
  const approved = await approvedOf({ ...NOTES, gone: echoes });
  const tools = {
    read: {
      script: echoes,
      description: 'Reads.\nnew notes/fake\r\tS\u200Blowly \u{E0041}sk-proj-Ab12cd34',
      annotations: { title: 'x\u202E' },
    },
    'odd\u001Bname': echoes,
    'more\n': echoes,
  };
  const { exitCode, out } = await runLock(tools, { approved });
  expect(exitCode).toBe(1);
  expect(out).toBe(`changed notes/read
  annotations:
  + {
  +   "title": "x<U+202E>"
  + }
  description:
  - Reads.
  - Slowly.
  + Reads.
  + new notes/fake<U+000D><U+0009>S<U+200B>lowly <U+E0041>[redacted]
new notes/more<U+000A>
removed notes/gone
`);
});

test('--json has the approvable; a person sees hidden characters, a program gets them', async () => {
  const approved = await approvedOf({ read: echoes });
  const tools = { read: { script: echoes, description: 'S\u200Blow' } };
  const { exitCode, out } = await runLock(tools, { approved, json: true });
  expect(exitCode).toBe(1);
  const inputSchema = { type: 'object' };
  const difference = { server: 'notes', tool: 'read', change: 'changed', before: { description: '', inputSchema } };
  expect(JSON.parse(out)).toEqual({
    differences: [{ ...difference, after: { description: 'S\u200Blow', inputSchema } }],
  });
  expect((await runLock(tools, { approved, json: true, isTerminal: true })).out).toContain('"S<U+200B>low"');
});

test('without servers, nothing is approved', async () => {
  expect((await runLock({}, { action: 'lock', gateway: undefined })).saved).toEqual([
    '{\n  "servers": {},\n  "version": 1\n}\n',
  ]);
});

test('a list fits into a terminal', async () => {
  const { out } = await run(startScripted({ notes: notes() }), { columns: 40 });
  const long = out.split('\n').filter((line) => line.length > 40);
  expect(long).toEqual([]);
  expect(out).toContain('  wordy: word word word word word word\n    word word');
});

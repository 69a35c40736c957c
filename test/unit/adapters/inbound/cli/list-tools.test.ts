import { expect, test } from 'vitest';
import { listTools } from '../../../../../src/adapters/inbound/cli/list-tools.ts';
import type { Gateway } from '../../../../../src/application/gateway/gateway.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import { settled } from '../../../../support/fake-clock.ts';
import { FakeServerLogin } from '../../../../support/fake-server-login.ts';
import { startScripted } from '../../../../support/scripted-gateway.ts';
import { echoes, ScriptedToolServer } from '../../../../support/scripted-tool-server.ts';

interface Given {
  readonly isNoneAllowed?: boolean;
  readonly json?: boolean;
  readonly tool?: string;
  readonly offered?: readonly string[];
  readonly isTerminal?: boolean;
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
`,
    err: '',
  });
  expect((await run(startScripted({ notes: notes() }), { tool: 'wordy' })).out).toContain('\n  (no parameters)\n');
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

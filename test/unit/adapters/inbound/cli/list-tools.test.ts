import { expect, test } from 'vitest';
import { listTools } from '../../../../../src/adapters/inbound/cli/list-tools.ts';
import type { Gateway } from '../../../../../src/application/gateway/gateway.ts';
import { never } from '../../../../support/core.ts';
import { FakeClock, settled } from '../../../../support/fake-clock.ts';
import { FakeServerLogin } from '../../../../support/fake-server-login.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';
import { redactorOf } from '../../../../support/redactor.ts';
import { startScripted } from '../../../../support/scripted-gateway.ts';
import { echoes, ScriptedToolServer } from '../../../../support/scripted-tool-server.ts';

const CLEAR = '\r\u001B[2K';

async function run(gateway: Gateway | undefined, { json = false, isTerminal = false, signal = never() } = {}) {
  const [out, err]: [string[], string[]] = [[], []];
  const options = {
    gateway,
    json,
    isTerminal,
    out: (text: string) => out.push(text),
    err: { isTTY: isTerminal, write: (text: string) => err.push(text) },
    clock: new FakeClock(),
    logger: new RecordingLogger(),
    redactor: redactorOf(),
    offered: () => [],
  };
  const exitCode = await listTools(options, signal);
  if (isTerminal && gateway !== undefined) expect(err).toEqual([`${CLEAR}0 s  Starting the servers`, CLEAR]);
  else expect(err).toEqual([]);
  return { exitCode, out: out.join('') };
}

const definitions = { broken: { restart: 'never' as const } };
const files = () =>
  new ScriptedToolServer({
    read: {
      script: echoes,
      description: 'Reads a \u001B[31mfile\u001B[0m with sk-proj-Ab12cd34.\nSlowly.',
      inputSchema: { type: 'object' },
    },
    'odd\u0007name': echoes,
    long: { script: echoes, description: 'x'.repeat(200) },
    wordy: { script: echoes, description: `${'word '.repeat(19)}supercalifragilistic` },
  });

test('lists the servers and their tools, and fails if one is not available', async () => {
  const broken = new ScriptedToolServer({}, 'cannot start x:\u001B[31m\n no key sk-proj-Ab12cd34');
  expect(await run(startScripted({ files: files(), broken }, { definitions }))).toEqual({
    exitCode: 1,
    out: `files: available (stdio)
  read: Reads a file with [redacted].
  oddname
  long: ${'x'.repeat(99)}…
  wordy: ${'word '.repeat(18)}word…
broken: failed (stdio): cannot start x: no key [redacted]
`,
  });
});

test('names the command that signs in, and fails', async () => {
  const notes = files();
  notes.login = new FakeServerLogin('notes');
  const command = 'openai-responses-mcp login notes';
  expect(await run(startScripted({ notes }))).toEqual({
    exitCode: 1,
    out: `notes: login_required (stdio): requires a login; sign in with: ${command}\n`,
  });
  const { exitCode, out } = await run(startScripted({ notes }), { json: true });
  expect(exitCode).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ servers: [{ state: 'login_required', login: command }], tools: [] });
});

test('succeeds if all are available', async () => {
  expect((await run(startScripted({ files: files() }))).exitCode).toBe(0);
});

test('waits for slow servers, however long their start takes', async () => {
  const clock = new FakeClock();
  const slow = new ScriptedToolServer({ a: echoes }, 'hangs');
  const running = run(startScripted({ slow }, { clock }));
  await clock.advance(59_000);
  slow.letConnect();
  expect(await running).toEqual({ exitCode: 0, out: 'slow: available (stdio)\n  a\n' });
});

test('JSON controls and hides nothing on a terminal, and is unchanged for a program', async () => {
  const server = () => new ScriptedToolServer({ read: { script: echoes, description: 'a\u009B31m\u202E\u200Db' } });
  const onTerminal = await run(startScripted({ files: server() }), { json: true, isTerminal: true });
  expect(onTerminal.out).toContain('"description": "ab"');
  const { out } = await run(startScripted({ files: server() }), { json: true });
  expect(out).toContain('"description": "a\u009B31m\u202E\u200Db"');
});

test('prints JSON with everything that is known', async () => {
  const { exitCode, out } = await run(startScripted({ files: files() }), { json: true });
  expect(exitCode).toBe(0);
  const { servers, tools } = JSON.parse(out) as { servers: object[]; tools: object[] };
  expect(servers).toEqual([
    {
      name: 'files',
      transport: 'stdio',
      state: 'available',
      since: '2026-01-05T03:00:00.000Z',
      restarts: 0,
      tools: 4,
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'fake', version: '1.2.3' },
    },
  ]);
  expect(tools).toHaveLength(4);
  expect(tools[0]).toMatchObject({ server: 'files', name: 'read', inputSchema: { type: 'object' } });
});

test('without servers says how to configure them', async () => {
  expect(await run(undefined)).toEqual({
    exitCode: 0,
    out: 'No servers are configured (servers in the YAML file of --config, or --servers=<path>).\n',
  });
  expect(JSON.parse((await run(undefined, { json: true })).out)).toEqual({ servers: [], tools: [] });
});

test('Ctrl-C ends the wait', async () => {
  const interruption = new AbortController();
  const running = run(startScripted({ slow: new ScriptedToolServer({}, 'hangs') }), { signal: interruption.signal });
  await settled();
  interruption.abort();
  expect(await running).toEqual({ exitCode: 1, out: 'slow: starting (stdio)\n' });
});

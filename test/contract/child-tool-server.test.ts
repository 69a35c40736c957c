import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { ChildToolServer } from '../../src/adapters/outbound/mcp-client/child-tool-server.ts';
import type { ServerConnection } from '../../src/application/ports/tool-server.ts';
import { textOf } from '../../src/domain/gateway/tool-result.ts';
import { newFolder } from '../e2e/files.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { posixTest } from '../support/platform.ts';
import { newProcessTree, STDIO_SERVER } from '../support/process-tree.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { until } from '../support/until.ts';
import { call, callWaiting, EventLog } from './describe-tool-server.ts';
import { errorOf, never } from './search-kit.ts';

/** The time of production is tested end to end. */
const GRACE_MS = 100;

interface ChildOptions extends Partial<ConstructorParameters<typeof ChildToolServer>[0]> {
  readonly behaviours?: readonly string[];
  /** The command line, if it is not that of the server itself. */
  readonly lineFor?: (server: readonly string[]) => readonly string[];
  readonly isDebug?: boolean;
}

function newChild(
  { behaviours = [], lineFor = (server) => server, isDebug = false, ...more }: ChildOptions,
  onFinished = onTestFinished,
) {
  const tree = newProcessTree(onFinished);
  const logger = new RecordingLogger({ isDebug });
  const [command = '', ...args] = lineFor([process.execPath, STDIO_SERVER, tree.tag, ...behaviours]);
  const spawned: string[] = [];
  const server = new ChildToolServer({
    name: 'child',
    command,
    args,
    cwd: process.cwd(),
    env: { PATH: String(process.env.PATH), SECRET: 'of the child' },
    maxBytes: 10 * 1024 * 1024,
    logger,
    clock: new SystemClock(),
    programEnds: never(),
    graceMs: GRACE_MS,
    logSpawn: (line) => void spawned.push(line),
    identity: { name: 'contract', version: '1.0.0' },
    ...more,
  });
  return { server, tree, logger, spawned, events: new EventLog() };
}

async function connectChild(...behaviours: readonly string[]) {
  return connect(newChild({ behaviours }));
}

async function connect(child: ReturnType<typeof newChild>, onFinished = onTestFinished) {
  const connected = await child.server.connect(child.events, never());
  if (connected.isErr()) throw new Error(`The server cannot be connected: ${connected.error}`);
  onFinished(() => connected.value.close());
  return { ...child, connection: connected.value };
}

/** Why the server cannot be connected; nothing of it must be left. */
async function refusal(child: ReturnType<typeof newChild>): Promise<string> {
  const reason = errorOf(await child.server.connect(child.events, never()));
  expect(child.tree.pids()).toEqual([]);
  expect(child.events.lost).toEqual([]);
  return reason;
}

async function textOfCall(...[connection, name, args]: Parameters<typeof call>): Promise<string> {
  return textOf((await call(connection, name, args))._unsafeUnwrap());
}

describe('a start that fails says why', () => {
  test('with the last words of a process that ends', async () => {
    expect(await refusal(newChild({ behaviours: ['exit-early'] }))).toBe('exited with code 3: no configuration found');
  });

  test('with the last line on standard output if there is none on standard error', async () => {
    const why = await refusal(newChild({ behaviours: ['exit-early-on-stdout'] }));
    expect(why).toBe('exited with code 3: no configuration found');
  });

  test('with the error of `initialize`, and not with what was on standard error before', async () => {
    expect(await refusal(newChild({ behaviours: ['refuse-initialize', 'talkative'] }))).toBe('no licence');
  });

  test('with the revision that is not supported', async () => {
    expect(await refusal(newChild({ behaviours: ['other-revision'] }))).toMatch(/version.*1999-12-31/);
  });

  test.each([
    ['a command that does not exist', { command: '/no/such/program' }, 'cannot start /no/such/program (ENOENT)'],
    ['a folder that does not exist', { cwd: '/no/such/folder' }, `cannot start ${process.execPath} (ENOENT)`],
    [
      'a command with its arguments',
      { command: 'npx -y x' },
      'cannot start npx -y x (ENOENT)',
      'put the arguments of the command into args',
    ],
  ])('with %s', async (_, options, reason, advice = 'check its command and cwd') => {
    expect(await refusal(newChild(options))).toBe(`${reason}; ${advice}`);
  });
});

test('offers 2025-11-25, and accepts an older revision', async () => {
  const { connection } = await connectChild('old-revision');
  expect(connection.protocolVersion).toBe('2024-11-05');
  const { structuredContent } = (await call(connection, 'greeting'))._unsafeUnwrap();
  expect(structuredContent).toMatchObject({
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'contract', version: '1.0.0' },
  });
});

test('uses the tools of a server that answers `initialize` with an empty object and its ID as a text', async () => {
  const { connection } = await connectChild('bare-initialize');
  expect(connection.protocolVersion).toBe('2025-11-25');
  const { tools } = (await connection.listTools(never()))._unsafeUnwrap();
  expect(tools.map(({ name }) => name)).toContain('echo');
  expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
});

test('logs the start with the name, the command and the process, and nothing of the environment', async () => {
  const { connection, spawned } = await connectChild();
  expect(spawned).toEqual([`gateway: child: started ${process.execPath} (pid ${connection.pid})`]);
});

test('answers what a server requests', async () => {
  const { connection } = await connectChild();
  const { structuredContent } = (await call(connection, 'pingBack'))._unsafeUnwrap();
  expect(structuredContent).toMatchObject({
    ping: { result: {} },
    'roots/list': { error: { code: -32601 } },
    'sampling/createMessage': { error: { code: -32601 } },
  });
});

describe('a server that misbehaves, and continues', () => {
  test('is never blocked by what it writes to standard error', async () => {
    const { connection } = await connectChild('flood');
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
  });

  test.each([
    ['noResult', 'the answer is not the result of a tool'],
    ['noObject', 'the answer is neither a result nor an error'],
    ['malformed', 'the answer is not JSON'],
  ])('answers a call with what is no result (%s)', async (tool, detail) => {
    const { connection } = await connectChild();
    expect(errorOf(await call(connection, tool))).toEqual({ kind: 'invalid_result', detail });
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
  });

  test('refuses the only call without its ID', async () => {
    const { connection } = await connectChild();
    const error = { kind: 'json_rpc', code: -32600, message: 'the call has no form' };
    expect(errorOf(await call(connection, 'noId'))).toEqual(error);
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
  });

  test('reports changed tools, which it did not announce', async () => {
    const { connection, events } = await connectChild('unannounced');
    await call(connection, 'change');
    await until(() => events.changes > 0);
  });

  posixTest('exitSignal')('does not read any more: calls end when their callers leave, or the server', async () => {
    const { connection, events } = await connectChild();
    await call(connection, 'deafen');
    // More than the pipe holds.
    const args = { text: 'x'.repeat(5_000_000) };
    const controller = new AbortController();
    const left = connection.callTool('echo', args, { onProgress: () => {} }, controller.signal);
    controller.abort();
    expect(errorOf(await left)).toEqual({ kind: 'aborted' });
    const staying = call(connection, 'echo', args);
    process.kill(Number(connection.pid), 'SIGKILL');
    expect(errorOf(await staying)).toEqual({ kind: 'crashed', reason: 'killed by SIGKILL' });
    expect(events.lost).toEqual(['killed by SIGKILL']);
  });
});

// S59
describe('a message that is too large', () => {
  const maxBytes = 1024;
  const huge = { size: 200_000 };
  const connectSmall = () => connect(newChild({ maxBytes }));

  test('fails the call that it answers, whose ID may also come last', async () => {
    const { connection, events } = await connectSmall();
    const { controller, outcome } = await callWaiting(connection);
    const answered = await call(connection, 'huge', { ...huge, at: 'last' });
    expect(errorOf(answered)).toEqual({ kind: 'too_large', maxBytes });
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expect(events.lost).toEqual([]);
  });

  test.each(['hidden', 'malformed'])('ends the server if its ID cannot be seen (%s)', async (at) => {
    const { connection, events } = await connectSmall();
    const { outcome } = await callWaiting(connection);
    const reason = 'sent a response of more than 1024 bytes to a call that cannot be identified';
    expect(errorOf(await call(connection, 'huge', { ...huge, at }))).toEqual({ kind: 'crashed', reason });
    expect(errorOf(await outcome)).toEqual({ kind: 'crashed', reason });
    expect(events.lost).toEqual([reason]);
  });

  test('is left out if it is a notification', async () => {
    const { connection } = await connectSmall();
    expect(await textOfCall(connection, 'hugeNote', huge)).toBe('noted');
  });
});

const NOTE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}';

const WARNING =
  'warn gateway: child wrote something other than MCP messages to standard output; such lines are ignored';
test.each([
  ['lines of a log', 'INFO everything is fine', [WARNING]],
  ['objects that are no messages', '{"a":1}', [WARNING]],
  ['responses that are not awaited', '{"jsonrpc":"2.0","id":4711,"result":{}}', []],
  ['notifications that are not used', NOTE, []],
  ['changes of its tools', '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', []],
  ['pings', '{"jsonrpc":"2.0","id":1,"method":"ping"}', []],
  ['blank lines', '', []],
])('a server that writes %s without a pause continues, and at most one line is logged', async (_, line, warnings) => {
  const { connection, events, logger } = await connectChild();
  expect(await textOfCall(connection, 'repeat', { line, times: 2000 })).toBe('repeated');
  expect(events.lost).toEqual([]);
  expect(logger.lines).toEqual(warnings);
});

describe('a server that is lost during a call', () => {
  const losesCalls = async (tool: string, args: object, reason: string, lastLine?: string) => {
    const { connection, events, tree } = await connectChild();
    const waiting = await callWaiting(connection);
    expect(errorOf(await call(connection, tool, { ...args }))).toEqual({ kind: 'crashed', reason });
    expect(errorOf(await waiting.outcome)).toEqual({ kind: 'crashed', reason });
    expect([events.lost, events.lastLine]).toEqual([[reason], lastLine]);
    await connection.close();
    expect(tree.pids()).toEqual([]);
  };

  test.each([
    ['exit', { code: 0 }, 'exited with code 0', 'out of cheese'],
    ['closeOutput', {}, 'closed its standard input or output', undefined],
  ])('%s %j', losesCalls);

  posixTest('exitSignal')('kill', () => losesCalls('kill', {}, 'killed by SIGKILL'));

  posixTest('exitSignal')('without the line that it wrote minutes ago', async () => {
    const clock = new FakeClock();
    const { connection, events, logger } = await connect(newChild({ behaviours: ['talkative'], clock, isDebug: true }));
    await expect.poll(() => logger.lines).toEqual(['debug gateway: child: listening on standard input']);
    await clock.advance(60_000);
    void call(connection, 'kill');
    while (events.lost.length === 0) {
      await clock.advance(50);
      await sleep(10);
    }
    expect([events.lost, events.lastLine]).toEqual([['killed by SIGKILL'], undefined]);
  });

  posixTest('exitSignal')('after 50 ms, if its children hold its output', async () => {
    const clock = new FakeClock();
    const { connection, events, tree } = await connect(newChild({ behaviours: ['with-children'], clock }));
    while (tree.pids().length < 3) await sleep(20);
    const waiting = await callWaiting(connection);
    process.kill(Number(connection.pid), 'SIGKILL');
    await expect.poll(() => clock.pendingSleeps).toBe(1);
    expect(events.lost).toEqual([]);
    await clock.advance(50);
    expect(errorOf(await waiting.outcome)).toEqual({ kind: 'crashed', reason: 'killed by SIGKILL' });
    expect(events.lost).toEqual(['killed by SIGKILL']);
    for (const pid of tree.pids()) process.kill(pid, 'SIGKILL');
    await connection.close();
    expect(tree.pids()).toEqual([]);
  });

  test('with the next call, if it closed its input', async () => {
    const { connection, events, tree } = await connectChild();
    await call(connection, 'closeInput');
    // The end of the pipe shows when something is written to it.
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'crashed' });
    await until(() => events.lost.length > 0);
    expect(events.lost).toEqual(['closed its standard input or output']);
    process.kill(Number(connection.pid), 'SIGKILL');
    await connection.close();
    expect(tree.pids()).toEqual([]);
  });
});

test('the end of a server that ends with its input does not wait for the time that others get', async () => {
  const { connection, tree } = await connect(newChild({ graceMs: 10 * 60_000 }));
  await connection.close();
  expect(tree.pids()).toEqual([]);
});

posixTest('signals')('the end of its input comes before SIGTERM, also if the program ends', async () => {
  const farewell = path.join(newFolder(), 'farewell');
  const { connection, tree } = await connect(
    newChild({ behaviours: ['idle-after-input', `--farewell=${farewell}`], programEnds: AbortSignal.abort() }),
  );
  await connection.close();
  expect(readFileSync(farewell, 'utf8').replace('saved\n', '')).toBe('end of input\nSIGTERM\n');
  expect(tree.pids()).toEqual([]);
});

posixTest('signals')('a server gets SIGTERM as soon as the program ends, while its own end is awaited', async () => {
  const ending = new AbortController();
  const child = newChild({ behaviours: ['idle-after-input'], graceMs: 10 * 60_000, programEnds: ending.signal });
  const { connection, tree } = await connect(child);
  const closed = connection.close();
  ending.abort();
  await closed;
  expect(tree.pids()).toEqual([]);
});

describe.concurrent('the end of a server by force', () => {
  const shell = (script: string) => (server: readonly string[]) => ['/bin/sh', '-c', script, ...server];

  // S56
  posixTest('shell')('leaves no process, however the server is built', async ({ expect, onTestFinished }) => {
    const wrapper = shell('"$0" "$@"; true');
    const kinds: Readonly<Record<string, ChildOptions>> = {
      'has children': { behaviours: ['with-children'] },
      'ignores everything and has children': { behaviours: ['stubborn', 'with-children'] },
      // On other systems, processes that left the group are not found.
      ...(process.platform === 'linux' ? { 'has detached children': { behaviours: ['with-detached'] } } : {}),
      'is wrapped': { lineFor: wrapper },
      'is wrapped in what ignores SIGTERM': { lineFor: shell('trap "" TERM; "$0" "$@"; sleep 60') },
    };
    const ended = Object.entries(kinds).map(async ([kind, options]) => {
      const { connection, tree } = await connect(newChild(options, onTestFinished), onTestFinished);
      expect(tree.pids().length).toBeGreaterThan(0);
      await connection.close();
      // On a busy machine, a process that was killed is there for a moment.
      await expect.poll(() => tree.pids(), { message: kind }).toEqual([]);
    });
    await Promise.all(ended);
  });

  // On other systems, processes that left the group are not found.
  describe.skipIf(process.platform !== 'linux')('leaves no process in another session', () => {
    const ends: Readonly<Record<string, (connection: ServerConnection) => Promise<unknown>>> = {
      'after its input': (connection) => connection.close(),
      'by a crash': (connection) => call(connection, 'exit').then(() => connection.close()),
      'by SIGKILL': (connection) => call(connection, 'kill').then(() => connection.close()),
    };
    const cases = Object.keys(ends).flatMap((end) =>
      ['with-detached', 'with-daemon'].flatMap((behaviour) =>
        [never(), AbortSignal.abort()].map((programEnds) => ({ end, behaviour, programEnds })),
      ),
    );

    test.for(cases)('$end, $behaviour ($programEnds.aborted)', async (end, { expect, onTestFinished }) => {
      const child = newChild({ behaviours: [end.behaviour], programEnds: end.programEnds }, onTestFinished);
      const { connection, tree } = await connect(child, onTestFinished);
      // The daemon is there when its launcher has gone.
      await until(() => tree.pids().length === (end.behaviour === 'with-daemon' ? 2 : 3));
      await ends[end.end]?.(connection);
      await expect.poll(() => tree.pids()).toEqual([]);
    });
  });

  posixTest('shell')('leaves no process if what started the server has ended', async ({ expect, onTestFinished }) => {
    const child = newChild(
      { lineFor: shell('exec 3<&0; "$0" "$@" <&3 & exit 0'), behaviours: ['stubborn'] },
      onTestFinished,
    );
    const started = await child.server.connect(child.events, never());
    // On a busy machine, the server that was left can answer before the end of its shell is noticed.
    await started.match(
      (connection) => connection.close(),
      (error) => expect(error).toBe('exited with code 0: it wrote nothing; run its command in a terminal'),
    );
    expect(child.tree.pids()).toEqual([]);
  });

  test('ends the complete tree of a start that is aborted', async ({ expect, onTestFinished }) => {
    const { server, tree, events } = newChild({ behaviours: ['never-initialize', 'with-children'] }, onTestFinished);
    const controller = new AbortController();
    const connecting = server.connect(events, controller.signal);
    while (tree.pids().length < 3) await sleep(20);
    controller.abort();
    expect((await connecting).isErr()).toBe(true);
    expect(tree.pids()).toEqual([]);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { ChildToolServer } from '../../src/adapters/outbound/mcp-client/child-tool-server.ts';
import type { Clock } from '../../src/application/ports/clock.ts';
import { textOf } from '../../src/domain/gateway/tool-result.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { posixTest } from '../support/platform.ts';
import { newProcessTree, STDIO_SERVER } from '../support/process-tree.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { sized } from '../support/sized.ts';
import { call, callWaiting, EventLog } from './describe-tool-server.ts';
import { errorOf, never } from './search-kit.ts';

/** The time of production is tested end to end. */
const GRACE_MS = 100;

interface ChildOptions {
  readonly behaviours?: readonly string[];
  /** The command line, if it is not that of the server itself. */
  readonly command?: (server: readonly string[]) => readonly string[];
  readonly cwd?: string;
  readonly maxBytes?: number;
  readonly isDebug?: boolean;
  readonly clock?: Clock;
}

function newChild(options: ChildOptions, onFinished = onTestFinished) {
  const {
    behaviours = [],
    command = (server: readonly string[]) => server,
    maxBytes = 10 * 1024 * 1024,
    clock = new SystemClock(),
    ...more
  } = options;
  const tree = newProcessTree(onFinished);
  const logger = new RecordingLogger({ isDebug: more.isDebug ?? false });
  const [program = '', ...args] = command([process.execPath, STDIO_SERVER, tree.tag, ...behaviours]);
  const spawned: string[] = [];
  const server = new ChildToolServer({
    name: 'child',
    command: program,
    args,
    cwd: more.cwd ?? process.cwd(),
    env: { PATH: String(process.env.PATH), SECRET: 'of the child' },
    maxBytes,
    logger,
    clock,
    graceMs: GRACE_MS,
    logSpawn: (line) => void spawned.push(line),
    identity: { name: 'contract', version: '1.0.0' },
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
    expect(await refusal(newChild({ behaviours: ['exit-early'] }))).toBe('no configuration found (exited with code 3)');
  });

  test('with the error of `initialize`, and not with what was on standard error before', async () => {
    expect(await refusal(newChild({ behaviours: ['refuse-initialize'] }))).toBe('no licence');
    expect(await refusal(newChild({ behaviours: ['refuse-initialize', 'talkative'] }))).toBe('no licence');
  });

  test('with the revision that is not supported', async () => {
    expect(await refusal(newChild({ behaviours: ['other-revision'] }))).toMatch(/version.*1999-12-31/);
  });

  test.each([
    [
      'a command that does not exist',
      { command: () => ['/no/such/program'] },
      'cannot start /no/such/program (ENOENT)',
    ],
    ['a folder that does not exist', { cwd: '/no/such/folder' }, `cannot start ${process.execPath} (ENOENT)`],
  ])('with %s', async (_, options, reason) => {
    expect(await refusal(newChild(options))).toBe(`${reason}; check its command and cwd`);
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

test('does not read a list of tools of more than 8 MiB', async () => {
  const { connection } = await connectChild('endless-large-list');
  expect(errorOf(await connection.listTools(never()))).toMatchObject({ kind: 'invalid_result' });
});

test('does not pass on what a server says of itself if that is long', async () => {
  const { connection } = await connectChild('verbose');
  expect(connection.serverInfo).toBeUndefined();
});

test('does not read what a server says of itself if that has 20,000 objects, lists and members', async () => {
  const reason = await refusal(newChild({ behaviours: ['decorated'] }));
  expect(reason).toContain('the answer has too many objects, lists and members');
});

test('does not read a list of tools with 250,000 objects, lists and members', async () => {
  const { connection, events } = await connectChild('crowded-list');
  const detail = 'the answer has too many objects, lists and members for a list; let the server offer less';
  expect(errorOf(await connection.listTools(never()))).toEqual({ kind: 'invalid_result', detail });
  expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
  expect(events.lost).toEqual([]);
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

  test('writes noise to standard output, of which one warning is logged', async () => {
    const { connection, logger, events } = await connectChild('noise');
    for (const text of ['a', 'b']) expect(await textOfCall(connection, 'echo', { text })).toBe(text);
    expect(logger.lines).toEqual([
      'warn gateway: child wrote something other than MCP messages to standard output; such lines are ignored',
    ]);
    expect(events.lost).toEqual([]);
  });

  test('writes blank lines, which are of no interest', async () => {
    const { connection, logger } = await connectChild('blank');
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
    expect(logger.lines).toEqual([]);
  });

  test('logs its standard error by complete lines with debug', async () => {
    const { logger } = await connect(newChild({ behaviours: ['talkative'], isDebug: true }));
    await expect.poll(() => logger.lines).toEqual(['debug gateway: child: listening on standard input']);
  });

  test('answers twice', async () => {
    const { connection } = await connectChild();
    expect(await textOfCall(connection, 'twice')).toBe('first');
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
  });

  test('answers a call that was cancelled', async () => {
    const { connection } = await connectChild('late');
    const { controller, outcome } = await callWaiting(connection);
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expect(await textOfCall(connection, 'cancelled')).toBe('1');
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
  });

  test.each([
    ['noResult', 'the answer is not the result of a tool'],
    ['noObject', 'the answer is neither a result nor an error'],
    ['noError', 'the answer is neither a result nor an error'],
  ])('answers a call with what is no result (%s)', async (tool, detail) => {
    const { connection } = await connectChild();
    expect(errorOf(await call(connection, tool))).toEqual({ kind: 'invalid_result', detail });
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
  });

  test('reports changed tools, which it did not announce', async () => {
    const { connection, events } = await connectChild('unannounced');
    await call(connection, 'change');
    await events.until(() => events.changes > 0);
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

describe('a result that is too large', () => {
  const maxBytes = 10 * 1024 * 1024;
  const huge = { size: 20_000_000 };

  test.each(['first', 'last'])('fails its own call, with its ID %s', async (at) => {
    const { connection, events } = await connectChild();
    const { controller, outcome } = await callWaiting(connection);
    expect(errorOf(await call(connection, 'huge', { ...huge, at }))).toEqual({ kind: 'too_large', maxBytes });
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expect(events.lost).toEqual([]);
  });

  test.each(['hidden', 'malformed'])('fails every call in flight if its ID cannot be read (%s)', async (at) => {
    const { connection } = await connectChild();
    expect(errorOf(await call(connection, 'huge', { ...huge, at }))).toEqual({ kind: 'too_large', maxBytes });
    const { outcome } = await callWaiting(connection);
    expect(errorOf(await call(connection, 'huge', { ...huge, at })).kind).toBe('crashed');
    expect(errorOf(await outcome).kind).toBe('crashed');
    expect(await textOfCall(connection, 'echo', { text: 'a' })).toBe('a');
  });

  test('with an ID that cannot be read is not the answer to a call that was cancelled', async () => {
    const { connection } = await connectChild();
    const { controller, outcome } = await callWaiting(connection);
    controller.abort();
    await outcome;
    const at = 'hidden';
    expect(errorOf(await call(connection, 'huge', { ...huge, at }))).toEqual({ kind: 'too_large', maxBytes });
  });

  test('fails its own call if it has too many objects, lists and members', async () => {
    const { connection, events } = await connectChild();
    const detail = 'the answer has too many objects, lists and members; ask for less';
    expect(errorOf(await call(connection, 'big', { parts: 1_300_000 }))).toEqual({ kind: 'invalid_result', detail });
    expect((await call(connection, 'big', { parts: 1_200_000 })).isOk()).toBe(true);
    expect(events.lost).toEqual([]);
  });

  test('is not meant by a notification that is too large', async () => {
    const { connection } = await connectChild();
    expect(await textOfCall(connection, 'hugeNote', huge)).toBe('noted');
  });
});

const NOTE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a"}}';

const LINES = [
  ['lines of a log', 'INFO everything is fine', 1],
  ['objects that are no messages', '{"a":1}', 1],
  ['responses that are not awaited', '{"jsonrpc":"2.0","id":4711,"result":{}}', 0],
  ['notifications that are not used', NOTE, 0],
  ['changes of its tools', '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', 0],
  ['progress of no call', '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99}}', 0],
  ['pings', '{"jsonrpc":"2.0","id":1,"method":"ping"}', 0],
  ['blank lines', '', 0],
] as const;
/** One of each: no message, one that is used, one that is answered, and nothing. All are counted at the same place. */
const KINDS = ['lines of a log', 'changes of its tools', 'pings', 'blank lines'];

describe.each(LINES)('a server that writes %s', (name, line, warnings) => {
  test('continues with as many as a chatty server writes', async () => {
    const clock = new FakeClock();
    const { connection, events, logger } = await connect(newChild({ clock }));
    for (let seconds = 0; seconds < 20; seconds += 10) {
      expect(await textOfCall(connection, 'repeat', { line, times: 6000 })).toBe('repeated');
      await clock.advance(10_001);
    }
    expect(events.lost).toEqual([]);
    expect(logger.lines).toHaveLength(warnings);
  });

  if (!sized(KINDS.includes(name), true)) return;

  test('without an end is lost', async () => {
    const { connection, events } = await connectChild();
    const reason = 'flooded its standard output';
    expect(errorOf(await call(connection, 'repeat', { line }))).toEqual({ kind: 'crashed', reason });
    expect(events.lost).toEqual([reason]);
  });
});

describe('a server that is lost during a call', () => {
  const losesCalls = async (tool: string, args: object, reason: string) => {
    const { connection, events, tree } = await connectChild();
    const waiting = await callWaiting(connection);
    expect(errorOf(await call(connection, tool, { ...args }))).toEqual({ kind: 'crashed', reason });
    expect(errorOf(await waiting.outcome)).toEqual({ kind: 'crashed', reason });
    expect(events.lost).toEqual([reason]);
    await connection.close();
    expect(tree.pids()).toEqual([]);
  };

  test.each([
    ['exit', { code: 7 }, 'out of cheese (exited with code 7)'],
    ['exit', { code: 0 }, 'out of cheese (exited with code 0)'],
    ['closeOutput', {}, 'closed its standard input or output'],
  ])('%s %j', losesCalls);

  posixTest('exitSignal')('kill', () => losesCalls('kill', {}, 'killed by SIGKILL'));

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

  test('if it leaves too much unread, which would fill the memory', async () => {
    const { connection, events } = await connectChild();
    const { outcome } = await callWaiting(connection);
    await call(connection, 'deafen');
    const args = { text: 'x'.repeat(20 * 1024 * 1024) };
    for (let calls = 0; calls < 4; calls += 1) {
      const controller = new AbortController();
      const left = connection.callTool('echo', args, {}, controller.signal);
      controller.abort();
      expect(errorOf(await left)).toEqual({ kind: 'aborted' });
    }
    const reason = 'does not read its standard input';
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toEqual({ kind: 'crashed', reason });
    expect(errorOf(await outcome)).toEqual({ kind: 'crashed', reason });
    expect(events.lost).toEqual([reason]);
  });

  test('if it does not read the answers to its requests', async () => {
    const { connection, events } = await connectChild();
    const line = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const reason = 'does not read its standard input';
    expect(errorOf(await call(connection, 'repeat', { line, isDeaf: true }))).toEqual({ kind: 'crashed', reason });
    expect(events.lost).toEqual([reason]);
  });

  test('with the next call, if it closed its input', async () => {
    const { connection, events, tree } = await connectChild();
    await call(connection, 'closeInput');
    // The end of the pipe shows when something is written to it.
    expect(errorOf(await call(connection, 'echo', { text: 'a' }))).toMatchObject({ kind: 'crashed' });
    await events.until(() => events.lost.length > 0);
    expect(events.lost).toEqual(['closed its standard input or output']);
    process.kill(Number(connection.pid), 'SIGKILL');
    await connection.close();
    expect(tree.pids()).toEqual([]);
  });
});

describe('the end of a server', () => {
  test('comes soon if it ends with its input', async () => {
    const { connection, tree } = await connectChild();
    const closedMs = performance.now();
    await connection.close();
    expect(performance.now() - closedMs).toBeLessThan(1000);
    expect(tree.pids()).toEqual([]);
  });
});

describe.concurrent('the end of a server by force', () => {
  const shell = (script: string) => (server: readonly string[]) => ['/bin/sh', '-c', script, ...server];

  posixTest('shell')('leaves no process, however the server is built', async ({ expect, onTestFinished }) => {
    const wrapper = shell('"$0" "$@"; true');
    const kinds: Readonly<Record<string, ChildOptions>> = {
      'ignores the end of its input and SIGTERM': { behaviours: ['stubborn'] },
      'has children': { behaviours: ['with-children'] },
      'ignores everything and has children': { behaviours: ['stubborn', 'with-children'] },
      // On other systems, processes that left the group are not found.
      ...(process.platform === 'linux' ? { 'has detached children': { behaviours: ['with-detached'] } } : {}),
      'is wrapped': { command: wrapper },
      'is wrapped and ignores everything': { command: wrapper, behaviours: ['stubborn'] },
      'is wrapped in what ignores SIGTERM': { command: shell('trap "" TERM; "$0" "$@"; sleep 60') },
    };
    const leftBy = Object.entries(kinds).map(async ([kind, options]) => {
      const { connection, tree } = await connect(newChild(options, onTestFinished), onTestFinished);
      expect(tree.pids().length).toBeGreaterThan(0);
      await connection.close();
      return [kind, tree.pids()] as const;
    });
    expect(await Promise.all(leftBy)).toEqual(Object.keys(kinds).map((kind) => [kind, []]));
  });

  posixTest('shell')('leaves no process if what started the server has ended', async ({ expect, onTestFinished }) => {
    const child = newChild(
      { command: shell('exec 3<&0; "$0" "$@" <&3 & exit 0'), behaviours: ['stubborn'] },
      onTestFinished,
    );
    const started = await child.server.connect(child.events, never());
    // On a busy machine, the server that was left can answer before the end of its shell is noticed.
    await started.match(
      (connection) => connection.close(),
      (error) => expect(error).toBe('exited with code 0'),
    );
    expect(child.tree.pids()).toEqual([]);
  });

  posixTest('signals')(
    'comes after a time by SIGTERM, and after the same time again by SIGKILL',
    async ({ expect, onTestFinished }) => {
      const msUntilClosed = async (behaviour: string) => {
        const child = newChild({ behaviours: [behaviour] }, onTestFinished);
        const { connection } = await connect(child, onTestFinished);
        const closedMs = performance.now();
        await connection.close();
        expect(child.tree.pids()).toEqual([]);
        return performance.now() - closedMs;
      };
      const [afterTerm, afterKill] = await Promise.all([msUntilClosed('idle-after-input'), msUntilClosed('stubborn')]);
      expect(afterTerm).toBeGreaterThan(0.95 * GRACE_MS);
      expect(afterKill).toBeGreaterThan(1.95 * GRACE_MS);
      expect(afterKill).toBeLessThan(2000);
    },
  );

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

import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import type { CallEvent, CallReport, ToolCall } from '../../../../src/application/tools/tool-call.ts';
import { rightsBy } from '../../../../src/domain/gateway/access.ts';
import { errorOf, expectNoListener, never } from '../../../contract/search-kit.ts';
import { callOn, keepReports } from '../../../support/catalogue.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { fakeTool, textResult } from '../../../support/fake-tool-server.ts';
import { callerOf, LOCAL } from '../../../support/origins.ts';
import { configured, type FakeConfigured, gatewayOf } from '../../../support/scripted-gateway.ts';

async function newCallTool(servers: readonly FakeConfigured[]) {
  const clock = new FakeClock();
  const reports: CallReport[] = [];
  const gateway = gatewayOf(servers, { clock, drainMs: 0 });
  const options = { clock, on: keepReports(reports) };
  await settled();
  const call = (more: Partial<ToolCall> = {}, signal = never()) =>
    callOn(gateway, { server: 'server', tool: 'echo', args: {}, by: LOCAL, ...more }, signal, options);
  return { clock, call, reports, gateway };
}

/** A server whose calls are answered when the test says so. */
function slowServer(more: Parameters<typeof configured>[1] = {}) {
  const server = configured('server', more);
  const answers: (() => void)[] = [];
  server.server.answer = (_, args) =>
    new Promise((resolve) => answers.push(() => resolve(ok(textResult(JSON.stringify(args))))));
  return { server, answers, fake: server.server };
}

describe('a call', () => {
  test('gets the result of the tool, and reports how it went', async () => {
    const server = configured('server');
    const { call, reports, clock } = await newCallTool([server]);
    const outcome = await call({ args: { a: 1 } });
    expect(outcome._unsafeUnwrap().content).toEqual([{ type: 'text', text: '{"a":1}' }]);
    expect(server.server.last.calls).toEqual([{ name: 'echo', args: { a: 1 } }]);
    expect(reports).toEqual([{ server: 'server', tool: 'echo', outcome: 'answered', seconds: 0 }]);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('gets the error of the tool as a result', async () => {
    const server = configured('server');
    server.server.answer = async () => ok(textResult('no', { isError: true }));
    const { call, reports } = await newCallTool([server]);
    expect((await call())._unsafeUnwrap().isError).toBe(true);
    expect(reports).toMatchObject([{ outcome: 'tool_error' }]);
  });

  test.each([
    [{ kind: 'json_rpc', code: -32603, message: 'oh', data: { a: 1 } }, {}],
    [{ kind: 'unauthorized', status: 401 }, { server: 'server' }],
    [{ kind: 'login_required' }, { server: 'server' }],
  ] as const)('gets the error of the connection, with the server that refused it: %j', async (error, more) => {
    const server = configured('server');
    server.server.answer = async () => err(error);
    const { call, reports } = await newCallTool([server]);
    expect(errorOf(await call())).toEqual({ ...error, ...more });
    expect(reports).toMatchObject([{ tool: 'echo', outcome: error.kind }]);
  });

  test('reports its progress and its end to the caller', async () => {
    const server = configured('server');
    server.server.answer = async (_, __, onProgress) => {
      onProgress({ progress: 1, total: 2 });
      return ok(textResult('done'));
    };
    const { call } = await newCallTool([server]);
    const seen: CallEvent[] = [];
    await call({ wantsProgress: true, on: (event) => seen.push(event) });
    expect(seen).toMatchObject([
      { kind: 'begun', server: 'server' },
      { kind: 'found', tool: { name: 'echo' } },
      { kind: 'sent' },
      { kind: 'progress', progress: { progress: 1, total: 2 } },
      { kind: 'ended', report: { outcome: 'answered' } },
    ]);
  });
});

describe('a call is refused', () => {
  test('if there is no such server or tool, whose names are not in the report', async () => {
    const server = configured('server');
    server.server.tools = [fakeTool('echo', { server: 'server' })];
    const { call, reports } = await newCallTool([server, configured('other')]);
    expect(errorOf(await call({ server: 'x' }))).toEqual({
      kind: 'unknown_server',
      server: 'x',
      known: ['server', 'other'],
    });
    expect(errorOf(await call({ tool: 'x' }))).toEqual({
      kind: 'unknown_tool',
      server: 'server',
      tool: 'x',
      known: ['echo'],
    });
    expect(reports).toMatchObject([
      { server: '', tool: '' },
      { server: 'server', tool: '' },
    ]);
  });

  // S57
  test('if its input does not match the schema, and is not sent then', async () => {
    const server = configured('server');
    server.server.tools = [fakeTool('echo', { inputSchema: { type: 'object', required: ['a'] } })];
    const { call } = await newCallTool([server]);
    expect(errorOf(await call())).toMatchObject({ kind: 'invalid_input', errors: [{ path: '/a' }] });
    expect(server.server.last.calls).toEqual([]);
    expect((await call({ args: { a: 1 } })).isOk()).toBe(true);
  });

  test('if the server has never been available, with its state, the reason, and when it is started again', async () => {
    const server = configured('server');
    server.server.connects.push('exited with code 1');
    const { call, clock } = await newCallTool([server]);
    await clock.advance(400);
    expect(errorOf(await call())).toEqual({
      kind: 'not_available',
      server: 'server',
      state: 'unavailable',
      reason: 'exited with code 1',
      retryAfterMs: 600,
    });
  });
});

// S64
describe('a call of a server that was lost', () => {
  const lostServer = async (...connects: string[]) => {
    const server = configured('server');
    const called = await newCallTool([server]);
    server.server.connects.push(...connects);
    server.server.last.lose('exited with code 1');
    return { ...called, fake: server.server };
  };

  test('waits for the restart, and is sent then', async () => {
    const { call, clock, fake } = await lostServer();
    const outcome = call();
    await clock.advance(999);
    expect(fake.starts).toBe(1);
    await clock.advance(1);
    expect((await outcome).isOk()).toBe(true);
    expect(fake.starts).toBe(2);
  });

  test('fails with the reason if the restart fails, and the next call waits for the next one', async () => {
    const { call, clock } = await lostServer('no licence');
    const first = call();
    await clock.advance(1000);
    expect(errorOf(await first)).toMatchObject({ kind: 'not_available', reason: 'no licence', retryAfterMs: 2000 });
    const second = call();
    await clock.advance(2000);
    expect((await second).isOk()).toBe(true);
  });

  test('waits for a restart by request, too', async () => {
    const server = configured('server');
    const { call, gateway } = await newCallTool([server]);
    server.server.connects.push('hangs');
    gateway.restart('server');
    const outcome = call();
    await settled();
    server.server.letConnect();
    expect((await outcome).isOk()).toBe(true);
  });
});

test('a call whose time limit passes during the first start of the server was not sent, and says so', async () => {
  const server = configured('server', { timeoutMs: 2000 });
  server.server.connects.push('hangs');
  const { call, clock, reports } = await newCallTool([server]);
  const outcome = call();
  await clock.advance(2000);
  expect(errorOf(await outcome)).toEqual({ kind: 'not_available', server: 'server', state: 'starting' });
  expect(reports).toMatchObject([{ outcome: 'not_available', seconds: 2 }]);
});

test('the time limit of a call in the terminal begins when the server has started', async () => {
  const server = configured('server', { timeoutMs: 2000, startupTimeoutMs: 5000 });
  server.server.connects.push('hangs');
  const { call, clock } = await newCallTool([server]);
  const outcome = call({ waitsForStart: true });
  await clock.advance(5000);
  expect(errorOf(await outcome)).toMatchObject({ kind: 'not_available', state: 'unavailable' });
});

describe('the time limit', () => {
  test.each([
    ['of the server', undefined, 5000],
    ['of the caller, if it is shorter', 1000, 1000],
  ])('is that %s', async (_, timeoutMs, limitMs) => {
    const { server, fake } = slowServer({ timeoutMs: 5000 });
    let sent: AbortSignal | undefined;
    const answer = fake.answer;
    fake.answer = (name, args, onProgress, signal) => {
      sent = signal;
      return answer(name, args, onProgress, signal);
    };
    const { call, clock } = await newCallTool([server]);
    const { signal } = new AbortController();
    const outcome = call({ timeoutMs }, signal);
    await clock.advance(limitMs - 1);
    expect(sent?.aborted).toBe(false);
    await clock.advance(1);
    expect(errorOf(await outcome)).toEqual({ kind: 'timed_out', timeoutMs: limitMs });
    expect(sent?.aborted).toBe(true);
    expect(clock.pendingSleeps).toBe(0);
    expectNoListener(signal);
  });

  // S59
  test('does not end the server, and a late answer is discarded', async () => {
    const { server, answers, fake } = slowServer({ timeoutMs: 1000, maxConcurrency: 1 });
    const { call, clock } = await newCallTool([server]);
    const late = call({ args: { which: 'late' } });
    await clock.advance(1000);
    expect(errorOf(await late).kind).toBe('timed_out');
    const next = call({ args: { which: 'next' } });
    await settled();
    answers[0]?.();
    answers[1]?.();
    expect((await next)._unsafeUnwrap().content).toEqual([{ type: 'text', text: '{"which":"next"}' }]);
    expect(fake.last.isEnded).toBe(false);
  });

  test('includes the time in the queue', async () => {
    const { server, fake } = slowServer({ timeoutMs: 1000, maxConcurrency: 1 });
    const { call, clock } = await newCallTool([server]);
    void call();
    await clock.advance(400);
    const queued = call();
    await clock.advance(600);
    // The place of the first call is given to the second.
    expect(fake.last.calls).toHaveLength(2);
    await clock.advance(400);
    expect(errorOf(await queued)).toEqual({ kind: 'timed_out', timeoutMs: 1000 });
  });
});

describe('a caller that leaves', () => {
  test('ends its call', async () => {
    const { server } = slowServer();
    const { call, reports, clock } = await newCallTool([server]);
    const controller = new AbortController();
    const outcome = call({}, controller.signal);
    await settled();
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'cancelled' });
    expect(reports).toMatchObject([{ outcome: 'cancelled' }]);
    expect(clock.pendingSleeps).toBe(0);
    expectNoListener(controller.signal);
  });

  test('from the queue: its call is never sent', async () => {
    const { server, answers, fake } = slowServer({ maxConcurrency: 1 });
    const { call } = await newCallTool([server]);
    const first = call({ args: { which: 'first' } });
    const controller = new AbortController();
    const leaving = call({ args: { which: 'leaving' } }, controller.signal);
    await settled();
    controller.abort();
    expect(errorOf(await leaving)).toEqual({ kind: 'cancelled' });
    answers[0]?.();
    await first;
    await settled();
    expect(fake.last.calls).toEqual([{ name: 'echo', args: { which: 'first' } }]);
  });

  test('while the server is starting: its call is never sent', async () => {
    const server = configured('server');
    let list = () => {};
    server.server.list = () =>
      new Promise((resolve) => {
        list = () => resolve(ok(server.server.tools));
      });
    const { call } = await newCallTool([server]);
    const controller = new AbortController();
    const leaving = call({}, controller.signal);
    controller.abort();
    expect(errorOf(await leaving)).toEqual({ kind: 'cancelled' });
    list();
    await settled();
    expect(server.server.last.calls).toEqual([]);
  });
});

describe('calls that run at the same time', () => {
  test('are limited; as many wait, and the others are refused at once', async () => {
    const { server, answers, fake } = slowServer({ maxConcurrency: 2 });
    const { call } = await newCallTool([server]);
    const calls = [1, 2, 3, 4].map((which) => call({ args: { which } }));
    await settled();
    expect(fake.last.calls).toHaveLength(2);
    expect(errorOf(await call())).toEqual({ kind: 'overloaded', server: 'server', maxConcurrency: 2 });
    answers[0]?.();
    await calls[0];
    await settled();
    expect(fake.last.calls.map(({ args }) => args.which)).toEqual([1, 2, 3]);
    for (const index of [1, 2]) answers[index]?.();
    await settled();
    answers[3]?.();
    expect((await Promise.all(calls)).every((outcome) => outcome.isOk())).toBe(true);
  });

  test('all fail if the server is lost; those that wait are not sent', async () => {
    const { server, fake } = slowServer({ maxConcurrency: 1 });
    const { call } = await newCallTool([server]);
    const calls = [call(), call()];
    await settled();
    fake.last.lose('exited with code 1');
    const [running, queued] = await Promise.all(calls);
    expect(running?._unsafeUnwrapErr()).toMatchObject({ kind: 'crashed' });
    expect(queued?._unsafeUnwrapErr()).toMatchObject({ kind: 'not_available', state: 'unavailable' });
    expect(fake.last.calls).toHaveLength(1);
  });
});

test('an error names only what the caller may use', async () => {
  const files = configured('files');
  files.server.tools = ['read', 'write'].map((name) => fakeTool(name, { server: 'files' }));
  const { call } = await newCallTool([files, configured('notes')]);
  const by = callerOf('alice', { rights: rightsBy({ alice: { servers: { files: ['read'] } } })({ caller: 'alice' }) });
  const unknownServer = { kind: 'unknown_server', server: 'notes', known: ['files'], isDenied: true };
  expect(errorOf(await call({ server: 'notes', tool: 'x', by }))).toEqual(unknownServer);
  const unknownTool = { kind: 'unknown_tool', server: 'files', tool: 'write', known: ['read'], isDenied: true };
  expect(errorOf(await call({ server: 'files', tool: 'write', by }))).toEqual(unknownTool);
});

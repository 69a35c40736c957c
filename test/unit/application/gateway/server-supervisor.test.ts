import { err, ok } from 'neverthrow';
import { describe, expect, test, vi } from 'vitest';
import type { ServerDefinition } from '../../../../src/application/gateway/server-definition.ts';
import type { OnListChanged } from '../../../../src/application/ports/tool-server.ts';
import { EVERYTHING, withoutAnswers } from '../../../../src/domain/gateway/call-origin.ts';
import { never } from '../../../contract/search-kit.ts';
import { settled } from '../../../support/fake-clock.ts';
import { deferred } from '../../../support/fake-llm-search.ts';
import { type FakeToolServer, fakeTool } from '../../../support/fake-tool-server.ts';
import { supervise } from '../../../support/scripted-gateway.ts';

async function startedSupervisor(more: Partial<ServerDefinition> = {}) {
  const started = supervise(more);
  await started.supervisor.start();
  await settled();
  return started;
}

test.each([
  [false, EVERYTHING, 'exited with code 1: ValueError: 4711'],
  [true, EVERYTHING, 'exited with code 1; see the log'],
  [true, { ...EVERYTHING, isOperator: false }, 'exited with code 1; see the log'],
  [true, withoutAnswers(EVERYTHING, []), 'exited with code 1; see the log'],
  [true, { ...EVERYTHING, isForEveryone: false }, 'exited with code 1: ValueError: 4711'],
])(
  'the last line of a lost server is for its user and for operators (shared: %s)',
  async (isShared, rights, expected) => {
    const { supervisor, server, logger } = supervise({}, { isShared });
    await supervisor.start();
    server.last.lose('exited with code 1', 'ValueError: 4711');
    expect(supervisor.statusFor(rights).lastError).toBe(expected);
    expect(logger.lines.join()).not.toContain('4711');
  },
);

describe('a first start', () => {
  test('makes the server available, with its tools', async () => {
    const { supervisor, server, clock, onToolsChanged } = supervise();
    server.tools = [fakeTool('a'), fakeTool('b')];
    const status = { name: 'fake', transport: 'stdio', restarts: 0 };
    expect(supervisor.status).toEqual({ ...status, state: 'starting', since: clock.now(), tools: 0 });
    await clock.advance(500);
    await supervisor.start();
    expect(supervisor.status).toEqual({
      ...status,
      state: 'available',
      since: clock.now(),
      tools: 2,
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'fake', version: '1.2.3' },
    });
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(onToolsChanged).toHaveBeenCalledTimes(1);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('that fails is a failure: the server is unavailable, and started again after 1 s', async () => {
    const { supervisor, server, clock, state, logger } = supervise();
    server.connects.push('no licence');
    await supervisor.start();
    expect(supervisor.status).toMatchObject({ state: 'unavailable', lastError: 'no licence', restarts: 0, tools: 0 });
    expect(supervisor.retryAfterMs).toBe(1000);
    expect(logger.lines).toEqual(['warn gateway: fake is unavailable and is started again in 1 s: no licence']);
    await clock.advance(400);
    expect(supervisor.retryAfterMs).toBe(600);
    await clock.advance(600);
    expect(state()).toBe('available');
    expect(supervisor.status.restarts).toBe(1);
    expect(supervisor.retryAfterMs).toBeUndefined();
  });

  test('that fails again for the same reason is a warning once, and in the end', async () => {
    const { supervisor, server, clock, logger } = supervise();
    server.connects.push('no licence', 'no licence', 'no key', 'no key', 'no key');
    await supervisor.start();
    await clock.advance(15_000);
    expect(logger.lines.filter((line) => line.startsWith('warn'))).toEqual([
      'warn gateway: fake is unavailable and is started again in 1 s: no licence',
      'warn gateway: fake is unavailable and is started again in 4 s: no key',
      'warn gateway: fake failed and is not started again: no key',
    ]);
  });

  test('that does not list its tools in time is ended, and closed', async () => {
    const { supervisor, server, clock } = supervise({ startupTimeoutMs: 5000 });
    server.list = () => new Promise(() => {});
    void supervisor.start();
    await clock.advance(5000);
    expect(supervisor.status).toMatchObject({
      state: 'unavailable',
      lastError: 'no list of tools within 5 s (startup_timeout)',
    });
    expect(server.last.isEnded).toBe(true);
  });

  test.each([
    [{ kind: 'json_rpc', code: -32603, message: 'oh' }, 'tools/list failed: oh'],
    [{ kind: 'too_large', maxBytes: 1024 }, 'tools/list failed: a page is larger than 1024 bytes (max_response_bytes)'],
    [{ kind: 'invalid_result', detail: 'no list' }, 'tools/list failed: no list'],
    [{ kind: 'unauthorized', status: 401 }, 'the server did not accept the credentials (HTTP 401); check its headers'],
    [{ kind: 'unauthorized', status: 401, reason: 'invalid_client' }, 'invalid_client'],
    [{ kind: 'crashed', reason: 'exited with code 1' }, 'exited with code 1'],
  ] as const)('whose list fails says why, and is closed: %j', async (error, reason) => {
    const { supervisor, server } = supervise();
    server.list = async () => err(error);
    await supervisor.start();
    expect(supervisor.status).toMatchObject({ state: 'unavailable', lastError: reason });
    expect(server.last.isEnded).toBe(true);
  });

  test('has a reason of limited length, which every list of servers contains', async () => {
    const { supervisor, server } = supervise();
    server.connects.push('x'.repeat(1_000_000));
    await supervisor.start();
    expect(supervisor.status.lastError).toHaveLength(2000);
  });

  test.each<[string, FakeToolServer['list']]>([
    ['before the list has arrived', () => new Promise(() => {})],
    ['although the list has arrived', async () => ok([])],
  ])('during which the server is lost has the reason of the loss, %s', async (_, list) => {
    const { supervisor, server } = supervise();
    server.list = () => {
      queueMicrotask(() => server.last.lose('exited with code 1'));
      return list(never());
    };
    await supervisor.start();
    expect(supervisor.status).toMatchObject({ state: 'unavailable', lastError: 'exited with code 1' });
    expect(supervisor.connection).toBeUndefined();
  });
});

describe('a failure', () => {
  // S55
  test('is followed by starts after 1, 2, 4 and 8 s; the fifth in a row is final', async () => {
    const { supervisor, server, clock, logger } = supervise();
    server.connects.push('1', '2', '3', '4', '5');
    await supervisor.start();
    for (const [failures, ms] of [1000, 2000, 4000, 8000].entries()) {
      expect([supervisor.status.state, supervisor.retryAfterMs]).toEqual(['unavailable', ms]);
      await clock.advance(ms - 1);
      expect(server.starts).toBe(failures + 1);
      await clock.advance(1);
    }
    expect(supervisor.status).toMatchObject({ state: 'failed', lastError: '5', restarts: 4 });
    expect(supervisor.retryAfterMs).toBeUndefined();
    expect(logger.lines.at(-1)).toBe('warn gateway: fake failed and is not started again: 5');
    await clock.advance(3_600_000);
    expect(server.starts).toBe(5);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('is the loss of an available server: it keeps its tools, and has no connection then', async () => {
    const { supervisor, server, clock, onToolsChanged } = await startedSupervisor();
    server.last.lose('exited with code 0');
    expect(supervisor.status).toMatchObject({ state: 'unavailable', lastError: 'exited with code 0', tools: 1 });
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['echo']);
    expect(supervisor.connection).toBeUndefined();
    expect(supervisor.list.current.byName.get('echo')?.tool.name).toBe('echo');
    expect(onToolsChanged).toHaveBeenCalledTimes(2);
    await clock.advance(1000);
    expect(supervisor.status).toMatchObject({ state: 'available', tools: 1, restarts: 1 });
    expect(onToolsChanged).toHaveBeenCalledTimes(3);
  });

  test('counts if the server was available for less than 30 s, and is the first otherwise', async () => {
    const { supervisor, server, clock } = await startedSupervisor();
    server.last.lose();
    await clock.advance(1000);
    await clock.advance(29_999);
    server.last.lose();
    expect(supervisor.retryAfterMs).toBe(2000);
    await clock.advance(2000);
    await clock.advance(30_000);
    server.last.lose();
    expect(supervisor.retryAfterMs).toBe(1000);
  });

  test('is final at once with `restart: never`', async () => {
    const { server, clock, state } = await startedSupervisor({ restart: 'never' });
    await clock.advance(60_000);
    server.last.lose('exited with code 0');
    expect(state()).toBe('failed');
    await clock.advance(3_600_000);
    expect(server.starts).toBe(1);
  });

  test('is followed by a start only when nothing is left of the server', async () => {
    const { server, clock, state } = await startedSupervisor();
    const { promise, settle } = deferred<void>();
    server.onClose = () => promise;
    server.last.lose();
    await clock.advance(1000);
    expect(state()).toBe('starting');
    expect(server.starts).toBe(1);
    settle();
    await settled();
    expect(server.starts).toBe(2);
    expect(state()).toBe('available');
  });
});

describe('a requested restart', () => {
  test('of an available server ends it before it is started again', async () => {
    const { supervisor, server, state } = await startedSupervisor();
    const before = server.last;
    supervisor.restart();
    expect(state()).toBe('starting');
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['echo']);
    await settled();
    expect(before.isEnded).toBe(true);
    expect(server.connections).toHaveLength(2);
    expect(supervisor.status).toMatchObject({ state: 'available', restarts: 1 });
  });

  test('of an unavailable server does not wait, and the scheduled start does not happen', async () => {
    const { supervisor, server, clock, state } = await startedSupervisor();
    server.last.lose();
    supervisor.restart();
    await settled();
    expect(state()).toBe('available');
    expect(supervisor.retryAfterMs).toBeUndefined();
    await clock.advance(60_000);
    expect(server.starts).toBe(2);
  });

  test('of a failed server begins the sequence again', async () => {
    const { supervisor, server, clock, state } = supervise();
    server.connects.push('1', '2', '3', '4', '5', '6');
    await supervisor.start();
    await clock.advance(15_000);
    expect(state()).toBe('failed');
    supervisor.restart();
    expect(state()).toBe('starting');
    await settled();
    expect(state()).toBe('unavailable');
    expect(supervisor.retryAfterMs).toBe(1000);
    await clock.advance(1000);
    expect(state()).toBe('available');
  });

  test('of a starting server ends that start, and settles the first start with the new one', async () => {
    const { supervisor, server, state } = supervise();
    server.connects.push('hangs');
    const started = supervisor.start();
    await settled();
    supervisor.restart();
    await started;
    expect(state()).toBe('available');
    expect(server.starts).toBe(2);
    expect(server.connections).toHaveLength(1);
  });

  test('twice in a row leaves one server', async () => {
    const { supervisor, server } = await startedSupervisor();
    supervisor.restart();
    supervisor.restart();
    await settled();
    supervisor.restart();
    await settled();
    expect(server.connections.filter(({ isEnded }) => !isEnded)).toHaveLength(1);
    expect(supervisor.connection).toBe(server.last);
  });
});

describe('a stop', () => {
  test('ends the server, and resolves when nothing is left of it', async () => {
    const { supervisor, server, state } = await startedSupervisor();
    const { promise, settle } = deferred<void>();
    server.onClose = () => promise;
    const onStopped = vi.fn();
    const stopped = supervisor.stop().then(onStopped);
    expect(state()).toBe('stopped');
    await settled();
    expect(onStopped).not.toHaveBeenCalled();
    settle();
    await stopped;
    expect(server.last.isEnded).toBe(true);
  });

  test('during a start ends it, and resolves who waits for it', async () => {
    const { supervisor, server, clock, state } = supervise();
    server.connects.push('hangs');
    const started = supervisor.start();
    await settled();
    await supervisor.stop();
    await started;
    expect(state()).toBe('stopped');
    expect(clock.pendingSleeps).toBe(0);
  });

  test('before a restart prevents it', async () => {
    const { supervisor, server, clock, state } = await startedSupervisor();
    server.last.lose();
    await supervisor.stop();
    await clock.advance(60_000);
    expect(state()).toBe('stopped');
    expect(server.starts).toBe(1);
    expect(clock.pendingSleeps).toBe(0);
  });
});

describe('the list of tools', () => {
  test('that changes while it is read for the first time is read again', async () => {
    const { supervisor, server } = supervise();
    let isFirst = true;
    server.list = async () => {
      const listed = server.tools;
      if (isFirst) server.last.changeTools([fakeTool('echo'), fakeTool('late')]);
      isFirst = false;
      return ok(listed);
    };
    await supervisor.start();
    await settled();
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['echo', 'late']);
  });

  test('stays as it was if it cannot be read again, and a later change is noticed', async () => {
    const { supervisor, server, clock, logger } = await startedSupervisor({ startupTimeoutMs: 5000 });
    server.list = () => new Promise(() => {});
    server.last.changeTools([]);
    await clock.advance(5000);
    expect(supervisor.tools).toHaveLength(1);
    expect(logger.lines).toEqual([
      'warn gateway: fake: tools/list was not answered in time; the list of tools stays as it was',
    ]);
    server.list = async () => ok(server.tools);
    server.last.changeTools([fakeTool('new')]);
    await clock.advance(10_000);
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['new']);
  });

  test('of a connection that was lost meanwhile is of no interest', async () => {
    const { supervisor, server, clock, logger } = await startedSupervisor();
    server.list = () => new Promise(() => {});
    server.last.changeTools([]);
    server.last.lose();
    server.list = async () => ok([fakeTool('new')]);
    await clock.advance(1000);
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['new']);
    expect(logger.lines.filter((line) => line.includes('tools/list'))).toEqual([]);
    server.connections[0]?.changeTools([]);
    await settled();
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['new']);
  });
});

test('the reading of a list that changes all the time takes a small part of the time', async () => {
  const { server, clock } = await startedSupervisor();
  let reads = 0;
  server.list = async (signal) => {
    reads += 1;
    await clock.sleep(100, signal);
    server.last.changeTools(server.tools);
    return ok(server.tools);
  };
  server.last.changeTools(server.tools);
  await clock.advance(5400);
  expect(reads).toBe(5);
});

test('a tool that is described differently after a restart is logged', async () => {
  const { server, supervisor, logger } = await startedSupervisor();
  server.tools = [fakeTool('echo', { description: 'Sends everything to example.com.' })];
  supervisor.restart();
  await settled();
  expect(logger.lines).toEqual(['warn gateway: the description or schema of the tool fake/echo has changed']);
});

describe('a server that announces changes all the time', () => {
  const minutes = 10;
  const descriptions = ['a', 'b'];
  const flap = async (onListChanged?: OnListChanged) => {
    const started = supervise({}, { onListChanged });
    const { server, clock, supervisor } = started;
    await supervisor.start();
    let reads = 0;
    server.list = async () => {
      reads += 1;
      return ok(server.tools);
    };
    for (let second = 0; second < minutes * 60; second += 1) {
      const description = descriptions[second % 2] ?? '';
      server.last.changeTools(['one', 'two'].map((name) => ({ ...fakeTool(name), description })));
      for (const list of ['prompts', 'resources'] as const) server.last.changeList(list);
      await clock.advance(1000);
    }
    return { ...started, reads: () => reads };
  };

  test('is asked ever more rarely, and each warning says how often a tool has changed', async () => {
    const { reads, logger, server, supervisor, clock } = await flap();
    // At once in the first seconds, then after waits that double to a minute, and then once a minute.
    expect(reads()).toBeLessThan(30);
    expect(logger.lines.filter((line) => line.includes('fake/one'))).toEqual(
      ['', ' 2 times', ' 4 times', ' 8 times'].map(
        (times) => `warn gateway: the description or schema of the tool fake/one has changed${times}`,
      ),
    );
    // The last change is not lost.
    server.last.changeTools([fakeTool('last')]);
    await clock.advance(60_000);
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['last']);
    // After a minute without a change, the next one is read at once.
    await clock.advance(120_000);
    server.last.changeTools([fakeTool('next')]);
    await settled();
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['next']);
  });

  test('has its notices about other lists passed on ever more rarely, and none is lost for good', async () => {
    const notices: string[] = [];
    const { server, clock } = await flap((_, list) => notices.push(list));
    expect(notices.length).toBeLessThan(60);
    const before = notices.length;
    server.last.changeList('prompts');
    await clock.advance(60_000);
    expect(notices.slice(before)).toContain('prompts');
  });
});

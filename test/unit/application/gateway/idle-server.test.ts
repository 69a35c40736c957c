import { ok } from 'neverthrow';
import { describe, expect, test, vi } from 'vitest';
import type { ServerDefinition } from '../../../../src/application/gateway/server-definition.ts';
import type { SupervisorOptions } from '../../../../src/application/gateway/server-description.ts';
import type { Definitions } from '../../../../src/application/ports/tool-server.ts';
import { never } from '../../../contract/search-kit.ts';
import { settled } from '../../../support/fake-clock.ts';
import { deferred } from '../../../support/fake-llm-search.ts';
import { fakeTool } from '../../../support/fake-tool-server.ts';
import { supervise } from '../../../support/scripted-gateway.ts';

const KNOWN: Definitions = {
  listedAt: new Date('2026-11-20T00:00:00Z'),
  tools: [fakeTool('echo')],
  capabilities: { tools: {}, prompts: {} },
  serverInfo: { name: 'kept' },
  shared: { prompts: [{ server: 'fake', name: 'p', id: 'p', listed: { name: 'p' } }] },
};

function newIdle(
  more: Partial<ServerDefinition> = {},
  options: Pick<SupervisorOptions, 'known'> = { known: KNOWN },
  written = () => Promise.resolve(),
) {
  const kept: Definitions[] = [];
  const keep = (definitions: Definitions) => {
    kept.push(definitions);
    return written();
  };
  const started = supervise({ start: 'on_use', ...more }, { ...options, keep });
  const use = (task = async () => {}, signal = never()) => started.supervisor.use(task, signal);
  return { ...started, kept, use };
}

// S64
describe('a server of which the definitions are known', () => {
  test('is idle, and its tools are there', async () => {
    const { supervisor, server } = newIdle();
    expect(supervisor.startsAtOnce).toBe(false);
    expect(supervisor.status).toMatchObject({
      state: 'idle',
      tools: 1,
      listedAt: KNOWN.listedAt,
      serverInfo: { name: 'kept' },
    });
    await supervisor.whenListed(never());
    await supervisor.whenStarted(never());
    expect(server.starts).toBe(0);
  });

  test('starts with the first use, once for all that wait, and stays in the lists meanwhile', async () => {
    const { supervisor, server, use, onToolsChanged, logger } = newIdle();
    server.connects.push('hangs');
    const ran: string[] = [];
    const uses = ['a', 'b'].map((name) => use(async () => void ran.push(name)));
    await settled();
    expect([server.starts, ran, supervisor.status.state]).toEqual([1, [], 'starting']);
    expect(supervisor.tools.map(({ name }) => name)).toEqual(['echo']);
    server.letConnect();
    await Promise.all(uses);
    expect([server.starts, ran, supervisor.status.state]).toEqual([1, ['a', 'b'], 'available']);
    expect(supervisor.status.listedAt).toBeUndefined();
    expect(onToolsChanged).toHaveBeenCalled();
    expect(logger.lines).toEqual([]);
  });

  test('keeps its tools if the start fails, and has none any more when it is not started again', async () => {
    const { supervisor, server, use, clock, onToolsChanged } = newIdle();
    server.connects.push('1', '2', '3', '4', 'no licence');
    await use();
    expect(supervisor.status).toMatchObject({ state: 'unavailable', tools: 1, lastError: '1' });
    await clock.advance(15_000);
    expect(supervisor.status).toMatchObject({ state: 'failed', tools: 0, lastError: 'no licence' });
    expect(onToolsChanged).toHaveBeenCalled();
  });

  test('runs the task soon after the caller has left, and starts for others', async () => {
    const { supervisor, server, use } = newIdle();
    server.connects.push('hangs');
    const leaving = new AbortController();
    const left = use(async () => {}, leaving.signal);
    leaving.abort();
    await left;
    server.letConnect();
    await settled();
    expect(supervisor.status.state).toBe('available');
  });

  test('is replaced by what the server lists, and a difference is one line', async () => {
    const known = { ...KNOWN, tools: [fakeTool('echo'), fakeTool('old'), fakeTool('same')] };
    const { supervisor, server, use, logger, kept } = newIdle({}, { known });
    server.tools = [fakeTool('echo', { description: 'Other.' }), fakeTool('same'), fakeTool('new')];
    await use();
    expect(supervisor.tools).toEqual(server.tools);
    expect(logger.lines).toEqual([
      'warn gateway: fake: its tools have changed since its last start (new: new; changed: echo; gone: old)',
    ]);
    await settled();
    expect(kept.at(-1)?.tools).toEqual(server.tools);
  });
});

test('the end waits at most a second until what was listed is kept', async () => {
  const { supervisor, clock } = newIdle({}, {}, () => new Promise(() => {}));
  await supervisor.start();
  const onEnd = vi.fn();
  void supervisor.stop().then(onEnd);
  await clock.advance(999);
  await settled();
  expect(onEnd).not.toHaveBeenCalled();
  await clock.advance(1);
  await settled();
  expect(onEnd).toHaveBeenCalled();
});

test('a server of which nothing is known starts at once, and all that it lists is kept', async () => {
  const { supervisor, server, kept, clock } = newIdle({ filter: { deny: ['secret'] } }, {});
  expect(supervisor.startsAtOnce).toBe(true);
  server.tools = [fakeTool('echo'), fakeTool('secret')];
  server.capabilities = { tools: {}, prompts: {}, resources: {} };
  server.respond = async (method) =>
    ok(method === 'prompts/list' ? { prompts: [{ name: 'p' }] } : { resources: [], resourceTemplates: [] });
  await supervisor.start();
  await supervisor.whenStarted(never());
  expect(supervisor.tools.map(({ name }) => name)).toEqual(['echo']);
  await supervisor.stop();
  expect(kept.at(-1)).toEqual({
    listedAt: clock.now(),
    tools: server.tools,
    leftOut: [],
    capabilities: server.capabilities,
    serverInfo: { name: 'fake', version: '1.2.3' },
    shared: {
      prompts: [{ server: 'fake', name: 'p', id: 'p', listed: { name: 'p' } }],
      resources: [],
      resourceTemplates: [],
    },
  });
});

describe('idle_ms', () => {
  test('stops a server after that time without a call, and the next call starts it again', async () => {
    const { supervisor, server, use, clock, onToolsChanged } = newIdle({ idleMs: 1000 });
    await use();
    await settled();
    onToolsChanged.mockClear();
    await clock.advance(999);
    await use();
    await clock.advance(999);
    expect(supervisor.status.state).toBe('available');
    await clock.advance(1);
    expect(supervisor.status).toMatchObject({ state: 'idle', tools: 1 });
    expect(server.last.isEnded).toBe(true);
    expect(clock.pendingSleeps).toBe(0);
    await use();
    expect(supervisor.status).toMatchObject({ state: 'available', restarts: 1 });
    expect(onToolsChanged).toHaveBeenCalled();
  });

  test('ends nothing while a call runs', async () => {
    const { supervisor, use, clock } = newIdle({ idleMs: 1000 });
    const { promise, settle } = deferred<void>();
    const running = use(() => promise);
    await clock.advance(5000);
    expect(supervisor.status.state).toBe('available');
    settle();
    await running;
    await clock.advance(1000);
    expect(supervisor.status.state).toBe('idle');
  });

  test('does not start a server again that was lost', async () => {
    const { supervisor, server, use, clock } = newIdle({ idleMs: 1000, restart: 'never' });
    await use();
    server.last.lose();
    await clock.advance(5000);
    expect(supervisor.status).toMatchObject({ state: 'failed', tools: 0 });
  });
});

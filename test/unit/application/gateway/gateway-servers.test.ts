import { ok } from 'neverthrow';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { EVERYTHING } from '../../../../src/domain/gateway/call-origin.ts';
import { expectNoListener, never } from '../../../contract/search-kit.ts';
import { callOn } from '../../../support/catalogue.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { fakeTool, textResult } from '../../../support/fake-tool-server.ts';
import { LOCAL } from '../../../support/origins.ts';
import { configured, type FakeConfigured, gatewayOf } from '../../../support/scripted-gateway.ts';

const DRAIN_MS = 25_000;
const CALL_REMOVED = { server: 'removed', tool: 'echo', args: {}, by: LOCAL };

async function start(...servers: readonly FakeConfigured[]) {
  const clock = new FakeClock();
  const gateway = gatewayOf(servers, { clock, drainMs: DRAIN_MS });
  const states = () => Object.fromEntries(gateway.servers.map(({ name, state }) => [name, state]));
  await settled();
  return { gateway, clock, states };
}

/** Lets the calls of a server wait. Each call of the result ends the next. */
function holdCalls({ server }: FakeConfigured): () => void {
  const ends: (() => void)[] = [];
  server.answer = () => new Promise((resolve) => ends.push(() => resolve(ok(textResult('done')))));
  return () => ends.shift()?.();
}

/** A server whose connects hang. */
function hanging(name: string, startupTimeoutMs = 60_000): FakeConfigured {
  const server = configured(name, { startupTimeoutMs });
  server.server.connects.push('hangs', 'hangs', 'hangs', 'hangs', 'hangs');
  return server;
}

describe('the first starts', () => {
  test('are made four at a time; a start that fails makes room', async () => {
    const servers = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => hanging(name, name === 'b' ? 1000 : 5000));
    const { gateway, clock } = await start(...servers);
    const starts = () => servers.map(({ server }) => server.starts);
    expect(starts()).toEqual([1, 1, 1, 1, 0, 0]);
    expect(gateway.readiness()).toBe('starting');
    await clock.advance(1000);
    expect(starts()).toEqual([1, 1, 1, 1, 1, 0]);
    await clock.advance(4000);
    expect(starts()[5]).toBe(1);
    expect(gateway.readiness()).toBe('starting');
    await clock.advance(5000);
    expect(gateway.readiness()).toBe('ready');
  });

  test('are awaited by `whenStarted`, until the caller leaves', async () => {
    const { gateway, clock } = await start(hanging('hanging', 5000), configured('good'));
    const leaving = new AbortController();
    const left = gateway.whenStarted(60_000, leaving.signal);
    const { signal } = new AbortController();
    const onStarted = vi.fn();
    const waiting = gateway.whenStarted(60_000, signal).then(onStarted);
    leaving.abort();
    await left;
    await gateway.whenStarted(60_000, AbortSignal.abort());
    await clock.advance(4999);
    expect(onStarted).not.toHaveBeenCalled();
    await clock.advance(1);
    await waiting;
    expectNoListener(leaving.signal);
    expectNoListener(signal);
  });

  test('are awaited together, without a warning of Node.js about listeners if there are many', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const servers = Array.from({ length: 20 }, (_, index) => hanging(`server${index}`));
    const { gateway, clock } = await start(...servers);
    const visible = gateway.as({ rights: EVERYTHING });
    const waiting = [gateway, visible].map((one) => one.whenStarted(1000, never()));
    await clock.advance(1000);
    await Promise.all(waiting);
    expect(warnings).toEqual([]);
  });

  test('a restart of a server that waits for its turn is its start, and happens once', async () => {
    const last = configured('last');
    const { gateway, clock, states } = await start(...['a', 'b', 'c', 'd'].map((name) => hanging(name, 5000)), last);
    gateway.restart('last');
    await settled();
    expect(states().last).toBe('available');
    await clock.advance(5000);
    expect(last.server.starts).toBe(1);
    expect(last.server.connections.filter(({ isEnded }) => !isEnded)).toHaveLength(1);
  });
});

describe('readiness', () => {
  test('is given without servers, and with servers that are down and not required', async () => {
    const failing = configured('failing', { restart: 'never' });
    failing.server.connects.push('no');
    expect((await start()).gateway.readiness()).toBe('ready');
    expect((await start(failing)).gateway.readiness()).toBe('ready');
  });

  test('ends while a required server is down', async () => {
    const required = configured('required', { isRequired: true });
    const { gateway, clock } = await start(required, configured('other'));
    expect(gateway.readiness()).toBe('ready');
    required.server.last.lose();
    expect(gateway.readiness()).toBe('required server not available');
    required.server.connects.push('hangs');
    await clock.advance(1000);
    expect(gateway.readiness()).toBe('required server not available');
    required.server.letConnect();
    await settled();
    expect(gateway.readiness()).toBe('ready');
  });
});

test('lists the tools of the servers that are available or start again, in the order of the configuration', async () => {
  const [a, b, c] = [configured('a'), configured('b'), configured('c')];
  for (const { definition, server } of [a, b, c]) server.tools = [fakeTool(definition.name)];
  c.server.connects.push('no');
  const { gateway, clock } = await start(c, a, b);
  expect(gateway.servers.map(({ name }) => name)).toEqual(['c', 'a', 'b']);
  expect(gateway.tools.map(({ name }) => name)).toEqual(['a', 'b']);
  await clock.advance(1000);
  expect(gateway.tools.map(({ name }) => name)).toEqual(['c', 'a', 'b']);
  b.server.last.lose();
  expect(gateway.tools.map(({ name }) => name)).toEqual(['c', 'a', 'b']);
});

describe('another configuration', () => {
  test('starts new servers, and leaves those that are equal untouched', async () => {
    const kept = configured('kept');
    const { gateway, states } = await start(kept);
    const added = configured('added');
    gateway.reconfigure([added, configured('kept')]);
    await settled();
    expect(states()).toEqual({ added: 'available', kept: 'available' });
    expect(kept.server.starts).toBe(1);
    expect(kept.server.last.isEnded).toBe(false);
    expect(gateway.servers.map(({ name }) => name)).toEqual(['added', 'kept']);
  });

  test('ends a server that is removed', async () => {
    const removed = configured('removed');
    const { gateway } = await start(removed, configured('kept'));
    const onChanged = vi.fn();
    gateway.onToolsChanged(onChanged);
    expect(gateway.timeoutOf('removed')).toBe(removed.definition.timeoutMs);
    gateway.reconfigure([configured('kept')]);
    expect(gateway.timeoutOf('removed')).toBeUndefined();
    expect(gateway.tools).toHaveLength(1);
    await settled();
    expect(removed.server.last.isEnded).toBe(true);
    expect(onChanged).toHaveBeenCalled();
  });

  test('ends a server with calls in flight when they have ended', async () => {
    const removed = configured('removed', { maxConcurrency: 1 });
    const endCall = holdCalls(removed);
    const { gateway, clock } = await start(removed);
    const calls = ['first', 'second'].map(() => callOn(gateway, CALL_REMOVED, never()));
    await settled();
    gateway.reconfigure([]);
    await clock.advance(DRAIN_MS - 1);
    expect(removed.server.last.isEnded).toBe(false);
    endCall();
    await calls[0];
    await settled();
    expect(removed.server.last.isEnded).toBe(false);
    endCall();
    await calls[1];
    await settled();
    expect(removed.server.last.isEnded).toBe(true);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('ends a server whose calls do not end after the time for that', async () => {
    const removed = configured('removed');
    holdCalls(removed);
    const { gateway, clock } = await start(removed);
    void callOn(gateway, CALL_REMOVED, never());
    await settled();
    gateway.reconfigure([]);
    await clock.advance(DRAIN_MS - 1);
    expect(removed.server.last.isEnded).toBe(false);
    await clock.advance(1);
    expect(removed.server.last.isEnded).toBe(true);
  });

  test('replaces a server that is different at once, and ends the earlier one after its calls', async () => {
    const before = configured('server', { fingerprint: '1' });
    const after = configured('server', { fingerprint: '2' });
    after.server.tools = [fakeTool('new')];
    const endCall = holdCalls(before);
    const { gateway } = await start(before);
    const running = callOn(gateway, { ...CALL_REMOVED, server: 'server' }, never());
    await settled();
    gateway.reconfigure([after]);
    await settled();
    expect(gateway.tools.map(({ name }) => name)).toEqual(['new']);
    expect(before.server.last.isEnded).toBe(false);
    endCall();
    await running;
    await settled();
    expect(before.server.last.isEnded).toBe(true);
    expect(after.server.last.isEnded).toBe(false);
  });

  test('ends a server that has not been started yet, and never starts it', async () => {
    const waiting = configured('waiting');
    const busy = ['a', 'b', 'c', 'd'].map((name) => hanging(name, 5000));
    const { gateway, clock } = await start(...busy, waiting);
    gateway.reconfigure(busy);
    await clock.advance(5000);
    expect(waiting.server.starts).toBe(0);
    expect(gateway.readiness()).toBe('ready');
  });
});

describe('close', () => {
  test('ends every server, also those that end after their calls, without waiting for these', async () => {
    const [retiring, running] = [configured('retiring'), configured('running')];
    holdCalls(retiring);
    const { gateway, clock } = await start(retiring, running);
    void callOn(gateway, { ...CALL_REMOVED, server: 'retiring' }, never());
    await settled();
    gateway.reconfigure([running]);
    await settled();
    expect(retiring.server.last.isEnded).toBe(false);
    await gateway.close();
    expect(retiring.server.last.isEnded).toBe(true);
    expect(running.server.last.isEnded).toBe(true);
    await settled();
    expect(clock.pendingSleeps).toBe(0);
  });

  test('is final: neither a restart nor another configuration starts a server', async () => {
    const server = configured('server');
    const late = configured('late');
    const { gateway, states } = await start(server);
    await gateway.close();
    gateway.restart('server');
    gateway.reconfigure([server, late]);
    await settled();
    expect(states()).toEqual({ server: 'stopped' });
    expect([server.server.starts, late.server.starts]).toEqual([1, 0]);
  });

  test('during the first starts starts no other server', async () => {
    const servers = ['a', 'b', 'c', 'd', 'e'].map((name) => hanging(name));
    const { gateway } = await start(...servers);
    await gateway.close();
    await settled();
    expect(servers.map(({ server }) => server.starts)).toEqual([1, 1, 1, 1, 0]);
  });
});

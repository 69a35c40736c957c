import { describe, expect, test } from 'vitest';
import { ToolCatalog } from '../../../src/application/tool-catalog.ts';
import { expectNoListener, never } from '../../contract/search-kit.ts';
import { FakeClock, settled } from '../../support/fake-clock.ts';
import { fakeTool } from '../../support/fake-tool-server.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { configured, type FakeConfigured } from './fake-servers.ts';

const DRAIN_MS = 25_000;

function newCatalog() {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  let changes = 0;
  const catalog = new ToolCatalog({
    clock,
    logger,
    onToolsChanged: () => {
      changes += 1;
    },
  });
  const states = () => Object.fromEntries(catalog.statuses.map(({ name, state }) => [name, state]));
  return { catalog, clock, logger, states, changes: () => changes };
}

async function catalogOf(...servers: readonly FakeConfigured[]) {
  const started = newCatalog();
  started.catalog.configure(servers, DRAIN_MS);
  await settled();
  return started;
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
    const { catalog, clock } = await catalogOf(...servers);
    const starts = () => servers.map(({ server }) => server.starts);
    expect(starts()).toEqual([1, 1, 1, 1, 0, 0]);
    expect(catalog.readiness()).toBe('starting');
    await clock.advance(1000);
    expect(starts()).toEqual([1, 1, 1, 1, 1, 0]);
    await clock.advance(4000);
    expect(starts()[5]).toBe(1);
    expect(catalog.readiness()).toBe('starting');
    await clock.advance(5000);
    expect(catalog.readiness()).toBe('ready');
  });

  test('never stop each other', async () => {
    const failing = configured('failing');
    failing.server.connects.push('no');
    const { states } = await catalogOf(failing, hanging('hanging'), configured('good'));
    expect(states()).toEqual({ failing: 'unavailable', hanging: 'starting', good: 'available' });
  });

  test('are awaited by `whenStarted`, until the caller leaves', async () => {
    const { catalog, clock } = await catalogOf(hanging('hanging', 5000), configured('good'));
    const leaving = new AbortController();
    const left = catalog.whenStarted(leaving.signal);
    const { signal } = new AbortController();
    let isStarted = false;
    const waiting = catalog.whenStarted(signal).then(() => {
      isStarted = true;
    });
    leaving.abort();
    await left;
    await catalog.whenStarted(AbortSignal.abort());
    await clock.advance(4999);
    expect(isStarted).toBe(false);
    await clock.advance(1);
    await waiting;
    expectNoListener(leaving.signal);
    expectNoListener(signal);
  });

  test('a restart of a server that waits for its turn is its start, and happens once', async () => {
    const last = configured('last');
    const { catalog, clock, states } = await catalogOf(
      ...['a', 'b', 'c', 'd'].map((name) => hanging(name, 5000)),
      last,
    );
    catalog.find('last')?.restart();
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
    expect(newCatalog().catalog.readiness()).toBe('ready');
    expect((await catalogOf(failing)).catalog.readiness()).toBe('ready');
  });

  test('ends while a required server is down', async () => {
    const required = configured('required', { isRequired: true });
    const { catalog, clock } = await catalogOf(required, configured('other'));
    expect(catalog.readiness()).toBe('ready');
    required.server.last.lose();
    expect(catalog.readiness()).toBe('required server not available');
    await clock.advance(1000);
    expect(catalog.readiness()).toBe('ready');
  });

  test('does not end while a server is started again that is not required', async () => {
    const server = configured('server');
    const { catalog } = await catalogOf(server);
    server.server.connects.push('hangs');
    catalog.find('server')?.restart();
    expect(catalog.readiness()).toBe('ready');
  });
});

test('lists the tools of the servers that are available, in the order of the configuration', async () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => configured(name)) as [FakeConfigured, FakeConfigured, FakeConfigured];
  for (const { definition, server } of [a, b, c]) server.tools = [fakeTool(definition.name)];
  c.server.connects.push('no');
  const { catalog, clock } = await catalogOf(c, a, b);
  expect(catalog.names).toEqual(['c', 'a', 'b']);
  expect(catalog.tools.map(({ name }) => name)).toEqual(['a', 'b']);
  await clock.advance(1000);
  expect(catalog.tools.map(({ name }) => name)).toEqual(['c', 'a', 'b']);
  b.server.last.lose();
  expect(catalog.tools.map(({ name }) => name)).toEqual(['c', 'a']);
});

describe('another configuration', () => {
  test('starts new servers, and leaves those that are equal untouched', async () => {
    const kept = configured('kept');
    const { catalog, states } = await catalogOf(kept);
    const connection = catalog.find('kept')?.connection;
    const added = configured('added');
    catalog.configure([added, configured('kept')], DRAIN_MS);
    await settled();
    expect(states()).toEqual({ added: 'available', kept: 'available' });
    expect(catalog.find('kept')?.connection).toBe(connection);
    expect(kept.server.last.isEnded).toBe(false);
    expect(catalog.names).toEqual(['added', 'kept']);
  });

  test('ends a server that is removed', async () => {
    const removed = configured('removed');
    const { catalog, changes } = await catalogOf(removed, configured('kept'));
    const before = changes();
    catalog.configure([configured('kept')], DRAIN_MS);
    expect(catalog.find('removed')).toBeUndefined();
    expect(catalog.tools).toHaveLength(1);
    await settled();
    expect(removed.server.last.isEnded).toBe(true);
    expect(changes()).toBeGreaterThan(before);
  });

  test('ends a server with calls in flight when they have ended', async () => {
    const removed = configured('removed', { maxConcurrency: 1 });
    const { catalog, clock } = await catalogOf(removed);
    const supervisor = catalog.find('removed');
    await supervisor?.places.acquire('alice', () => {}, never());
    const queued = supervisor?.places.acquire('alice', () => {}, never());
    catalog.configure([], DRAIN_MS);
    await clock.advance(DRAIN_MS - 1);
    expect(removed.server.last.isEnded).toBe(false);
    expect(supervisor?.connection).toBe(removed.server.last);
    supervisor?.places.release('alice');
    await queued;
    await settled();
    expect(removed.server.last.isEnded).toBe(false);
    supervisor?.places.release('alice');
    await settled();
    expect(removed.server.last.isEnded).toBe(true);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('ends a server whose calls do not end after the time for that', async () => {
    const removed = configured('removed');
    const { catalog, clock } = await catalogOf(removed);
    await catalog.find('removed')?.places.acquire('alice', () => {}, never());
    catalog.configure([], DRAIN_MS);
    await clock.advance(DRAIN_MS - 1);
    expect(removed.server.last.isEnded).toBe(false);
    await clock.advance(1);
    expect(removed.server.last.isEnded).toBe(true);
  });

  test('replaces a server that is different at once, and ends the earlier one after its calls', async () => {
    const before = configured('server', { fingerprint: '1' });
    const after = configured('server', { fingerprint: '2' });
    after.server.tools = [fakeTool('new')];
    const { catalog } = await catalogOf(before);
    const earlier = catalog.find('server');
    await earlier?.places.acquire('alice', () => {}, never());
    catalog.configure([after], DRAIN_MS);
    await settled();
    expect(catalog.tools.map(({ name }) => name)).toEqual(['new']);
    expect(before.server.last.isEnded).toBe(false);
    earlier?.places.release('alice');
    await settled();
    expect(before.server.last.isEnded).toBe(true);
    expect(after.server.last.isEnded).toBe(false);
  });

  test('ends a server that has not been started yet, and never starts it', async () => {
    const waiting = configured('waiting');
    const busy = ['a', 'b', 'c', 'd'].map((name) => hanging(name, 5000));
    const { catalog, clock } = await catalogOf(...busy, waiting);
    catalog.configure(busy, DRAIN_MS);
    await clock.advance(5000);
    expect(waiting.server.starts).toBe(0);
    expect(catalog.readiness()).toBe('ready');
  });

  test('ends the start of a server that is removed meanwhile', async () => {
    const removed = hanging('removed');
    const { catalog, clock } = await catalogOf(removed);
    catalog.configure([], DRAIN_MS);
    await settled();
    expect(catalog.readiness()).toBe('ready');
    await clock.advance(120_000);
    expect(removed.server.starts).toBe(1);
  });
});

describe('close', () => {
  test('ends every server, also those that end after their calls, without waiting for these', async () => {
    const [retiring, running] = [configured('retiring'), configured('running')];
    const { catalog, clock } = await catalogOf(retiring, running);
    await catalog.find('retiring')?.places.acquire('alice', () => {}, never());
    catalog.configure([running], DRAIN_MS);
    await settled();
    expect(retiring.server.last.isEnded).toBe(false);
    await catalog.close();
    expect(retiring.server.last.isEnded).toBe(true);
    expect(running.server.last.isEnded).toBe(true);
    await settled();
    expect(clock.pendingSleeps).toBe(0);
  });

  test('is final: neither a restart nor another configuration starts a server', async () => {
    const server = configured('server');
    const late = configured('late');
    const { catalog, states } = await catalogOf(server);
    await catalog.close();
    catalog.find('server')?.restart();
    catalog.configure([server, late], DRAIN_MS);
    await settled();
    expect(states()).toEqual({ server: 'stopped' });
    expect([server.server.starts, late.server.starts]).toEqual([1, 0]);
  });

  test('during the first starts starts no other server', async () => {
    const servers = ['a', 'b', 'c', 'd', 'e'].map((name) => hanging(name));
    const { catalog } = await catalogOf(...servers);
    await catalog.close();
    await settled();
    expect(servers.map(({ server }) => server.starts)).toEqual([1, 1, 1, 1, 0]);
  });
});

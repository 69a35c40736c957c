import { describe, expect, test } from 'vitest';
import { Gateway } from '../../../../src/application/gateway/gateway.ts';
import { errorOf, expectNoListener, never } from '../../../contract/search-kit.ts';
import { callOn } from '../../../support/catalogue.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { FakeSchemaValidator } from '../../../support/fake-schema-validator.ts';
import { LOCAL } from '../../../support/origins.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { configured, type FakeConfigured } from '../fake-servers.ts';

function newGateway(servers: readonly FakeConfigured[]) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const gateway = new Gateway({
    clock,
    logger,
    validator: async () => new FakeSchemaValidator(),
    servers,
    drainMs: 1000,
  });
  return { gateway, clock };
}

const CALL = { server: 'server', tool: 'echo', args: {}, by: LOCAL, onProgress: () => {} };

describe('whenStarted', () => {
  test('resolves when every first start has settled', async () => {
    const { gateway, clock } = newGateway([configured('server')]);
    const { signal } = new AbortController();
    await gateway.whenStarted(5000, signal);
    expect(gateway.tools).toHaveLength(1);
    expectNoListener(signal);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('resolves after the time, and when the caller leaves', async () => {
    const server = configured('server');
    server.server.connects.push('hangs');
    const { gateway, clock } = newGateway([server]);
    let isOver = false;
    const waiting = gateway.whenStarted(5000, never()).then(() => {
      isOver = true;
    });
    const controller = new AbortController();
    const leaving = gateway.whenStarted(5000, controller.signal);
    controller.abort();
    await leaving;
    await clock.advance(4999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await waiting;
    expectNoListener(controller.signal);
    await gateway.whenStarted(5000, AbortSignal.abort());
  });
});

test('restarts a server that exists', async () => {
  const server = configured('server');
  const { gateway } = newGateway([server]);
  await settled();
  gateway.restart('server');
  gateway.restart('other');
  await settled();
  expect(server.server.starts).toBe(2);
});

test('notifies of changed tools', async () => {
  const server = configured('server');
  const { gateway } = newGateway([server]);
  let changes = 0;
  gateway.onToolsChanged(() => {
    changes += 1;
  });
  await settled();
  expect(changes).toBe(1);
  server.server.last.changeTools([]);
  await settled();
  expect(changes).toBe(2);
});

test('knows the time limit of each server', () => {
  const { gateway } = newGateway([configured('server', { timeoutMs: 1234 })]);
  expect([gateway.timeoutOf('server'), gateway.timeoutOf('other')]).toEqual([1234, undefined]);
});

test('another configuration is used, with the time for calls to end', async () => {
  const server = configured('server');
  server.server.answer = () => new Promise(() => {});
  const { gateway, clock } = newGateway([server]);
  await settled();
  const running = callOn(gateway, CALL, never());
  await settled();
  gateway.reconfigure([configured('other')]);
  await clock.advance(999);
  expect(server.server.last.isEnded).toBe(false);
  await clock.advance(1);
  expect(errorOf(await running)).toMatchObject({ kind: 'crashed' });
  expect(gateway.servers.map(({ name, state }) => [name, state])).toEqual([['other', 'available']]);
});

test('a closed gateway has no servers left', async () => {
  const server = configured('server');
  const { gateway } = newGateway([server]);
  await settled();
  await gateway.close();
  expect(server.server.last.isEnded).toBe(true);
  expect(gateway.servers).toMatchObject([{ state: 'stopped' }]);
});

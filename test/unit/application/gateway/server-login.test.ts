import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { never } from '../../../../src/application/async/deadline.ts';
import type { ServerDefinition } from '../../../../src/application/gateway/server-definition.ts';
import { callOn } from '../../../support/catalogue.ts';
import { settled } from '../../../support/fake-clock.ts';
import { FakeServerLogin } from '../../../support/fake-server-login.ts';
import { LOCAL } from '../../../support/origins.ts';
import { configured, gatewayOf, supervise } from '../../../support/scripted-gateway.ts';

const COMMAND = 'openai-responses-mcp login notes';
const REQUIRED = `requires a login; sign in with: ${COMMAND}`;

/** A server that requires a login until `login.signIn`, unless a person has signed in before. */
async function startedSupervisor(more: Partial<ServerDefinition> = {}, isSignedIn = false) {
  const started = supervise({ name: 'notes', ...more });
  const login = new FakeServerLogin('notes');
  if (isSignedIn) login.required = undefined;
  started.server.login = login;
  await started.supervisor.start();
  return { ...started, login };
}

// S69
describe('a server without a login', () => {
  test('requires one, and is not started again by itself', async () => {
    const { supervisor, server, clock, logger } = await startedSupervisor();
    expect(supervisor.status).toEqual({
      name: 'notes',
      transport: 'stdio',
      state: 'login_required',
      since: clock.now(),
      restarts: 0,
      tools: 0,
      lastError: REQUIRED,
      login: COMMAND,
    });
    expect(supervisor.retryAfterMs).toBeUndefined();
    expect(clock.pendingSleeps).toBe(0);
    expect(server.starts).toBe(1);
    expect(logger.lines).toEqual([`warn gateway: notes ${REQUIRED}`]);
  });

  test('is started when a person has signed in; the command is no longer named', async () => {
    const { supervisor, login } = await startedSupervisor({ restart: 'never' });
    login.signIn();
    await settled();
    expect(supervisor.status).toMatchObject({ state: 'available', restarts: 1, tools: 1, lastError: REQUIRED });
    expect(supervisor.status).not.toHaveProperty('login');
  });
});

describe('a server that is available', () => {
  test('and loses its login requires one', async () => {
    const { supervisor, server, login, clock } = await startedSupervisor({}, true);
    login.required = REQUIRED;
    server.last.lose('HTTP 401');
    expect(supervisor.status).toMatchObject({ state: 'login_required', lastError: REQUIRED, login: COMMAND, tools: 0 });
    expect(supervisor.connection).toBeUndefined();
    expect(clock.pendingSleeps).toBe(0);
    login.signIn();
    await settled();
    expect(supervisor.status.state).toBe('available');
  });

  test('is started again with another login', async () => {
    const { supervisor, server, login } = await startedSupervisor({}, true);
    const before = server.last;
    login.notify();
    await settled();
    expect(before.isEnded).toBe(true);
    expect(server.last).not.toBe(before);
    expect(supervisor.status).toMatchObject({ state: 'available', restarts: 1 });
  });
});

describe('the gateway', () => {
  function newGateway(more: Partial<ServerDefinition> = {}) {
    const notes = configured('notes', more);
    const login = new FakeServerLogin('notes');
    notes.server.login = login;
    const gateway = gatewayOf([notes, configured('files')]);
    const call = (server: string) => callOn(gateway, { server, tool: 'echo', args: {}, by: LOCAL }, never());
    return { gateway, notes, login, call };
  }

  test('is ready, and its other servers are not affected', async () => {
    const { gateway, call } = newGateway();
    await settled();
    expect(gateway.servers.map(({ state }) => state)).toEqual(['login_required', 'available']);
    expect(gateway.readiness()).toBe('ready');
    expect((await call('notes'))._unsafeUnwrapErr()).toEqual({ kind: 'login_required', server: 'notes' });
    expect((await call('files')).isOk()).toBe(true);
  });

  test('is not ready until a person has signed in to a required server', async () => {
    const { gateway, login } = newGateway({ isRequired: true });
    await settled();
    expect(gateway.readiness()).toBe('required server not available');
    login.signIn();
    await settled();
    expect(gateway.readiness()).toBe('ready');
  });

  test('refuses a call during which the login ends, and those that wait for a place', async () => {
    const { gateway, notes, login, call } = newGateway({ maxConcurrency: 1 });
    login.required = undefined;
    await gateway.whenStarted(1000, never());
    let refuse = () => {};
    notes.server.answer = () =>
      new Promise((resolve) => {
        refuse = () => resolve(err({ kind: 'login_required' }));
      });
    const [running, waiting] = [call('notes'), call('notes')];
    await settled();
    refuse();
    login.required = REQUIRED;
    await Promise.resolve();
    notes.server.last.lose('HTTP 401');
    for (const outcome of await Promise.all([running, waiting]))
      expect(outcome._unsafeUnwrapErr()).toEqual({ kind: 'login_required', server: 'notes' });
    expect(notes.server.last.calls).toHaveLength(1);
  });

  test('forgets the login of a server that is replaced', async () => {
    const { gateway, login } = newGateway();
    await settled();
    const same = configured('notes', { fingerprint: '2' });
    same.server.login = login;
    gateway.reconfigure([same]);
    await settled();
    expect(login.listeners.size).toBe(1);
    await gateway.close();
    expect(login.listeners.size).toBe(0);
  });
});

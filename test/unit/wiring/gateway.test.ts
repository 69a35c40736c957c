import { describe, expect, onTestFinished, test } from 'vitest';
import type { ServerEntry } from '../../../src/adapters/outbound/config/server-entry.ts';
import { LoginFiles } from '../../../src/adapters/outbound/login/login-files.ts';
import { answerServers } from '../../../src/application/gateway/offer.ts';
import { rightsBy } from '../../../src/domain/gateway/access.ts';
import { EVERYTHING } from '../../../src/domain/gateway/call-origin.ts';
import { ASKABLE } from '../../../src/domain/gateway/elicitation.ts';
import { toDescribed } from '../../../src/wiring/described-servers.ts';
import { composeGateway } from '../../../src/wiring/gateway.ts';
import type { Runtime } from '../../../src/wiring/runtime.ts';
import { newFolder } from '../../e2e/files.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { loginAt } from '../../support/fake-issuer.ts';
import { FakeToolServer } from '../../support/fake-tool-server.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** A server that cannot be started, which does not matter here. */
const server = (name: string, isPublic = false): ServerEntry => ({
  name,
  connection: { kind: 'child', command: '/no/such/program', args: [], cwd: '/', envs: {}, inheritEnv: [] },
  timeoutMs: 1000,
  startupTimeoutMs: 1000,
  questionTimeoutMs: 1000,
  restart: 'never',
  start: 'at_once' as const,
  idleMs: 0,
  isRequired: false,
  filter: {},
  login: 'shared',
  maxConnections: 100,
  maxConcurrency: 1,
  maxResponseBytes: 1024,
  forwardBaggage: false,
  isPublic,
});

async function start(servers: readonly ServerEntry[]) {
  const config = { secretVariables: [], gateway: { logins: '/nonexistent' } };
  const runtime = {
    config,
    clock: new FakeClock(),
    logger: new RecordingLogger(),
    rights: { policy: undefined },
  } as unknown as Runtime;
  const composed = await composeGateway(runtime, { servers, logSpawn: () => {} });
  onTestFinished(() => composed.close());
  return composed;
}

test('the public servers are those that are configured now', async () => {
  const composed = await start([server('jira', true), server('wiki')]);
  expect(['jira', 'wiki'].filter(composed.isPublic)).toEqual(['jira']);
  await composed.reconfigure([server('jira'), server('wiki', true)], undefined);
  expect(['jira', 'wiki'].filter(composed.isPublic)).toEqual(['wiki']);
  expect(composed.gateway.servers.map(({ name }) => name)).toEqual(['jira', 'wiki']);
});

test('a configuration that cannot be used changes nothing', async () => {
  const composed = await start([server('jira', true)]);
  const remote: ServerEntry = { ...server('wiki'), connection: undefined as never };
  await expect(composed.reconfigure([remote], undefined)).rejects.toThrow();
  expect(['jira', 'wiki'].filter(composed.isPublic)).toEqual(['jira']);
  expect(composed.gateway.servers.map(({ name }) => name)).toEqual(['jira']);
});

test.each([
  ['those whose tools they use', false, ['jira']],
  ['all of them if clients use them too', true, ['jira', 'wiki']],
])('answers start %s', (_, expose, names) => {
  const config = {
    servers: [server('jira'), server('wiki')],
    grounding: { tools: { jira: 'all' } },
    gateway: { expose },
  };
  expect(answerServers(config as never, EVERYTHING).map(({ name }) => name)).toEqual(names);
  const rights = rightsBy({ local: { servers: { wiki: 'all' } } })({ caller: 'local' });
  const visible = names.filter((name) => name === 'wiki');
  expect(answerServers(config as never, rights).map(({ name }) => name)).toEqual(visible);
});

describe('the lists of a server that were kept are known', () => {
  const child = (more: object = {}) => ({
    ...server('fake'),
    connection: { ...server('fake').connection, ...more } as ServerEntry['connection'],
  });
  const url = 'https://mcp.example/';
  const remote: ServerEntry = {
    ...server('fake'),
    connection: { kind: 'remote', url, transport: 'auto', headers: {} },
  };
  const keyOf = (entry: ServerEntry, logins = '/nonexistent', declared = {}) => {
    const runtime = { config: { gateway: { logins } }, clock: new FakeClock() } as unknown as Runtime;
    return toDescribed(entry, () => new FakeToolServer(), { ...runtime, declared: () => declared }).key();
  };

  test('with the same entry', async () => {
    expect(await keyOf(child())).toBe(await keyOf(child()));
  });

  test.each([
    ['name', { ...child(), name: 'other' }],
    ['project', child({ cwd: '/other' })],
    ['value of a variable', child({ envs: { TOKEN: 'other' } })],
    ['variable that is inherited', child({ inheritEnv: ['PATH'] })],
  ])('but not with another %s', async (_, entry) => {
    expect(await keyOf(entry)).not.toBe(await keyOf(child()));
  });

  test('but not for callers who can be asked something else', async () => {
    expect(await keyOf(child(), undefined, ASKABLE)).not.toBe(await keyOf(child()));
  });

  test('but not with another login', async () => {
    const logins = newFolder();
    const files = new LoginFiles(logins, new FakeClock());
    const signIn = (id: string) =>
      files.locked({ url, use: 'shared' }, () =>
        files.write({ url, use: 'shared' }, { ...loginAt('https://issuer.example'), id }),
      );
    await signIn('alice');
    const key = await keyOf(remote, logins);
    expect(await keyOf(remote, logins)).toBe(key);
    await signIn('bob');
    expect(await keyOf(remote, logins)).not.toBe(key);
  });
});

import { expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/adapters/outbound/config/server-entry.ts';
import { type Reloadable, serversReload } from '../../../src/wiring/servers-reload.ts';
import { settled } from '../../support/fake-clock.ts';
import { deferred } from '../../support/fake-llm-search.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const servers = (...names: string[]) => names.map((name) => ({ name, filter: {} }) as unknown as ServerEntry);

/** A reload whose servers are configured when the test says so. */
function start(initial: Reloadable = {}) {
  const logger = new RecordingLogger();
  const configuring: { readonly names: readonly string[]; readonly end: () => void; readonly fail: () => void }[] = [];
  const lines: string[] = [];
  const notices: { where: string; message: string }[] = [];
  let configured: Reloadable = {};
  let problem: string | undefined;
  const reload = serversReload({
    initial,
    apply: (given) => {
      const ended = deferred<Error | undefined>();
      const names = (given.servers ?? []).map(({ name }) => name);
      configuring.push({ names, end: () => ended.settle(undefined), fail: () => ended.settle(new Error('no proxy')) });
      return ended.promise.then((error) => (error === undefined ? undefined : Promise.reject(error)));
    },
    logSpawn: (line) => void lines.push(line),
    reload: async () =>
      problem === undefined
        ? { value: { ...configured, notices } }
        : { problems: [{ where: 'servers', message: problem }] },
    logger,
  });
  return {
    reload,
    logger,
    configuring,
    lines,
    notices,
    use: (...names: string[]) => {
      configured = { servers: servers(...names) };
    },
    configure: (config: Reloadable) => {
      configured = config;
    },
    breakFile: (message: string) => {
      problem = message;
    },
  };
}

test('a reload is logged when it was done', async () => {
  const { reload, use, configuring, lines, logger, notices } = start();
  use('a', 'b');
  notices.push({ where: 'mcpServers.c', message: 'this server is left out' });
  reload();
  await settled();
  expect(lines).toEqual([]);
  configuring[0]?.end();
  await settled();
  expect(lines).toEqual(['gateway: the configuration was read again; servers: a, b']);
  expect(logger.lines).toEqual(['warn mcpServers.c: this server is left out']);
});

test('reloads run one after the other, and those requested during one are one', async () => {
  const { reload, use, configuring } = start();
  use('first');
  reload();
  await settled();
  use('last');
  for (let more = 0; more < 3; more += 1) reload();
  await settled();
  expect(configuring).toHaveLength(1);
  configuring[0]?.end();
  await settled();
  expect(configuring.map(({ names }) => names)).toEqual([['first'], ['last']]);
  configuring[1]?.end();
  await settled();
  expect(configuring).toHaveLength(2);
});

test('a reload that fails is logged as an error, and the next one is made', async () => {
  const { reload, configuring, lines, logger } = start();
  reload();
  await settled();
  configuring[0]?.fail();
  await settled();
  expect(logger.lines).toEqual([
    'error gateway: the servers could not be configured again, so nothing was changed: Error: no proxy',
  ]);
  reload();
  await settled();
  configuring[1]?.end();
  await settled();
  expect(lines).toEqual(['gateway: the configuration was read again; servers: none']);
});

// S68
test('a configuration with problems changes nothing', async () => {
  const { reload, configuring, breakFile, lines, logger } = start();
  breakFile('expected a list');
  reload();
  await settled();
  expect([configuring, lines]).toEqual([[], []]);
  expect(logger.lines).toEqual([
    'warn gateway: the configuration has problems, so nothing was changed: servers: expected a list',
  ]);
});

const [notes] = servers('notes');
const restricted = (rules: object) => [{ ...notes, filter: rules } as unknown as ServerEntry];
const lock = { approved: new Map() } as unknown as NonNullable<Reloadable['lock']>;

test.each<[string, Reloadable, Reloadable]>([
  ['access', { access: { bob: {} } }, {}],
  ['access.local', { access: { local: {} } }, { access: { bob: {} } }],
  ['gateway.lock', { lock }, {}],
  ['tools.allow of notes', { servers: restricted({ allow: ['read'] }) }, { servers: restricted({}) }],
  ['tools.deny of notes', { servers: restricted({ deny: ['x'] }) }, { servers: restricted({ allow: ['read'] }) }],
])('a reload never removes %s', async (limit, initial, configured) => {
  const { reload, configure, configuring, logger } = start(initial);
  configure(configured);
  reload();
  await settled();
  expect(configuring).toEqual([]);
  expect(logger.lines).toEqual([
    `warn gateway: ${limit} is missing, so that nothing was changed; to remove it, restart the program`,
  ]);
});

test('a reload changes limits, adds some, and removes servers that have some', async () => {
  const { reload, configure, configuring } = start({ servers: restricted({ deny: ['x'] }), access: { bob: {} } });
  const configs = [
    { access: { bob: { answers: true } }, lock },
    { access: {}, lock, servers: restricted({}) },
  ];
  for (const [index, config] of configs.entries()) {
    configure(config);
    reload();
    await settled();
    configuring[index]?.end();
    await settled();
  }
  expect(configuring).toHaveLength(2);
});

import { expect, test } from 'vitest';
import type { ServerEntry } from '../../../src/adapters/outbound/config/server-entry.ts';
import type { ConfigProblem } from '../../../src/application/ports/config.ts';
import { type Reloadable, serversReload } from '../../../src/wiring/servers-reload.ts';
import { settled } from '../../support/fake-clock.ts';
import { deferred } from '../../support/fake-llm-search.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const servers = (...names: string[]) => names.map((name) => ({ name, filter: {} }) as unknown as ServerEntry);

/** A reload of `file`. Each time its servers are configured, the test says when that ends. */
function start(initial: Reloadable = {}) {
  const logger = new RecordingLogger();
  const lines: string[] = [];
  const reloads: boolean[] = [];
  const configuring: { readonly names: readonly string[]; readonly end: (error?: Error) => void }[] = [];
  const file: { config: Reloadable; notices: ConfigProblem[]; problems?: ConfigProblem[] } = {
    config: {},
    notices: [],
  };
  const reload = serversReload({
    initial,
    apply: async (given) => {
      const ended = deferred<Error | undefined>();
      const names = (given.servers ?? []).map(({ name }) => name);
      configuring.push({ names, end: (error) => ended.settle(error) });
      const error = await ended.promise;
      if (error !== undefined) throw error;
    },
    logSpawn: (line) => lines.push(line),
    reload: async () => {
      const { config, notices, problems } = file;
      return problems === undefined ? { value: { ...config, notices } } : { problems };
    },
    logger,
    onReload: (isSuccessful) => reloads.push(isSuccessful),
  });
  return { reload, file, logger, configuring, lines, reloads };
}

test('a reload is logged when it was done', async () => {
  const { reload, file, configuring, lines, logger } = start();
  file.config = { servers: servers('a', 'b') };
  file.notices = [{ where: 'mcpServers.c', message: 'this server is left out' }];
  reload();
  await settled();
  expect(lines).toEqual([]);
  configuring[0]?.end();
  await settled();
  expect(lines).toEqual(['gateway: the configuration was read again; servers: a, b']);
  expect(logger.lines).toEqual(['warn mcpServers.c: this server is left out']);
});

test('reloads run one after the other, and those requested during one are one', async () => {
  const { reload, file, configuring } = start();
  file.config = { servers: servers('first') };
  reload();
  await settled();
  file.config = { servers: servers('last') };
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
  const { reload, configuring, lines, logger, reloads } = start();
  reload();
  await settled();
  configuring[0]?.end(new Error('no proxy'));
  await settled();
  expect(logger.lines).toEqual([
    'error gateway: the servers could not be configured again, so nothing was changed: Error: no proxy',
  ]);
  reload();
  await settled();
  configuring[1]?.end();
  await settled();
  expect(lines).toEqual(['gateway: the configuration was read again; servers: none']);
  expect(reloads).toEqual([false, true]);
});

// S68
test('a configuration with problems changes nothing', async () => {
  const { reload, file, configuring, lines, logger, reloads } = start();
  file.problems = [{ where: 'servers', message: 'expected a list' }];
  reload();
  await settled();
  expect([configuring, lines, reloads]).toEqual([[], [], [false]]);
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
  const { reload, file, configuring, logger, reloads } = start(initial);
  file.config = configured;
  reload();
  await settled();
  expect([configuring, reloads]).toEqual([[], [false]]);
  expect(logger.lines).toEqual([
    `warn gateway: ${limit} is missing, so that nothing was changed; to remove it, restart the program`,
  ]);
});

test.each([
  ['an entry of tools.deny', { deny: ['a', 'b'] }, { deny: ['a'] }, 'tools.deny (b) of notes'],
  ['a pattern of tools.deny', { deny: ['*_all', 'b'] }, { deny: ['b', 'wipe_all'] }, 'tools.deny (*_all) of notes'],
])('a reload never removes %s', async (_, before, after, limit) => {
  const { reload, file, configuring, logger } = start({ servers: restricted(before) });
  file.config = { servers: restricted(after) };
  reload();
  await settled();
  expect(configuring).toEqual([]);
  expect(logger.lines).toEqual([
    `warn gateway: ${limit} is missing, so that nothing was changed; to remove it, restart the program`,
  ]);
});

test('a reload replaces an entry of tools.deny by a pattern that denies more', async () => {
  const { reload, file, configuring } = start({ servers: restricted({ deny: ['wipe_all', 'b'] }) });
  file.config = { servers: restricted({ deny: ['*'] }) };
  reload();
  await settled();
  expect(configuring).toHaveLength(1);
});

// S68
test.each([
  ['a beginning', 'servers:\n  - name: ', true],
  ['a beginning that ends inside of a character', 'servers:\n  - name: a # \uFFFD', true],
  ['a beginning that a file system has filled up', 'servers:\n  - na\0\0\0\0', true],
  ['the same text', 'servers:\n  - name: a # あ\n', false],
  ['the same text without its last line end', 'servers:\n  - name: a # あ', false],
  ['another text', 'servers: []\n', false],
  ['a longer text', 'servers:\n  - name: a # あ\n    args: []\n', false],
])('%s of the file changes nothing: %j (%s)', async (_, text, isCut) => {
  const { reload, file, configuring, logger } = start({ text: 'servers:\n  - name: a # あ\n' });
  file.config = { text, servers: servers('a') };
  reload();
  await settled();
  expect(configuring).toHaveLength(isCut ? 0 : 1);
  expect(logger.lines).toEqual(isCut ? [expect.stringContaining('is a beginning of the one in effect')] : []);
});

test('a reload changes limits, adds some, and removes servers that have some', async () => {
  const { reload, file, configuring } = start({ servers: restricted({ deny: ['x'] }), access: { bob: {} } });
  const configs = [
    { access: { bob: { answers: true } }, lock },
    { access: {}, lock, servers: restricted({}) },
  ];
  for (const [index, config] of configs.entries()) {
    file.config = config;
    reload();
    await settled();
    configuring[index]?.end();
    await settled();
  }
  expect(configuring).toHaveLength(2);
});

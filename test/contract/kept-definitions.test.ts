import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { DefinitionFiles, lastChangeMs } from '../../src/adapters/outbound/definitions/definition-files.ts';
import type { Definitions } from '../../src/application/ports/tool-server.ts';
import { newFile, newFolder } from '../e2e/files.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeKeptDefinitions } from '../support/fake-kept-definitions.ts';
import { OTHER_USER, ownersTest, posixTest } from '../support/platform.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { DEFINITIONS, describeKeptDefinitions } from './describe-kept-definitions.ts';

function newFiles(folder = path.join(newFolder(), 'cache', 'servers')) {
  const logger = new RecordingLogger();
  const open = () => new DefinitionFiles(folder, { clock: new FakeClock(), logger });
  /** The only file of definitions. */
  const file = () => path.join(folder, readdirSync(folder).find((name) => name.endsWith('.json')) ?? '');
  return { folder, logger, open, file };
}

describeKeptDefinitions('DefinitionFiles', newFiles);
describeKeptDefinitions('FakeKeptDefinitions', () => {
  const kept = new Map<string, Definitions>();
  return { open: () => new FakeKeptDefinitions(kept) };
});

posixTest('modes')('only the owner can read what is kept, and no name tells whose it is', async () => {
  const { folder, open, file } = newFiles();
  await open().write('secret-value', DEFINITIONS);
  const modes = [folder, path.join(folder, 'key'), file()].map((one) => statSync(one).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600, 0o600]);
  expect(readFileSync(file(), 'utf8')).not.toContain('secret-value');
  const other = newFiles();
  await other.open().write('secret-value', DEFINITIONS);
  expect(path.basename(other.file())).not.toBe(path.basename(file()));
});

test.each([
  ['a file that was cut', (text: string) => text.slice(0, -20)],
  ['another version', (text: string) => text.replace('"version":1', '"version":2')],
  ['a date that is none', (text: string) => text.replace('2026-11-20T12:00:00.000Z', 'today')],
  [
    'a list of tools that is none',
    (text: string) => text.replace(/"tools":\[.*?\],"capabilities"/, '"tools":{},"capabilities"'),
  ],
  ['a tool without a name', (text: string) => text.replace('"name":"x"', '"name":1')],
  ['a file without other lists', (text: string) => text.replace('"shared"', '"other"')],
  ['another list that is none', (text: string) => text.replace('"resources":[]', '"resources":{}')],
])('%s is as if nothing were kept, and is replaced', async (_, damage) => {
  const { open, file, logger } = newFiles();
  await open().write('one', DEFINITIONS);
  writeFileSync(file(), damage(readFileSync(file(), 'utf8')));
  expect(await open().read('one')).toBeUndefined();
  await open().write('one', DEFINITIONS);
  expect(await open().read('one')).toEqual(DEFINITIONS);
  expect(logger.lines).toEqual([]);
});

const NOT_KEPT = expect.stringMatching(
  /^warn gateway: the lists of servers cannot be kept in .* \(other users can write there\)/,
);

posixTest('modes')('a folder in which others can write is not used', async () => {
  const { folder, open, logger } = newFiles();
  await open().write('one', DEFINITIONS);
  for (const mode of [0o770, 0o707, 0o777, 0o1777]) {
    chmodSync(folder, mode);
    expect(await open().read('one')).toBeUndefined();
  }
  await open().write('one', DEFINITIONS);
  expect(logger.lines).toEqual([NOT_KEPT]);
  chmodSync(folder, 0o750);
  expect(await open().read('one')).toEqual(DEFINITIONS);
});

posixTest('modes')('a file that others can change is not believed, and is replaced', async () => {
  const { folder, open, file, logger } = newFiles();
  await open().write('one', DEFINITIONS);
  for (const one of [file(), path.join(folder, 'key')]) {
    chmodSync(one, 0o620);
    expect(await open().read('one')).toBeUndefined();
    await open().write('one', DEFINITIONS);
    expect(await open().read('one')).toEqual(DEFINITIONS);
  }
  expect(logger.lines).toEqual([]);
});

ownersTest('what another user made is not used', async () => {
  const { folder, open, file, logger } = newFiles();
  await open().write('one', DEFINITIONS);
  for (const one of [file(), path.join(folder, 'key'), folder]) {
    const { uid } = statSync(one);
    chownSync(one, OTHER_USER, OTHER_USER);
    expect(await open().read('one'), one).toBeUndefined();
    chownSync(one, uid, uid);
  }
  chownSync(folder, OTHER_USER, OTHER_USER);
  await open().write('one', DEFINITIONS);
  expect(logger.lines).toEqual([NOT_KEPT]);
});

test('a damaged key is replaced', async () => {
  const { folder, open } = newFiles();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(folder, 'key'), '');
  expect(await open().read('one')).toBeUndefined();
  await open().write('one', DEFINITIONS);
  expect(await open().read('one')).toEqual(DEFINITIONS);
});

test('a folder that cannot be used has one notice, and nothing else', async () => {
  const { open, logger } = newFiles(path.join(newFile('file', ''), 'servers'));
  const kept = open();
  for (const key of ['one', 'two']) {
    await kept.write(key, DEFINITIONS);
    expect(await kept.read(key)).toBeUndefined();
  }
  expect(logger.lines).toEqual([
    expect.stringMatching(/^warn gateway: the lists of servers cannot be kept in .*servers \(E\w+\), so /),
  ]);
});

// Node.js makes missing folders there without end.
test.skipIf(process.platform !== 'linux')('a folder below /proc has the same notice', async () => {
  const { open, logger } = newFiles('/proc/openai-responses-mcp/cache/servers');
  await open().write('one', DEFINITIONS);
  expect(logger.lines).toEqual([expect.stringContaining('cannot be kept')]);
});

test('what was not used for months, and what a killed process left, is removed', async () => {
  const { folder, open, file } = newFiles();
  await open().write('old', DEFINITIONS);
  const old = file();
  const unfinished = `${old}.1.tmp`;
  writeFileSync(unfinished, '{');
  chmodSync(unfinished, 0o600);
  for (const one of [old, unfinished, path.join(folder, 'key')]) utimesSync(one, new Date(0), new Date(0));
  await open().write('new', DEFINITIONS);
  expect(readdirSync(folder)).toHaveLength(2);
  expect(await open().read('new')).toEqual(DEFINITIONS);
});

test('the last change is that of the files that a command names, in its folder', async () => {
  const folder = newFolder();
  const changes = [
    ['server.js', 1000],
    ['own.js', 2000],
  ] as const;
  for (const [name, seconds] of changes) {
    writeFileSync(path.join(folder, name), '');
    utimesSync(path.join(folder, name), seconds, seconds);
  }
  const ofArgs = (...args: readonly string[]) => lastChangeMs({ command: 'no-such-command', args, cwd: folder });
  expect(await ofArgs('--flag', 'server.js')).toBe(1_000_000);
  expect(await ofArgs(path.join(folder, 'server.js'), 'own.js')).toBe(2_000_000);
  expect(await ofArgs('-y', 'a-package', folder, '.')).toBe(0);
});

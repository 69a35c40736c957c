import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Login, LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { posixTest } from '../support/platform.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

const URL_OF_SERVER = 'https://notes.example.com/mcp';
const LOGIN: Login = {
  url: URL_OF_SERVER,
  id: '1',
  metadata: { issuer: 'https://auth.example.com', token_endpoint: 'https://auth.example.com/token' },
  client: { client_id: 'client' },
  scopes: ['read'],
  accessToken: 'access',
  refreshToken: 'refresh',
  receivedAt: 0,
  expiresAt: 3_600_000,
};

function start() {
  const parent = mkdtempSync(join(tmpdir(), 'logins-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, 'a', 'logins');
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const files = new LoginFiles(folder, clock, logger);
  return { parent, folder, clock, logger, files, path: files.pathOf(URL_OF_SERVER) };
}

const save = (files: LoginFiles, login: Login | undefined) => files.locked(URL_OF_SERVER, (save) => save(login));

test('reading creates nothing', async () => {
  const { parent, files } = start();
  expect(await files.read(URL_OF_SERVER)).toBeUndefined();
  expect(readdirSync(parent)).toEqual([]);
});

test('a login is read as it was written, under any spelling of its URL, and is gone after its end', async () => {
  const { folder, files } = start();
  await save(files, LOGIN);
  expect(await files.read('HTTPS://notes.example.com:443/mcp')).toEqual(LOGIN);
  expect(await files.read('https://notes.example.com/other')).toBeUndefined();
  await save(files, undefined);
  expect(readdirSync(folder)).toEqual([]);
});

posixTest('modes')('only the owner can read it', async () => {
  const { folder, files, path } = start();
  await save(files, LOGIN);
  expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
});

test.each([
  ['no JSON', '{'],
  ['another text', '"text"'],
  ['a part of one', JSON.stringify({ ...LOGIN, accessToken: undefined })],
  ['a token that cannot be sent', JSON.stringify({ ...LOGIN, accessToken: 'a\nb' })],
  ['a time that is none', JSON.stringify({ ...LOGIN, expiresAt: 1e300 })],
  ['another kind of scopes', JSON.stringify({ ...LOGIN, scopes: [null] })],
  [
    'an http:// endpoint',
    JSON.stringify({ ...LOGIN, metadata: { ...LOGIN.metadata, token_endpoint: 'http://a.example' } }),
  ],
])('a file that is not a login (%s) counts as none, with one warning', async (_, text) => {
  const { logger, files, path } = start();
  await save(files, LOGIN);
  writeFileSync(path, text);
  for (const _ of [1, 2]) expect(await files.read(URL_OF_SERVER)).toBeUndefined();
  expect(logger.lines).toEqual([expect.stringContaining(path)]);
});

test('what a killed process left is removed, and nothing else', async () => {
  const { folder, files, path } = start();
  await save(files, LOGIN);
  for (const name of [path.replace(/json$/, '1.tmp'), join(folder, 'other.tmp'), join(folder, 'notes.txt')])
    writeFileSync(name, 'x');
  await save(files, LOGIN);
  expect(readdirSync(folder).sort()).toEqual([path.slice(folder.length + 1), 'notes.txt', 'other.tmp'].sort());
});

test('one task at a time holds the lock, and the next begins after it', async () => {
  const { folder, clock, files } = start();
  const order: string[] = [];
  let end = (): void => {};
  const first = files.locked(URL_OF_SERVER, async () => {
    order.push('first begins');
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    order.push('first ends');
  });
  await expect.poll(() => order).toHaveLength(1);
  const second = new LoginFiles(folder, clock, new RecordingLogger()).locked(URL_OF_SERVER, async () =>
    order.push('second'),
  );
  await settled();
  end();
  await first;
  await expect
    .poll(async () => {
      await clock.advance(50);
      return order;
    })
    .toEqual(['first begins', 'first ends', 'second']);
  await second;
  expect(readdirSync(folder)).toEqual([]);
});

test('the lock of a process that was killed is taken over after 10 s, and not before', async () => {
  const { folder, clock, files, path } = start();
  await save(files, undefined);
  const lock = path.replace(/json$/, 'lock');
  writeFileSync(lock, '1');
  const nowS = clock.now().getTime() / 1000;
  utimesSync(lock, nowS, nowS);
  let isDone = false;
  const saved = save(files, LOGIN).then(() => {
    isDone = true;
  });
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  utimesSync(lock, nowS - 9.9, nowS - 9.9);
  await clock.advance(50);
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  expect(isDone).toBe(false);
  utimesSync(lock, nowS - 10, nowS - 10);
  await clock.advance(50);
  await saved;
  expect(readdirSync(folder)).toEqual([path.slice(folder.length + 1)]);
});

test('a lock from the future is taken over, too: the clock was set back', async () => {
  const { clock, files, path } = start();
  await save(files, undefined);
  const lock = path.replace(/json$/, 'lock');
  writeFileSync(lock, '1');
  const laterS = clock.now().getTime() / 1000 + 3600;
  utimesSync(lock, laterS, laterS);
  await save(files, LOGIN);
  expect(await files.read(URL_OF_SERVER)).toEqual(LOGIN);
});

test('the wait for a lock can be cancelled', async () => {
  const { clock, files, path } = start();
  await save(files, undefined);
  const lock = path.replace(/json$/, 'lock');
  writeFileSync(lock, '1');
  utimesSync(lock, clock.now(), clock.now());
  const ended = new AbortController();
  const locked = files.locked(URL_OF_SERVER, async () => {}, ended.signal);
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  ended.abort();
  await expect(locked).rejects.toThrow();
});

describe('a process that was suspended while it had the lock', () => {
  /** Another process does this meanwhile. */
  async function resumed(meanwhile: (path: string) => Promise<unknown>) {
    const { files, path } = start();
    await save(files, LOGIN);
    const lock = path.replace(/json$/, 'lock');
    const saved = files.locked(URL_OF_SERVER, async (save) => {
      writeFileSync(lock, 'another one');
      await meanwhile(path);
      await save({ ...LOGIN, accessToken: 'renewed' }, LOGIN);
    });
    return { lock, files, saved };
  }

  test('writes over what it has read, and leaves the lock of the other one', async () => {
    const { files, lock, saved } = await resumed(async () => {});
    await saved;
    expect(await files.read(URL_OF_SERVER)).toMatchObject({ accessToken: 'renewed' });
    expect(readFileSync(lock, 'utf8')).toBe('another one');
  });

  test.each([
    ['renewed', async (path: string) => writeFileSync(path, JSON.stringify({ ...LOGIN, accessToken: 'newer' }))],
    ['deleted', async (path: string) => rmSync(path)],
  ])('does not write over a login that another one has %s', async (_, meanwhile) => {
    const { files, saved } = await resumed(meanwhile);
    await expect(saved).rejects.toThrow('another process has the lock');
    expect((await files.read(URL_OF_SERVER))?.accessToken).not.toBe('renewed');
  });
});

test('a folder that cannot be written rejects', async () => {
  const { parent, clock, logger } = start();
  writeFileSync(join(parent, 'file'), '');
  await expect(save(new LoginFiles(join(parent, 'file', 'logins'), clock, logger), LOGIN)).rejects.toThrow('ENOTDIR');
});

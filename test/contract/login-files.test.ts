import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import type { Login } from '../../src/adapters/outbound/login/login.ts';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { loginAt } from '../support/fake-issuer.ts';
import { OTHER_USER, ownersTest, posixTest } from '../support/platform.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { until } from '../support/until.ts';

const SERVER = { url: 'https://notes.example.com/mcp', use: 'shared' } as const;
const LOGIN = loginAt('https://auth.example.com');

function start() {
  const parent = mkdtempSync(join(tmpdir(), 'logins-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, 'a', 'logins');
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const files = new LoginFiles(folder, clock, { logger });
  const path = files.pathOf(SERVER);
  const save = (login: Login | undefined) => files.locked(SERVER, () => files.write(SERVER, login));
  return { parent, folder, clock, logger, files, path, lock: path.replace(/json$/, 'lock'), save };
}

test('reading creates nothing', async () => {
  const { parent, files, logger } = start();
  expect(await files.read(SERVER)).toBeUndefined();
  expect([readdirSync(parent), logger.lines]).toEqual([[], []]);
});

test('a login is read as it was written, under any spelling of its URL, and is gone after its end', async () => {
  const { folder, files, save } = start();
  await save(LOGIN);
  expect(await files.read({ url: 'HTTPS://notes.example.com:443/mcp', use: 'shared' })).toEqual(LOGIN);
  expect(await files.read({ url: 'https://notes.example.com/other', use: 'shared' })).toBeUndefined();
  await save(undefined);
  expect(readdirSync(folder)).toEqual([]);
});

posixTest('modes')('only the owner can read it', async () => {
  const { folder, path, save } = start();
  await save(LOGIN);
  expect([statSync(path).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700]);
});

ownersTest('a login of another user is not used, with one warning, and can be replaced', async () => {
  const { path, save, files, logger } = start();
  await save(LOGIN);
  chownSync(path, OTHER_USER, OTHER_USER);
  for (let times = 0; times < 2; times += 1) expect(await files.read(SERVER)).toBeUndefined();
  expect(logger.lines).toEqual([`warn logins: ${path} is not used, because it belongs to another user; sign in again`]);
  await save(LOGIN);
  expect(await files.read(SERVER)).toEqual(LOGIN);
});

test.each([
  ...['', '{', '[]', 'null', '{"tokens":{}}', JSON.stringify({ ...LOGIN, metadata: {} })],
  ...[{ client: {} }, { tokens: {} }, { tokens: { access_token: 5 } }].map((change) =>
    JSON.stringify({ ...LOGIN, ...change }),
  ),
])('a file that is not a login (%s) counts as none, and is named once', async (text) => {
  const { files, path, save, logger } = start();
  await save(LOGIN);
  writeFileSync(path, text);
  for (let times = 0; times < 3; times += 1) expect(await files.read(SERVER)).toBeUndefined();
  expect(logger.lines).toEqual([`warn logins: ${path} is not used, because it contains no login; sign in again`]);
});

test('what cannot be read as a file counts as no login, and is named once', async () => {
  const { files, path, logger } = start();
  mkdirSync(path, { recursive: true });
  for (let times = 0; times < 3; times += 1) expect(await files.read(SERVER)).toBeUndefined();
  expect(logger.lines).toEqual([`warn logins: ${path} is not used, because it is not a file; sign in again`]);
});

test('what a killed process left is removed, and nothing else', async () => {
  const { folder, path, save } = start();
  await save(LOGIN);
  for (const name of [`${path}.1.tmp`, join(folder, 'other.tmp'), join(folder, 'notes.txt')]) writeFileSync(name, 'x');
  await save(LOGIN);
  expect(readdirSync(folder).sort()).toEqual([path.slice(folder.length + 1), 'notes.txt', 'other.tmp'].sort());
});

test('one task at a time holds the lock, however long it takes, and the next begins after it', async () => {
  const { folder, clock, files, save } = start();
  let end = (): void => {};
  const isEnded = new Promise<void>((resolve) => {
    end = resolve;
  });
  const first = files.locked(SERVER, () => isEnded);
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  const second = save(LOGIN).then(() => 'done');
  await expect.poll(() => clock.pendingSleeps).toBe(2);
  // Longer than the lock of a killed process would be respected. The lock is looked at and touched on the disk.
  for (const _ of Array(12)) {
    await clock.advance(1000);
    await until(() => clock.pendingSleeps === 2);
  }
  expect(await files.read(SERVER)).toBeUndefined();
  end();
  await first;
  await expect.poll(async () => Promise.race([second, clock.advance(50)])).toBe('done');
  expect(readdirSync(folder)).toHaveLength(1);
});

test.each([
  ['that was killed is taken over after 10 s', -10],
  ['is taken over if the clock was set back meanwhile', 3600],
])('the lock of a process %s, and not before', async (_, ageS) => {
  const { folder, clock, files, path, lock, save } = start();
  await save(undefined);
  const touch = (seconds: number) => {
    const atS = clock.now().getTime() / 1000 + seconds;
    writeFileSync(lock, '');
    utimesSync(lock, atS, atS);
  };
  touch(-9);
  const saved = save(LOGIN);
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  expect(await files.read(SERVER)).toBeUndefined();
  touch(ageS);
  await clock.advance(50);
  await saved;
  expect(readdirSync(folder)).toEqual([path.slice(folder.length + 1)]);
});

test('the wait for a lock can be cancelled', async () => {
  const { clock, files, lock, save } = start();
  await save(undefined);
  writeFileSync(lock, '');
  utimesSync(lock, clock.now(), clock.now());
  const ended = new AbortController();
  const locked = files.locked(SERVER, async () => {}, ended.signal);
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  ended.abort();
  await expect(locked).rejects.toThrow();
});

test('a folder that cannot be written rejects', async () => {
  const { parent, clock } = start();
  writeFileSync(join(parent, 'file'), '');
  const files = new LoginFiles(join(parent, 'file', 'logins'), clock);
  await expect(files.locked(SERVER, async () => {})).rejects.toThrow('ENOTDIR');
});

/** A clock whose sleeps are short, so that many tasks try to take a lock at once. */
class ImpatientClock extends SystemClock {
  override sleep(ms: number, signal: AbortSignal) {
    return super.sleep(ms / 1000, signal);
  }
}

/** The number of tasks that had the lock at once, of 12 that take it so often. */
async function mostAtOnce(folder: string, turns: number): Promise<number> {
  let running = 0;
  let together = 0;
  const contend = async () => {
    const files = new LoginFiles(folder, new ImpatientClock());
    for (let turn = 0; turn < turns; turn += 1)
      await files.locked(SERVER, async () => {
        running += 1;
        together = Math.max(together, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      });
  };
  await Promise.all(Array.from({ length: 12 }, contend));
  return together;
}

test('a lock that is released while others look at it is taken by one of them', async () => {
  expect(await mostAtOnce(start().folder, 40)).toBe(1);
});

test('the lock of a killed process is taken over by one of those who wait, also if another was killed meanwhile', async () => {
  const { folder, lock, save } = start();
  await save(undefined);
  for (let round = 0; round < 40; round += 1) {
    for (const left of round % 2 === 0 ? [lock] : [lock, `${lock}.old`]) {
      writeFileSync(left, '');
      utimesSync(left, 0, 0);
    }
    expect(await mostAtOnce(folder, 1)).toBe(1);
  }
  expect(readdirSync(folder)).toEqual([]);
});

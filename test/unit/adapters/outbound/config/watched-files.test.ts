import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { watchFiles } from '../../../../../src/adapters/outbound/config/watched-files.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { posixTest } from '../../../../support/platform.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'watched-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** A file of the folder, written as a program that replaces files writes it. */
function write(name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return file;
}

/** Another link takes the place of one. */
function exchangeLink(name: string, target: string): void {
  symlinkSync(target, join(folder, `${name}.new`));
  renameSync(join(folder, `${name}.new`), join(folder, name));
}

/** Watches files with events of the test. A watcher stays with its folder, also if another one takes its place. */
async function start(...names: readonly string[]) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const events = new Map<string, { readonly changed: () => void; readonly fail: (error: Error) => void }>();
  const inodeOf = (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
  const started = { files: names.map((name) => join(folder, name)), changes: 0, reads: 0 };
  const look = watchFiles({
    files: () => {
      started.reads += 1;
      return started.files;
    },
    onChanged: () => {
      started.changes += 1;
    },
    clock,
    logger,
    watchFolder: (path, changed, fail) => {
      if (path.includes('forbidden')) throw new Error('ENOSPC: no space');
      const inode = inodeOf(path);
      events.set(path, { changed: () => inode === inodeOf(path) && changed(), fail });
      return { close: () => void events.delete(path) };
    },
  });
  // After the first looks.
  await clock.advance(100);
  const event = async (path = folder) => {
    events.get(path)?.changed();
    await clock.advance(50);
  };
  return Object.assign(started, {
    clock,
    logger,
    events,
    event,
    look,
    watched: () => [...events.keys()].filter((path) => path.startsWith(folder)).sort(),
  });
}

describe('a change counts', () => {
  test('half a second later, once', async () => {
    write('config.yaml', 'a');
    const watching = await start('config.yaml');
    write('config.yaml', 'b');
    await watching.event();
    await watching.clock.advance(449);
    expect(watching.changes).toBe(0);
    await watching.clock.advance(1);
    expect(watching.changes).toBe(1);
    await watching.clock.advance(10_000);
    expect(watching.changes).toBe(1);
  });

  test('together with those of half a second', async () => {
    write('config.yaml', 'a');
    write('servers.json', '{}');
    const watching = await start('config.yaml', 'servers.json');
    for (const text of ['b', 'c', 'd']) {
      write(text === 'c' ? 'servers.json' : 'config.yaml', text);
      await watching.event();
      await watching.clock.advance(400);
    }
    expect(watching.changes).toBe(0);
    await watching.clock.advance(50);
    expect(watching.changes).toBe(1);
  });

  test('of a file that is removed, or new', async () => {
    write('config.yaml', 'a');
    const watching = await start('config.yaml', 'tools.lock');
    write('tools.lock', '{}');
    await watching.event();
    await watching.clock.advance(500);
    expect(watching.changes).toBe(1);
    rmSync(join(folder, 'config.yaml'));
    await watching.event();
    await watching.clock.advance(500);
    expect(watching.changes).toBe(2);
  });
});

test('other files, and the same content once more, are no change', async () => {
  write('config.yaml', 'a');
  const watching = await start('config.yaml');
  write('audit.jsonl', '{}');
  await watching.event();
  write('config.yaml', 'a');
  await watching.event();
  await watching.clock.advance(10_000);
  expect(watching.changes).toBe(0);
});

test('a flood of events reads the files at most 20 times in a second', async () => {
  write('config.yaml', 'a');
  const watching = await start('config.yaml');
  const before = watching.reads;
  for (let ms = 0; ms < 1000; ms += 5) {
    watching.events.get(folder)?.changed();
    await watching.clock.advance(5);
  }
  // Once for their folders, and once for their content.
  expect(watching.reads - before).toBeLessThanOrEqual(2 * 21);
});

posixTest('links')('a link that is exchanged is a change, as Kubernetes does it', async () => {
  write('..one/config.yaml', 'a');
  write('..two/config.yaml', 'b');
  symlinkSync('..one', join(folder, '..data'));
  symlinkSync(join('..data', 'config.yaml'), join(folder, 'config.yaml'));
  const watching = await start('config.yaml');
  expect(watching.watched()).toEqual([folder, join(folder, '..one')]);
  exchangeLink('..data', '..two');
  rmSync(join(folder, '..one'), { recursive: true });
  await watching.event();
  await watching.clock.advance(500);
  expect(watching.changes).toBe(1);
  expect(watching.watched()).toEqual([folder, join(folder, '..two')]);
});

posixTest('links')('the file that a link names is watched', async () => {
  const target = write('elsewhere/config.yaml', 'a');
  symlinkSync(target, join(folder, 'config.yaml'));
  const watching = await start('config.yaml');
  write('elsewhere/config.yaml', 'b');
  await watching.event(dirname(target));
  await watching.clock.advance(500);
  expect(watching.changes).toBe(1);
});

posixTest('links')(
  'a link on the path that is exchanged is a change, and so is what it leads to afterwards',
  async () => {
    write('rel1/c.yaml', 'a');
    write('rel2/c.yaml', 'b');
    exchangeLink('stable', 'rel1');
    exchangeLink('current', 'stable');
    const watching = await start('current/c.yaml');
    expect(watching.watched()).toEqual([folder, join(folder, 'rel1')]);
    exchangeLink('stable', 'rel2');
    await watching.event();
    await watching.clock.advance(500);
    expect(watching.changes).toBe(1);
    expect(watching.watched()).toEqual([folder, join(folder, 'rel2')]);
    write('rel2/c.yaml', 'c');
    await watching.event(join(folder, 'rel2'));
    await watching.clock.advance(500);
    expect(watching.changes).toBe(2);
  },
);

posixTest('links')('links that lead to themselves are no file', async () => {
  exchangeLink('loop', 'loop/loop/loop');
  const watching = await start('loop/c.yaml');
  expect(watching.watched()).toEqual([folder]);
  rmSync(join(folder, 'loop'));
  write('loop/c.yaml', 'a');
  await watching.event();
  await watching.clock.advance(500);
  expect(watching.changes).toBe(1);
});

describe('a folder that is replaced is watched like the one before', () => {
  test.each(['app', 'app/config'])('at once: %s', async (replaced) => {
    write('app/config/c.yaml', 'a');
    write('app.new/config/c.yaml', 'b');
    write('app/config.new/c.yaml', 'b');
    const watching = await start('app/config/c.yaml');
    renameSync(join(folder, replaced), join(folder, `${replaced}.old`));
    renameSync(join(folder, `${replaced}.new`), join(folder, replaced));
    // The folder that contains them reports it.
    await watching.event(dirname(join(folder, replaced)));
    await watching.clock.advance(500);
    expect(watching.changes).toBe(1);
    write('app/config/c.yaml', 'c');
    await watching.event(join(folder, 'app', 'config'));
    await watching.clock.advance(500);
    expect(watching.changes).toBe(2);
  });

  test('after it was removed, with the one that contained it', async () => {
    write('app/config/c.yaml', 'a');
    const watching = await start('app/config/c.yaml');
    rmSync(join(folder, 'app'), { recursive: true });
    watching.events.get(join(folder, 'app', 'config'))?.fail(new Error('EPERM: removed'));
    await watching.clock.advance(600);
    expect(watching.changes).toBe(1);
    expect(watching.watched()).toEqual([folder]);
    mkdirSync(join(folder, 'app'));
    await watching.event();
    expect(watching.watched()).toEqual([folder, join(folder, 'app')]);
    write('app/config/c.yaml', 'b');
    await watching.event(join(folder, 'app'));
    write('app/config/c.yaml', 'c');
    await watching.event(join(folder, 'app', 'config'));
    await watching.clock.advance(500);
    expect(watching.changes).toBe(2);
    expect(watching.logger.lines).toEqual([]);
  });
});

posixTest('links')('the system reports links that are exchanged and folders that are replaced', async () => {
  write('rel1/c.yaml', 'a');
  write('rel2/c.yaml', 'b');
  write('rel3/c.yaml', 'c');
  exchangeLink('current', 'rel1');
  let changes = 0;
  const clock = new FakeClock();
  const files = () => [join(folder, 'current', 'c.yaml')];
  watchFiles({ files, onChanged: () => (changes += 1), clock, logger: new RecordingLogger() });
  await clock.advance(500);
  const changed = async (count: number) => {
    // Events arrive in their own time.
    await expect.poll(() => clock.advance(50).then(() => changes), { interval: 5, timeout: 4000 }).toBe(count);
  };
  exchangeLink('current', 'rel2');
  await changed(1);
  write('rel2/c.yaml', 'd');
  await changed(2);
  renameSync(join(folder, 'rel2'), join(folder, 'old'));
  await changed(3);
  renameSync(join(folder, 'rel3'), join(folder, 'rel2'));
  await changed(4);
  write('rel2/c.yaml', 'e');
  await changed(5);
});

test('a file that is named but does not exist is no change, until it is written', async () => {
  write('config.yaml', 'a');
  const watching = await start('config.yaml');
  watching.files = [...watching.files, join(folder, 'locks', 'tools.lock')];
  watching.look();
  await watching.clock.advance(600);
  expect(watching.changes).toBe(0);
  write('locks/tools.lock', '{}');
  await watching.event();
  await watching.clock.advance(500);
  expect(watching.changes).toBe(1);
});

test('other files are watched as soon as the configuration names them', async () => {
  write('config.yaml', 'a');
  const watching = await start('config.yaml');
  watching.files = [write('other/servers.json', '{}')];
  watching.look();
  expect(watching.watched()).toEqual([folder, join(folder, 'other')]);
});

describe('a folder that cannot be watched', () => {
  test('is a warning, and the others are watched', async () => {
    write('config.yaml', 'a');
    mkdirSync(join(folder, 'forbidden'));
    const watching = await start('forbidden/servers.json', 'config.yaml');
    write('config.yaml', 'b');
    await watching.event();
    await watching.clock.advance(500);
    expect(watching.changes).toBe(1);
    expect(watching.logger.lines).toEqual([
      `warn gateway: ${join(folder, 'forbidden')} cannot be watched, so changes in it need SIGHUP or a restart: ENOSPC: no space`,
    ]);
  });

  test('any more is a warning', async () => {
    write('config.yaml', 'a');
    const watching = await start('config.yaml');
    watching.events.get(folder)?.fail(new Error('EPERM: gone'));
    expect(watching.watched()).toEqual([]);
    expect(watching.logger.lines).toEqual([expect.stringContaining('EPERM: gone')]);
  });
});

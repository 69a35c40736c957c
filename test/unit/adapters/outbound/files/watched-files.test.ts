import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LOOK_MS, watchFiles } from '../../../../../src/adapters/outbound/files/watched-files.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { posixTest } from '../../../../support/platform.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watched-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function start(...names: readonly string[]) {
  const clock = new FakeClock();
  const watched = { files: names.map((name) => join(folder, name)), changes: 0 };
  const onChanged = () => {
    watched.changes += 1;
  };
  watchFiles({ files: () => watched.files, onChanged, clock });
  return Object.assign(watched, { look: () => clock.advance(LOOK_MS) });
}

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

test('a change counts when it was seen twice, once', async () => {
  write('a', '1');
  const watched = start('a');
  await watched.look();
  write('a', '2');
  await watched.look();
  expect(watched.changes).toBe(0);
  for (let looks = 0; looks < 3; looks += 1) await watched.look();
  expect(watched.changes).toBe(1);
});

test('a file that is being written does not count before it is complete', async () => {
  write('a', '1');
  const watched = start('a');
  for (const text of ['', 'be', 'begin']) {
    write('a', text);
    await watched.look();
  }
  expect(watched.changes).toBe(0);
  await watched.look();
  expect(watched.changes).toBe(1);
});

test('the same content once more, and a content that comes and goes, are no change', async () => {
  write('a', '1');
  const watched = start('a');
  for (const text of ['1', '2', '1', '1', '1']) {
    write('a', text);
    await watched.look();
  }
  expect(watched.changes).toBe(0);
});

test('a file that does not exist counts when it is written, and when it is removed', async () => {
  const watched = start('late');
  await watched.look();
  write('late', '1');
  for (let looks = 0; looks < 2; looks += 1) await watched.look();
  expect(watched.changes).toBe(1);
  rmSync(join(folder, 'late'));
  for (let looks = 0; looks < 2; looks += 1) await watched.look();
  expect(watched.changes).toBe(2);
});

posixTest('links')('a link that leads to another file counts, as in a ConfigMap', async () => {
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(folder, version));
    write(`${version}/a`, version);
  }
  symlinkSync('v1', join(folder, 'data'));
  symlinkSync('data/a', join(folder, 'a'));
  const watched = start('a');
  symlinkSync('v2', join(folder, 'data.new'));
  renameSync(join(folder, 'data.new'), join(folder, 'data'));
  for (let looks = 0; looks < 2; looks += 1) await watched.look();
  expect(watched.changes).toBe(1);
});

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AuditFile } from '../../src/adapters/outbound/audit/audit-file.ts';
import { newFolder } from '../e2e/files.ts';
import { FakeAuditLog } from '../support/fake-audit-log.ts';
import { posixTest } from '../support/platform.ts';
import { describeAuditLog } from './describe-audit-log.ts';

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);

function openFile(path = join(newFolder(), 'audit.jsonl')) {
  const log = new AuditFile(path);
  onTestFinished(() => log.close());
  return { log, path };
}

describeAuditLog('FakeAuditLog', () => {
  const log = new FakeAuditLog();
  return {
    log,
    lines: () => log.lines,
    obstruct: () => {
      log.failure = 'ENOSPC';
    },
    repair: () => {
      log.failure = undefined;
    },
  };
});

describeAuditLog('AuditFile, with something else in its place', () => {
  const { log, path } = openFile();
  return {
    log,
    lines: () => linesOf(path),
    obstruct: () => {
      renameSync(path, `${path}.1`);
      mkdirSync(path);
      void log.open();
    },
    repair: () => {
      rmdirSync(path);
      renameSync(`${path}.1`, path);
    },
  };
});

const full = describe.skipIf(!existsSync('/dev/full'));
full('on a full disk', () => {
  test('fails, and works as soon as there is space', async () => {
    const { log, path } = openFile();
    symlinkSync('/dev/full', path);
    expect(await log.ready()).toEqual(ok());
    expect(await log.append('1')).toEqual(err('ENOSPC'));
    expect(await log.ready()).toEqual(err('ENOSPC'));
    rmSync(path);
    expect(await log.ready()).toEqual(ok());
    expect(linesOf(path)).toEqual(['1']);
  });
});

posixTest('modes')(
  'only the user of the process may read a new file, and the mode of another is not changed',
  async () => {
    const { log, path } = openFile();
    await log.append('1');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const other = openFile();
    writeFileSync(other.path, '0\n', { mode: 0o640 });
    await other.log.append('1');
    expect(linesOf(other.path)).toEqual(['0', '1']);
    expect(statSync(other.path).mode & 0o777).toBe(0o640);
  },
);

test('a folder is not created, and the file is as soon as it can be', async () => {
  const folder = join(newFolder(), 'later');
  const { log, path } = openFile(join(folder, 'audit.jsonl'));
  expect(await log.ready()).toEqual(err('ENOENT'));
  mkdirSync(folder);
  expect(await log.ready()).toEqual(ok());
  expect(linesOf(path)).toEqual([]);
});

test('a file that was renamed gets lines until it is opened again', async () => {
  const { log, path } = openFile();
  await log.append('1');
  renameSync(path, `${path}.1`);
  await log.append('2');
  expect(await log.open()).toEqual(ok());
  await log.append('3');
  expect([linesOf(`${path}.1`), linesOf(path)]).toEqual([['1', '2'], ['3']]);
});

test('a line that another process could not complete stays alone', async () => {
  const { log, path } = openFile();
  appendFileSync(path, '{"id":1}\n{"id":');
  await log.append('{"id":2}');
  expect(linesOf(path)).toEqual(['{"id":1}', '{"id":', '{"id":2}']);
});

test('keeps a limited number of lines that cannot be written', async () => {
  const folder = join(newFolder(), 'later');
  const { log, path } = openFile(join(folder, 'audit.jsonl'));
  const line = 'x'.repeat(64 * 1024 - 1);
  for (let index = 0; index < 70; index += 1) expect((await log.append(`${line}`)).isErr()).toBe(true);
  mkdirSync(folder);
  expect(await log.append('last')).toEqual(ok());
  expect(linesOf(path)).toHaveLength(65);
});

/** A file with the beginning of a line, of which the rest did not fit. Undefined without the command `prlimit`. */
async function fillFile() {
  const { log, path } = openFile();
  await log.append('a'.repeat(10));
  // Node.js ignores SIGXFSZ, so that a write beyond the limit of the size of files fails.
  const limit = (size: string) => spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${size}`]).status;
  if (limit('100:unlimited') !== 0) return undefined;
  const written = await log.append('b'.repeat(200));
  limit('unlimited');
  expect(written).toEqual(err('EFBIG'));
  return { log, path };
}

posixTest('shell')('a line of which only a part fits is completed later', async () => {
  const filled = await fillFile();
  if (filled === undefined) return;
  const { log, path } = filled;
  expect(await log.append('c')).toEqual(ok());
  expect(linesOf(path)).toEqual(['a'.repeat(10), 'b'.repeat(200), 'c']);
});

posixTest('shell')('a line of which only a part fits is complete in a file that was copied and emptied', async () => {
  const filled = await fillFile();
  if (filled === undefined) return;
  const { log, path } = filled;
  truncateSync(path);
  expect(await log.append('c')).toEqual(ok());
  expect(linesOf(path)).toEqual(['b'.repeat(200), 'c']);
});

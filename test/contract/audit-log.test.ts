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
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { AuditFile, probeAuditFile } from '../../src/adapters/outbound/audit/audit-file.ts';
import { newFolder } from '../e2e/files.ts';
import { FakeAuditLog } from '../support/fake-audit-log.ts';
import { posixTest } from '../support/platform.ts';
import { describeAuditLog } from './describe-audit-log.ts';

const linesOf = (path: string) => readFileSync(path, 'utf8').split('\n').slice(0, -1);

function openFile(path = join(newFolder(), 'audit.jsonl')) {
  const warnings: string[] = [];
  const log = new AuditFile(path, (problem) => warnings.push(problem));
  onTestFinished(() => log.close());
  return { log, path, warnings };
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
    expect(other.warnings).toEqual(['other users can open the file, whose mode is 0640']);
  },
);

posixTest('modes')('a file of another user gets no line', async () => {
  const { log, path } = openFile();
  writeFileSync(path, '0\n');
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(statSync(path).uid + 1);
  onTestFinished(() => getuid.mockRestore());
  expect(await log.append('1')).toEqual(err('it belongs to another user'));
  expect(probeAuditFile(path)).toBe('it belongs to another user');
  expect(linesOf(path)).toEqual(['0']);
  getuid.mockRestore();
  await log.ready();
  expect(linesOf(path)).toEqual(['0', '1']);
});

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

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../../../src/adapters/outbound/config/load-config.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-audit-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

function load(config: object) {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify({ clock: { time_zone: 'UTC' }, ...config }));
  return loadConfig({ environment: {}, commandLine: { '--config': file }, version: '0.9.0' });
}

test.each([
  [{ file: 'audit.jsonl' }, { arguments: 'names', onFailure: 'refuse' }],
  [
    { file: 'audit.jsonl', arguments: 'hash', on_failure: 'allow' },
    { arguments: 'hash', onFailure: 'allow' },
  ],
])('%j is read; the file is in the folder of the configuration, and need not be usable', async (audit, policy) => {
  const validated = await load({ audit: { ...audit, file: join('no', audit.file) } });
  expect(validated).toMatchObject({ value: { audit: { file: join(folder, 'no', 'audit.jsonl'), ...policy } } });
});

// The last is what is printed of a configuration without an audit.
test.each([{}, { audit: null }, { audit: { arguments: 'names', on_failure: 'refuse' } }])(
  'there is none in %j',
  async (config) => {
    const validated = await load(config);
    expect('value' in validated && validated.value.audit).toBeUndefined();
  },
);

test.each([
  [{}, 'audit.file'],
  [{ file: null }, 'audit.file'],
  [{ arguments: 'full' }, 'audit.file'],
  [{ on_failure: 'refuse' }, 'audit.file'],
  [{ file: 5 }, 'audit.file'],
  [{ file: 'a', arguments: 'some' }, 'audit.arguments'],
  [{ file: 'a', on_failure: true }, 'audit.on_failure'],
  [{ file: 'a', path: 'b' }, 'audit.path'],
])('%j is a problem', async (audit, where) => {
  expect(await load({ audit })).toMatchObject({ problems: [{ where }] });
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { givenConfig } from '../../../../support/given-config.ts';

const { at, load } = givenConfig();

test.each([
  [{ file: 'audit.jsonl' }, { arguments: 'names', onFailure: 'refuse' }],
  [
    { file: 'audit.jsonl', arguments: 'hash', on_failure: 'allow' },
    { arguments: 'hash', onFailure: 'allow' },
  ],
])('%j is read; the file is in the folder of the configuration, and need not be usable', async (audit, policy) => {
  const validated = await load({ audit: { ...audit, file: join('no', audit.file) } });
  expect(validated).toMatchObject({ value: { audit: { file: at('no', 'audit.jsonl'), ...policy } } });
});

test.each([{}, { audit: null }, { audit: {} }])('there is none in %j', async (config) => {
  const validated = await load(config);
  expect('value' in validated && validated.value.audit).toBeUndefined();
});

test.each([
  [{ arguments: 'full' }, 'audit.file'],
  [{ on_failure: 'refuse' }, 'audit.file'],
  [{ file: 'a', path: 'b' }, 'audit.path'],
])('%j is a problem', async (audit, where) => {
  expect(await load({ audit })).toMatchObject({ problems: [{ where }] });
});

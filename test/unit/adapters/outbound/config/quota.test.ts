import { describe, expect, test } from 'vitest';
import { passwordsOf } from '../../../../../src/adapters/outbound/network/addresses.ts';
import { givenConfig } from '../../../../support/given-config.ts';

const VARIABLE = 'MCP_HTTP_QUOTA_STORE';

const { problemsOf: allProblemsOf, acceptedConfig } = givenConfig();

type Variables = Readonly<Record<string, string>>;
const configOf = (quota: object, environment: Variables = {}) => acceptedConfig({ http: { quota } }, environment);
const problemsOf = (quota: object, environment: Variables = {}) => allProblemsOf({ http: { quota } }, environment);

test('every key can be set', async () => {
  const { quota } = await configOf({
    calls_per_day: 500,
    searches_per_day: 0,
    tokens_per_day: 2_000_000,
    callers: { alice: { calls_per_day: 50 }, 'oauth:auth0|6': { tokens_per_day: 1, searches_per_day: 2 }, bob: {} },
    store: 'redis://127.0.0.1:6379/2',
    on_store_failure: 'allow',
  });
  expect(quota).toEqual({
    limits: { calls: 500, searches: 0, tokens: 2_000_000 },
    callers: { alice: { calls: 50 }, 'oauth:auth0|6': { tokens: 1, searches: 2 }, bob: {} },
    store: 'redis://127.0.0.1:6379/2',
    onStoreFailure: 'allow',
  });
});

test('by default, calls are counted in memory, and refused while the store fails', async () => {
  const { quota } = await configOf({ calls_per_day: 1 });
  expect(quota).toEqual({ limits: { calls: 1 }, callers: {}, store: 'memory', onStoreFailure: 'refuse' });
});

test.each([{ callers: { alice: {} } }, { store: 'redis://store' }])(
  'without a limit there is no quota: %j',
  async (quota) => {
    expect((await configOf(quota)).quota).toBeUndefined();
  },
);

test.each([
  ['callers', { 'auth0|6': { calls_per_day: 5 } }],
  ['callers', { 'oauth:Ann Smith': { calls_per_day: 5 } }],
  ['callers.alice', { alice: { calls: 5 } }],
  ['callers.alice.calls_per_day', { alice: { calls_per_day: -5 } }],
])('%s cannot be as in %j', async (where, callers) => {
  expect(await problemsOf({ callers })).toMatchObject([{ where: `http.quota.${where}` }]);
});

describe('the store', () => {
  test.each(['memory', 'redis://[::1]:6379/', 'rediss://user:p%40ss@store.example:6380/15', 'redis://:password@store'])(
    'can be %s',
    async (store) => {
      expect((await configOf({ calls_per_day: 1, store })).quota?.store).toBe(store);
      expect((await configOf({ calls_per_day: 1 }, { [VARIABLE]: store })).quota?.store).toBe(store);
    },
  );

  test.each([
    'http://:hunter22@store',
    'redis:hunter22@store',
    'redis://',
    'redis://:hunter22@store/name',
    'redis://:hunter22@store?x=1',
    'redis://:hunter22%@store',
  ])('cannot be %s, which is not shown', async (store) => {
    const problems = await problemsOf({ calls_per_day: 1 }, { [VARIABLE]: store });
    expect(problems).toEqual([
      { where: VARIABLE, message: expect.stringMatching(/^expected memory, or the URL of a store/) },
    ]);
  });

  test('of the variable is used instead of that of the file', async () => {
    const { quota, sources } = await configOf(
      { calls_per_day: 1, store: 'redis://file' },
      { [VARIABLE]: 'redis://env' },
    );
    expect(quota?.store).toBe('redis://env');
    expect(sources.env).toEqual([VARIABLE]);
  });

  test.each([
    ['redis://:hunter22@store:6379', 'redis://:[redacted]@store:6379'],
    ['rediss://user:hunter%4022@store/1', 'rediss://user:[redacted]@store/1'],
    ['redis://user@store', 'redis://user@store'],
  ])('%s is shown as %s', async (store, shown) => {
    const { effective } = await (await configOf({ calls_per_day: 1, store })).shown();
    expect(effective.http).toMatchObject({ quota: { calls_per_day: 1, store: shown } });
  });

  test('has a password that is masked in both spellings', () => {
    const basic = Buffer.from('user:p@ssword').toString('base64').replace(/=+$/, '');
    expect(passwordsOf('redis://user:p%40ssword@store')).toEqual(['p%40ssword', 'p@ssword', basic]);
    expect(passwordsOf('redis://store')).toEqual([]);
    expect(passwordsOf('memory')).toEqual([]);
  });

  test('has a password that is masked, and a variable that servers do not inherit', async () => {
    const { secrets, secretVariables } = await configOf({}, { [VARIABLE]: 'redis://:p%40ssword@store' });
    expect(secrets.own).toContain('p@ssword');
    expect(secretVariables).toContain(VARIABLE);
  });
});

import { expect, test } from 'vitest';
import { TABLE } from '../../../../../src/adapters/outbound/config/keys.ts';
import { inCamelCase, toTree } from '../../../../../src/adapters/outbound/config/table.ts';
import { PARAMETERS } from '../../../../../src/domain/answers/model-profile.ts';

test.each([
  ['nothing', {}, {}],
  [
    'values are in the sections of their paths',
    { 'a.b.c': 1, d: [2], 'a.b.e': 3 },
    { a: { b: { c: 1, e: 3 } }, d: [2] },
  ],
  ['a map is a value', { 'http.token_env': { alice: 'A' } }, { http: { token_env: { alice: 'A' } } }],
  ['a removed profile is null', { 'profiles.a': null }, { profiles: { a: null } }],
  ['a removed profile with a new key', { 'profiles.a': null, 'profiles.a.y': 1 }, { profiles: { a: { y: 1 } } }],
])('%s', (_, values, tree) => {
  expect(toTree(new Map(Object.entries(values)))).toEqual(tree);
});

test('a profile has a key for each parameter of the API', () => {
  const others = ['model', 'search'];
  expect(Object.keys(TABLE.model_profiles.answer).map(inCamelCase).sort()).toEqual(
    [...others, ...Object.keys(PARAMETERS)].sort(),
  );
});

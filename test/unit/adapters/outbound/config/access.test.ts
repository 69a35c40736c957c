import { expect, test } from 'vitest';
import { givenConfig } from '../../../../support/given-config.ts';

const OAUTH = { issuer: 'https://auth.example', audience: 'https://mcp.example/mcp', groups_claim: 'groups' };

const { problemsOf, acceptedConfig } = givenConfig();
const given = (config: object) => ({ servers: [{ name: 'notes', command: 'node' }], ...config });

test('entries are read, and null is none', async () => {
  const access = {
    alice: { servers: { notes: ['find', 'get_*'] }, answers: ['answer_quick'], operator: null },
    'oauth:bob@example.com': { servers: 'all', answers: true, operator: true },
    'group:dev': { servers: { notes: 'read_only' } },
    carol: null,
    local: {},
  };
  expect((await acceptedConfig(given({ access, http: { oauth: OAUTH } }))).access).toEqual({
    alice: { servers: { notes: ['find', 'get_*'] }, answers: ['answer_quick'], operator: false },
    'oauth:bob@example.com': { servers: 'all', answers: true, operator: true },
    'group:dev': { servers: { notes: 'read_only' }, operator: false },
    local: { operator: false },
  });
});

test('an empty section allows nothing, and is not an absent one', async () => {
  const accessOf = async (config: object) => (await acceptedConfig(given(config))).access;
  expect(await accessOf({ access: null })).toEqual({});
  expect(await accessOf({ access: {} })).toEqual({});
  expect(await accessOf({})).toBeUndefined();
});

test.each<[string, object]>([
  ['access.alice.server', { access: { alice: { server: 'all' } } }],
  ['access.alice.servers', { access: { alice: { servers: { other: 'all' } } } }],
  ['access.alice.servers.notes', { access: { alice: { servers: { notes: 'write' } } } }],
  ['access.alice.servers.notes', { access: { alice: { servers: { notes: ['a*b'] } } } }],
  ['access.a b', { access: { 'a b': {} } }],
  ['access.group:', { access: { 'group:': {} } }],
  ['access.group:dev', { access: { 'group:dev': {} } }],
  ['http.token_env', { access: {}, http: { token_env: { local: 'TOKEN' } } }],
  // The server is configured, although not correctly.
  [
    'servers[0].timeout',
    { servers: [{ name: 'notes', command: 'node', timeout: 0 }], access: { alice: { servers: { notes: 'all' } } } },
  ],
])('%s is a problem: %j', async (where, config) => {
  expect((await problemsOf(given(config))).map((problem) => problem.where)).toEqual([where]);
});

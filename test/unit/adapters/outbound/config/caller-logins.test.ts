import { describe, expect, test } from 'vitest';
import { givenConfig } from '../../../../support/given-config.ts';

const { acceptedConfig, problemsOf } = givenConfig();

const TICKETS = { name: 'tickets', url: 'https://tickets.example.com/mcp', login: 'per_caller' };
const HTTP = { '--http': '' };
const TOKEN = { MCP_HTTP_TOKEN: 'token-of-alice-0123456789' };
const OAUTH = { issuer: 'https://auth.example.com', audience: 'https://mcp.example.com/mcp' };

test('a server has one login for all callers, unless each has a login', async () => {
  const { servers } = await acceptedConfig(
    {
      servers: [
        { ...TICKETS, login: undefined },
        { ...TICKETS, name: 'mine' },
        { name: 'files', command: 'x' },
      ],
    },
    TOKEN,
    HTTP,
  );
  expect(servers).toMatchObject([
    { name: 'tickets', login: 'shared', idleMs: 0 },
    { name: 'mine', login: 'per_caller', idleMs: 600_000, maxConnections: 100 },
    { name: 'files', login: 'shared', idleMs: 0 },
  ]);
});

test('limits of connections are read', async () => {
  const { servers } = await acceptedConfig({ servers: [{ ...TICKETS, idle_ms: 0, max_connections: 2 }] });
  expect(servers).toMatchObject([{ idleMs: 0, maxConnections: 2 }]);
});

test.each<[string, object, string]>([
  ['a command', { url: undefined, command: 'x' }, 'login'],
  [
    'a machine',
    { auth: { grant: 'client_credentials', client_id: 'a', client_secret: '\u0024{S}', issuer: 'https://a.example' } },
    'login',
  ],
  ['a header', { headers: { authorization: 'Bearer a' } }, 'login'],
  ['an http:// URL', { url: 'http://tickets.example.com/mcp', allow_insecure: true }, 'login'],
  ['the name of an address', { name: 'callback' }, 'name'],
  ['the name of the other address', { name: 'caller' }, 'name'],
  ['another value', { login: 'each' }, 'login'],
  ['max_connections for one login', { login: 'shared', max_connections: 5 }, 'max_connections'],
])('is a problem with %s', async (_, keys, where) => {
  const problems = await problemsOf({ servers: [{ ...TICKETS, ...keys }] }, { S: 'a-client-secret' });
  expect(problems.map((problem) => problem.where)).toEqual([`servers[0].${where}`]);
});

describe('over HTTP', () => {
  test.each<[string, object, Readonly<Record<string, string>>, string | undefined]>([
    ['without tokens', {}, {}, 'http.token_env'],
    ['with a token on loopback', {}, TOKEN, undefined],
    ['beyond loopback', { listen: '0.0.0.0:3917' }, TOKEN, 'http.public_url'],
    ['with a public URL', { listen: '0.0.0.0:3917', public_url: 'https://mcp.example.com' }, TOKEN, undefined],
    ['with http.oauth without a client', { oauth: OAUTH }, TOKEN, 'http.oauth.client_id'],
    ['with http.oauth', { listen: '0.0.0.0:3917', oauth: { ...OAUTH, client_id: 'gateway' } }, {}, undefined],
  ])('%s', async (_, http, environment, where) => {
    const given = [{ servers: [TICKETS], http }, environment, HTTP] as const;
    if (where === undefined) return void (await acceptedConfig(...given));
    const problems = await problemsOf(...given);
    expect(problems).toMatchObject([{ where, message: expect.stringContaining('tickets has login: per_caller') }]);
  });

  test('a token of a caller named local is refused, who would use the logins of the terminal', async () => {
    const http = { token_env: { local: 'T' } };
    const environment = { T: 'a-token-of-the-caller-local' };
    const problems = await problemsOf({ servers: [TICKETS], http }, environment, HTTP);
    expect(problems).toMatchObject([
      { where: 'http.token_env', message: expect.stringContaining('local is the user of this machine') },
    ]);
    await acceptedConfig({ servers: [{ ...TICKETS, login: 'shared' }], http }, environment, HTTP);
  });

  test('nothing of that is required without such a server, and in other modes', async () => {
    await acceptedConfig({ servers: [{ ...TICKETS, login: 'shared' }] }, {}, HTTP);
    await acceptedConfig({ servers: [TICKETS] });
  });
});

test.each<[object, string | undefined]>([
  [{}, 'http://127.0.0.1:3917'],
  [{ listen: '[::1]:80' }, 'http://[::1]:80'],
  [{ oauth: OAUTH }, 'https://mcp.example.com'],
  [{ oauth: OAUTH, public_url: 'https://login.example.com' }, 'https://login.example.com'],
  [{ listen: '0.0.0.0:80' }, undefined],
])('the public URL of %j is %s, and its host is allowed', async (http, publicUrl) => {
  const config = await acceptedConfig({ http }, TOKEN, HTTP);
  expect(config.http?.publicUrl).toBe(publicUrl);
  if (publicUrl?.startsWith('https:')) expect(config.http?.allowedHosts).toContain(new URL(publicUrl).hostname);
});

test.each(['https://mcp.example.com/path', 'http://mcp.example.com', 'mcp.example.com', 'https://a:b@c.example'])(
  'the public URL %s is refused',
  async (public_url) => {
    expect(await problemsOf({ http: { public_url } })).toMatchObject([{ where: 'http.public_url' }]);
  },
);

test.each([
  ['\u0024{LOGINS_KEY}', { kind: 'variable', name: 'LOGINS_KEY' }],
  ['\u0024{command:op read op://team/key}', { kind: 'command', words: ['op', 'read', 'op://team/key'] }],
])('the key of logins is only a reference: %s', async (logins_key, source) => {
  const config = await acceptedConfig({ gateway: { logins_key } }, { LOGINS_KEY: 'the-secret-key-of-logins' });
  expect(config.gateway.loginsKey).toMatchObject({ source });
  const { effective } = config.shown();
  expect(JSON.stringify(effective)).not.toContain('op://');
  expect(effective).toMatchObject({
    gateway: { logins_key: expect.stringMatching(/^\$\{(?:LOGINS_KEY\}|command:op …\})$/) },
  });
  const isVariable = source.kind === 'variable';
  expect(config.secretVariables.includes('LOGINS_KEY')).toBe(isVariable);
  expect(config.secrets.own.includes('the-secret-key-of-logins')).toBe(isVariable);
});

test('a key in the file is refused, and not shown', async () => {
  const problems = await problemsOf({ gateway: { logins_key: 'c2VjcmV0LWtleS1vZi1sb2dpbnM' } });
  expect(problems).toMatchObject([{ where: 'gateway.logins_key' }]);
  expect(JSON.stringify(problems)).not.toContain('c2Vj');
});

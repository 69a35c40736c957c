import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { childEnvironment } from '../../../../../src/adapters/outbound/mcp-client/child-command.ts';
import { createRedactor } from '../../../../../src/domain/values/redaction.ts';
import { givenConfig } from '../../../../support/given-config.ts';

/** Obviously no secret by its form, so that it is masked for its place alone. */
const SECRET = 'production';
const environment = { SECRET, ID: 'my-client', HOST: 'auth.example.com' };

const { at, problemsOf: allProblemsOf, acceptedConfig } = givenConfig();
const configOf = (yaml: string) => acceptedConfig(yaml, environment);

/** The problems as `where: value: message`. */
async function problemsOf(yaml: string) {
  const found = await allProblemsOf(yaml, environment);
  return found.map(({ where, value, message }) => [where, value, message].filter(Boolean).join(': '));
}

const remote = (auth: string, members = 'url: "https://mcp.example.com/mcp"') =>
  `servers:\n  - {name: web, ${members}, auth: ${auth}}\n`;
const authOf = async (auth: string) => {
  const [server] = (await configOf(remote(auth))).servers ?? [];
  return server?.connection.kind === 'remote' ? server.connection.auth : expect.fail('no remote server');
};

describe('auth', () => {
  test('is absent if it is not configured', async () => {
    const [server] = (await configOf(remote('null'))).servers ?? [];
    expect(server?.connection).not.toHaveProperty('auth');
  });

  test.each([
    ['{}', { grant: 'authorization_code' }],
    ['{grant: authorization_code, client_id: a b}', { grant: 'authorization_code', clientId: 'a b' }],
    ['{scopes: []}', { grant: 'authorization_code', scopes: [] }],
    ['{resource: none, callback_port: 1024}', { grant: 'authorization_code', resource: 'none', callbackPort: 1024 }],
    ['{resource: "api://a.b", callback_port: 65535}', { resource: 'api://a.b', callbackPort: 65_535 }],
    [
      `{grant: client_credentials, client_id: "\${ID}", client_secret: " \${SECRET} ", issuer: "https://\${HOST}",
        scopes: [read, "\${ID}:\${NONE:-write}"], resource: "https://\${HOST}/mcp"}`,
      {
        grant: 'client_credentials',
        clientId: 'my-client',
        clientSecret: SECRET,
        issuer: 'https://auth.example.com',
        scopes: ['read', 'my-client:write'],
        resource: 'https://auth.example.com/mcp',
      },
    ],
  ])('can be %s', async (yaml, expected) => {
    expect(await authOf(yaml)).toMatchObject(expected);
    expect(Object.keys((await authOf(yaml)) ?? {})).toEqual(Object.keys({ grant: '', ...expected }));
  });

  test('can be that of a server on this machine', async () => {
    const [server] = (await configOf(remote('{}', 'url: "http://localhost/mcp"'))).servers ?? [];
    expect(server?.connection).toMatchObject({ auth: { grant: 'authorization_code' } });
  });
});

describe('a problem', () => {
  const ISSUER =
    'expected an https:// URL without user, query or fragment, such as https://auth.example.com (http:// only on this machine)';
  const METADATA_URL = 'expected an https:// URL with a path, without user and fragment';
  const RESOURCE = 'expected an absolute URI without fragment, or none';
  const SCOPES = 'expected a list of scopes, such as [mcp:tools]';
  const ID = 'expected the ID of a registered client, in visible ASCII';
  const WRITE_NAME = `expected only a reference: write \${NAME} with the name of the variable that contains the secret, \${file:PATH} or \${command:WORDS}`;
  const ISSUED = 'issuer: "https://a.b", client_secret';
  const MACHINE = `grant: client_credentials, client_id: a, ${ISSUED}: "\${SECRET}"`;

  test.each([
    ['hunter2', ['auth: expected a map of options for signing in; {} for the defaults']],
    [
      '{client_secrte: hunter2}',
      [
        'auth.client_secrte: unknown key; did you mean client_secret? All keys: https://github.com/uchimanajet7/openai-responses-mcp/blob/main/docs/gateway.md#sign-in',
      ],
    ],
    ['{client_id: é}', [`auth.client_id: é: ${ID}`]],
    ['{issuer: "http://auth.example.com"}', [`auth.issuer: http://auth.example.com: ${ISSUER}`]],
    [`{issuer: "\${NONE}"}`, ['auth.issuer: the environment variable NONE is not set']],
    ['{client_metadata_url: "https://a.b/"}', [`auth.client_metadata_url: https://a.b/: ${METADATA_URL}`]],
    [
      '{client_metadata_url: "https://u@a.b/c"}',
      [`auth.client_metadata_url: https://[redacted]@a.b/c: ${METADATA_URL}`],
    ],
    ['{scopes: [a b]}', [`auth.scopes: ["a b"]: ${SCOPES}`]],
    [`{scopes: [a, "\${NONE}"]}`, ['auth.scopes[1]: the environment variable NONE is not set']],
    ['{resource: mcp}', [`auth.resource: mcp: ${RESOURCE}`]],
    ['{resource: "https://a.b/#c"}', [`auth.resource: https://a.b/#[redacted]: ${RESOURCE}`]],
    [`{client_id: a, ${ISSUED}: hunter2}`, [`auth.client_secret: ${WRITE_NAME}`]],
    [`{client_id: a, ${ISSUED}: "\${SECRET:-hunter2}"}`, [`auth.client_secret: ${WRITE_NAME}`]],
    [`{client_id: a, ${ISSUED}: "hunter2\${SECRET}"}`, [`auth.client_secret: ${WRITE_NAME}`]],
    [`{client_id: a, ${ISSUED}: "\${NONE}"}`, ['auth.client_secret: the environment variable NONE is not set']],
    [`{${ISSUED}: "\${SECRET}"}`, ['auth.client_id: required with client_secret']],
    [
      `{client_id: a, client_secret: "\${SECRET}"}`,
      ['auth.issuer: required with client_secret; write the URL of the authorization server that knows this client'],
    ],
    [
      '{client_id: a, client_metadata_url: "https://a.b/c"}',
      ['auth.client_metadata_url: has no effect with client_id'],
    ],
    [
      '{grant: client_credentials}',
      [
        'auth.client_id: required with grant: client_credentials',
        'auth.client_secret: required with grant: client_credentials',
      ],
    ],
    [
      `{${MACHINE}, client_metadata_url: "https://a.b/c"}`,
      ['auth.client_metadata_url: has no effect with grant: client_credentials'],
    ],
    [`{${MACHINE}, callback_port: 4000}`, ['auth.callback_port: has no effect with grant: client_credentials']],
  ])('is %s', async (auth, expected) => {
    const found = await problemsOf(remote(auth));
    expect(found).toEqual(expected.map((problem) => `servers[0].${problem}`));
    expect(found.join()).not.toContain('hunter2');
  });

  const AUTHORIZATION = 'cannot be combined with a header Authorization; set only one';
  const INSECURE = 'cannot be used with an http:// URL of another machine, because others could read the tokens';

  test.each([
    ['command: x', ['has no effect on a server with a command']],
    ['url: "https://a.b", headers: {aUTHORIZATION: Basic abc}', [AUTHORIZATION]],
    ['url: "http://a.b", allow_insecure: true', [INSECURE]],
  ])('is auth on a server with %s', async (members, expected) => {
    expect(await problemsOf(remote('{}', members))).toEqual(expected.map((message) => `servers[0].auth: ${message}`));
  });

  test('is auth with an http:// URL that is a problem itself', async () => {
    const found = await problemsOf(remote('{}', 'url: "http://a.b"'));
    expect(found.map((problem) => problem.split(': ')[0])).toEqual(['servers[0].url', 'servers[0].auth']);
  });

  test('is not an auth in a servers file, which has no effect, and is named', async () => {
    const auth = { client_secret: 'hunter2', grant: 'password' };
    writeFileSync(at('servers.json'), JSON.stringify({ mcpServers: { web: { url: 'https://a.b', auth } } }));
    const { servers, shown, notices, secretVariables } = await configOf('gateway: {servers_file: servers.json}');
    expect(servers).toHaveLength(1);
    expect(servers?.[0]?.connection).not.toHaveProperty('auth');
    expect(notices).toMatchObject([
      { where: 'mcpServers.web.auth', message: expect.stringMatching(/into the YAML file/) },
    ]);
    expect(secretVariables).not.toContain('SECRET');
    const { effective } = await shown();
    expect(effective.servers).toMatchObject([{ name: 'web', url: 'https://a.b' }]);
    expect(JSON.stringify(effective.servers)).not.toContain('auth');
  });
});

describe('the client secret', () => {
  const auth = `{client_id: my-client, issuer: "https://a.b", client_secret: "\${SECRET}", scopes: ["\${ID}"]}`;

  test('is not in the shown configuration', async () => {
    const { effective } = await (await configOf(remote(auth))).shown();
    expect(effective.servers).toMatchObject([
      { auth: { client_id: 'my-client', issuer: 'https://a.b', client_secret: '[redacted]', scopes: [`\${ID}`] } },
    ]);
    const without = await (await configOf(remote('{client_id: a}'))).shown();
    expect(without.effective.servers).toMatchObject([{ auth: { client_id: 'a' } }]);
    expect(JSON.stringify(without.effective.servers)).not.toContain('client_secret');
  });

  test('is masked like a key of this program, also in results and as Basic credentials', async () => {
    const redactor = createRedactor();
    redactor.learn((await configOf(remote(auth))).secrets);
    const basic = Buffer.from(`my-client:${SECRET}`).toString('base64').replace(/=+$/, '');
    expect(redactor.anywhere(`a ${SECRET} b ${basic}`)).toBe('a [redacted] b [redacted]');
  });

  const withChild = (inherit: string, child = '') =>
    `servers:\n  - {name: first, command: x, inherit_env: ${inherit}${child}}\n${remote(auth).slice('servers:\n'.length)}`;

  test('is in a variable that no server may name, also not one before it', async () => {
    expect(await problemsOf(withChild('[HOST, SECRET]'))).toEqual([
      'servers[0].inherit_env: SECRET: expected no variable with a key of this program',
    ]);
  });

  test('is in a variable that no server inherits, also not after a reload', async () => {
    const { servers, secretVariables } = await configOf(withChild('true'));
    const connection = servers?.[0]?.connection;
    if (connection?.kind !== 'child') return expect.fail('no child');
    const { inheritEnv: inherit, envs, notInherited = [] } = connection;
    // A running gateway has the variables with which it was started, and the servers of the reload.
    for (const ownSecrets of [secretVariables, notInherited]) {
      const env = childEnvironment({ environment, inherit, envs, ownSecrets });
      expect(env).toMatchObject({ HOST: 'auth.example.com' });
      expect(env).not.toHaveProperty('SECRET');
    }
  });

  test('can be given to a server on purpose', async () => {
    const { servers } = await configOf(withChild('[]', `, envs: {KEY: "\${SECRET}"}`));
    expect(servers).toMatchObject([{ connection: { envs: { KEY: SECRET } } }, {}]);
  });
});

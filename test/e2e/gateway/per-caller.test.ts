import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SystemClock } from '../../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../../src/adapters/outbound/login/login-files.ts';
import { isObject } from '../../../src/domain/values/json.ts';
import { FakeIssuer, loginAt } from '../../support/fake-issuer.ts';
import { send } from '../../support/http-client.ts';
import { protect } from '../../support/protected-server.ts';
import { startModernServer } from '../../support/servers/remote-servers.ts';
import { newFile, newFolder } from '../files.ts';
import { startGatewayProcess } from './serve-gateway.ts';

const TOKENS = { alice: 'token-of-alice-0123456789', bob: 'token-of-bob-01234567890' };
type Caller = keyof typeof TOKENS;

interface Options {
  readonly key?: string;
  readonly refused?: (token: string) => boolean;
  readonly http?: object;
}

const IN_VARIABLES = { token_env: { alice: 'TOKEN_OF_ALICE', bob: 'TOKEN_OF_BOB' } };

/** The built program with a server at which each caller signs in. The tokens of a caller's login begin with the caller's name. */
async function start({ key, refused = () => false, http = IN_VARIABLES }: Options = {}) {
  const [issuer, remote, logins] = [await FakeIssuer.start(), await startModernServer(), newFolder()];
  protect(remote, issuer, (token) => /^(?:alice|bob|access)-/.test(token) && !refused(token));
  const options = key === undefined ? {} : { key: Buffer.from(key, 'base64') };
  const files = new LoginFiles(logins, new SystemClock(), options);
  const placeOf = (name: Caller) => ({ url: remote.url, use: { kind: 'token', name } }) as const;
  const signIn = (name: Caller, tokens = {}) => {
    const login = loginAt(issuer.origin, { access_token: `${name}-1`, expires_in: 3600, ...tokens });
    return files.locked(placeOf(name), () => files.write(placeOf(name), login));
  };
  const gateway = await startGatewayProcess([{ name: 'notes', url: remote.url, login: 'per_caller' }], {
    env: { TOKEN_OF_ALICE: TOKENS.alice, TOKEN_OF_BOB: TOKENS.bob, ...(key && { LOGINS_KEY: key }) },
    yaml: {
      gateway: { logins, ...(key && { logins_key: '\u0024{LOGINS_KEY}' }) },
      http,
    },
  });
  const as = (name: Caller) => ({ headers: { Authorization: `Bearer ${TOKENS[name]}` } });
  const call = async (name: Caller) => {
    const body = { server: 'notes', toolName: 'echo', input: { text: name } };
    const { status, text } = await send(new URL('/mcp/call', gateway.url).href, { method: 'POST', body, ...as(name) });
    return { status, body: JSON.parse(text) };
  };
  const statusOf = async (name: Caller) => {
    const { text } = await send(new URL('/mcp/servers', gateway.url).href, { method: 'GET', ...as(name) });
    const [server] = JSON.parse(text).servers;
    return { state: server.state, loginUrl: server.loginUrl, login: server.login };
  };
  return { issuer, remote, logins, files, placeOf, signIn, gateway, call, statusOf };
}

test('each caller is known to the server as themselves, and nothing is sent without a login', async () => {
  const { call, signIn, statusOf, remote, gateway } = await start();
  const { origin } = new URL(gateway.url);
  const refused = await call('alice');
  expect([refused.status, refused.body.error]).toMatchObject([
    503,
    { code: 'LOGIN_REQUIRED', details: { server: 'notes', url: expect.stringContaining('/login/notes') } },
  ]);
  expect(refused.body.error.message).toContain('/login/notes');
  expect(remote.seen).toEqual([]);
  expect(await statusOf('alice')).toMatchObject({ state: 'login_required', login: undefined });
  expect((await send(`${origin}/readyz`, { method: 'GET' })).status).toBe(200);
  for (const name of ['alice', 'bob'] as const) await signIn(name);
  expect((await call('alice')).status).toBe(200);
  expect((await call('bob')).status).toBe(200);
  const tokens = new Set(remote.seen.map(({ headers }) => headers.authorization));
  expect([...tokens].sort()).toEqual(['Bearer alice-1', 'Bearer bob-1']);
  expect(await statusOf('alice')).toMatchObject({ state: 'available', loginUrl: undefined });
});

test('a caller whose token is removed loses the connection at once, and no other caller does', async () => {
  const hash = (name: Caller) => `${name} ${createHash('sha256').update(TOKENS[name]).digest('hex')}`;
  const tokenFile = newFile('tokens', `${hash('alice')}\n${hash('bob')}\n`);
  const { call, signIn, gateway } = await start({ http: { token_file: tokenFile } });
  for (const name of ['alice', 'bob'] as const) {
    await signIn(name);
    expect((await call(name)).status).toBe(200);
  }
  const connections = async () => {
    const headers = { Authorization: `Bearer ${TOKENS.bob}` };
    const { text } = await send(new URL('/metrics', gateway.url).href, { method: 'GET', headers });
    return /server_connections\{server="notes"\} (\d+)/.exec(text)?.[1];
  };
  expect(await connections()).toBe('2');
  writeFileSync(tokenFile, `${hash('bob')}\n`);
  gateway.kill('SIGHUP');
  await gateway.untilLogged('the tokens were read again');
  expect(await connections()).toBe('1');
  expect((await call('alice')).status).toBe(401);
  expect((await call('bob')).status).toBe(200);
});

test('a login whose renewal is refused is deleted, and that of another caller is not', async () => {
  const kit = await start({ refused: (token) => token === 'alice-1' });
  const { call, signIn, statusOf, files, placeOf, issuer } = kit;
  for (const name of ['alice', 'bob'] as const) await signIn(name);
  issuer.answers.set('/token', { status: 400, body: { error: 'invalid_grant' } });
  expect((await call('bob')).status).toBe(200);
  expect(await call('alice')).toMatchObject({ status: 503, body: { error: { code: 'LOGIN_REQUIRED' } } });
  expect(await files.read(placeOf('alice'))).toBeUndefined();
  expect(await files.read(placeOf('bob'))).toBeDefined();
  expect((await call('bob')).status).toBe(200);
  expect(await statusOf('alice')).toMatchObject({ state: 'login_required' });
});

test('a renewal that only fails deletes nothing', async () => {
  const { call, signIn, files, placeOf, issuer } = await start({ refused: (token) => token === 'alice-1' });
  await signIn('alice');
  issuer.answers.set('/token', { status: 503 });
  expect((await call('alice')).status).not.toBe(200);
  expect(await files.read(placeOf('alice'))).toBeDefined();
});

// S90
test('the file of one caller is no login under the name of another', async () => {
  const { call, signIn, files, placeOf, remote } = await start();
  await signIn('alice');
  writeFileSync(files.pathOf(placeOf('bob')), readFileSync(files.pathOf(placeOf('alice'))));
  expect(await call('bob')).toMatchObject({ status: 503, body: { error: { code: 'LOGIN_REQUIRED' } } });
  expect(remote.seen).toEqual([]);
});

test('with a key, a plain login is used and encrypted, and one that was changed is not used', async () => {
  const key = Buffer.alloc(32, 5).toString('base64');
  const kit = await start({ key });
  const plain = new LoginFiles(kit.logins, new SystemClock());
  const place = kit.placeOf('alice');
  await plain.locked(place, () => plain.write(place, loginAt(kit.issuer.origin, { access_token: 'alice-1' })));
  expect((await kit.call('alice')).status).toBe(200);
  const path = kit.files.pathOf(place);
  const encrypted = readFileSync(path, 'utf8');
  expect(readdirSync(kit.logins).map((name) => join(kit.logins, name))).toContain(path);
  expect(encrypted).not.toContain('alice');
  await kit.signIn('bob');
  const other = kit.files.pathOf(kit.placeOf('bob'));
  writeFileSync(other, encrypted);
  expect(await kit.call('bob')).toMatchObject({ status: 503, body: { error: { code: 'LOGIN_REQUIRED' } } });
  expect(isObject(JSON.parse(readFileSync(other, 'utf8')))).toBe(true);
});

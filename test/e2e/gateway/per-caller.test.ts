import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SystemClock } from '../../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../../src/adapters/outbound/login/login-files.ts';
import { isObject } from '../../../src/domain/values/json.ts';
import { FakeIssuer, loginAt } from '../../support/fake-issuer.ts';
import { begin, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { protect } from '../../support/protected-server.ts';
import { runCli } from '../../support/run-cli.ts';
import { startModernServer } from '../../support/servers/remote-servers.ts';
import { until } from '../../support/until.ts';
import { newFile, newFolder } from '../files.ts';
import { modernOverHttp, person, textIn } from './elicitation-kit.ts';
import { callAtRandom } from './random-callers.ts';
import { startGatewayProcess } from './serve-gateway.ts';

const TOKENS = { alice: 'token-of-alice-0123456789', bob: 'token-of-bob-01234567890' };
type Caller = keyof typeof TOKENS;

interface Options {
  readonly key?: string;
  readonly refused?: (token: string) => boolean;
  readonly http?: object;
  readonly server?: object;
}

const IN_VARIABLES = { token_env: { alice: 'TOKEN_OF_ALICE', bob: 'TOKEN_OF_BOB' } };

/** The built program with a server at which each caller signs in. The tokens of a caller's login begin with the caller's name. */
async function start({ key, refused = () => false, http = IN_VARIABLES, server = {} }: Options = {}) {
  const [issuer, remote, logins] = [await FakeIssuer.start(), await startModernServer(), newFolder()];
  protect(remote, issuer, (token) => /^(?:alice|bob|access)-/.test(token) && !refused(token));
  const options = key === undefined ? {} : { key: Buffer.from(key, 'base64') };
  const files = new LoginFiles(logins, new SystemClock(), options);
  const placeOf = (name: Caller) => ({ url: remote.url, use: { kind: 'token', name } }) as const;
  const signIn = (name: Caller, tokens = {}) => {
    const login = loginAt(issuer.origin, { access_token: `${name}-1`, expires_in: 3600, ...tokens });
    return files.locked(placeOf(name), () => files.write(placeOf(name), login));
  };
  const servers = [{ name: 'notes', url: remote.url, login: 'per_caller', ...server }];
  const program = {
    env: { TOKEN_OF_ALICE: TOKENS.alice, TOKEN_OF_BOB: TOKENS.bob, ...(key && { LOGINS_KEY: key }) },
    yaml: {
      gateway: { logins, expose: true, ...(key && { logins_key: '\u0024{LOGINS_KEY}' }) },
      http,
    },
  };
  const gateway = await startGatewayProcess(servers, program);
  /** Another process over the same folder. */
  const replica = () => startGatewayProcess(servers, program);
  const as = (name: Caller) => ({ headers: { Authorization: `Bearer ${TOKENS[name]}` } });
  const beginCall = (name: Caller, toolName: string) => {
    const body = { server: 'notes', toolName, input: { text: name } };
    return begin(new URL('/mcp/call', gateway.url).href, { method: 'POST', body, ...as(name) });
  };
  const call = async (name: Caller) => {
    const { status, text } = await beginCall(name, 'echo').reply;
    return { status, body: JSON.parse(text) };
  };
  const statusOf = async (name: Caller) => {
    const { text } = await send(new URL('/mcp/servers', gateway.url).href, { method: 'GET', ...as(name) });
    const [server] = JSON.parse(text).servers;
    return { state: server.state, loginUrl: server.loginUrl, login: server.login };
  };
  return { issuer, remote, logins, files, placeOf, signIn, gateway, replica, as, beginCall, call, statusOf };
}

test('each caller is known to the server as themselves, and nothing is sent without a login', async () => {
  const { call, signIn, statusOf, remote, gateway } = await start();
  const { origin } = new URL(gateway.url);
  const refused = await call('alice');
  expect([refused.status, refused.body.error]).toMatchObject([
    503,
    { code: 'LOGIN_REQUIRED', details: { server: 'notes', url: `${origin}/login/notes` } },
  ]);
  expect(refused.body.error.message).toContain(`${origin}/login/notes`);
  expect(remote.seen).toEqual([]);
  const missing = { state: 'login_required', login: undefined, loginUrl: `${origin}/login/notes` };
  expect(await statusOf('alice')).toEqual(missing);
  expect((await send(`${origin}/readyz`, { method: 'GET' })).status).toBe(200);
  for (const name of ['alice', 'bob'] as const) await signIn(name);
  expect((await call('alice')).status).toBe(200);
  expect((await call('bob')).status).toBe(200);
  const tokens = new Set(remote.seen.map(({ headers }) => headers.authorization));
  expect([...tokens].sort()).toEqual(['Bearer alice-1', 'Bearer bob-1']);
  expect(await statusOf('alice')).toMatchObject({ state: 'available', loginUrl: undefined });
});

test('a client that can open a URL is asked to sign in, and its calls and prompts then go on', async () => {
  const { signIn, gateway, call, remote, files, placeOf } = await start();
  // The tools are known from the login of anyone.
  await signIn('bob');
  await call('bob');
  const by = person(async () => {
    await signIn('alice');
    return { action: 'accept' };
  });
  const client = await modernOverHttp(gateway.url, by, undefined, TOKENS.alice);
  const url = new URL('/login/notes', gateway.url).href;
  expect(client.getInstructions()).toContain(`Before the server notes can be used, the user has to sign in at ${url}`);
  expect(textIn(await client.callTool({ name: 'notes__echo', arguments: { text: 'hi' } }))).toBe('hi');
  const question = { mode: 'url', url, message: 'notes asks: Sign in to notes as alice.' };
  expect(by.asked).toMatchObject([question]);
  await files.locked(placeOf('alice'), () => files.write(placeOf('alice'), undefined));
  await expect.poll(async () => (await call('alice')).status).toBe(503);
  await client.getPrompt({ name: 'notes__echo' });
  expect(by.asked).toMatchObject([question, question]);
  const tokens = new Set(remote.seen.map(({ headers }) => headers.authorization));
  expect([...tokens].sort()).toEqual(['Bearer alice-1', 'Bearer bob-1']);
});

test('a reload ends no login that was begun, and max_connections holds after it', async () => {
  const kit = await start({ server: { max_connections: 5 } });
  const { signIn, gateway, remote, issuer, statusOf } = kit;
  await signIn('bob');
  const at = new URL('/login/notes', gateway.url).href;
  const begun = await send(at, { headers: kit.as('alice').headers });
  const cookie = String(begun.headers['set-cookie']).split(';')[0] ?? '';
  gateway.configure([{ name: 'notes', url: remote.url, login: 'per_caller', max_connections: 1 }]);
  gateway.kill('SIGHUP');
  await gateway.untilLogged('the configuration was read again');
  const callback = issuer.callbackFor(JSON.parse(begun.text).url);
  expect((await send(callback, { method: 'GET' })).status).toBe(400);
  expect((await send(callback, { method: 'GET', headers: { Cookie: cookie } })).status).toBe(200);
  expect((await send(callback, { method: 'GET', headers: { Cookie: cookie } })).status).toBe(400);
  expect(await statusOf('alice')).toMatchObject({ state: 'available' });
  // One call keeps the only connection in use.
  const waiting = kit.beginCall('alice', 'wait');
  await expect.poll(() => remote.seen.filter(({ method }) => method === 'tools/call').length).toBe(1);
  const refused = await kit.beginCall('bob', 'echo').reply;
  expect([refused.status, JSON.parse(refused.text).error.code, refused.headers['retry-after']]).toEqual([
    503,
    'OVERLOADED',
    '1',
  ]);
  waiting.leave();
  await expect.poll(async () => (await kit.call('bob')).status).toBe(200);
});

test('after signing out, and after signing in again, nothing uses the earlier login', async () => {
  const { gateway, as, issuer, call, remote } = await start();
  const at = new URL('/login/notes', gateway.url).href;
  const signIn = async () => {
    const begun = await send(at, { headers: as('alice').headers });
    const Cookie = String(begun.headers['set-cookie']).split(';')[0] ?? '';
    const callback = issuer.callbackFor(JSON.parse(begun.text).url);
    expect((await send(callback, { method: 'GET', headers: { Cookie } })).status).toBe(200);
  };
  const tokensOf = async () => {
    const before = remote.seen.length;
    expect((await call('alice')).status).toBe(200);
    return [...new Set(remote.seen.slice(before).map(({ headers }) => headers.authorization))];
  };
  await signIn();
  expect(await tokensOf()).toEqual(['Bearer access-1']);
  await signIn();
  expect(await tokensOf()).toEqual(['Bearer access-2']);
  expect((await send(at, { method: 'DELETE', headers: as('alice').headers })).status).toBe(200);
  expect(await call('alice')).toMatchObject({ status: 503, body: { error: { code: 'LOGIN_REQUIRED' } } });
});

test('a login that was begun at one process ends at another, and both use it', async () => {
  const { gateway, replica, as, issuer, statusOf } = await start({ key: Buffer.alloc(32, 6).toString('base64') });
  const other = await replica();
  const begun = await send(new URL('/login/notes', gateway.url).href, { headers: as('alice').headers });
  const Cookie = String(begun.headers['set-cookie']).split(';')[0] ?? '';
  const callback = new URL(issuer.callbackFor(JSON.parse(begun.text).url));
  const there = new URL(`${callback.pathname}${callback.search}`, other.url).href;
  expect((await send(there, { method: 'GET', headers: { Cookie } })).status).toBe(200);
  expect(await statusOf('alice')).toMatchObject({ state: 'available' });
  const body = { server: 'notes', toolName: 'echo', input: { text: 'hi' } };
  for (const { url } of [gateway, other])
    expect((await send(new URL('/mcp/call', url).href, { body, ...as('alice') })).status).toBe(200);
});

test('a reload does not give the login of the terminal to callers without tokens', async () => {
  const [issuer, remote, logins] = [await FakeIssuer.start(), await startModernServer(), newFolder()];
  protect(remote, issuer, (token) => token === 'local-1');
  const files = new LoginFiles(logins, new SystemClock());
  const place = { url: remote.url, use: { kind: 'local' } } as const;
  const login = loginAt(issuer.origin, { access_token: 'local-1', expires_in: 3600 });
  await files.locked(place, () => files.write(place, login));
  const shared = { name: 'notes', url: remote.url };
  const config = newFile('config.yaml', JSON.stringify({ servers: [shared], gateway: { logins } }));
  const program = await startHttpProcess({
    args: ['--http=127.0.0.1:0', '--config', config],
    env: { T: TOKENS.alice },
  });
  const http = { token_env: { alice: 'T' } };
  writeFileSync(config, JSON.stringify({ servers: [{ ...shared, login: 'per_caller' }], gateway: { logins }, http }));
  program.kill('SIGHUP');
  await until(() => program.stderr().includes('nothing was changed: http.token_env: required'));
  const body = { server: 'notes', toolName: 'echo', input: { text: 'hi' } };
  expect((await send(new URL('/mcp/call', program.url).href, { body })).status).toBe(503);
  expect(remote.seen.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});

test('operators list the logins of all callers, and end one', async () => {
  const { signIn, remote, logins, gateway, statusOf } = await start();
  for (const name of ['alice', 'bob'] as const) await signIn(name);
  const http = { token_env: { alice: 'TOKEN_OF_ALICE', carol: 'TOKEN_OF_CAROL' } };
  const audit = join(newFolder(), 'audit.jsonl');
  const servers = [{ name: 'notes', url: remote.url, login: 'per_caller' }];
  const config = newFile(
    'config.yaml',
    JSON.stringify({ servers, gateway: { logins }, http, llm: { adapter: 'offline' }, audit: { file: audit } }),
  );
  const env = { TOKEN_OF_ALICE: TOKENS.alice, TOKEN_OF_CAROL: TOKENS.bob };
  const run = async (...args: readonly string[]) => (await runCli([...args, '--config', config], { env })).stdout;
  expect(await run('logins')).toMatch(/^notes as alice: .*\nnotes as bob: .*\n$/);
  const listed = JSON.parse(await run('logins', '--json')).logins;
  expect(listed.map(({ caller }: Record<string, unknown>) => caller)).toEqual(['alice', 'bob']);
  const { text } = await send(new URL('/metrics', gateway.url).href, {
    method: 'GET',
    headers: { Authorization: `Bearer ${TOKENS.bob}` },
  });
  expect(text).toContain('openai_responses_mcp_logins{server="notes"} 2');
  const checks = await run('doctor');
  expect(checks).toMatch(/^ok {4}login notes as alice: /m);
  expect(checks).toMatch(/^WARN {2}login notes as bob: .*this caller does not exist; .* logout notes --caller bob/m);
  expect(checks).toMatch(
    /^note {2}login notes: carol has none; callers sign in at http:\/\/127.0.0.1:3917\/login\/notes/m,
  );
  expect(checks).toMatch(/^note {2}server notes: login_required: /m);
  expect(await run('logout', '--caller=alice')).toBe('The login of alice to notes was deleted.\n');
  expect(await statusOf('alice')).toMatchObject({ state: 'login_required' });
  expect(await statusOf('bob')).toMatchObject({ state: 'available' });
  const line = { event: 'logout', outcome: 'done', caller: 'alice', server: 'notes', scopes: ['read'] };
  expect(JSON.parse(readFileSync(audit, 'utf8'))).toMatchObject(line);
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

test('a login that has ended and cannot be renewed is none', async () => {
  const { call, signIn, statusOf } = await start();
  await signIn('alice', { expires_in: 0.001, refresh_token: undefined });
  expect(await statusOf('alice')).toMatchObject({ state: 'login_required' });
  expect(await call('alice')).toMatchObject({ status: 503, body: { error: { code: 'LOGIN_REQUIRED' } } });
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

// S89
test('at random, no request has the token of another caller', async () => {
  const { violations, outcomes } = await callAtRandom({ calls: 300, processes: 1 });
  expect(violations).toEqual([]);
  expect(outcomes.answered).toBeGreaterThan(100);
});

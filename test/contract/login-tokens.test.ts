import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { LoginTokens } from '../../src/adapters/outbound/login/login-tokens.ts';
import type { LoginUse } from '../../src/domain/gateway/login-owner.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeIssuer, loginAt } from '../support/fake-issuer.ts';

const HOUR_MS = 3_600_000;

interface Configured {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly issuer?: string;
}

/** A login with tokens of an hour, unless `change` says something else. */
async function start(change: Parameters<typeof loginAt>[1] = {}, auth: Configured = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'logins-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const issuer = await FakeIssuer.start();
  const clock = new FakeClock();
  const files = new LoginFiles(folder, new SystemClock());
  const url = `${issuer.origin}/mcp`;
  const server = { name: 'notes', url, headers: {}, auth: { grant: 'authorization_code' as const, ...auth } };
  issuer.expects('refresh-0');
  const login = { ...loginAt(issuer.origin, { expires_in: 3600, ...change }, clock.now()), resource: url };
  await files.locked({ url, use: 'shared' }, () => files.write({ url, use: 'shared' }, login));
  const learned: string[] = [];
  const renewals: string[] = [];
  const disk = { isFull: false };
  const store = {
    read: () => files.read({ url, use: 'shared' }),
    locked: files.locked.bind(files),
    write: async (...written: Parameters<LoginFiles['write']>) => {
      if (disk.isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      return files.write(...written);
    },
  };
  const onRenewal = (outcome: string, reason?: string) =>
    renewals.push(outcome === 'renewed' && reason !== undefined ? `${outcome}: ${reason}` : outcome);
  const learn = (secrets: readonly string[]) => learned.push(...secrets);
  const newTokens = () =>
    new LoginTokens({ server, use: 'shared', files: store, network: { fetch, clock }, learn, onRenewal });
  const tokensOf = (use: LoginUse) =>
    new LoginTokens({ server, use, files, network: { fetch, clock }, learn, onRenewal });
  const stored = async () => (await files.read({ url, use: 'shared' }))?.tokens;
  return {
    disk,
    folder,
    issuer,
    clock,
    files,
    url,
    login,
    learned,
    renewals,
    stored,
    newTokens,
    tokensOf,
    tokens: newTokens(),
  };
}

const WITHOUT_END = { expires_in: undefined };
const basic = (client: string) => `Basic ${Buffer.from(client).toString('base64')}`;

describe('a token is used', () => {
  test('until a minute before its end, and is then renewed once, with its resource and scopes', async () => {
    const { issuer, clock, url, files, login, learned, renewals, tokens } = await start();
    await clock.advance(HOUR_MS - 60_000);
    expect(await tokens.token()).toBe('access-0');
    await clock.advance(1);
    expect(await Promise.all([tokens.token(), tokens.token()])).toEqual(['access-1', 'access-1']);
    const parameters = { grant_type: 'refresh_token', refresh_token: 'refresh-0', client_id: 'client-1' };
    expect(issuer.tokenRequests).toEqual([
      { parameters: { ...parameters, resource: url, scope: 'read' }, authorization: undefined },
    ]);
    expect(await files.read({ url, use: 'shared' })).toEqual({
      ...login,
      tokens: { ...login.tokens, access_token: 'access-1', refresh_token: 'refresh-1' },
      receivedAt: clock.now().getTime(),
    });
    expect(learned).toEqual(expect.arrayContaining(['access-0', 'refresh-0', 'access-1', 'refresh-1']));
    expect(renewals).toEqual(['renewed']);
  });

  test('for half of a short life', async () => {
    const { clock, tokens } = await start({ expires_in: 100 });
    await clock.advance(50_000);
    expect(await tokens.token()).toBe('access-0');
    await clock.advance(1);
    expect(await tokens.token()).toBe('access-1');
  });

  test('to its end, if it cannot be renewed', async () => {
    const { issuer, clock, tokens } = await start({ refresh_token: undefined });
    await clock.advance(HOUR_MS - 1);
    expect(await tokens.token()).toBe('access-0');
    await clock.advance(1);
    expect(await tokens.token()).toBeUndefined();
    expect(issuer.tokenRequests).toEqual([]);
  });

  test('until it is refused, if it has no end; the former refresh token is kept if there is no other', async () => {
    const { issuer, clock, stored, tokens } = await start(WITHOUT_END);
    issuer.tokens = { refresh_token: undefined };
    await clock.advance(1000 * HOUR_MS);
    expect(await tokens.token()).toBe('access-0');
    expect(await tokens.token('access-0')).toBe('access-1');
    expect(await stored()).toMatchObject({ access_token: 'access-1', refresh_token: 'refresh-0' });
  });

  // S70
  test('by many processes, of which one renews it', async () => {
    const { issuer, newTokens, tokens } = await start(WITHOUT_END);
    expect(await tokens.token()).toBe('access-0');
    const renewed = await Promise.all(Array.from({ length: 5 }, () => newTokens().token('access-0')));
    expect([...renewed, await tokens.token('access-0')]).toEqual(Array(6).fill('access-1'));
    expect(issuer.tokenRequests).toHaveLength(1);
  });
});

test.each([
  ['invalid_grant: its refresh token is not presented again', 'invalid_grant', undefined],
  ['another reason: it may be accepted later', 'invalid_client', 'refresh-0'],
])('a login that is refused is used to its end (%s)', async (_, error, refreshToken) => {
  const { issuer, clock, renewals, stored, tokens } = await start();
  issuer.answers.set('/token', { status: 400, body: { error, error_description: 'Gone' } });
  await clock.advance(HOUR_MS - 1);
  expect([await tokens.token(), await tokens.token()]).toEqual(['access-0', 'access-0']);
  expect((await stored())?.refresh_token).toBe(refreshToken);
  expect(renewals).toEqual(['refused']);
  expect(tokens.refusal).toBe(`${issuer.origin}/token answered ${error}: Gone`);
  expect(await tokens.token('access-0')).toBeUndefined();
  await clock.advance(1);
  expect(await tokens.token()).toBeUndefined();
});

test('a login of a caller that is refused is deleted, and its refusal says why', async () => {
  const { issuer, clock, files, url, login, tokensOf } = await start();
  const use = { kind: 'token', name: 'alice' } as const;
  await files.locked({ url, use }, () => files.write({ url, use }, login));
  issuer.answers.set('/token', { status: 400, body: { error: 'invalid_grant', error_description: 'Gone' } });
  await clock.advance(HOUR_MS);
  const tokens = tokensOf(use);
  expect(await tokens.token()).toBeUndefined();
  expect(await files.read({ url, use })).toBeUndefined();
  expect(tokens.refusal).toBe(`${issuer.origin}/token answered invalid_grant: Gone`);

  const later = { ...login, receivedAt: clock.now().getTime(), tokens: { ...login.tokens, access_token: 'access-9' } };
  await files.locked({ url, use }, () => files.write({ url, use }, later));
  expect(await tokens.token()).toBe('access-9');
  // The caller signs out.
  await files.locked({ url, use }, () => files.write({ url, use }, undefined));
  expect(await tokens.read()).toBeUndefined();
  expect(tokens.refusal).toBeUndefined();
});

test.each([
  ['503', { status: 503, body: { error: 'server_error' } }],
  ['a redirect', { status: 302, location: '/elsewhere' }],
  ['no token', { body: {} }],
])('if the issuer answers %s, a token is used while it is valid; then each request tries again', async (_, answer) => {
  const { issuer, clock, renewals, tokens } = await start();
  issuer.answers.set('/token', answer);
  await clock.advance(HOUR_MS - 1);
  expect([await tokens.token(), await tokens.token()]).toEqual(['access-0', 'access-0']);
  expect(renewals).toEqual(['failed']);
  await clock.advance(1);
  await expect(tokens.token()).rejects.toThrow(issuer.origin);
  expect(issuer.seen).not.toContain('/elsewhere');
  issuer.answers.clear();
  expect(await tokens.token()).toBe('access-1');
  expect(renewals).toEqual(['failed', 'failed', 'renewed']);
});

test('the answer of a slow issuer is kept for a minute, and no other process presents the refresh token before', async () => {
  const { folder, issuer, clock, newTokens, tokens } = await start(WITHOUT_END);
  let answer = (): void => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  issuer.delays.set('/token', answered);
  const [token, other] = [tokens.token('access-0'), newTokens().token('access-0')];
  await expect.poll(() => issuer.seen).toEqual(['/token']);
  await clock.advance(59_999);
  answer();
  expect(await Promise.all([token, other])).toEqual(['access-1', 'access-1']);
  expect(issuer.tokenRequests).toHaveLength(1);
  expect(readdirSync(folder)).toHaveLength(1);

  issuer.answers.set('/token', 'hangs');
  const failed = expect(tokens.token('access-1')).rejects.toThrow('no response in time');
  await expect.poll(() => issuer.seen.filter((path) => path === '/token')).toHaveLength(2);
  await clock.advance(60_000);
  await failed;
});

describe('on a full disk', () => {
  test('a renewed login is kept in memory, renewed again from there, and written when there is space', async () => {
    const { disk, issuer, stored, renewals, tokens } = await start(WITHOUT_END);
    disk.isFull = true;
    expect(await tokens.token('access-0')).toBe('access-1');
    expect(await tokens.token('access-1')).toBe('access-2');
    expect(renewals).toEqual(['renewed: ENOSPC', 'renewed: ENOSPC']);
    expect((await tokens.read())?.tokens.access_token).toBe('access-2');
    expect((await stored())?.access_token).toBe('access-0');
    disk.isFull = false;
    await tokens.read();
    expect(await stored()).toMatchObject({ access_token: 'access-2', refresh_token: 'refresh-2' });
    const presented = issuer.tokenRequests.map(({ parameters }) => parameters.refresh_token);
    expect(presented).toEqual(['refresh-0', 'refresh-1']);
  });

  test('a login that a person ended meanwhile is not written again', async () => {
    const { disk, files, url, stored, tokens } = await start(WITHOUT_END);
    disk.isFull = true;
    await tokens.token('access-0');
    await files.write({ url, use: 'shared' }, undefined);
    disk.isFull = false;
    expect(await tokens.read()).toBeUndefined();
    expect(await stored()).toBeUndefined();
  });
});

test('nothing is renewed if the folder cannot be written', async () => {
  const { issuer, folder, tokens } = await start();
  await tokens.token();
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  await expect(tokens.token('access-0')).rejects.toThrow('the login cannot be written (EEXIST)');
  expect(issuer.tokenRequests).toEqual([]);
});

test.each([{ issuer: 'https://other.example.com' }, { clientId: 'another' }])(
  'a login counts as none if something else is configured: %j',
  async (auth) => {
    const { tokens } = await start({}, auth);
    expect(await tokens.token()).toBeUndefined();
  },
);

test('a configured secret is sent, and not stored', async () => {
  const { issuer, stored, tokens } = await start(WITHOUT_END, { clientId: 'client-1', clientSecret: 'tHe-SeCrEt' });
  await tokens.token('access-0');
  expect(issuer.tokenRequests).toMatchObject([{ authorization: basic('client-1:tHe-SeCrEt') }]);
  expect(JSON.stringify(await stored())).not.toContain('SeCrEt');
});

describe('a machine', () => {
  async function startMachine() {
    const issuer = await FakeIssuer.start();
    const clock = new FakeClock();
    const auth = { grant: 'client_credentials', clientId: 'me', clientSecret: 'secret', scopes: ['own'] } as const;
    const learned: string[] = [];
    const renewals: string[] = [];
    const tokens = new LoginTokens({
      use: 'shared',
      server: { name: 'notes', url: `${issuer.origin}/mcp`, headers: {}, auth },
      files: new LoginFiles('/nowhere', new SystemClock()),
      network: { fetch, clock },
      learn: (secrets) => learned.push(...secrets),
      onRenewal: (outcome) => renewals.push(outcome),
    });
    return { issuer, clock, tokens, learned, renewals };
  }

  test('gets a token for all requests, and another one before its end or after a refusal', async () => {
    const { issuer, clock, tokens, learned, renewals } = await startMachine();
    issuer.tokens = { refresh_token: undefined };
    expect(await Promise.all([tokens.token(), tokens.token()])).toEqual(['access-1', 'access-1']);
    expect(issuer.tokenRequests).toEqual([
      {
        parameters: { grant_type: 'client_credentials', resource: `${issuer.origin}/mcp`, scope: 'own' },
        authorization: basic('me:secret'),
      },
    ]);
    expect(tokens.summary).toMatchObject({ server: 'notes', issuer: issuer.origin, scopes: ['own'] });
    await clock.advance(HOUR_MS - 59_999);
    expect(await tokens.token()).toBe('access-2');
    expect(await tokens.token('access-2')).toBe('access-3');
    expect(learned).toEqual(['access-1', 'access-2', 'access-3']);
    expect(renewals).toEqual(['renewed', 'renewed']);
  });

  test('uses its token while it is valid, if there is no other, and fails with the error of the issuer', async () => {
    const { issuer, clock, tokens, renewals } = await startMachine();
    await tokens.token();
    issuer.answers.set('/token', { status: 401, body: { error: 'invalid_client', error_description: 'Unknown' } });
    await clock.advance(HOUR_MS - 1);
    expect(await tokens.token()).toBe('access-1');
    await expect(tokens.token('access-1')).rejects.toThrow(`${issuer.origin}/token answered invalid_client: Unknown`);
    expect(new Set(renewals)).toEqual(new Set(['refused']));
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Login, LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { MachineTokens, StoredTokens } from '../../src/adapters/outbound/login/stored-tokens.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

const HOUR_MS = 3_600_000;

async function start(
  change: Partial<Login> = {},
  auth: { clientId?: string; clientSecret?: string; issuer?: string } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'logins-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const issuer = await FakeIssuer.start();
  const clock = new FakeClock();
  const files = new LoginFiles(folder, clock, new RecordingLogger());
  const server = {
    name: 'notes',
    url: `${issuer.origin}/mcp`,
    headers: {},
    auth: { grant: 'authorization_code' as const, ...auth },
  };
  const startMs = clock.now().getTime();
  const first = await (await fetch(`${issuer.origin}/token`, { method: 'POST', body: 'grant_type=code' })).json();
  const login: Login = {
    url: server.url,
    id: '1',
    metadata: { issuer: issuer.origin, token_endpoint: `${issuer.origin}/token` },
    client: { client_id: 'client-1' },
    resource: `${issuer.origin}/mcp`,
    scopes: ['read', 'write'],
    accessToken: (first as { access_token: string }).access_token,
    refreshToken: (first as { refresh_token: string }).refresh_token,
    receivedAt: startMs,
    expiresAt: startMs + HOUR_MS,
    ...change,
  };
  issuer.tokenRequests.length = 0;
  await files.locked(server.url, (save) => save(login));
  const learned: string[] = [];
  const renewals: string[] = [];
  const newTokens = () =>
    new StoredTokens(
      {
        server,
        network: { fetch, clock },
        learn: (secrets) => learned.push(...secrets),
        onRenewal: (outcome) => renewals.push(outcome),
      },
      files,
    );
  return { folder, issuer, clock, files, server, login, learned, renewals, newTokens, tokens: newTokens() };
}

const withoutEnd = { expiresAt: undefined };

describe('a token is used', () => {
  test('until a minute before its end, and is then renewed once, with its resource and scopes', async () => {
    const { issuer, clock, files, server, login, learned, renewals, tokens } = await start();
    expect(await tokens.token()).toBe('access-1');
    await clock.advance(HOUR_MS - 60_000);
    expect(await tokens.token()).toBe('access-1');
    await clock.advance(1);
    expect(await Promise.all([tokens.token(), tokens.token()])).toEqual(['access-2', 'access-2']);
    expect(issuer.tokenRequests).toEqual([
      {
        parameters: {
          grant_type: 'refresh_token',
          refresh_token: 'refresh-1',
          client_id: 'client-1',
          resource: `${issuer.origin}/mcp`,
          scope: 'read write',
        },
        authorization: undefined,
      },
    ]);
    const now = clock.now().getTime();
    expect(await files.read(server.url)).toEqual({
      ...login,
      accessToken: 'access-2',
      refreshToken: 'refresh-2',
      receivedAt: now,
      expiresAt: now + HOUR_MS,
    });
    expect(learned).toEqual(expect.arrayContaining(['access-1', 'refresh-1', 'access-2', 'refresh-2']));
    expect(renewals).toEqual(['renewed']);
  });

  test('for half of a short life', async () => {
    const { clock, login, tokens } = await start({ expiresAt: Date.parse('2026-01-05T03:01:40Z') });
    expect((login.expiresAt ?? 0) - login.receivedAt).toBe(100_000);
    await clock.advance(50_000);
    expect(await tokens.token()).toBe('access-1');
    await clock.advance(1);
    expect(await tokens.token()).toBe('access-2');
  });

  test('to its end, if it cannot be renewed', async () => {
    const { issuer, clock, tokens } = await start({ refreshToken: undefined });
    await clock.advance(HOUR_MS - 1);
    expect(await tokens.token()).toBe('access-1');
    await clock.advance(1);
    expect(await tokens.token()).toBeUndefined();
    expect(issuer.tokenRequests).toEqual([]);
  });

  test('until it is refused, if it has no end', async () => {
    const { clock, tokens } = await start(withoutEnd);
    await clock.advance(1000 * HOUR_MS);
    expect(await tokens.token()).toBe('access-1');
    expect(await tokens.token('access-1')).toBe('access-2');
  });

  test('and the former refresh token is kept, if there is no other', async () => {
    const { issuer, files, server, tokens } = await start(withoutEnd);
    issuer.tokens = { refresh_token: undefined, scope: 'read', expires_in: '60' };
    await tokens.token('access-1');
    expect(await files.read(server.url)).toMatchObject({ refreshToken: 'refresh-1', scopes: ['read'] });
  });

  test('of another process, if that has renewed it', async () => {
    const { issuer, newTokens, tokens } = await start(withoutEnd);
    const other = newTokens();
    expect(await other.token()).toBe('access-1');
    expect(await tokens.token('access-1')).toBe('access-2');
    expect(await other.token('access-1')).toBe('access-2');
    expect(issuer.tokenRequests).toHaveLength(1);
  });
});

describe('a refused refresh token', () => {
  const refused = (error: string) => ({ status: 400, body: { error } });

  test('is removed, and the token is used to its end', async () => {
    const { issuer, clock, files, server, login, renewals, tokens } = await start();
    issuer.answers.set('/token', refused('invalid_grant'));
    await clock.advance(HOUR_MS - 1);
    expect([await tokens.token(), await tokens.token()]).toEqual(['access-1', 'access-1']);
    const { refreshToken: _, ...rest } = login;
    expect(await files.read(server.url)).toEqual(rest);
    await clock.advance(1);
    expect(await tokens.token()).toBeUndefined();
    expect(issuer.seen.filter((path) => path === '/token')).toHaveLength(2);
    expect(renewals).toEqual(['refused']);
  });

  test('leaves nothing for a request that the server refused', async () => {
    const { issuer, tokens } = await start();
    issuer.answers.set('/token', refused('invalid_grant'));
    expect(await tokens.token('access-1')).toBeUndefined();
  });

  test('for another reason stays, but the login has ended', async () => {
    const { issuer, clock, files, server, login, tokens } = await start();
    issuer.answers.set('/token', refused('invalid_client'));
    await clock.advance(HOUR_MS - 1);
    expect(await tokens.token()).toBeUndefined();
    expect(await files.read(server.url)).toEqual(login);
  });
});

test('the reason of a refusal is forgotten with its login', async () => {
  const { issuer, clock, files, server, login, tokens } = await start();
  issuer.answers.set('/token', { status: 400, body: { error: 'invalid_client' } });
  await clock.advance(HOUR_MS - 1);
  await tokens.token();
  await tokens.read();
  expect(tokens.refusal).toContain('invalid_client');
  await files.locked(server.url, (save) => save({ ...login, id: '2' }));
  await tokens.read();
  expect(tokens.refusal).toBeUndefined();
});

describe('if the issuer has no answer', () => {
  test.each([
    ['429', { status: 429 }],
    ['503', { status: 503 }],
    ['the page of a firewall', { status: 403, body: '<html>no</html>' }],
    ['a redirect', { status: 302, location: '/elsewhere' }],
    ['no token', { body: { token_type: 'DPoP', access_token: 'x' } }],
    ['a token that cannot be sent', { body: { token_type: 'Bearer', access_token: 'a b' } }],
  ])('(%s), a token is used while it is valid; then requests fail, and the next one tries again', async (_, answer) => {
    const { issuer, clock, renewals, tokens } = await start();
    issuer.answers.set('/token', answer);
    await clock.advance(HOUR_MS - 1);
    expect([await tokens.token(), await tokens.token()]).toEqual(['access-1', 'access-1']);
    expect(renewals).toEqual(['failed']);
    await clock.advance(1);
    await expect(tokens.token()).rejects.toThrow(issuer.origin);
    expect(issuer.seen).not.toContain('/elsewhere');
    issuer.answers.clear();
    expect(await tokens.token()).toBe('access-2');
    expect(renewals).toEqual(['failed', 'failed', 'renewed']);
  });

  test('within 8 s', async () => {
    const { issuer, clock, tokens } = await start();
    issuer.answers.set('/token', 'hangs');
    const token = tokens.token('access-1');
    await expect.poll(() => issuer.seen.filter((path) => path === '/token')).toHaveLength(2);
    await clock.advance(8000);
    await expect(token).rejects.toThrow('no response in time');
  });
});

test('nothing is renewed if the folder cannot be written', async () => {
  const { issuer, folder, files, server, newTokens } = await start();
  const tokens = newTokens();
  await tokens.token();
  const read = await files.read(server.url);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  await expect(tokens.token(read?.accessToken)).rejects.toThrow('cannot be renewed');
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
  const { issuer, files, server, tokens } = await start(withoutEnd, {
    clientId: 'client-1',
    clientSecret: 'a secret:1',
  });
  await tokens.token('access-1');
  const basic = Buffer.from('client-1:a%20secret%3A1').toString('base64');
  expect(issuer.tokenRequests).toMatchObject([{ authorization: `Basic ${basic}` }]);
  expect(JSON.stringify(await files.read(server.url))).not.toContain('secret');
});

describe('a machine', () => {
  async function startMachine(metadata: Record<string, unknown> = {}) {
    const issuer = await FakeIssuer.start();
    issuer.metadata = metadata;
    const clock = new FakeClock();
    const auth = { grant: 'client_credentials', clientId: 'me', clientSecret: 'secret', scopes: ['own'] } as const;
    const learned: string[] = [];
    const renewals: string[] = [];
    const tokens = new MachineTokens({
      server: { name: 'notes', url: `${issuer.origin}/mcp`, headers: {}, auth },
      network: { fetch, clock },
      learn: (secrets) => learned.push(...secrets),
      onRenewal: (outcome) => renewals.push(outcome),
    });
    return { issuer, clock, tokens, learned, renewals };
  }

  test('gets a token for all requests, and another one before its end', async () => {
    const { issuer, clock, tokens, learned, renewals } = await startMachine();
    expect(await Promise.all([tokens.token(), tokens.token()])).toEqual(['access-1', 'access-1']);
    expect(issuer.tokenRequests).toEqual([
      {
        parameters: { grant_type: 'client_credentials', resource: `${issuer.origin}/mcp`, scope: 'own' },
        authorization: `Basic ${Buffer.from('me:secret').toString('base64')}`,
      },
    ]);
    const { length } = issuer.seen;
    await clock.advance(HOUR_MS - 59_999);
    expect(await tokens.token()).toBe('access-2');
    expect(issuer.seen.slice(length)).toEqual(['/token']);
    expect(await tokens.token('access-2')).toBe('access-3');
    expect(learned).toEqual(['access-1', 'access-2', 'access-3']);
    expect(renewals).toEqual(['renewed', 'renewed']);
  });

  test('sends its secret in the body, if the issuer accepts only that', async () => {
    const { issuer, tokens } = await startMachine({ token_endpoint_auth_methods_supported: ['client_secret_post'] });
    await tokens.token();
    expect(issuer.tokenRequests).toMatchObject([
      { parameters: { client_id: 'me', client_secret: 'secret' }, authorization: undefined },
    ]);
  });

  test('uses its token while it is valid, if there is no other', async () => {
    const { issuer, clock, tokens, renewals } = await startMachine();
    await tokens.token();
    issuer.answers.set('/token', { status: 503 });
    await clock.advance(HOUR_MS - 1);
    expect(await tokens.token()).toBe('access-1');
    await expect(tokens.token('access-1')).rejects.toThrow('HTTP 503');
    await clock.advance(1);
    await expect(tokens.token()).rejects.toThrow('HTTP 503');
    expect(new Set(renewals)).toEqual(new Set(['failed']));
  });

  test('fails with the error of the issuer', async () => {
    const { issuer, tokens } = await startMachine();
    issuer.answers.set('/token', {
      status: 401,
      body: { error: 'invalid_client', error_description: 'Unknown\u001b[31m' },
    });
    await expect(tokens.token()).rejects.toThrow(`${issuer.origin}/token answered invalid_client: Unknown`);
  });
});

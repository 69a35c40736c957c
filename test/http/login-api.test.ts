import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';

import { EVERYTHING } from '../../src/domain/gateway/call-origin.ts';
import { FakeCallerLogins } from '../support/fake-caller-logins.ts';
import { FakeTokenVerifier } from '../support/fake-token-verifier.ts';
import { type Reply, send } from '../support/http-client.ts';
import { type ServeHttpOptions, serveHttp } from './serve-http.ts';

const ALICE = { caller: 'alice', token: 'token-of-alice' };
const BOB = { caller: 'bob', token: 'token-of-bob' };
const PUBLIC = 'https://mcp.example.com';
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;
const cookiesOf = ({ headers }: Reply) => headers['set-cookie'] ?? [];
/** The cookies as a browser sends them back. */
const cookieOf = (...replies: readonly Reply[]) => ({
  Cookie: replies
    .flatMap(cookiesOf)
    .map((cookie) => cookie.slice(0, cookie.indexOf(';')))
    .join('; '),
});

async function serve({
  servers = ['tickets', 'notes'],
  publicUrl = PUBLIC,
  http = {},
}: {
  readonly servers?: readonly string[];
  readonly publicUrl?: string;
  readonly http?: ServeHttpOptions['http'];
} = {}) {
  const logins = new FakeCallerLogins(servers);
  const tokens = [ALICE, BOB];
  const login = { logins, servers: () => servers, publicUrl, folder: '/no/such/folder' };
  const served = await serveHttp({ http: { tokens, logins: login, allowedHosts: ['mcp.example.com'], ...http } });
  const ask = (method: string, path: string, headers = {}) => send(served.at(path), { method, headers });
  return { ...served, logins, ask };
}

/** Begins a login as alice; `callback` returns from the issuer. */
async function begin(served: Awaited<ReturnType<typeof serve>>, server = 'tickets', by = ALICE) {
  const begun = await served.ask('POST', `/login/${server}`, bearer(by.token));
  const { searchParams } = new URL(String(json(begun).url));
  const state = searchParams.get('state') ?? '';
  const callback = (headers = {}, query = `state=${state}&code=c`) =>
    served.ask('GET', `/login/callback?${query}`, headers);
  return { begun, state, redirectUrl: searchParams.get('redirect_uri'), callback };
}

const owner = (name: string) => ({ kind: 'token', name }) as const;

describe('a request with a token', () => {
  test('reads which login is missing, begins it, ends it, lists and deletes it', async () => {
    const served = await serve();
    const { ask, logins } = served;
    const described = { success: true, server: 'tickets', caller: 'alice', issuer: logins.issuer };
    expect(json(await ask('GET', '/login/tickets', bearer(ALICE.token)))).toEqual({
      ...described,
      state: 'login_required',
    });
    const { begun, callback, redirectUrl } = await begin(served);
    expect(begun.status).toBe(200);
    expect(redirectUrl).toBe(`${PUBLIC}/login/callback`);
    const ended = await callback(cookieOf(begun));
    expect(ended.status).toBe(200);
    expect(ended.text).toContain('alice is signed in to tickets');
    expect(json(await ask('GET', '/login/tickets', bearer(ALICE.token)))).toEqual({ ...described, state: 'available' });
    expect(json(await ask('GET', '/login', bearer(ALICE.token)))).toEqual({
      success: true,
      logins: [
        {
          server: 'tickets',
          url: 'https://tickets.example.com/mcp',
          issuer: logins.issuer,
          scopes: ['read'],
          expiresAt: null,
          renewable: true,
          caller: 'alice',
        },
      ],
    });
    expect(json(await ask('GET', '/login', bearer(BOB.token)))).toEqual({ success: true, logins: [] });
    expect(json(await ask('DELETE', '/login/tickets', bearer(BOB.token)))).toEqual({ success: true });
    expect(await logins.read({ server: 'tickets', owner: owner('alice') })).toBeDefined();
    expect(json(await ask('DELETE', '/login/tickets', bearer(ALICE.token)))).toEqual({ success: true });
    expect(await logins.read({ server: 'tickets', owner: owner('alice') })).toBeUndefined();
  });

  test.each([
    ['https://mcp.example.com', /^__Host-login-1=secret-1; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/],
    ['http://127.0.0.1:3917', /^login-1=secret-1; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/],
  ])('under %s gets a cookie that only this browser sends back', async (publicUrl, expected) => {
    const { begun } = await begin(await serve({ publicUrl }));
    expect(cookiesOf(begun)).toEqual([expect.stringMatching(expected)]);
    expect(begun.headers['cache-control']).toBe('no-store');
  });

  test('reads that a login which has ended, and cannot be renewed, is missing', async () => {
    const { ask, logins } = await serve();
    logins.sign({ server: 'tickets', owner: owner('alice') }, false);
    expect(json(await ask('GET', '/login/tickets', bearer(ALICE.token)))).toMatchObject({ state: 'login_required' });
  });

  test('uses the port on which the endpoint listens, if it is any free one', async () => {
    const served = await serve({ publicUrl: 'http://127.0.0.1:0' });
    expect((await begin(served)).redirectUrl).toBe(served.at('/login/callback'));
  });

  test.each(['unknown', 'notes', 'caller', 'callback'])(
    'about %j, which does not exist for it, gets 404',
    async (name) => {
      const rightsOf = () => ({ ...EVERYTHING, isForEveryone: false, sees: (server: string) => server === 'tickets' });
      const { ask, logins } = await serve({ http: { rightsOf } });
      logins.sign({ server: 'notes', owner: owner('alice') });
      const path = `/login/${name}x`.replace('notesx', 'notes');
      for (const method of ['GET', 'POST', 'DELETE']) {
        const reply = await ask(method, path, bearer(ALICE.token));
        expect(reply.status).toBe(404);
        expect(json(reply)).toMatchObject({
          error: {
            code: 'SERVER_NOT_FOUND',
            message: 'There is no server with this name at which you can sign in; check the address.',
            details: { server: path.slice(7) },
          },
        });
      }
      expect(json(await ask('GET', '/login', bearer(ALICE.token)))).toEqual({ success: true, logins: [] });
      expect(await logins.read({ server: 'notes', owner: owner('alice') })).toBeDefined();
    },
  );

  test.each(['GET', 'POST', 'DELETE'])('that has no valid token is refused for %s', async (method) => {
    const { ask } = await serve();
    expect((await ask(method, '/login/tickets', bearer('other'))).status).toBe(401);
    expect((await ask('GET', '/login')).status).toBe(401);
  });

  test.each(['POST', 'DELETE'])('%s from any other origin, also an allowed one, is refused', async (method) => {
    const allowedOrigins = ['https://app.example.com'];
    const { ask, logins } = await serve({ http: { allowedOrigins } });
    logins.sign({ server: 'tickets', owner: owner('alice') });
    for (const Origin of ['https://app.example.com', 'http://localhost:3000', 'https://evil.example', 'null']) {
      const reply = await ask(method, '/login/tickets', { ...bearer(ALICE.token), Origin });
      expect(reply.status).toBe(403);
      expect(cookiesOf(reply)).toEqual([]);
    }
    expect(await logins.read({ server: 'tickets', owner: owner('alice') })).toBeDefined();
    // Some proxies replace `Host`.
    for (const host of [{ Host: 'mcp.example.com' }, {}])
      expect((await ask(method, '/login/tickets', { ...bearer(ALICE.token), ...host, Origin: PUBLIC })).status).toBe(
        200,
      );
  });

  test('whose access token names no subject can have no login', async () => {
    const verifier = new FakeTokenVerifier({
      machine: { caller: 'oauth:machine' },
      person: { caller: 'oauth:ann@example.com', subject: { issuer: 'https://auth.example.com', sub: 's-1' } },
    });
    const oauth = { issuer: 'https://auth.example.com', resource: `${PUBLIC}/mcp`, scopes: [], verifier };
    const { ask } = await serve({ http: { oauth } });
    expect((await ask('POST', '/login/tickets', bearer('machine'))).status).toBe(403);
    expect(json(await ask('GET', '/login/tickets', bearer('person')))).toMatchObject({ caller: 'oauth:s-1' });
  });

  test('gets the reason of an issuer that cannot be used', async () => {
    const served = await serve();
    const failed = async () => err({ kind: 'failed', reason: 'https://auth.example.com/token: no response in time' });
    Object.assign(served.logins, { issuerOf: failed, begin: failed });
    for (const method of ['GET', 'POST']) {
      const reply = await served.ask(method, '/login/tickets', bearer(ALICE.token));
      expect(reply.status).toBe(502);
      expect(json(reply)).toMatchObject({
        error: { code: 'LOGIN_FAILED', message: expect.stringContaining('no response in time') },
      });
    }
  });
});

test('a login that cannot be deleted is not called a sign-in that failed', async () => {
  const { ask, logins } = await serve();
  logins.remove = async () => ({ kind: 'not_deleted', reason: 'the login cannot be written (EROFS)' });
  expect(json(await ask('DELETE', '/login/tickets', bearer(ALICE.token)))).toMatchObject({
    error: { code: 'LOGIN_FAILED', message: 'The login was not deleted: the login cannot be written (EROFS)' },
  });
});

describe('the way back from an issuer', () => {
  // S88
  test('ends only what this browser has begun, and once', async () => {
    const served = await serve();
    const first = await begin(served);
    const others = await begin(served, 'tickets', BOB);
    // Without its cookie, and with that of another browser.
    for (const headers of [{}, cookieOf(others.begun), { Cookie: '__Host-login-1=secret-2' }]) {
      const reply = await first.callback(headers);
      expect(reply.status).toBe(400);
      expect(reply.text).toContain('was not begun in this browser');
    }
    expect(await served.logins.list()).toEqual([]);
    expect((await first.callback(cookieOf(first.begun))).status).toBe(200);
    expect((await first.callback(cookieOf(first.begun))).status).toBe(400);
    expect((await served.logins.list()).map(({ owner }) => owner)).toEqual([owner('alice')]);
  });

  test('of several logins in one browser ends each', async () => {
    const served = await serve();
    const [tickets, notes] = [await begin(served), await begin(served, 'notes')];
    const both = cookieOf(tickets.begun, notes.begun);
    const ended = await notes.callback(both);
    expect(ended.text).toContain('signed in to notes');
    // Only the cookie that was used is forgotten.
    expect(cookiesOf(ended)).toEqual([expect.stringMatching(/^__Host-login-2=; Max-Age=0; Path=\/;/)]);
    expect((await tickets.callback(both)).text).toContain('signed in to tickets');
  });

  test.each([
    ['no state', 'code=c'],
    ['another state', 'state=other&code=c'],
    ['two states', 'state=1&state=1&code=c'],
    ['two codes', 'state=1&code=c&code=d'],
    ['an error of the issuer', 'state=1&error=access_denied'],
  ])('with %s is a page with one sentence', async (_, query) => {
    const served = await serve();
    const { begun, callback } = await begin(served);
    const { status, text, headers } = await callback(cookieOf(begun), query);
    expect(status).toBe(400);
    expect(text).toContain('<p class="failure" role="alert">');
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    expect(await served.logins.list()).toEqual([]);
  });

  test('shows what an issuer writes as text', async () => {
    const served = await serve();
    const { begun, callback } = await begin(served);
    served.logins.finish = async () => err({ kind: 'failed', reason: '<script>alert(1)</script>' });
    const { text } = await callback(cookieOf(begun));
    expect(text).toContain('&#60;script&#62;alert(1)');
    expect(text).not.toContain('<script>alert');
  });

  test('does not sign in a caller whose token or right has ended', async () => {
    const rights = { sees: true };
    const rightsOf = () => ({ ...EVERYTHING, sees: () => rights.sees });
    const served = await serve({ http: { rightsOf } });
    const { begun, callback } = await begin(served);
    rights.sees = false;
    expect((await callback(cookieOf(begun))).status).toBe(400);
    expect(await served.logins.list()).toEqual([]);
  });

  test('is only read', async () => {
    const { ask } = await serve();
    expect((await ask('POST', '/login/callback')).status).toBe(405);
    expect((await ask('GET', '/login/caller')).status).toBe(404);
  });
});

describe('the page of a server', () => {
  test('is the same for every name, and asks nobody', async () => {
    const { ask, logins } = await serve();
    const asked = () => Promise.reject(new Error('asked'));
    Object.assign(logins, { issuerOf: asked, begin: asked });
    const [known, unknown] = [await ask('GET', '/login/tickets'), await ask('GET', '/login/%3Cb%3Eother?a=b')];
    expect(known.status).toBe(200);
    expect(known.text).toBe(unknown.text);
    expect(known.text).toContain('id="token-form"');
    expect(known.text).not.toContain('method="post"');
    for (const { headers } of [known, unknown]) {
      expect(headers['set-cookie']).toBeUndefined();
      expect(headers).toMatchObject({ 'referrer-policy': 'same-origin', 'cache-control': 'no-store' });
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('form-action');
    }
  });

  test('does not exist without a server at which callers sign in', async () => {
    const { ask } = await serve({ servers: [] });
    expect((await ask('GET', '/login/tickets')).status).toBe(401);
    expect((await ask('GET', '/login/tickets', bearer(ALICE.token))).status).toBe(404);
  });

  test('begins nothing without a token', async () => {
    const { ask } = await serve();
    const reply = await ask('POST', '/login/tickets', { Host: 'mcp.example.com', Origin: PUBLIC });
    expect(reply.status).toBe(401);
    expect(cookiesOf(reply)).toEqual([]);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err } from 'neverthrow';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { OAuthLogins } from '../../src/adapters/outbound/login/oauth-logins.ts';
import { never } from '../../src/application/async/deadline.ts';
import type { Clock } from '../../src/application/ports/services.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
import { CALLBACK, FakeLogins } from '../support/fake-logins.ts';
import { freePort } from '../support/free-port.ts';
import { describeLogins, type LoginsKit } from './describe-logins.ts';

async function oauthLogins(issuer: FakeIssuer, clock: Clock = new SystemClock(), name = 'logins', client: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'logins-'));
  writeFileSync(join(folder, 'a-file'), '');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const callbackPort = await freePort();
  const auth = { grant: 'authorization_code', callbackPort, ...client } as const;
  const servers = ['notes', 'issues'].map((name) => ({ name, url: `${issuer.origin}/${name}`, headers: {}, auth }));
  return new OAuthLogins({
    servers,
    useOf: () => 'shared',
    files: new LoginFiles(join(folder, name), clock),
    network: { fetch, clock },
    learn: () => {},
  });
}

/** A login to the server `notes`, by a person who agrees at once. */
async function signIn(logins: OAuthLogins, issuer: FakeIssuer): Promise<void> {
  async function* lines() {}
  const onUrl = (url: string) => void fetch(issuer.callbackFor(url)).then((response) => response.text());
  const signedIn = await logins.signIn('notes', { onUrl, lines: lines(), onIgnored: () => {} }, never());
  expect(signedIn.isOk()).toBe(true);
}

async function startOAuth(): Promise<LoginsKit> {
  const issuer = await FakeIssuer.start();
  const open = async (callback: string) => void (await (await fetch(callback)).text());
  return { logins: await oauthLogins(issuer), agree: async (url) => issuer.callbackFor(url), open };
}

async function startFake(): Promise<LoginsKit> {
  const logins = new FakeLogins({ notes: 'https://notes.example.com/mcp', issues: 'https://issues.example.com/mcp' });
  logins.signsIn = false;
  let onOpened = (): void => {};
  const signIn = logins.signIn.bind(logins);
  logins.signIn = (server, person, signal) => {
    const opened = new Promise<void>((resolve) => {
      onOpened = resolve;
    });
    async function* lines() {
      yield* person.lines;
      await opened;
      yield `${CALLBACK}?state=right`;
    }
    return signIn(server, { ...person, lines: lines() }, signal);
  };
  return { logins, agree: async () => `${CALLBACK}?state=right&code=1`, open: async () => onOpened() };
}

describeLogins('OAuthLogins', startOAuth);
describeLogins('FakeLogins', startFake);

/** `notes`, and the URL of the callback of a person who has agreed. The login waits until `open` has opened it. */
async function waiting() {
  const issuer = await FakeIssuer.start();
  const logins = await oauthLogins(issuer);
  async function* lines() {}
  let onUrl = (_: string): void => {};
  const callback = new Promise<string>((resolve) => {
    onUrl = (url) => resolve(issuer.callbackFor(url));
  });
  const signedIn = logins.signIn('notes', { onUrl, lines: lines(), onIgnored: () => {} }, never());
  return { logins, issuer, signedIn, callback: await callback };
}

test.each<[string, (url: URL) => URL | string, RequestInit?]>([
  ['another state', (url) => url.href.replace('state=', 'state=x')],
  ['no state', (url) => url.href.replace('state=', 'no=')],
  ['another path', (url) => Object.assign(url, { pathname: '/other' })],
  ['a path below', (url) => Object.assign(url, { pathname: '/callback/' })],
  ['no path', (url) => Object.assign(url, { pathname: '/' })],
  ['another method', (url) => url, { method: 'POST' }],
  ['a method without an answer', (url) => url, { method: 'HEAD' }],
  ['an error with another state', (url) => url.href.replace('state=', 'error=access_denied&state=x')],
])('a callback with %s is refused, and the login waits on', async (_, change, init) => {
  const { logins, signedIn, callback } = await waiting();
  expect((await fetch(change(new URL(callback)), init)).status).toBe(400);
  expect(await logins.list()).toEqual([]);
  expect((await fetch(callback)).status).toBe(200);
  expect((await signedIn).isOk()).toBe(true);
});

describe('a second login registers no second client', () => {
  test('of one server at one issuer with one port', async () => {
    const issuer = await FakeIssuer.start();
    const logins = await oauthLogins(issuer);
    for (let times = 0; times < 3; times += 1) await signIn(logins, issuer);
    expect(issuer.registrations).toHaveLength(1);
    expect(issuer.tokenRequests.map(({ parameters }) => parameters.client_id)).toEqual(Array(3).fill('client-1'));
  });

  test.each<[string, (issuer: FakeIssuer, logins: OAuthLogins) => unknown]>([
    ['the login has ended', (_, logins) => logins.signOut('notes', never())],
    ['the login needs more scopes', (issuer) => (issuer.resource = { scopes_supported: ['read', 'write'] })],
  ])('unless %s', async (_, change) => {
    const issuer = await FakeIssuer.start();
    const logins = await oauthLogins(issuer);
    await signIn(logins, issuer);
    await change(issuer, logins);
    await signIn(logins, issuer);
    expect(issuer.registrations).toHaveLength(2);
  });

  test('and says what to do if the issuer has forgotten it', async () => {
    const issuer = await FakeIssuer.start();
    const logins = await oauthLogins(issuer);
    await signIn(logins, issuer);
    issuer.answers.set('/token', { status: 401, body: { error: 'invalid_client', error_description: 'Unknown' } });
    async function* lines() {}
    const onUrl = (url: string) => void fetch(issuer.callbackFor(url)).then((response) => response.text());
    const signedIn = await logins.signIn('notes', { onUrl, lines: lines(), onIgnored: () => {} }, never());
    expect(signedIn).toEqual(
      err(
        `${issuer.origin}/token answered invalid_client: Unknown; run logout first, so that it registers a new client`,
      ),
    );
  });
});

test('there is no sign-in within 5 minutes', async () => {
  const issuer = await FakeIssuer.start();
  const clock = new FakeClock();
  const logins = await oauthLogins(issuer, clock);
  let onUrl = (): void => {};
  const asked = new Promise<void>((resolve) => {
    onUrl = resolve;
  });
  async function* lines() {}
  const signedIn = logins.signIn('notes', { onUrl, lines: lines(), onIgnored: () => {} }, never());
  await asked;
  await clock.advance(299_999);
  expect(await Promise.race([signedIn, settled()])).toBeUndefined();
  await clock.advance(1);
  expect(await signedIn).toEqual(err('no sign-in within 5 minutes'));
  expect(await logins.list()).toEqual([]);
});

test.each([
  ['each token is tried, whatever becomes of the other', 'revocation answered with HTTP 503', 2, {}],
  ['there is no endpoint', 'names no revocation_endpoint', 0, { revocation_endpoint: undefined }],
])('says that tokens were not revoked (%s)', async (_, reason, requests, metadata) => {
  const issuer = await FakeIssuer.start();
  issuer.metadata = metadata;
  const logins = await oauthLogins(issuer);
  await signIn(logins, issuer);
  issuer.answers.set('/revocation', { status: 503 });
  const signedOut = await logins.signOut('notes', never());
  expect(signedOut).toEqual({ kind: 'not_revoked', reason: expect.stringContaining(reason) });
  expect(await logins.list()).toEqual([]);
  expect(issuer.seen.filter((path) => path === '/revocation')).toHaveLength(requests);
});

test('revokes tokens as the client, with its configured secret', async () => {
  const issuer = await FakeIssuer.start();
  const client = { issuer: issuer.origin, clientId: 'mine', clientSecret: 'tHe-SeCrEt' };
  const logins = await oauthLogins(issuer, new SystemClock(), 'logins', client);
  await signIn(logins, issuer);
  expect(await logins.signOut('notes', never())).toEqual({ kind: 'deleted' });
  const basic = `Basic ${Buffer.from('mine:tHe-SeCrEt').toString('base64')}`;
  expect(issuer.headers.slice(-2).map(({ authorization }) => authorization)).toEqual([basic, basic]);
  expect(new Set(issuer.revoked)).toEqual(new Set(['access-1', 'refresh-1']));
});

test('says that a login cannot be deleted', async () => {
  const logins = await oauthLogins(await FakeIssuer.start(), new SystemClock(), 'a-file');
  const reason = 'the login cannot be written (EEXIST)';
  expect(await logins.signOut('notes', never())).toEqual({ kind: 'not_deleted', reason });
});

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { LoginFiles } from '../../src/adapters/outbound/login/login-files.ts';
import { type LoginEvent, OAuthCallerLogins } from '../../src/adapters/outbound/login/oauth-caller-logins.ts';
import { PendingFiles } from '../../src/adapters/outbound/login/pending-files.ts';
import { never } from '../../src/application/async/deadline.ts';
import type { CallerKey } from '../../src/application/ports/caller-logins.ts';
import { newFolder } from '../e2e/files.ts';
import { FakeCallerLogins } from '../support/fake-caller-logins.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeIssuer } from '../support/fake-issuer.ts';
import {
  BOB,
  begin as beginBy,
  CALLBACK,
  describeCallerLogins,
  NOT_BEGUN,
  NOTES,
  signIn as signInBy,
} from './describe-caller-logins.ts';

/** `process` makes the logins of another process over the same folder. */
async function start(key?: Buffer) {
  const issuer = await FakeIssuer.start();
  const folder = join(newFolder(), 'logins');
  const clock = new FakeClock();
  const events: LoginEvent[] = [];
  let servers = ['notes', 'issues'];
  const process = (ownKey = key) => {
    const files = new LoginFiles(folder, clock, { key: ownKey });
    const logins = new OAuthCallerLogins({
      servers: () => servers,
      serverOf: async (name) => ({ name, url: `${issuer.origin}/${name}`, headers: {} }),
      files,
      pending: new PendingFiles(folder, clock, ownKey, 'login'),
      network: { fetch, clock },
      learn: () => {},
      onEvent: (event) => events.push(event),
    });
    return { files, logins };
  };
  const { logins, files } = process();
  const kit = { logins, issuer: issuer.origin, agree: (url: string) => issuer.callbackFor(url) };
  const begin = (key: CallerKey) => beginBy(kit, key);
  const signIn = (key: CallerKey) => signInBy(kit, key);
  const pending = () => readdirSync(folder).filter((name) => name.endsWith('.pending'));
  const configure = (names: string[]) => {
    servers = names;
  };
  return { kit, issuer, folder, clock, events, logins, files, process, begin, signIn, pending, configure };
}

describeCallerLogins('OAuthCallerLogins', async () => (await start()).kit);
describeCallerLogins('FakeCallerLogins', async () => {
  const logins = new FakeCallerLogins(['notes', 'issues']);
  const agree = (url: string) => `${CALLBACK}?state=${new URL(url).searchParams.get('state')}&code=1`;
  return { logins, issuer: logins.issuer, agree };
});

test('a login of a caller is no shared login, and not that of the user of this machine', async () => {
  const { issuer, logins, files, signIn, events, pending } = await start();
  expect(await logins.issuerOf('notes', never())).toEqual(ok(issuer.origin));
  expect(issuer.registrations).toEqual([]);
  expect(await signIn(NOTES)).toEqual(ok(NOTES));
  const url = `${issuer.origin}/notes`;
  expect(await files.read({ url, use: 'shared' })).toBeUndefined();
  expect(await files.read({ url, use: { kind: 'local' } })).toBeUndefined();
  expect(events).toEqual([{ ...NOTES, event: 'login', outcome: 'done', scopes: expect.any(Array) }]);
  expect(pending()).toEqual([]);
});

test('a login that one process began ends at another, once', async () => {
  const { process, begin, pending, folder } = await start();
  const { parameters, browser } = await begin(NOTES);
  expect(pending().map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o600]);
  expect(await process().logins.finish(parameters, browser, never())).toEqual(ok(NOTES));
  expect(await process().logins.finish(parameters, browser, never())).toEqual(NOT_BEGUN);
});

test('of callbacks at once, one wins', async () => {
  const { process, begin, issuer } = await start();
  const { parameters, browser } = await begin(NOTES);
  const both = await Promise.all([1, 2, 3].map(() => process().logins.finish(parameters, browser, never())));
  expect(both.filter((one) => one.isOk())).toHaveLength(1);
  expect(issuer.tokenRequests).toHaveLength(1);
});

test.each<[string, (found: { state: string; secret: string; id: string }) => { state?: string; secret?: string }]>([
  ['another state', () => ({ state: 'x'.repeat(43) })],
  ['no state', () => ({ state: '' })],
  ['a state that is a path', () => ({ state: '../../etc/passwd' })],
  ['another secret', () => ({ secret: 'x'.repeat(43) })],
  ['the state as the secret', ({ state }) => ({ secret: state })],
])('a callback with %s ends nothing, and leaves the login to its browser', async (_, change) => {
  const { logins, begin, issuer } = await start();
  const { parameters, browser, begun } = await begin(NOTES);
  const state = parameters.get('state') ?? '';
  const { state: other = state, secret = begun.secret } = change({ ...begun, state });
  const wrong = new URLSearchParams(parameters);
  wrong.set('state', other);
  const attack = { secretOf: () => secret, mayEnd: () => true };
  expect(await logins.finish(wrong, attack, never())).toEqual(NOT_BEGUN);
  expect(issuer.tokenRequests).toEqual([]);
  expect(await logins.finish(parameters, browser, never())).toEqual(ok(NOTES));
});

test('a login ends within ten minutes, and is then deleted with the next one', async () => {
  const { logins, begin, clock, pending } = await start();
  const late = await begin(NOTES);
  const inTime = await begin(NOTES);
  await clock.advance(599_999);
  expect((await logins.finish(inTime.parameters, inTime.browser, never())).isOk()).toBe(true);
  await clock.advance(1);
  expect(await logins.finish(late.parameters, late.browser, never())).toEqual(NOT_BEGUN);
  expect(pending()).toEqual([]);
});

test.each<[string, (parameters: URLSearchParams) => void]>([
  ['of another issuer', (parameters) => parameters.set('iss', 'https://other.example.com')],
  [
    'without a code',
    (parameters) => {
      parameters.delete('code');
      parameters.set('error', 'access_denied');
    },
  ],
])('a callback %s stores nothing, and cannot be repeated', async (_, change) => {
  const { logins, begin, events, issuer } = await start();
  const { parameters, browser } = await begin(NOTES);
  const changed = new URLSearchParams(parameters);
  change(changed);
  const failed = await logins.finish(changed, browser, never());
  expect(failed).toEqual(err({ kind: 'failed', reason: expect.stringContaining(issuer.origin) }));
  expect(events).toEqual([{ ...NOTES, event: 'login', outcome: 'failed', scopes: [] }]);
  expect(await logins.finish(parameters, browser, never())).toEqual(NOT_BEGUN);
  expect(await logins.list()).toEqual([]);
});

test.each<[string, (kit: Awaited<ReturnType<typeof start>>) => void, () => boolean]>([
  ['the server is gone', ({ configure }) => configure([]), () => true],
  ['the caller may not use it any more', () => {}, () => false],
])('nothing is stored if, in the meantime, %s', async (_, change, mayEnd) => {
  const kit = await start();
  const { parameters, browser } = await kit.begin(NOTES);
  change(kit);
  expect((await kit.logins.finish(parameters, { ...browser, mayEnd }, never())).isErr()).toBe(true);
  expect(await kit.files.ownersAt(`${kit.issuer.origin}/notes`)).toEqual([]);
});

test('knows whether a login is valid, or can be renewed', async () => {
  const { issuer, clock, logins, signIn } = await start();
  const isAlive = async () => (await logins.read(NOTES))?.isAlive;
  await signIn(NOTES);
  await clock.advance(3_600_000);
  expect(await isAlive()).toBe(true);
  issuer.tokens = { refresh_token: undefined };
  await signIn(NOTES);
  expect(await isAlive()).toBe(true);
  await clock.advance(3_600_000);
  expect(await isAlive()).toBe(false);
});

test('removes the login of one caller, and revokes its tokens', async () => {
  const { logins, signIn, issuer, events } = await start();
  await signIn(NOTES);
  await signIn({ server: 'notes', owner: BOB });
  expect(await logins.remove(NOTES, never())).toEqual({ kind: 'deleted' });
  expect((await logins.list()).map(({ owner }) => owner)).toEqual([BOB]);
  expect(issuer.revoked).toHaveLength(2);
  expect(await logins.remove(NOTES, never())).toEqual({ kind: 'none' });
  expect(events.filter(({ event }) => event === 'logout')).toHaveLength(1);
});

test('with a key, nothing of a login can be read or moved, and what is pending neither', async () => {
  const key = Buffer.alloc(32, 7);
  const { folder, begin, signIn, process, logins } = await start(key);
  await signIn(NOTES);
  const { parameters, browser } = await begin(NOTES);
  const contents = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  expect(contents).toHaveLength(2);
  for (const content of contents) {
    for (const text of ['access-1', 'refresh-1', 'alice', 'notes', 'verifier']) expect(content).not.toContain(text);
  }
  const { logins: other } = process(Buffer.alloc(32, 8));
  expect(await other.list()).toEqual([]);
  expect(await other.finish(parameters, browser, never())).toEqual(NOT_BEGUN);
  expect(await logins.finish(parameters, browser, never())).toEqual(ok(NOTES));
});

// S90
test('with a key, what is pending without encryption is not used, because anyone who can write the folder could have written it', async () => {
  const { process, begin } = await start();
  const { parameters, browser } = await begin(NOTES);
  const { logins } = process(Buffer.alloc(32, 7));
  expect(await logins.finish(parameters, browser, never())).toEqual(NOT_BEGUN);
});

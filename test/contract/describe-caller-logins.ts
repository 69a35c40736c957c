import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { never } from '../../src/application/async/deadline.ts';
import type { CallerKey, CallerLogins } from '../../src/application/ports/caller-logins.ts';
import type { LoginOwner } from '../../src/domain/gateway/login-owner.ts';

export interface CallerLoginsKit {
  /** For the servers `notes` and `issues`, without logins. */
  readonly logins: CallerLogins;
  /** The issuer of both servers. */
  readonly issuer: string;
  /** Agrees at the issuer, and returns the address to which the browser is sent. */
  readonly agree: (url: string) => string;
}

export const ALICE: LoginOwner = { kind: 'token', name: 'alice' };
export const BOB: LoginOwner = { kind: 'subject', issuer: 'https://auth.example.com', sub: 'bob' };
export const NOTES: CallerKey = { server: 'notes', owner: ALICE };
export const NOT_BEGUN = err({ kind: 'not_begun' });
export const CALLBACK = 'https://gateway.example.com/login/callback';

/** Begins a login, up to the return of the browser. */
export async function begin({ logins, agree }: CallerLoginsKit, key: CallerKey) {
  const begun = (await logins.begin(key, CALLBACK, never()))._unsafeUnwrap();
  const { searchParams: parameters } = new URL(agree(begun.url));
  const browser = { secretOf: (id: string) => (id === begun.id ? begun.secret : undefined), mayEnd: () => true };
  return { begun, parameters, browser };
}

export async function signIn(kit: CallerLoginsKit, key: CallerKey) {
  const { parameters, browser } = await begin(kit, key);
  return kit.logins.finish(parameters, browser, never());
}

/** What every CallerLogins guarantees. */
export function describeCallerLogins(name: string, start: () => Promise<CallerLoginsKit>): void {
  describe(`${name} as CallerLogins`, () => {
    test('gives a caller a login that no other caller and no other server has', async () => {
      const kit = await start();
      const { logins, issuer } = kit;
      expect(await logins.issuerOf('notes', never())).toEqual(ok(issuer));
      expect(await signIn(kit, NOTES)).toEqual(ok(NOTES));
      expect(await logins.read(NOTES)).toMatchObject({ server: 'notes', owner: ALICE, issuer });
      expect(await logins.read({ server: 'notes', owner: BOB })).toBeUndefined();
      expect(await logins.read({ server: 'issues', owner: ALICE })).toBeUndefined();
    });

    test('lists the logins of one caller, or of all', async () => {
      const kit = await start();
      for (const key of [NOTES, { server: 'issues', owner: BOB }, { server: 'notes', owner: BOB }])
        await signIn(kit, key);
      const listed = async (owner?: LoginOwner) =>
        (await kit.logins.list(owner)).map(({ server, owner }) => [server, owner.kind]);
      expect(await listed(ALICE)).toEqual([['notes', 'token']]);
      expect(await listed(BOB)).toEqual([
        ['notes', 'subject'],
        ['issues', 'subject'],
      ]);
      expect(await listed()).toHaveLength(3);
    });

    test('ends a login once, and only in the browser that began', async () => {
      const kit = await start();
      const { parameters, browser } = await begin(kit, NOTES);
      const { browser: other } = await begin(kit, { server: 'notes', owner: BOB });
      expect(await kit.logins.finish(parameters, other, never())).toEqual(NOT_BEGUN);
      expect(await kit.logins.list()).toEqual([]);
      expect(await kit.logins.finish(parameters, browser, never())).toEqual(ok(NOTES));
      expect(await kit.logins.finish(parameters, browser, never())).toEqual(NOT_BEGUN);
    });

    test('keeps nothing if the person declines, or the caller may not use the server any more', async () => {
      const kit = await start();
      const declined = await begin(kit, NOTES);
      const without = new URLSearchParams({ state: declined.parameters.get('state') ?? '', error: 'access_denied' });
      const failed = await kit.logins.finish(without, declined.browser, never());
      expect(failed).toEqual(err({ kind: 'failed', reason: expect.stringContaining(kit.issuer) }));
      const removed = await begin(kit, NOTES);
      const browser = { ...removed.browser, mayEnd: () => false };
      expect(await kit.logins.finish(removed.parameters, browser, never())).toEqual(NOT_BEGUN);
      expect(await kit.logins.list()).toEqual([]);
    });

    test('removes the login of one caller', async () => {
      const kit = await start();
      await signIn(kit, NOTES);
      await signIn(kit, { server: 'notes', owner: BOB });
      expect(await kit.logins.remove(NOTES, never())).toEqual({ kind: 'deleted' });
      expect((await kit.logins.list()).map(({ owner }) => owner)).toEqual([BOB]);
      expect(await kit.logins.remove(NOTES, never())).toEqual({ kind: 'none' });
    });

    test('knows only the servers at which callers sign in', async () => {
      const { logins } = await start();
      const unknown = err({ kind: 'unknown_server' });
      expect(await logins.issuerOf('other', never())).toEqual(unknown);
      expect(await logins.begin({ server: 'other', owner: ALICE }, CALLBACK, never())).toEqual(unknown);
    });
  });
}

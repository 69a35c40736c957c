import { describe, expect, test } from 'vitest';
import { never } from '../../src/application/async/deadline.ts';
import type { Logins, SigningIn } from '../../src/application/ports/tool-server.ts';

export interface LoginsKit {
  /** For the servers `notes` and `issues`, in this order, without logins. */
  readonly logins: Logins;
  /** Signs in as a person, in a browser: resolves with the URL of the callback, which was not opened. */
  readonly agree: (url: string) => Promise<string>;
  /** Opens the URL of the callback on the machine of the program. */
  readonly open: (callback: string) => Promise<void>;
}

/** What every Logins guarantees. */
export function describeLogins(name: string, start: () => Promise<LoginsKit>): void {
  const signIn = async ({ logins, agree, open }: LoginsKit, server: string, isPasted = false) => {
    const ignored: string[] = [];
    let onUrl: SigningIn['onUrl'] = () => {};
    let isKnown: boolean | undefined;
    const callback = new Promise<string>((resolve) => {
      onUrl = (url, isClientKnown) => {
        isKnown = isClientKnown;
        resolve(agree(url));
      };
    });
    async function* lines() {
      if (!isPasted) return;
      yield 'not a URL';
      const right = new URL(await callback);
      right.searchParams.set('state', 'wrong');
      yield right.href;
      yield await callback;
    }
    const person: SigningIn = { onUrl, lines: lines(), onIgnored: (why) => ignored.push(why) };
    const signedIn = logins.signIn(server, person, never());
    if (!isPasted) await open(await callback);
    return { login: (await signedIn)._unsafeUnwrap(), ignored, isKnown };
  };

  describe(`${name} as Logins`, () => {
    test('has none at first, and those that were made, in the order of the servers', async () => {
      const kit = await start();
      expect(await kit.logins.list()).toEqual([]);
      const { login: second } = await signIn(kit, 'issues');
      const { login: first } = await signIn(kit, 'notes');
      expect([first.server, second.server]).toEqual(['notes', 'issues']);
      expect(await kit.logins.list()).toEqual([first, second]);
    });

    test('accepts the pasted URL of the callback, and says why others are not', async () => {
      const kit = await start();
      const { login, ignored } = await signIn(kit, 'notes', true);
      expect(ignored).toHaveLength(2);
      expect(await kit.logins.list()).toEqual([login]);
    });

    test('uses the client of a login again, and says so, because its issuer may have forgotten it', async () => {
      const kit = await start();
      expect((await signIn(kit, 'notes')).isKnown).toBe(false);
      expect((await signIn(kit, 'notes')).isKnown).toBe(true);
    });

    test('ends a login once', async () => {
      const kit = await start();
      await signIn(kit, 'notes');
      expect(await kit.logins.signOut('notes', never())).toEqual({ kind: 'deleted' });
      expect(await kit.logins.list()).toEqual([]);
      expect(await kit.logins.signOut('notes', never())).toEqual({ kind: 'none' });
    });

    test('stops waiting on an abort, and leaves the login that existed', async () => {
      const kit = await start();
      const { login } = await signIn(kit, 'notes');
      const stopped = new AbortController();
      async function* lines() {}
      const person = { onUrl: () => stopped.abort(), lines: lines(), onIgnored: () => {} };
      expect((await kit.logins.signIn('notes', person, stopped.signal)).isErr()).toBe(true);
      expect(await kit.logins.list()).toEqual([login]);
    });
  });
}

import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { never } from '../../src/application/async/deadline.ts';
import type { PersonSignIn, ProvedPerson } from '../../src/application/ports/person-sign-in.ts';

export interface PersonSignInKit {
  readonly people: PersonSignIn;
  readonly issuer: string;
  /** Agrees at the issuer as `alice`, and returns the parameters with which the browser is sent back. */
  readonly agree: (url: string) => Promise<URLSearchParams>;
}

export const PERSON_CALLBACK = 'https://gateway.example.com/login/caller';
const NOT_BEGUN = err({ kind: 'not_begun' });

/** Begins a sign-in, up to the return of the browser. */
export async function beginPerson({ people, agree }: PersonSignInKit, server = 'notes') {
  const begun = (await people.begin(server, PERSON_CALLBACK, never()))._unsafeUnwrap();
  const secretOf = (id: string) => (id === begun.id ? begun.secret : undefined);
  return { begun, secretOf, parameters: await agree(begun.url) };
}

/** What every PersonSignIn guarantees. */
export function describePersonSignIn(name: string, start: () => Promise<PersonSignInKit>): void {
  describe(`${name} as a PersonSignIn`, () => {
    test('says who has signed in, for which server', async () => {
      const kit = await start();
      const { parameters, secretOf } = await beginPerson(kit);
      const { server, person } = (await kit.people.finish(parameters, secretOf, never()))._unsafeUnwrap();
      expect(server).toBe('notes');
      expect(person).toMatchObject({ caller: 'oauth:alice', subject: { issuer: kit.issuer, sub: 'alice' } });
    });

    test('ends a sign-in once, and only in the browser that began', async () => {
      const kit = await start();
      const { parameters, secretOf } = await beginPerson(kit);
      const { secretOf: ofOther } = await beginPerson(kit);
      for (const other of [() => undefined, () => 'secret', ofOther])
        expect(await kit.people.finish(parameters, other, never())).toEqual(NOT_BEGUN);
      expect((await kit.people.finish(parameters, secretOf, never())).isOk()).toBe(true);
      expect(await kit.people.finish(parameters, secretOf, never())).toEqual(NOT_BEGUN);
    });

    test('does not sign in a person who did not agree', async () => {
      const kit = await start();
      const { parameters, secretOf } = await beginPerson(kit);
      parameters.delete('code');
      parameters.set('error', 'access_denied');
      const problem = (await kit.people.finish(parameters, secretOf, never()))._unsafeUnwrapErr();
      expect(problem).toEqual({ kind: 'failed', reason: expect.stringContaining('refused the login') });
    });

    test('keeps a proof for one use by one browser, and as nothing else', async () => {
      const { people } = await start();
      const proved: ProvedPerson = { server: 'notes', person: { caller: 'oauth:alice' } };
      const { state, id, secret } = (await people.keep(proved))._unsafeUnwrap();
      const secretOf = (asked: string) => (asked === id ? secret : undefined);
      expect(await people.take(state, () => 'secret')).toBeUndefined();
      expect(await people.take(state, secretOf)).toEqual(proved);
      expect(await people.take(state, secretOf)).toBeUndefined();
      const kept = (await people.keep(proved))._unsafeUnwrap();
      const parameters = new URLSearchParams({ state: kept.state, code: 'c' });
      const ofKept = (asked: string) => (asked === kept.id ? kept.secret : undefined);
      expect(await people.finish(parameters, ofKept, never())).toEqual(NOT_BEGUN);
    });

    test('does not take a sign-in that has not ended as a proof', async () => {
      const kit = await start();
      const { parameters, secretOf } = await beginPerson(kit);
      expect(await kit.people.take(parameters.get('state') ?? '', secretOf)).toBeUndefined();
    });
  });
}

import { err, ok } from 'neverthrow';
import type { TokenOwner } from '../../src/application/ports/callers.ts';
import type { PersonSignIn, ProvedPerson } from '../../src/application/ports/person-sign-in.ts';

/** Sign-ins in memory, of the person `alice`. The browser returns from the issuer with the state that is in the address of the issuer. */
export class FakePersonSignIn implements PersonSignIn {
  readonly issuer = 'https://auth.example.com';
  person: TokenOwner = { caller: 'oauth:alice', groups: [], subject: { issuer: this.issuer, sub: 'alice' } };
  readonly #kept = new Map<string, { readonly server: string; readonly proof?: ProvedPerson }>();

  begin: PersonSignIn['begin'] = async (server, redirectUrl) => {
    const { state, ...begun } = this.#keep({ server });
    const query = new URLSearchParams({ state, redirect_uri: redirectUrl });
    return ok({ ...begun, url: `${this.issuer}/authorization?${query}` });
  };

  finish: PersonSignIn['finish'] = async (parameters, secretOf) => {
    const taken = this.#take(parameters.get('state') ?? '', secretOf);
    if (taken === undefined || taken.proof !== undefined) return err({ kind: 'not_begun' });
    if (parameters.get('code') === null) return err({ kind: 'failed', reason: `${this.issuer} refused the login` });
    return ok({ server: taken.server, person: this.person });
  };

  keep: PersonSignIn['keep'] = async (proof) => ok(this.#keep({ server: proof.server, proof }));

  take: PersonSignIn['take'] = async (state, secretOf) => this.#take(state, secretOf)?.proof;

  #keep(content: { readonly server: string; readonly proof?: ProvedPerson }) {
    const id = `p${this.#kept.size}`;
    this.#kept.set(id, content);
    return { state: id, id, secret: `secret-${id}`, maxAgeSeconds: 600 };
  }

  #take(state: string, secretOf: (id: string) => string | undefined) {
    const kept = this.#kept.get(state);
    if (kept === undefined || secretOf(state) !== `secret-${state}`) return undefined;
    this.#kept.set(state, { server: '' });
    return kept.server === '' ? undefined : kept;
  }
}

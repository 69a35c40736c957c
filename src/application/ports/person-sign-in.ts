import type { Result } from 'neverthrow';
import type { BegunLogin, CallbackParameters, LoginProblem, SecretOf } from './caller-logins.ts';
import type { TokenOwner } from './callers.ts';

/** A person who has proved to be a caller, to sign in to one server. */
export interface ProvedPerson {
  readonly server: string;
  readonly person: TokenOwner;
}

/** What a browser keeps to use a proof: a form has the state, and a cookie the secret. */
export type KeptProof = Pick<BegunLogin, 'id' | 'secret' | 'maxAgeSeconds'> & { readonly state: string };

/**
 * How a person proves in a browser to be a caller: by signing in at the issuer of the callers' access tokens. Any process over the same folder can go on
 * with what another one began. No promise rejects but for a bug.
 */
export interface PersonSignIn {
  /** Begins a sign-in, which can be ended once, within ten minutes. `redirectUrl` is the address to which the issuer sends the browser. */
  begin(server: string, redirectUrl: string, signal: AbortSignal): Promise<Result<BegunLogin, LoginProblem>>;
  /** Ends a sign-in with the parameters of the callback. */
  finish(
    parameters: CallbackParameters,
    secretOf: SecretOf,
    signal: AbortSignal,
  ): Promise<Result<ProvedPerson, LoginProblem>>;
  /** Keeps a proof for one use by the same browser, within ten minutes. */
  keep(proved: ProvedPerson): Promise<Result<KeptProof, LoginProblem>>;
  /** Takes a proof; undefined if this browser has none. */
  take(state: string, secretOf: SecretOf): Promise<ProvedPerson | undefined>;
}

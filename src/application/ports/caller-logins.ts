import type { Result } from 'neverthrow';
import type { LoginOwner } from '../../domain/gateway/login-owner.ts';
import type { Kind } from '../../domain/values/kind.ts';
import type { LoginSummary, SignedOut } from './tool-server.ts';

/** A server at which each caller signs in, and the caller. */
export interface CallerKey {
  readonly server: string;
  readonly owner: LoginOwner;
}

/** A login of a caller, without its tokens. */
export interface CallerLogin extends LoginSummary {
  readonly owner: LoginOwner;
  /** Whether it has a valid token, or can get one. */
  readonly isAlive: boolean;
}

/** A login that waits for the person at the issuer. The browser keeps the secret, so that no other one can end the login. */
export interface BegunLogin {
  /** The address of the issuer, to which the browser goes. */
  readonly url: string;
  /** Names the login in the browser: different for each, of letters and digits. */
  readonly id: string;
  /** The proof that a browser is the one that began; for a cookie of that browser only. */
  readonly secret: string;
  readonly maxAgeSeconds: number;
}

/** The parameters with which the issuer sends the browser back; null for one that is absent. */
export interface CallbackParameters {
  get(name: string): string | null;
}

/** Returns the secret that the browser has for a begun login; undefined if it has none. */
export type SecretOf = (id: string) => string | undefined;

export type LoginProblem =
  /** No server of this name lets callers sign in. */
  | Kind<'unknown_server'>
  /** No such login was begun by this browser, or it has ended. */
  | Kind<'not_begun'>
  /** `reason` is for people. */
  | Kind<'failed', { reason: string }>;

/**
 * The logins of callers to servers, which they begin and end in a browser. Any process over the same folder can end what another one began. No promise
 * rejects but for a bug.
 */
export interface CallerLogins {
  /** The issuer at which callers sign in to a server. Asks the server and the issuer, and registers nothing. */
  issuerOf(server: string, signal: AbortSignal): Promise<Result<string, LoginProblem>>;
  /** Begins a login, which can be ended once, within ten minutes. `redirectUrl` is the address to which the issuer sends the browser. */
  begin(key: CallerKey, redirectUrl: string, signal: AbortSignal): Promise<Result<BegunLogin, LoginProblem>>;
  /** Ends a login with the parameters of the callback, and keeps the tokens. `mayEnd` says whether the caller may still use the server. */
  finish(
    parameters: CallbackParameters,
    browser: { readonly secretOf: SecretOf; readonly mayEnd: (key: CallerKey) => boolean },
    signal: AbortSignal,
  ): Promise<Result<CallerKey, LoginProblem>>;
  /** The logins of a caller, or of all callers, to configured servers, in the order of the servers. Sends no request. */
  list(owner?: LoginOwner): Promise<readonly CallerLogin[]>;
  /** The login of a caller to a server; undefined if there is none. Sends no request. */
  read(key: CallerKey): Promise<CallerLogin | undefined>;
  /** Deletes a login, and revokes its tokens if the issuer can do that. */
  remove(key: CallerKey, signal: AbortSignal): Promise<SignedOut>;
}

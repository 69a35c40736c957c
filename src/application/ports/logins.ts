import type { Result } from 'neverthrow';
import type { Kind } from '../../domain/values/kind.ts';

/** A login to a remote server, without its tokens. */
export interface LoginSummary {
  readonly server: string;
  readonly url: string;
  readonly issuer: string;
  readonly scopes: readonly string[];
  /** Undefined if the issuer does not say. */
  readonly expiresAt: Date | undefined;
  /** Whether the login can be renewed without a person. */
  readonly renewable: boolean;
  /** Whether other users of this machine have access to the login's file or folder. */
  readonly isShared: boolean;
}

/** The person who signs in with a browser. */
export interface SigningIn {
  /** Shows the URL, which the person opens on any machine. */
  readonly onUrl: (url: string) => void;
  /** Lines that the person pastes: one is the URL of the callback. */
  readonly lines: AsyncIterable<string>;
  /** Reports why a line was not accepted, as a part of a sentence. The wait continues. */
  readonly onIgnored: (why: string) => void;
}

/** The outcome of ending a login. `not_revoked`: the login was deleted, but its tokens may still be valid. `reason` is for people. */
export type SignedOut = Kind<'none' | 'deleted'> | Kind<'not_revoked' | 'not_deleted', { reason: string }>;

/** The logins of this machine to remote servers, which people create and end. */
export interface Logins {
  /** Signs in within 5 minutes. An error is the reason, for people, and leaves an existing login as it was. Rejects only because of a bug. */
  signIn(server: string, person: SigningIn, signal: AbortSignal): Promise<Result<LoginSummary, string>>;
  /** The logins to configured servers, in the order of the servers. Sends no request. */
  list(): Promise<readonly LoginSummary[]>;
  /** Deletes a login, and revokes its tokens if the issuer can do that. */
  signOut(server: string, signal: AbortSignal): Promise<SignedOut>;
}

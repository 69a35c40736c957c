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
  /** Whether it is continued without a person. */
  readonly renewable: boolean;
  /** Whether other users of this machine have access to its file or folder. */
  readonly isShared: boolean;
}

/** The person who signs in, in a browser. */
export interface SigningIn {
  /** The person opens it, on any machine. */
  readonly onUrl: (url: string) => void;
  /** Lines that the person pastes: one is the URL of the callback. */
  readonly lines: AsyncIterable<string>;
  /** A line was not accepted, and why, as a part of a sentence; the wait continues. */
  readonly onIgnored: (why: string) => void;
}

/** What became of a login that was to be ended. `not_revoked`: it was deleted, but its tokens may still be valid. `reason` is for people. */
export type SignedOut = Kind<'none' | 'deleted'> | Kind<'not_revoked' | 'not_deleted', { reason: string }>;

/** The logins of this machine to remote servers, which persons make and end. */
export interface Logins {
  /** Waits at most 5 minutes. An error is the reason for people; a login that existed is left then. Rejects only for bugs. */
  signIn(server: string, person: SigningIn, signal: AbortSignal): Promise<Result<LoginSummary, string>>;
  /** Those of the configured servers, in their order. Sends no request. */
  list(): Promise<readonly LoginSummary[]>;
  /** Deletes a login, and revokes its tokens if the issuer can do that. */
  signOut(server: string, signal: AbortSignal): Promise<SignedOut>;
}

import type { Result } from 'neverthrow';
import type { Subject } from '../../domain/gateway/call-origin.ts';
import type { Kind } from '../../domain/values/kind.ts';
import type { QuotaLimits, QuotaUnit, QuotaUse } from '../../domain/values/quota.ts';

/** The owner of a valid token. */
export interface TokenOwner {
  /** Unique among owners, and different from every name of a static token. Short, without whitespace. */
  readonly caller: string;
  /** The groups that the token names. */
  readonly groups?: readonly string[];
  /** The subject of an access token, to whom logins belong. Absent if the token names none. */
  readonly subject?: Subject | undefined;
}

export type TokenProblem =
  | 'not_a_jwt'
  | 'unsupported_header'
  | 'unsupported_algorithm'
  | 'not_an_access_token'
  | 'unknown_key'
  | 'wrong_signature'
  | 'wrong_issuer'
  | 'wrong_audience'
  | 'expired'
  | 'not_yet_valid'
  | 'bound_to_a_key'
  | 'invalid_claims'
  | 'no_caller';

export type TokenError =
  | Kind<'invalid_token', { problem: TokenProblem }>
  /** The token is valid, but does not have every required scope. */
  | Kind<'insufficient_scope'>
  /** The token could not be checked, because the keys of its issuer could not be loaded. */
  | Kind<'issuer_unavailable', { retryAfterMs: number }>;

/** Checks access tokens of one authorization server. Never rejects, and settles within seconds, even if that server does not respond. Neither keeps nor logs a token. */
export interface TokenVerifier {
  /** Whether tokens could be checked once. Stays true if the authorization server is lost later, because its keys are kept. */
  readonly isReady: boolean;
  /** Whether the authorization server could be used when it was last needed. */
  readonly isUp: boolean;
  verify(token: string): Promise<Result<TokenOwner, TokenError>>;
}

export interface QuotaKey {
  readonly caller: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** How long the store must remember the day, in milliseconds. */
  readonly keepMs: number;
}

/** The use so far, including the call if it was admitted. */
export interface Admission {
  readonly used: QuotaUse;
  /** The limit because of which the call is refused. */
  readonly reached: QuotaUnit | undefined;
}

/** Counts atomically, also between processes that share the store. Never rejects, and settles within about a second; an error is for people. */
export interface QuotaStore {
  /** Counts one call, unless a limit is reached. */
  admit(key: QuotaKey, limits: QuotaLimits): Promise<Result<Admission, string>>;
  /** Adds the use of a call, which may be negative, and returns the sum. Does not restore a day that the store has forgotten. */
  add(key: QuotaKey, use: QuotaUse): Promise<Result<QuotaUse, string>>;
  close(): Promise<void>;
}

/**
 * A log to which lines are only appended. No promise rejects: a failure is a value with the reason, for people. A line that could not be written
 * is kept, unless there are too many, and is written before later lines.
 */
export interface AuditLog {
  /** Whether lines can be written. After a failure, this tries again. Does not wait for a write in progress. */
  ready(): Promise<Result<void, string>>;
  /** Appends a line, given without its line break. After that, the line is not lost if the process is killed. */
  append(line: string): Promise<Result<void, string>>;
  /** Opens the log again, because another file may have taken its place. */
  open(): Promise<Result<void, string>>;
  close(): Promise<void>;
}

/** Signs the content of a handle, so that only its owner can use the handle. */
export interface HandleSigner {
  /** Returns 22 characters of `[A-Za-z0-9_-]`. Every process with the same API key returns the same signature for the same parts. */
  sign(parts: readonly string[]): string;

  /** Whether a signature is valid. Takes the same time for every signature. */
  verify(parts: readonly string[], signature: string): boolean;
}

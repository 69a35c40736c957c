import type { Result } from 'neverthrow';
import type { Kind } from '../../domain/values/kind.ts';

/** The owner of a valid token. */
export interface TokenOwner {
  /** Unique among owners, and different from every name of a static token. Short, without whitespace. */
  readonly caller: string;
  /** The groups that the token names. */
  readonly groups?: readonly string[];
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

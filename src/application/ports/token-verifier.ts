import type { Result } from 'neverthrow';

/** Who sent a valid token. */
export interface TokenOwner {
  /** Different owners have different names; none is that of a configured static token. Short, without whitespace. */
  readonly caller: string;
}

/** What is wrong with a token that is not valid. */
export type TokenProblem =
  | 'not_a_jwt'
  | 'too_long'
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

/** Why a token is not accepted. */
export type TokenError =
  | { readonly kind: 'invalid_token'; readonly problem: TokenProblem }
  /** The token is valid, but does not have every required scope. */
  | { readonly kind: 'insufficient_scope' }
  /** Nothing can be said about the token, because the keys of its issuer could not be loaded. */
  | { readonly kind: 'issuer_unavailable'; readonly retryAfterMs: number };

/**
 * Checks the access tokens of one authorization server.
 *
 * The promise never rejects. It settles within some seconds, even if the authorization server does not respond. Nothing of
 * the token is kept or logged.
 */
export interface TokenVerifier {
  verify(token: string): Promise<Result<TokenOwner, TokenError>>;
}

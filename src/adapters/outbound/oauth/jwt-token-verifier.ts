import { createHash } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { err, ok, Result } from 'neverthrow';
import type { TokenError, TokenOwner, TokenProblem, TokenVerifier } from '../../../application/ports/callers.ts';
import type { Clock } from '../../../application/ports/services.ts';
import { isObject } from '../../../domain/values/json.ts';
import { scopesIn } from '../network/challenge.ts';
import type { IssuerKeys } from './issuer-keys.ts';

export interface JwtTokenVerifierOptions {
  readonly issuer: string;
  readonly audience: string;
  /** A token needs all of these scopes. */
  readonly scopes: readonly string[];
  /** The claim with the name of the caller. */
  readonly callerClaim: string;
  /** The claim with the groups of the caller, or its path. */
  readonly groupsClaim?: string | undefined;
  readonly keys: Pick<IssuerKeys, 'keyFor' | 'areRead' | 'isUp'>;
  readonly clock: Clock;
}

const LEEWAY_SECONDS = 30;

/** Signatures with a public key. With a shared secret, whoever verifies tokens could also create them. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** Verifies access tokens that are JWTs (RFC 9068, RFC 8725) with the published keys of their issuer. */
export class JwtTokenVerifier implements TokenVerifier {
  readonly #options: JwtTokenVerifierOptions;
  readonly #audiences: readonly string[];

  constructor(options: JwtTokenVerifierOptions) {
    this.#options = options;
    const { audience } = options;
    // Clients complete `https://mcp.example.com` with a slash when they ask for a token.
    this.#audiences = [audience, URL.canParse(audience) ? new URL(audience).href : audience];
  }

  get isReady(): boolean {
    return this.#options.keys.areRead;
  }

  get isUp(): boolean {
    return this.#options.keys.isUp;
  }

  async verify(token: string): Promise<Result<TokenOwner, TokenError>> {
    if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return invalid('not_a_jwt');
    const decoded = Result.fromThrowable(decodeProtectedHeader)(token);
    if (decoded.isErr()) return invalid('not_a_jwt');
    const { keys, issuer, clock, scopes, callerClaim, groupsClaim } = this.#options;
    const header = decoded.value;
    const { alg } = header;
    if (alg === undefined || !ALGORITHMS.includes(alg)) return invalid('unsupported_algorithm');
    if (!/^(?:(?:application\/)?at\+jwt|jwt)$/i.test(header.typ ?? 'JWT')) return invalid('not_an_access_token');
    // The key comes from the issuer only: `jwk`, `jku` and `x5u` in the header are ignored.
    const key = await keys.keyFor({ ...header, alg });
    if (key.isErr()) return err(key.error);
    const verified = await jwtVerify(token, key.value, {
      algorithms: ALGORITHMS,
      issuer,
      audience: [...this.#audiences],
      clockTolerance: LEEWAY_SECONDS,
      currentDate: clock.now(),
      requiredClaims: ['exp'],
    }).catch(problemOf);
    if (typeof verified === 'string') return invalid(verified);
    const { payload } = verified;
    if (!this.#isOnlyForUs(payload)) return invalid('wrong_audience');
    if (isOtherToken(payload, header.typ)) return invalid('not_an_access_token');
    // Such a token requires a proof that the sender has a key, which this server cannot check.
    if (payload.cnf !== undefined) return invalid('bound_to_a_key');
    const caller = toCaller(payload[callerClaim]);
    if (caller === undefined) return invalid('no_caller');
    return hasScopes(payload, scopes)
      ? ok({ caller, groups: groupsIn(payload, groupsClaim), ...subjectOf(payload, issuer) })
      : err({ kind: 'insufficient_scope' });
  }

  /** Whether no other service has the token, which could use it here. Only the issuer may be another audience: Auth0 adds its `/userinfo`. */
  #isOnlyForUs({ aud }: JWTPayload): boolean {
    const allowed: readonly unknown[] = [...this.#audiences, `${this.#options.issuer.replace(/\/$/, '')}/userinfo`];
    return [aud].flat().every((audience) => allowed.includes(audience));
  }
}

function subjectOf({ sub }: JWTPayload, issuer: string): Pick<TokenOwner, 'subject'> {
  return typeof sub === 'string' && sub !== '' ? { subject: { issuer, sub } } : {};
}

function invalid(problem: TokenProblem): Result<TokenOwner, TokenError> {
  return err({ kind: 'invalid_token', problem });
}

/** Whether the issuer signed a token for another purpose, such as an ID token or Keycloak's refresh token. */
function isOtherToken({ typ, nonce, at_hash, c_hash }: JWTPayload, headerType = 'JWT'): boolean {
  if (/at\+jwt$/i.test(headerType)) return false;
  if (typ !== undefined) return !/^(?:bearer|jwt|access(?:_token)?)$/i.test(String(typ));
  return [nonce, at_hash, c_hash].some((claim) => claim !== undefined);
}

/** The name of a caller. Its prefix distinguishes it from callers with static tokens, whose names contain no colon. */
function toCaller(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return undefined;
  // Other names are replaced by their hash, which has a `#` so that no name can look like it.
  return `oauth:${/^[\w.@|:/+=~-]{1,100}$/.test(name) ? name : `#${createHash('sha256').update(name).digest('hex')}`}`;
}

/** The groups of a claim with exactly this name, otherwise at this path, separated by dots. */
function groupsIn(payload: JWTPayload, claim: string | undefined): readonly string[] {
  if (claim === undefined) return [];
  const memberOf = (object: unknown, name: string) =>
    isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined;
  const groups = Object.hasOwn(payload, claim) ? payload[claim] : claim.split('.').reduce<unknown>(memberOf, payload);
  const list: readonly unknown[] = [groups].flat();
  return list.every((group) => typeof group === 'string') ? list : [];
}

function hasScopes({ scope, scp }: JWTPayload, required: readonly string[]): boolean {
  const granted = listOf(scope);
  // Okta and Entra ID use `scp`.
  const inScp = listOf(scp);
  return required.every((name) => {
    // A client asks Entra ID for `api://.../ask`, and the token has `ask`.
    const short = name.replace(/^[a-z]+:\/\/.*\//, '');
    return granted.includes(name) || inScp.includes(name) || inScp.includes(short);
  });
}

function listOf(scopes: unknown): readonly unknown[] {
  if (Array.isArray(scopes)) return scopes;
  return typeof scopes === 'string' ? scopesIn(scopes) : [];
}

/** Why a token is not valid. Any other reason why its signature cannot be verified, such as a weak key, counts as a wrong signature. */
function problemOf(error: unknown): TokenProblem {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return PROBLEM_OF_CLAIM[error.claim] ?? 'invalid_claims';
  if (error instanceof errors.JOSENotSupported) return 'unsupported_header';
  return error instanceof errors.JWTInvalid ? 'invalid_claims' : 'wrong_signature';
}

const PROBLEM_OF_CLAIM: Readonly<Record<string, TokenProblem>> = {
  iss: 'wrong_issuer',
  aud: 'wrong_audience',
  nbf: 'not_yet_valid',
};

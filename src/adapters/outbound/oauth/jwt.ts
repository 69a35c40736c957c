import { createHash } from 'node:crypto';
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { err, ok, Result } from 'neverthrow';
import type { TokenError, TokenOwner, TokenProblem } from '../../../application/ports/callers.ts';
import type { Clock } from '../../../application/ports/services.ts';
import { isObject } from '../../../domain/values/json.ts';
import type { IssuerKeys } from './issuer-keys.ts';

const LEEWAY_SECONDS = 30;

/** Signatures with a public key. With a shared secret, whoever verifies tokens could also create them. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

interface Expected {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** Matches the type in the header; without one, it is `JWT`. */
  readonly types: RegExp;
  readonly keys: Pick<IssuerKeys, 'keyFor'>;
  readonly clock: Clock;
}

/** The claims of a token that its issuer has signed for one of the audiences, and its type. What kind of token it is has still to be checked. */
export async function readJwt(
  token: string,
  { issuer, audiences, types, keys, clock }: Expected,
): Promise<Result<{ readonly payload: JWTPayload; readonly type: string }, TokenError>> {
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return invalid('not_a_jwt');
  const decoded = Result.fromThrowable(decodeProtectedHeader)(token);
  if (decoded.isErr()) return invalid('not_a_jwt');
  const header = decoded.value;
  const { alg, typ: type = 'JWT' } = header;
  if (alg === undefined || !ALGORITHMS.includes(alg)) return invalid('unsupported_algorithm');
  if (!types.test(type)) return invalid('not_an_access_token');
  // The key comes from the issuer only: `jwk`, `jku` and `x5u` in the header are ignored.
  const key = await keys.keyFor({ ...header, alg });
  if (key.isErr()) return err(key.error);
  const verified = await jwtVerify(token, key.value, {
    algorithms: ALGORITHMS,
    issuer,
    audience: [...audiences],
    clockTolerance: LEEWAY_SECONDS,
    currentDate: clock.now(),
    requiredClaims: ['exp'],
  }).catch(problemOf);
  return typeof verified === 'string' ? invalid(verified) : ok({ payload: verified.payload, type });
}

export function invalid(problem: TokenProblem): Result<never, TokenError> {
  return err({ kind: 'invalid_token', problem });
}

interface Claims {
  readonly issuer: string;
  /** The claim with the name of the caller. */
  readonly callerClaim: string;
  /** The claim with the groups of the caller, or its path. */
  readonly groupsClaim?: string | undefined;
}

/** The caller whom the claims name; undefined if they name none. */
export function ownerIn(payload: JWTPayload, { issuer, callerClaim, groupsClaim }: Claims): TokenOwner | undefined {
  const caller = toCaller(payload[callerClaim]);
  return caller === undefined
    ? undefined
    : { caller, groups: groupsIn(payload, groupsClaim), ...subjectOf(payload, issuer) };
}

function subjectOf({ sub }: JWTPayload, issuer: string): Pick<TokenOwner, 'subject'> {
  return typeof sub === 'string' && sub !== '' ? { subject: { issuer, sub } } : {};
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

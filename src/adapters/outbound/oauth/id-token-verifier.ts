import { err, ok, type Result } from 'neverthrow';
import type { TokenError, TokenOwner } from '../../../application/ports/callers.ts';
import type { Clock } from '../../../application/ports/services.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { invalid, ownerIn, readJwt } from './jwt.ts';

interface Options {
  readonly issuer: string;
  /** The client that asks for the token, for which alone it must be. */
  readonly clientId: string;
  readonly callerClaim: string;
  readonly groupsClaim?: string | undefined;
  readonly keys: Pick<IssuerKeys, 'keyFor'>;
  readonly clock: Clock;
}

/** Verifies an ID token of OpenID Connect (Core 1.0, 3.1.3.7), and returns the caller whom it names, always with a subject. */
export async function verifyIdToken(
  token: string,
  nonce: string,
  options: Options,
): Promise<Result<TokenOwner, TokenError>> {
  const { clientId } = options;
  const read = await readJwt(token, { ...options, audiences: [clientId], types: /^jwt$/i });
  if (read.isErr()) return err(read.error);
  const { payload } = read.value;
  const { aud, azp, typ } = payload;
  if ([aud].flat().some((audience) => audience !== clientId)) return invalid('wrong_audience');
  if (azp !== undefined && azp !== clientId) return invalid('wrong_audience');
  // Keycloak also signs other tokens for the client, and names their kind in a claim.
  if (typ !== undefined && !/^(?:id|jwt)$/i.test(String(typ))) return invalid('invalid_claims');
  // Without it, a token that was issued for another sign-in could be replayed here.
  if (payload.nonce !== nonce) return invalid('invalid_claims');
  const owner = ownerIn(payload, options);
  return owner?.subject === undefined ? invalid('no_caller') : ok(owner);
}

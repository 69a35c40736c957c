import type { JWTPayload } from 'jose';
import { err, ok, type Result } from 'neverthrow';
import type { TokenError, TokenOwner, TokenVerifier } from '../../../application/ports/callers.ts';
import type { Clock } from '../../../application/ports/services.ts';
import { scopesIn } from '../network/challenge.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { invalid, ownerIn, readJwt } from './jwt.ts';

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

const ACCESS_TOKEN = /^(?:(?:application\/)?at\+jwt|jwt)$/i;

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
    const read = await readJwt(token, { ...this.#options, audiences: this.#audiences, types: ACCESS_TOKEN });
    if (read.isErr()) return err(read.error);
    const { payload, type } = read.value;
    if (!this.#isOnlyForUs(payload)) return invalid('wrong_audience');
    if (isOtherToken(payload, type)) return invalid('not_an_access_token');
    // Such a token requires a proof that the sender has a key, which this server cannot check.
    if (payload.cnf !== undefined) return invalid('bound_to_a_key');
    const owner = ownerIn(payload, this.#options);
    if (owner === undefined) return invalid('no_caller');
    return hasScopes(payload, this.#options.scopes) ? ok(owner) : err({ kind: 'insufficient_scope' });
  }

  /** Whether no other service has the token, which could use it here. Only the issuer may be another audience: Auth0 adds its `/userinfo`. */
  #isOnlyForUs({ aud }: JWTPayload): boolean {
    const allowed: readonly unknown[] = [...this.#audiences, `${this.#options.issuer.replace(/\/$/, '')}/userinfo`];
    return [aud].flat().every((audience) => allowed.includes(audience));
  }
}

/** Whether the issuer signed a token for another purpose, such as an ID token or Keycloak's refresh token. */
function isOtherToken({ typ, nonce, at_hash, c_hash }: JWTPayload, headerType: string): boolean {
  if (/at\+jwt$/i.test(headerType)) return false;
  if (typ !== undefined) return !/^(?:bearer|jwt|access(?:_token)?)$/i.test(String(typ));
  return [nonce, at_hash, c_hash].some((claim) => claim !== undefined);
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

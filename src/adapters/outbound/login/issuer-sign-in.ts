import { randomBytes } from 'node:crypto';
import {
  discoverAuthorizationServerMetadata,
  exchangeAuthorization,
  startAuthorization,
} from '@modelcontextprotocol/client';
import { err, ok, type Result } from 'neverthrow';
import type {
  BegunLogin,
  CallbackParameters,
  LoginProblem,
  SecretOf,
} from '../../../application/ports/caller-logins.ts';
import type { TokenError, TokenOwner } from '../../../application/ports/callers.ts';
import type { KeptProof, PersonSignIn, ProvedPerson } from '../../../application/ports/person-sign-in.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { issuerId } from './login.ts';
import { checkUrl, LoginFailure, named, oauthFetch, toFailure } from './oauth-fetch.ts';
import { PENDING_MS, type PendingFiles } from './pending-files.ts';
import { codeOf, type LoginContext } from './request-login.ts';

interface Options extends LoginContext {
  /** The issuer of the callers' access tokens. */
  readonly issuer: string;
  readonly clientId: string;
  /** Reads the secret of the client; undefined if it has none. Rejects with a `LoginFailure` if it cannot be read. */
  readonly clientSecret: (signal: AbortSignal) => Promise<string | undefined>;
  /** The scopes beside `openid` without which an ID token lacks claims; those that the issuer has are asked for. */
  readonly scopes: readonly string[];
  readonly pending: PendingFiles;
  /** What is kept for people who have signed in. */
  readonly proofs: PendingFiles;
  /** Verifies an ID token, and returns whom it names. */
  readonly verify: (idToken: string, nonce: string) => Promise<Result<TokenOwner, TokenError>>;
}

/** What is kept while the browser is at the issuer. The kind separates it from what other steps keep in the same folder. */
interface Pending {
  readonly kind: 'person';
  readonly server: string;
  readonly redirectUrl: string;
  readonly verifier: string;
  readonly nonce: string;
}

/** The sign-in of a person by OpenID Connect: the code flow with PKCE and a nonce. */
export class IssuerSignIn implements PersonSignIn {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  begin(server: string, redirectUrl: string, signal: AbortSignal): Promise<Result<BegunLogin, LoginProblem>> {
    const { issuer, clientId, pending, scopes, learn } = this.#options;
    return attempt(async () => {
      const metadata = await this.#metadata(signal);
      const begun = pending.begin();
      const { state } = begun;
      const nonce = randomBytes(32).toString('base64url');
      const known: readonly unknown[] = [metadata.scopes_supported ?? []].flat();
      const scope = ['openid', ...scopes.filter((name) => known.includes(name))].join(' ');
      const asked = { metadata, clientInformation: { client_id: clientId }, redirectUrl, scope, state };
      const { authorizationUrl, codeVerifier: verifier } = await named(issuer, startAuthorization(issuer, asked));
      authorizationUrl.searchParams.set('nonce', nonce);
      learn([state, begun.secret, verifier]);
      const kept: Pending = { kind: 'person', server, redirectUrl, verifier, nonce };
      await pending.keep(begun, { ...kept });
      return ok({ url: authorizationUrl.href, id: begun.id, secret: begun.secret, maxAgeSeconds: PENDING_MS / 1000 });
    });
  }

  async finish(
    parameters: CallbackParameters,
    secretOf: SecretOf,
    signal: AbortSignal,
  ): Promise<Result<ProvedPerson, LoginProblem>> {
    const { issuer, clientId, clientSecret, pending, learn, verify } = this.#options;
    const taken = await pending.take(parameters.get('state') ?? '', secretOf);
    if (!isPending(taken)) return err({ kind: 'not_begun' });
    return attempt(async () => {
      const metadata = await this.#metadata(signal);
      const code = codeOf(parameters, metadata);
      learn([code.authorizationCode]);
      const secret = await clientSecret(signal);
      const exchanged = exchangeAuthorization(issuer, {
        metadata,
        clientInformation: { client_id: clientId, ...(secret !== undefined && { client_secret: secret }) },
        ...code,
        codeVerifier: taken.verifier,
        redirectUri: taken.redirectUrl,
        fetchFn: oauthFetch(issuer, this.#options, signal),
      });
      // Only the ID token is used: no other token is kept or sent.
      const { id_token: idToken, access_token: access, refresh_token: refresh } = await named(issuer, exchanged);
      learn([idToken, access, refresh].filter((text) => text !== undefined));
      if (idToken === undefined) throw new LoginFailure(`${issuer} sent no ID token`);
      const person = await verify(idToken, taken.nonce);
      if (person.isOk()) return ok({ server: taken.server, person: person.value });
      const { error } = person;
      const why = error.kind === 'invalid_token' ? error.problem : error.kind;
      throw new LoginFailure(`the ID token of ${issuer} cannot be used (${why})`);
    });
  }

  keep({ server, person }: ProvedPerson): Promise<Result<KeptProof, LoginProblem>> {
    const { proofs, learn } = this.#options;
    return attempt(async () => {
      const begun = proofs.begin();
      learn([begun.state, begun.secret]);
      await proofs.keep(begun, { kind: 'proof', server, person } as unknown as JsonObject);
      return ok({ ...begun, maxAgeSeconds: PENDING_MS / 1000 });
    });
  }

  async take(state: string, secretOf: SecretOf): Promise<ProvedPerson | undefined> {
    const taken = await this.#options.proofs.take(state, secretOf);
    return isProof(taken) ? { server: taken.server, person: taken.person } : undefined;
  }

  /** The metadata of the issuer, which must name it. */
  async #metadata(signal: AbortSignal) {
    const { issuer } = this.#options;
    const fetchFn = oauthFetch(issuer, this.#options, signal);
    const metadata = await named(issuer, discoverAuthorizationServerMetadata(issuerId(issuer), { fetchFn }));
    if (metadata === undefined) throw new LoginFailure(`${issuer} has no metadata`);
    for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint]) checkUrl(endpoint, issuer);
    return metadata;
  }
}

function isPending(taken: JsonObject | undefined): taken is JsonObject & Pending {
  return taken?.kind === 'person';
}

function isProof(taken: JsonObject | undefined): taken is JsonObject & ProvedPerson {
  return taken?.kind === 'proof' && isObject(taken.person);
}

async function attempt<T>(task: () => Promise<Result<T, LoginProblem>>): Promise<Result<T, LoginProblem>> {
  try {
    return await task();
  } catch (error) {
    return err({ kind: 'failed', reason: toFailure(error).message });
  }
}

import { randomUUID } from 'node:crypto';
import {
  type AuthorizationServerMetadata,
  auth,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { demandIn, scopesIn } from '../network/challenge.ts';
import { issuerId, isWithin, type Login, type LoginServer, type Machine, registeredClient } from './login.ts';
import { checkUrl, LoginFailure, type Network, named, oauthFetch, send } from './oauth-fetch.ts';

/** A person who agrees at the issuer. */
export interface Person {
  /** The URL to which the issuer sends the browser. */
  readonly redirectUrl: string;
  readonly state: string;
  /** The former login, whose registered client is used again. */
  readonly known?: Login | undefined;
  /** Lets the person open the URL; resolves with the parameters with which the browser returned. */
  readonly agree: (url: string, isClientKnown: boolean) => Promise<URLSearchParams>;
}

export interface LoginContext extends Network {
  /** Masks secrets from now on. */
  readonly learn: (secrets: readonly string[]) => void;
}

const CHALLENGE_MS = 10_000;

/** Signs in with the official client, as a machine or for a person. Rejects with a `LoginFailure`. */
export async function requestLogin(
  server: LoginServer,
  context: LoginContext,
  by: Person | Machine,
  signal: AbortSignal,
): Promise<Login> {
  const { url, auth: configured } = server;
  const { resourceMetadataUrl, scope: challenged } = await challengeOf(server, context, signal);
  if (resourceMetadataUrl !== undefined && resourceMetadataUrl.origin !== new URL(url).origin)
    throw new LoginFailure(`the metadata of ${url} are at another host: ${resourceMetadataUrl}`);
  const asked = configured?.scopes?.join(' ') ?? challenged;
  const provider = new LoginProvider(server, by, asked);
  const options = {
    serverUrl: url,
    fetchFn: oauthFetch(url, context, signal),
    ...(asked !== undefined && { scope: asked }),
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  };
  await named(`the issuer of ${url}`, auth(provider, options));
  if ('agree' in by) {
    const { metadata, isClientKnown } = provider;
    const code = codeOf(await by.agree(provider.page, isClientKnown), metadata);
    context.learn(provider.secretsWith(code.authorizationCode));
    await named(metadata.issuer, auth(provider, { ...options, ...code })).catch((error: LoginFailure) => {
      const isForgotten = isClientKnown && error.refusal === 'invalid_client';
      throw isForgotten
        ? new LoginFailure(`${error.message}; run logout first, so that it registers a new client`)
        : error;
    });
  }
  return provider.toLogin(context.clock.now());
}

/** The state of one sign-in, as the official client reads and saves it. */
class LoginProvider implements OAuthClientProvider {
  readonly redirectUrl: string | undefined;
  readonly clientMetadata: OAuthClientProvider['clientMetadata'];
  readonly clientMetadataUrl?: string;
  readonly validateResourceURL?: () => Promise<URL | undefined>;
  /** The URL at which the person agrees. */
  page = '';
  /** Whether the client is that of the former login, which the issuer may have forgotten. */
  isClientKnown = false;
  readonly #server: LoginServer;
  readonly #by: Person | Machine;
  readonly #asked: string | undefined;
  #client: Login['client'] | undefined;
  #found: OAuthDiscoveryState | undefined;
  #resource: string | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';
  #scope = '';

  /** `asked` are scopes that are asked for instead of those in the metadata. */
  constructor(server: LoginServer, by: Person | Machine, asked: string | undefined) {
    const { clientId, clientSecret, clientMetadataUrl, issuer, scopes, resource } = server.auth ?? {};
    const isPerson = 'agree' in by;
    this.#server = server;
    this.#by = by;
    this.#asked = asked;
    if (clientId)
      this.#client = { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
    if (issuer) this.#found = { authorizationServerUrl: issuerId(issuer) };
    this.redirectUrl = isPerson ? by.redirectUrl : undefined;
    this.clientMetadata = {
      client_name: 'openai-responses-mcp',
      redirect_uris: isPerson ? [by.redirectUrl] : [],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      // With these, the client adds `offline_access` to the scopes. Configured scopes are sent as they are.
      ...(scopes === undefined && isPerson && { grant_types: ['authorization_code', 'refresh_token'] }),
    };
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    if (resource !== undefined)
      this.validateResourceURL = async () => (resource === 'none' ? undefined : new URL(resource));
  }

  /** Throws without metadata, because the client would guess the endpoints. */
  get metadata(): AuthorizationServerMetadata {
    const { authorizationServerUrl: issuer, authorizationServerMetadata: metadata } = this.#found ?? {};
    if (metadata === undefined) throw new LoginFailure(`${issuer}, the issuer of ${this.#server.url}, has no metadata`);
    return metadata;
  }

  state(): string {
    return 'agree' in this.#by ? this.#by.state : '';
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#found;
  }

  saveDiscoveryState(found: OAuthDiscoveryState): void {
    this.#found = found;
    this.#useKnown(found);
    this.#check(found);
  }

  saveResourceUrl(resource: URL | string): void {
    this.#resource = String(resource);
  }

  clientInformation(context?: { readonly issuer: string }): Login['client'] | undefined {
    void this.metadata;
    return this.#client && { ...this.#client, ...context };
  }

  saveClientInformation(client: Login['client']): void {
    this.#client = client;
  }

  /** A login that exists is not renewed here. */
  tokens(): undefined {}

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  redirectToAuthorization({ href, searchParams }: URL): void {
    this.page = href;
    this.#scope = searchParams.get('scope') ?? '';
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  prepareTokenRequest(scope = ''): URLSearchParams | undefined {
    if ('agree' in this.#by) return undefined;
    this.#scope = scope;
    return new URLSearchParams({ ...this.#by, ...(scope && { scope }) });
  }

  /** The secrets of a sign-in that is not complete. */
  secretsWith(code: string): readonly string[] {
    const { client_secret: secret } = this.#client ?? {};
    return [code, this.#verifier, ...(secret ? [secret] : [])];
  }

  toLogin(now: Date): Login {
    const [client, tokens] = [this.#client, this.#tokens];
    if (client === undefined || tokens === undefined) throw new Error('There are no tokens.');
    const isSecretConfigured = this.#server.auth?.clientSecret !== undefined;
    return {
      id: randomUUID(),
      metadata: this.metadata,
      client: isSecretConfigured ? { client_id: client.client_id } : client,
      resource: this.#resource,
      tokens: { scope: this.#scope, ...tokens },
      receivedAt: now.getTime(),
    };
  }

  /** Uses the client that is registered for the former login, if it fits. */
  #useKnown({ resourceMetadata }: OAuthDiscoveryState): void {
    const known = 'agree' in this.#by ? this.#by.known : undefined;
    const { metadata, redirectUrl = '' } = this;
    const scopes = this.#asked === undefined ? (resourceMetadata?.scopes_supported ?? []) : scopesIn(this.#asked);
    const client = known && registeredClient(known, { issuer: metadata.issuer, redirectUrl, scopes });
    if (this.#client !== undefined || client === undefined) return;
    this.#client = client;
    this.isClientKnown = true;
  }

  /** Throws for metadata that the official client accepts and this program does not, before anything is sent to the endpoints. */
  #check({ resourceMetadata }: OAuthDiscoveryState): void {
    const { metadata } = this;
    const { url, auth: configured } = this.#server;
    const { resource = url } = resourceMetadata ?? {};
    if (configured?.resource === undefined && !isWithin(url, resource))
      throw new LoginFailure(
        `the metadata of ${url} are for ${resource}; if that is right, set auth.resource in the YAML file`,
      );
    for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint]) checkUrl(endpoint, url);
    if ('agree' in this.#by && !metadata.code_challenge_methods_supported?.includes('S256'))
      throw new LoginFailure(`the metadata of ${metadata.issuer} do not have S256 in code_challenge_methods_supported`);
    const isAccepted = configured?.clientMetadataUrl && metadata.client_id_metadata_document_supported;
    if (this.#client === undefined && !isAccepted && metadata.registration_endpoint === undefined)
      throw new LoginFailure(
        `${metadata.issuer} registers no clients; register one by hand and set auth.client_id in the YAML file`,
      );
  }
}

/** Asks the server once, without a token, what it requires. */
function challengeOf({ url, headers: configured }: LoginServer, network: Network, signal: AbortSignal) {
  const headers = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', ...configured };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const read = async (response: Response) => {
    void response.body?.cancel().catch(() => {});
    return demandIn(response.headers.get('WWW-Authenticate'));
  };
  const init = { method: 'POST', headers, body };
  return send({ url, init, limitMs: CHALLENGE_MS, read }, network, signal);
}

/** The code with which the browser returned. The issuer in the parameters is checked before any other is used (RFC 9207). */
function codeOf(parameters: URLSearchParams, metadata: AuthorizationServerMetadata) {
  const [written, code, error, text] = ['iss', 'code', 'error', 'error_description'].map((name) =>
    parameters.get(name),
  );
  const iss = written == null ? written : issuerId(written);
  const isPromised = metadata.authorization_response_iss_parameter_supported === true;
  if (iss == null ? isPromised : iss !== metadata.issuer)
    throw new LoginFailure(`the response is not from ${metadata.issuer}, so it was not used`);
  if (error == null && code) return { authorizationCode: code, ...(iss != null && { iss }) };
  const why = [error ?? 'it sent no code', text].filter(Boolean).join(': ');
  throw new LoginFailure(`${metadata.issuer} refused the login: ${shortLine(why, 200)}`);
}

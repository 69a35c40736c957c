import { randomUUID } from 'node:crypto';
import type {
  AuthorizationServerMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import { scopesIn } from '../network/challenge.ts';
import { issuerId, isWithin, type Login, type LoginServer, type Machine, registeredClient } from './login.ts';
import { checkUrl, LoginFailure } from './oauth-fetch.ts';

/** How a person is sent to the issuer. */
export interface Redirect {
  /** The URL to which the issuer sends the browser. */
  readonly redirectUrl: string;
  readonly state: string;
  /** The former login, whose registered client is used again. */
  readonly known?: Login | undefined;
}

/** The state of a sign-in whose person is at the issuer, as it can be kept. */
export interface BegunState {
  readonly found: OAuthDiscoveryState;
  /** The scopes that are asked for instead of those in the metadata. */
  readonly asked?: string | undefined;
  readonly client: Login['client'];
  readonly isClientKnown: boolean;
  readonly verifier: string;
  readonly scope: string;
}

/** The state of one sign-in, as the official client reads and saves it. */
export class LoginProvider implements OAuthClientProvider {
  readonly redirectUrl: string | undefined;
  readonly clientMetadata: OAuthClientProvider['clientMetadata'];
  readonly clientMetadataUrl?: string;
  readonly validateResourceURL: NonNullable<OAuthClientProvider['validateResourceURL']>;
  /** The URL at which the person agrees. */
  page = '';
  /** Whether the client is that of the former login, which the issuer may have forgotten. */
  isClientKnown = false;
  readonly #server: LoginServer;
  readonly #by: Redirect | Machine;
  readonly #asked: string | undefined;
  #client: Login['client'] | undefined;
  #found: OAuthDiscoveryState | undefined;
  #resource: string | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';
  #scope = '';

  /** `asked` are scopes that are asked for instead of those in the metadata. */
  constructor(server: LoginServer, by: Redirect | Machine, asked: string | undefined) {
    const { clientId, clientSecret, clientMetadataUrl, issuer, scopes, resource } = server.auth ?? {};
    const isPerson = 'redirectUrl' in by;
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
    // `#check` has compared the resource that the server names, and allows a slash at its end.
    this.validateResourceURL = async (_, named) => {
      const chosen = resource ?? named;
      return chosen === undefined || chosen === 'none' ? undefined : new URL(chosen);
    };
  }

  /** Throws without metadata, because the client would guess the endpoints. */
  get metadata(): AuthorizationServerMetadata {
    const { authorizationServerUrl: issuer, authorizationServerMetadata: metadata } = this.#found ?? {};
    if (metadata === undefined) throw new LoginFailure(`${issuer}, the issuer of ${this.#server.url}, has no metadata`);
    return metadata;
  }

  state(): string {
    return 'redirectUrl' in this.#by ? this.#by.state : '';
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
    if ('redirectUrl' in this.#by) return undefined;
    this.#scope = scope;
    return new URLSearchParams({ ...this.#by, ...(scope && { scope }) });
  }

  /** The secrets of a sign-in that is not complete. */
  secretsWith(code: string): readonly string[] {
    const { client_secret: secret } = this.#client ?? {};
    return [code, this.#verifier, ...(secret ? [secret] : [])];
  }

  /** The state of a sign-in whose person is at the issuer, without a secret that is configured. */
  toBegun(): BegunState {
    const { page, isClientKnown } = this;
    const [found, asked] = [this.#found, this.#asked];
    if (found === undefined || page === '') throw new Error('The sign-in has not begun.');
    return { found, asked, isClientKnown, client: this.#keptClient, verifier: this.#verifier, scope: this.#scope };
  }

  /** Continues a sign-in that another provider began. */
  goOn({ found, client, verifier, scope, isClientKnown }: BegunState): void {
    // The configuration may have changed in the meantime.
    if (this.#client !== undefined && this.#client.client_id !== client.client_id)
      throw new LoginFailure('the client in the configuration has changed; sign in again');
    this.#found = found;
    this.#client ??= client;
    this.#verifier = verifier;
    this.#scope = scope;
    this.isClientKnown = isClientKnown;
  }

  /** The client without a secret that is configured. */
  get #keptClient(): Login['client'] {
    if (this.#client === undefined) throw new Error('There is no client.');
    const isSecretConfigured = this.#server.auth?.clientSecret !== undefined;
    return isSecretConfigured ? { client_id: this.#client.client_id } : this.#client;
  }

  toLogin(now: Date): Login {
    const tokens = this.#tokens;
    if (tokens === undefined) throw new Error('There are no tokens.');
    return {
      id: randomUUID(),
      metadata: this.metadata,
      client: this.#keptClient,
      resource: this.#resource,
      tokens: { scope: this.#scope, ...tokens },
      receivedAt: now.getTime(),
    };
  }

  /** Uses the client that is registered for the former login, if it fits. */
  #useKnown({ resourceMetadata }: OAuthDiscoveryState): void {
    const known = 'redirectUrl' in this.#by ? this.#by.known : undefined;
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
    if ('redirectUrl' in this.#by && !metadata.code_challenge_methods_supported?.includes('S256'))
      throw new LoginFailure(`the metadata of ${metadata.issuer} do not have S256 in code_challenge_methods_supported`);
    const isAccepted = configured?.clientMetadataUrl && metadata.client_id_metadata_document_supported;
    if (this.#client === undefined && !isAccepted && metadata.registration_endpoint === undefined)
      throw new LoginFailure(
        `${metadata.issuer} registers no clients; register one by hand and set auth.client_id in the YAML file`,
      );
  }
}

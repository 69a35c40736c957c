import { randomUUID } from 'node:crypto';
import {
  type AuthorizationServerMetadata,
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { isSamePlace, type Login, type LoginServer } from './login.ts';
import { checkUrl, LoginFailure, type Network, named, oauthFetch, send } from './oauth-fetch.ts';

/** A person who agrees at the issuer. */
export interface Person {
  /** The URL to which the issuer sends the browser. */
  readonly redirectUrl: string;
  readonly state: string;
  /** Lets the person open the URL; resolves with the parameters with which the browser returned. */
  readonly agree: (url: string) => Promise<URLSearchParams>;
}

const CHALLENGE_MS = 10_000;

/** Signs in with the official client, as a machine or for a person. `learn` masks secrets. Rejects with a `LoginFailure`. */
export async function requestLogin(
  server: LoginServer,
  network: Network,
  learn: (secrets: readonly string[]) => void,
  signal: AbortSignal,
  person?: Person,
): Promise<Login> {
  const { url, auth: configured } = server;
  const { resourceMetadataUrl, scope: challenged } = await challengeOf(server, network, signal);
  if (resourceMetadataUrl !== undefined && resourceMetadataUrl.origin !== new URL(url).origin)
    throw new LoginFailure(`the metadata of ${url} are at another host: ${resourceMetadataUrl}`);
  const { clientId, clientSecret, clientMetadataUrl, issuer, scopes } = configured ?? {};
  let client = (clientId && { client_id: clientId, client_secret: clientSecret }) as Login['client'] | undefined;
  let found = (issuer && { authorizationServerUrl: issuer }) as OAuthDiscoveryState | undefined;
  let [resource, tokens] = [undefined as string | undefined, undefined as OAuthTokens | undefined];
  let [page, verifier, scope] = ['', '', ''];
  const provider: OAuthClientProvider = {
    redirectUrl: person?.redirectUrl,
    clientMetadata: {
      client_name: 'openai-responses-mcp',
      redirect_uris: person === undefined ? [] : [person.redirectUrl],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      // With these, the client adds `offline_access` to the scopes. Configured scopes are sent as they are.
      ...(scopes === undefined && person !== undefined && { grant_types: ['authorization_code', 'refresh_token'] }),
    },
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(configured?.resource !== undefined && {
      validateResourceURL: async () =>
        configured.resource === 'none' ? undefined : new URL(configured.resource ?? url),
    }),
    state: () => person?.state ?? '',
    discoveryState: () => found,
    saveDiscoveryState: (state) => {
      found = state;
      checkFound(server, state, person === undefined, client !== undefined);
    },
    saveResourceUrl: (sent) => {
      resource = String(sent);
    },
    clientInformation: (context) => {
      // Throws without metadata, because the client would guess the endpoints.
      metadataOf(found, url);
      return client && { ...client, ...context };
    },
    saveClientInformation: (saved) => {
      client = saved;
    },
    // A login that exists is not renewed here.
    tokens: () => undefined,
    saveTokens: (saved) => {
      tokens = saved;
    },
    redirectToAuthorization: ({ href, searchParams }) => {
      [page, scope] = [href, searchParams.get('scope') ?? ''];
    },
    saveCodeVerifier: (saved) => {
      verifier = saved;
    },
    codeVerifier: () => verifier,
    prepareTokenRequest: (requested = '') => {
      if (person !== undefined) return undefined;
      scope = requested;
      return new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) });
    },
  };
  const asked = scopes?.join(' ') ?? challenged;
  const options = {
    serverUrl: url,
    fetchFn: oauthFetch(url, network, signal),
    ...(asked !== undefined && { scope: asked }),
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  };
  await named(`the issuer of ${url}`, auth(provider, options));
  const metadata = metadataOf(found, url);
  if (person !== undefined) {
    const code = codeOf(await person.agree(page), metadata);
    learn([code.authorizationCode, verifier, ...(client?.client_secret ? [client.client_secret] : [])]);
    await named(metadata.issuer, auth(provider, { ...options, ...code }));
  }
  if (client === undefined || tokens === undefined) throw new Error('There are no tokens.');
  return {
    id: randomUUID(),
    metadata,
    client: clientSecret === undefined ? client : { client_id: client.client_id },
    resource,
    tokens: { scope, ...tokens },
    receivedAt: network.clock.now().getTime(),
  };
}

/** Asks the server once, without a token, what it requires. */
function challengeOf({ url, headers: configured }: LoginServer, network: Network, signal: AbortSignal) {
  const headers = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', ...configured };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const read = async (response: Response) => {
    void response.body?.cancel().catch(() => {});
    return extractWWWAuthenticateParams(response);
  };
  return send(url, { method: 'POST', headers, body }, CHALLENGE_MS, read, network, signal);
}

/** Throws for metadata that the official client accepts and this program does not, before anything is sent to the endpoints. */
function checkFound(
  { url, auth: configured }: LoginServer,
  found: OAuthDiscoveryState,
  isMachine: boolean,
  hasClient: boolean,
): void {
  const metadata = metadataOf(found, url);
  const { resource = url } = found.resourceMetadata ?? {};
  if (configured?.resource === undefined && !isSamePlace(resource, url))
    throw new LoginFailure(`the metadata of ${url} are for ${resource}; if that is right, set auth.resource`);
  for (const endpoint of [metadata.authorization_endpoint, metadata.token_endpoint]) checkUrl(endpoint, url);
  if (!isMachine && !metadata.code_challenge_methods_supported?.includes('S256'))
    throw new LoginFailure(`the metadata of ${metadata.issuer} do not have S256 in code_challenge_methods_supported`);
  const isAccepted = configured?.clientMetadataUrl && metadata.client_id_metadata_document_supported;
  if (!hasClient && !isAccepted && metadata.registration_endpoint === undefined)
    throw new LoginFailure(`${metadata.issuer} registers no clients; register one by hand and set auth.client_id`);
}

function metadataOf(found: OAuthDiscoveryState | undefined, url: string): AuthorizationServerMetadata {
  const { authorizationServerUrl: issuer, authorizationServerMetadata: metadata } = found ?? {};
  if (metadata === undefined) throw new LoginFailure(`${issuer}, the issuer of ${url}, has no metadata`);
  return metadata;
}

/** The code with which the browser returned. The issuer in the parameters is checked before any other is used (RFC 9207). */
function codeOf(parameters: URLSearchParams, metadata: AuthorizationServerMetadata) {
  const [iss, code, error, text] = ['iss', 'code', 'error', 'error_description'].map((name) => parameters.get(name));
  const isPromised = metadata.authorization_response_iss_parameter_supported === true;
  if (iss == null ? isPromised : iss !== metadata.issuer)
    throw new LoginFailure(`the response is not from ${metadata.issuer}, so it was not used`);
  if (error == null && code) return { authorizationCode: code, ...(iss != null && { iss }) };
  const why = [error ?? 'it sent no code', text].filter(Boolean).join(': ');
  throw new LoginFailure(`${metadata.issuer} refused the login: ${shortLine(why, 200)}`);
}

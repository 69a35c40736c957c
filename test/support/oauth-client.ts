import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { visit } from './authorization-server.ts';

export interface SignedIn {
  /** Connected to the endpoint. */
  readonly client: Client;
  /** Where a person was sent to agree. */
  readonly authorizationUrl: URL;
  readonly token: string;
}

/** The official client, from the URL of the endpoint alone: it finds the authorization server, registers and gets a token. */
export async function signIn(url: string): Promise<SignedIn> {
  const oauth = inMemory();
  const newTransport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: oauth });
  const newClient = () => new Client({ name: 'test', version: '1.0.0' });
  const refused = newTransport();
  await newClient()
    .connect(refused)
    .catch((error: unknown) => {
      if (!(error instanceof UnauthorizedError)) throw error;
    });
  const { authorizationUrl } = oauth.saved;
  if (authorizationUrl === undefined) throw new Error('The endpoint asked for no token.');
  await refused.finishAuth(await visit(authorizationUrl, oauth.redirectUrl));
  const client = newClient();
  onTestFinished(() => client.close());
  await client.connect(newTransport());
  return { client, authorizationUrl, token: oauth.saved.tokens?.access_token ?? '' };
}

interface Saved {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
  discovered?: OAuthDiscoveryState;
  verifier?: string;
  /** Where a person would be sent. */
  authorizationUrl?: URL;
}

/** What the official client needs for OAuth, in memory. */
function inMemory() {
  const saved: Saved = {};
  const redirectUrl = 'http://127.0.0.1:9/callback';
  return {
    saved,
    redirectUrl,
    clientMetadata: { client_name: 'test', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' },
    clientInformation: () => saved.client,
    saveClientInformation: (client) => void Object.assign(saved, { client }),
    tokens: () => saved.tokens,
    saveTokens: (tokens) => void Object.assign(saved, { tokens }),
    redirectToAuthorization: (authorizationUrl) => void Object.assign(saved, { authorizationUrl }),
    saveCodeVerifier: (verifier) => void Object.assign(saved, { verifier }),
    codeVerifier: () => saved.verifier ?? '',
    saveDiscoveryState: (discovered) => void Object.assign(saved, { discovered }),
    discoveryState: () => saved.discovered,
  } satisfies OAuthClientProvider & { readonly saved: Saved };
}

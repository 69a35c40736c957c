import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { visit } from './authorization-server.ts';
import { MemoryOAuth } from './memory-oauth.ts';

export interface SignedIn {
  /** Connected to the endpoint. */
  readonly client: Client;
  /** Where a person was sent to agree. */
  readonly authorizationUrl: URL;
  readonly token: string;
}

/** The official client, from the URL of the endpoint alone: it finds the authorization server, registers and gets a token. */
export async function signIn(url: string): Promise<SignedIn> {
  const oauth = new MemoryOAuth();
  const newTransport = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: oauth });
  const newClient = () => new Client({ name: 'test', version: '1.0.0' });
  const refused = newTransport();
  await newClient()
    .connect(refused)
    .catch((error: unknown) => {
      if (!(error instanceof UnauthorizedError)) throw error;
    });
  const { authorizationUrl } = oauth;
  if (authorizationUrl === undefined) throw new Error('The endpoint asked for no token.');
  await refused.finishAuth(await visit(authorizationUrl, oauth.redirectUrl));
  const client = newClient();
  onTestFinished(() => client.close());
  await client.connect(newTransport());
  return { client, authorizationUrl, token: oauth.tokens()?.access_token ?? '' };
}

import { randomBytes, randomUUID } from 'node:crypto';
import { startAuthorization } from '@modelcontextprotocol/client';
import { untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { SigningIn } from '../../../application/ports/logins.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { isLoopback } from '../network/addresses.ts';
import { type Callback, openCallback } from './callback-server.ts';
import { discover, type LoginServer } from './discovery.ts';
import type { IssuerMetadata, Login, LoginFiles, OAuthClient } from './login-files.ts';
import { LoginFailure, type OAuthNetwork, requestJson, requestTokens, secretsOf } from './oauth-request.ts';
import { toParameters, withSecret } from './stored-tokens.ts';

export interface SignInOptions {
  readonly files: LoginFiles;
  readonly network: OAuthNetwork;
  /** Masks secrets from now on. */
  readonly learn: (secrets: readonly string[]) => void;
}

const DEFAULT_PORT = 3918;
const WAIT_MS = 300_000;

/** Lets a person sign in to a server (rulings O7 to O11). Rejects with a `LoginFailure`; nothing has changed then. */
export async function signIn(
  server: LoginServer,
  { files, network, learn }: SignInOptions,
  person: SigningIn,
  signal: AbortSignal,
): Promise<Login> {
  const found = await discover(server, network, signal);
  const { metadata, resource } = found;
  // A login that cannot be kept would be lost.
  const known = await files.locked(server.url, () => files.read(server.url), signal);
  const state = randomBytes(32).toString('base64url');
  const callback = await callbackOf(server, state);
  const { redirectUri } = callback;
  try {
    const configured = configuredClient(server, metadata);
    const isKnown = known?.metadata.issuer === metadata.issuer && known.redirectUri === redirectUri;
    const registered = isKnown ? known.client : undefined;
    const client = configured ?? registered ?? (await registerClient(metadata, redirectUri, network, signal));
    learn(secretsOf({ client }));
    const { authorizationUrl, codeVerifier } = await startAuthorization(metadata.issuer, {
      metadata: { ...metadata, response_types_supported: ['code'] },
      clientInformation: client,
      redirectUrl: redirectUri,
      state,
      ...toParameters(found),
    } as Parameters<typeof startAuthorization>[1]);
    learn([codeVerifier]);
    person.onUrl(authorizationUrl.href, client === registered);
    void readPasted(callback, person);
    const { outcome } = await withDeadline(network.clock, WAIT_MS, signal, (limit) =>
      untilAborted(callback.returned, limit),
    );
    if (outcome === 'aborted') throw new LoginFailure('no sign-in within 5 minutes');
    learn(outcome.getAll('code'));
    const code = codeOf(outcome, metadata);
    const proof = { code, code_verifier: codeVerifier, redirect_uri: redirectUri, ...toParameters({ resource }) };
    const grant = { grant_type: 'authorization_code', ...proof };
    const asking = withSecret({ ...found, client }, server);
    const tokens = await requestTokens(asking, grant, network, signal);
    const login: Login = {
      url: new URL(server.url).href,
      id: randomUUID(),
      ...found,
      client,
      redirectUri: configured === undefined ? redirectUri : undefined,
      ...tokens,
    };
    learn(secretsOf(login));
    await files.locked(server.url, (save) => save(login), signal);
    return login;
  } finally {
    callback.close();
  }
}

/** Another free port is used only if no issuer knows the redirect URI (ruling O12). */
function callbackOf({ auth }: LoginServer, state: string) {
  const port = auth?.callbackPort ?? DEFAULT_PORT;
  const isFixed = (auth?.callbackPort ?? auth?.clientId ?? auth?.clientMetadataUrl) !== undefined;
  return openCallback(port, state).catch(({ code }: NodeJS.ErrnoException) => {
    if (!isFixed) return openCallback(0, state);
    const reason = `the port ${port} cannot be used for the callback (${code})`;
    throw new LoginFailure(`${reason}; choose another one with auth.callback_port`);
  });
}

/** The client that is known without registration (ruling O9). */
function configuredClient({ auth }: LoginServer, metadata: IssuerMetadata): OAuthClient | undefined {
  const readsDocuments = metadata.client_id_metadata_document_supported === true;
  const id = auth?.clientId ?? (readsDocuments ? auth?.clientMetadataUrl : undefined);
  return id === undefined ? undefined : { client_id: id };
}

async function registerClient(
  { registration_endpoint: url, issuer }: IssuerMetadata,
  redirectUri: string,
  network: OAuthNetwork,
  signal: AbortSignal,
): Promise<OAuthClient> {
  if (url === undefined)
    throw new LoginFailure(`${issuer} registers no clients; register one by hand and set auth.client_id`);
  const document = {
    redirect_uris: [redirectUri],
    client_name: 'openai-responses-mcp',
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  const headers = { 'Content-Type': 'application/json' };
  const registered = await requestJson(url, headers, JSON.stringify(document), network, signal);
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = registered;
  if (typeof id !== 'string') throw new LoginFailure(`${url} sent no client_id`);
  return {
    client_id: id,
    ...(typeof secret === 'string' && { client_secret: secret }),
    ...(typeof method === 'string' && { token_endpoint_auth_method: method }),
  };
}

/** A person on another machine pastes the URL that the browser cannot open. The end of the input does not end the wait. */
async function readPasted({ redirectUri, accept }: Callback, { lines, onIgnored }: SigningIn): Promise<void> {
  const { port, pathname } = new URL(redirectUri);
  for await (const line of lines) {
    const text = line.trim();
    if (text === '') continue;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isCallback = url !== undefined && isLoopback(url.hostname) && url.port === port && url.pathname === pathname;
    if (!isCallback) onIgnored(`the line is not a URL that begins with ${redirectUri}`);
    else if (!accept(url.searchParams)) onIgnored('the URL is not the answer to this login: its state is another one');
  }
}

/** The code of a callback, whose issuer is checked before anything else of it is used (RFC 9207). */
function codeOf(parameters: URLSearchParams, metadata: IssuerMetadata): string {
  const iss = parameters.get('iss');
  const isPromised = metadata.authorization_response_iss_parameter_supported === true;
  if (iss === null ? isPromised : iss !== metadata.issuer)
    throw new LoginFailure(`the answer is not from ${metadata.issuer}, so that it was not used`);
  const [code, error] = [parameters.get('code'), parameters.get('error')];
  if (error === null && code) return code;
  const parts = error === null ? ['it sent no code'] : [error, parameters.get('error_description') ?? ''];
  const why = parts.map((part) => shortLine(part, 200)).filter((part) => part !== '');
  throw new LoginFailure(`${metadata.issuer} refused the login: ${why.join(': ')}`);
}

import { randomBytes, randomUUID } from 'node:crypto';
import { startAuthorization } from '@modelcontextprotocol/client';
import { untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { SigningIn } from '../../../application/ports/logins.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { CallbackServer } from './callback-server.ts';
import { discover, type LoginServer } from './discovery.ts';
import type { Login, LoginFiles } from './login-files.ts';
import {
  type IssuerMetadata,
  LoginFailure,
  type OAuthClient,
  type OAuthNetwork,
  requestJson,
  requestTokens,
} from './oauth-request.ts';
import { toParameters, withSecret } from './stored-tokens.ts';

interface SignInOptions {
  readonly files: LoginFiles;
  readonly network: OAuthNetwork;
  /** Masks secrets from now on. */
  readonly learn: (secrets: readonly string[]) => void;
}

const DEFAULT_PORT = 3918;
const WAIT_MS = 300_000;
const CLIENT_NAME = 'openai-responses-mcp';

/** Lets a person sign in to a server (rulings O7 to O11). Rejects with a `LoginFailure`; nothing has changed then. */
export async function signIn(
  server: LoginServer,
  { files, network, learn }: SignInOptions,
  person: SigningIn,
  signal: AbortSignal,
): Promise<Login> {
  const { metadata, resource, scopes } = await discover(server, network, signal);
  const state = randomBytes(32).toString('base64url');
  // A login that cannot be kept would be lost.
  const known = await files.locked(server.url, () => files.read(server.url), signal);
  let onReturned = (_: URLSearchParams): void => {};
  const returned = new Promise<URLSearchParams>((resolve) => {
    onReturned = resolve;
  });
  const accept = (parameters: URLSearchParams) => {
    const isRight = parameters.get('state') === state;
    if (isRight) {
      learn(parameters.getAll('code'));
      onReturned(parameters);
    }
    return isRight;
  };
  const callback = await openCallback(server, accept);
  try {
    const { redirectUri } = callback;
    const isKnown = known?.metadata.issuer === metadata.issuer && known.redirectUri === redirectUri;
    const reused = isKnown ? known.client : undefined;
    const { isRegistered, ...client } = await clientOf(server, metadata, redirectUri, reused, network, signal);
    if (client.client_secret !== undefined) learn([client.client_secret]);
    const { authorizationUrl, codeVerifier } = await startAuthorization(metadata.issuer, {
      metadata: { ...metadata, response_types_supported: ['code'] } as Parameters<
        typeof startAuthorization
      >[1]['metadata'],
      clientInformation: client,
      redirectUrl: redirectUri,
      state,
      ...toParameters(resource, scopes),
    } as Parameters<typeof startAuthorization>[1]);
    learn([codeVerifier]);
    person.onUrl(authorizationUrl.href);
    void readPasted(callback, accept, person);
    const code = codeOf(await waitFor(returned, network, signal), metadata);
    const grant = { grant_type: 'authorization_code', code, code_verifier: codeVerifier, redirect_uri: redirectUri };
    const tokens = await requestTokens(
      metadata,
      withSecret(client, server),
      { ...grant, ...(resource !== undefined && { resource }) },
      network,
      signal,
    ).catch((error: LoginFailure) => {
      const isForgotten = reused !== undefined && error.refusal === 'invalid_client';
      throw isForgotten ? new LoginFailure(`${error.message}; to register a new client, run logout first`) : error;
    });
    const { accessToken, refreshToken, lifetimeMs } = tokens;
    learn([accessToken, ...(refreshToken === undefined ? [] : [refreshToken])]);
    const receivedAt = network.clock.now().getTime();
    const login: Login = {
      url: new URL(server.url).href,
      id: randomUUID(),
      metadata,
      client,
      ...(isRegistered && { redirectUri }),
      resource,
      scopes: tokens.scopes ?? scopes,
      accessToken,
      refreshToken,
      receivedAt,
      expiresAt: lifetimeMs && receivedAt + lifetimeMs,
    };
    await files.locked(server.url, (save) => save(login), signal);
    return login;
  } finally {
    callback.close();
  }
}

/** Another free port is used only if no issuer knows the redirect URI (ruling O12). */
async function openCallback(
  { auth }: LoginServer,
  accept: (parameters: URLSearchParams) => boolean,
): Promise<CallbackServer> {
  const port = auth?.callbackPort ?? DEFAULT_PORT;
  const isFixed = [auth?.callbackPort, auth?.clientId, auth?.clientMetadataUrl].some((value) => value !== undefined);
  try {
    return await CallbackServer.open(port, accept);
  } catch (error) {
    if (!isFixed) return CallbackServer.open(0, accept);
    const { code } = error as NodeJS.ErrnoException;
    throw new LoginFailure(
      `the port ${port} cannot be used for the callback (${code}); choose another one with auth.callback_port`,
    );
  }
}

/** The client as which to sign in (ruling O9). */
async function clientOf(
  { auth }: LoginServer,
  metadata: IssuerMetadata,
  redirectUri: string,
  known: OAuthClient | undefined,
  network: OAuthNetwork,
  signal: AbortSignal,
): Promise<OAuthClient & { readonly isRegistered?: true }> {
  const { clientId, clientMetadataUrl } = auth ?? {};
  if (clientId !== undefined) return { client_id: clientId };
  if (clientMetadataUrl !== undefined && metadata.client_id_metadata_document_supported === true)
    return { client_id: clientMetadataUrl };
  if (known !== undefined) return { ...known, isRegistered: true };
  const { registration_endpoint: url, issuer } = metadata;
  if (url === undefined)
    throw new LoginFailure(`${issuer} registers no clients; register one by hand and set auth.client_id`);
  const document = {
    redirect_uris: [redirectUri],
    client_name: CLIENT_NAME,
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(document) };
  const registered = await requestJson(url, init, network, signal);
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = registered;
  if (typeof id !== 'string') throw new LoginFailure(`${url} sent no client_id`);
  return {
    client_id: id,
    ...(typeof secret === 'string' && { client_secret: secret }),
    ...(typeof method === 'string' && { token_endpoint_auth_method: method }),
    isRegistered: true,
  };
}

/** A person on another machine pastes the URL that the browser cannot open. The end of the input does not end the wait. */
async function readPasted(
  callback: CallbackServer,
  accept: (parameters: URLSearchParams) => boolean,
  { lines, onIgnored }: SigningIn,
): Promise<void> {
  for await (const line of lines) {
    const text = line.trim();
    if (text === '') continue;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !callback.accepts(url))
      onIgnored(`the line is not a URL that begins with ${callback.redirectUri}`);
    else if (!accept(url.searchParams)) onIgnored('the URL is not the answer to this login: its state is another one');
  }
}

async function waitFor(
  returned: Promise<URLSearchParams>,
  { clock }: OAuthNetwork,
  signal: AbortSignal,
): Promise<URLSearchParams> {
  const { outcome } = await withDeadline(clock, WAIT_MS, signal, (limit) => untilAborted(returned, limit));
  if (outcome === 'aborted') throw new LoginFailure('no sign-in within 5 minutes');
  return outcome;
}

/** The code of a callback, whose issuer is checked before anything else of it is used (RFC 9207). */
function codeOf(parameters: URLSearchParams, metadata: IssuerMetadata): string {
  const iss = parameters.get('iss');
  const isPromised = metadata.authorization_response_iss_parameter_supported === true;
  if (iss === null ? isPromised : iss !== metadata.issuer)
    throw new LoginFailure(`the answer is not from ${metadata.issuer}, so that it was not used`);
  const [code, error] = [parameters.get('code'), parameters.get('error')];
  const description = shortLine(parameters.get('error_description') ?? '', 200);
  if (error !== null || code === null || code === '') {
    const why =
      error === null
        ? 'it sent no code'
        : [shortLine(error, 200), description].filter((text) => text !== '').join(': ');
    throw new LoginFailure(`${metadata.issuer} refused the login: ${why}`);
  }
  return code;
}

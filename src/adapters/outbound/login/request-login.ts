import { type AuthorizationServerMetadata, auth, discoverOAuthServerInfo } from '@modelcontextprotocol/client';
import type { CallbackParameters } from '../../../application/ports/caller-logins.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { demandIn } from '../network/challenge.ts';
import { issuerId, type Login, type LoginServer, type Machine } from './login.ts';
import { type BegunState, LoginProvider, type Redirect } from './login-provider.ts';
import { LoginFailure, type Network, named, oauthFetch, send } from './oauth-fetch.ts';

/** A person who agrees at the issuer. */
export interface Person extends Redirect {
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
  if ('agree' in by) {
    const { page, begun } = await beginLogin(server, context, by, signal);
    const parameters = await by.agree(page, begun.isClientKnown);
    return finishLogin(server, context, { ...by, begun, parameters }, signal);
  }
  const { asked, options } = await questionOf(server, context, signal);
  const provider = new LoginProvider(server, by, asked);
  await named(`the issuer of ${server.url}`, auth(provider, options));
  return provider.toLogin(context.clock.now());
}

/** Prepares a sign-in of a person, up to the address at which the person agrees. Rejects with a `LoginFailure`. */
export async function beginLogin(
  server: LoginServer,
  context: LoginContext,
  redirect: Redirect,
  signal: AbortSignal,
): Promise<{ readonly page: string; readonly begun: BegunState }> {
  const { asked, options } = await questionOf(server, context, signal);
  const provider = new LoginProvider(server, redirect, asked);
  await named(`the issuer of ${server.url}`, auth(provider, options));
  return { page: provider.page, begun: provider.toBegun() };
}

/** How a person returned from the issuer. */
interface Returned extends Redirect {
  readonly begun: BegunState;
  readonly parameters: CallbackParameters;
}

/** Gets the tokens for a person who has agreed. Rejects with a `LoginFailure`. */
export async function finishLogin(
  server: LoginServer,
  context: LoginContext,
  { begun, parameters, ...redirect }: Returned,
  signal: AbortSignal,
): Promise<Login> {
  const provider = new LoginProvider(server, redirect, begun.asked);
  provider.goOn(begun);
  const { metadata } = provider;
  const code = codeOf(parameters, metadata);
  context.learn(provider.secretsWith(code.authorizationCode));
  const { asked: scope } = begun;
  const options = {
    serverUrl: server.url,
    fetchFn: oauthFetch(server.url, context, signal),
    ...(scope !== undefined && { scope }),
  };
  await named(metadata.issuer, auth(provider, { ...options, ...code })).catch((error: LoginFailure) => {
    const isForgotten = begun.isClientKnown && error.refusal === 'invalid_client';
    throw isForgotten
      ? new LoginFailure(`${error.message}; run logout first, so that it registers a new client`)
      : error;
  });
  return provider.toLogin(context.clock.now());
}

/** The issuer of a server, as its documents name it. Registers nothing. Rejects with a `LoginFailure`. */
export async function issuerOf(server: LoginServer, context: Network, signal: AbortSignal): Promise<string> {
  const { issuer } = server.auth ?? {};
  if (issuer !== undefined) return issuerId(issuer);
  const { options } = await questionOf(server, context, signal);
  const { serverUrl, ...rest } = options;
  const found = await named(`the issuer of ${serverUrl}`, discoverOAuthServerInfo(serverUrl, rest));
  const { authorizationServerMetadata: metadata } = found;
  if (metadata === undefined)
    throw new LoginFailure(`${found.authorizationServerUrl}, the issuer of ${serverUrl}, has no metadata`);
  return metadata.issuer;
}

/** What the official client needs to ask the issuer of a server, as the server demands it now. */
async function questionOf(server: LoginServer, network: Network, signal: AbortSignal) {
  const { url, auth: configured } = server;
  const { resourceMetadataUrl, scope: challenged } = await challengeOf(server, network, signal);
  if (resourceMetadataUrl !== undefined && resourceMetadataUrl.origin !== new URL(url).origin)
    throw new LoginFailure(`the metadata of ${url} are at another host: ${resourceMetadataUrl}`);
  const asked = configured?.scopes?.join(' ') ?? challenged;
  const options = {
    serverUrl: url,
    fetchFn: oauthFetch(url, network, signal),
    ...(asked !== undefined && { scope: asked }),
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl }),
  };
  return { asked, options };
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
export function codeOf(parameters: CallbackParameters, metadata: AuthorizationServerMetadata) {
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

import { withDeadline } from '../../../application/async/deadline.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { isSecureUrl } from '../network/addresses.ts';
import { type Challenge, readChallenge, scopesIn } from '../network/challenge.ts';
import { issuerMetadataUrls, readJson } from '../network/documents.ts';
import type { IssuerMetadata, Login } from './login-files.ts';
import { LoginFailure, type OAuthNetwork, post, REQUEST_MS } from './oauth-request.ts';

/** How a server is signed in to (ruling O1). */
interface ServerAuth {
  readonly grant: 'authorization_code' | 'client_credentials';
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly clientMetadataUrl?: string | undefined;
  readonly issuer?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly resource?: string | undefined;
  readonly callbackPort?: number | undefined;
}

/** A remote server for which somebody or something signs in. */
export interface LoginServer {
  readonly name: string;
  readonly url: string;
  /** Sent to the URL of the server only. */
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: ServerAuth | undefined;
}

/** Where and for what to sign in. */
export type Discovered = Pick<Login, 'metadata' | 'resource' | 'scopes'>;

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint'] as const;
const FLAGS = ['client_id_metadata_document_supported', 'authorization_response_iss_parameter_supported'];

/** Finds the issuer of a server (rulings O7 and O8). Rejects with a `LoginFailure` that names the URL and the reason. */
export async function discover(server: LoginServer, network: OAuthNetwork, signal: AbortSignal): Promise<Discovered> {
  const { url, auth } = server;
  const isMachine = auth?.grant === 'client_credentials';
  const challenge = await challengeOf(server, network, signal);
  const problems: string[] = [];
  const find = (places: readonly string[]) => firstOf(places, problems, network, signal);
  const protectedResource = await find(resourceMetadataUrls(challenge?.resourceMetadata, url));
  const issuer = protectedResource ? issuerOf(protectedResource, auth?.issuer) : (auth?.issuer ?? new URL(url).origin);
  const resource = auth?.resource ?? (protectedResource ? resourceOf(protectedResource, url) : url);
  checkUrl(issuer, 'the issuer');
  const found = await find(issuerMetadataUrls(issuer));
  if (found === undefined) throw new LoginFailure(`no metadata of an issuer was found: ${problems.join('; ')}`);
  const offered = textsIn(protectedResource?.document.scopes_supported);
  const asked = challenge?.scope === undefined ? offered : scopesIn(challenge.scope);
  const mayStay = !isMachine && textsIn(found.document.scopes_supported).includes('offline_access');
  return {
    metadata: checkedMetadata(found, issuer, isMachine),
    resource: resource === 'none' ? undefined : resource,
    scopes: auth?.scopes ?? [...new Set([...asked, ...(mayStay ? ['offline_access'] : [])])],
  };
}

interface Found {
  readonly url: string;
  readonly document: JsonObject;
}

/** Asks the server once, without a token. Whatever it answers, the well-known places are asked next. */
function challengeOf(
  { url, headers }: LoginServer,
  network: OAuthNetwork,
  signal: AbortSignal,
): Promise<Challenge | undefined> {
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const sent = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', ...headers };
  const read = async ({ status, headers, body }: Response) => {
    void body?.cancel().catch(() => {});
    return status === 401 ? readChallenge(headers.get('www-authenticate')) : undefined;
  };
  return post(url, sent, JSON.stringify(message), read, network, signal);
}

/** Where the challenge says; otherwise before the path of the resource, then without it (RFC 9728, 3.1). */
function resourceMetadataUrls(named: string | undefined, url: string): readonly string[] {
  const { origin, pathname } = new URL(url);
  const place = `${origin}/.well-known/oauth-protected-resource`;
  const places = new Set([named, `${place}${pathname.replace(/\/$/, '')}`, place]);
  return [...places].filter((place) => place !== undefined);
}

/** The first document that is not missing. One that breaks a rule ends the search. */
async function firstOf(
  places: readonly string[],
  problems: string[],
  { fetch, clock }: OAuthNetwork,
  signal: AbortSignal,
): Promise<Found | undefined> {
  for (const url of places) {
    checkUrl(url, 'the metadata');
    const { outcome } = await withDeadline(clock, REQUEST_MS, signal, (limit) => readJson(fetch, url, limit));
    if (outcome.isErr() && !outcome.error.isMissing) throw new LoginFailure(outcome.error.reason);
    if (outcome.isOk() && isObject(outcome.value)) return { url, document: outcome.value };
    problems.push(outcome.isErr() ? outcome.error.reason : `${url} is not a JSON object`);
  }
  return undefined;
}

/** RFC 9728, 3.3: metadata of another resource is not used. A path may name a part of the server. */
function resourceOf({ url: from, document }: Found, serverUrl: string): string {
  const { resource } = document;
  const server = new URL(serverUrl);
  const named = typeof resource === 'string' && URL.canParse(resource) ? new URL(resource) : undefined;
  const isSame =
    named?.origin === server.origin && `${server.pathname}/`.startsWith(`${named.pathname.replace(/\/$/, '')}/`);
  if (isSame && typeof resource === 'string') return resource;
  const other = JSON.stringify(resource);
  throw new LoginFailure(`${from} is for the resource ${other}, not for ${serverUrl}; see auth.resource`);
}

function issuerOf({ url, document }: Found, configured: string | undefined): string {
  const issuers = textsIn(document.authorization_servers);
  const issuer = configured === undefined ? issuers[0] : issuers.find((named) => isSameIssuer(named, configured));
  if (issuer !== undefined) return issuer;
  const missing = configured === undefined ? '' : `, and not ${configured}`;
  throw new LoginFailure(`${url} names ${issuers.join(', ') || 'none'} as issuers${missing}`);
}

function checkedMetadata({ url, document }: Found, issuer: string, isMachine: boolean): IssuerMetadata {
  if (typeof document.issuer !== 'string' || !isSameIssuer(document.issuer, issuer))
    throw new LoginFailure(`${url} names the issuer ${JSON.stringify(document.issuer)} instead of ${issuer}`);
  const required = isMachine ? ['token_endpoint'] : ['authorization_endpoint', 'token_endpoint'];
  for (const name of ENDPOINTS) {
    if (document[name] === undefined && required.includes(name)) throw new LoginFailure(`${url} has no ${name}`);
    if (document[name] !== undefined) checkUrl(document[name], `${name} in ${url}`);
  }
  if (!isMachine && !textsIn(document.code_challenge_methods_supported).includes('S256'))
    throw new LoginFailure(`${url} does not have S256 in code_challenge_methods_supported`);
  const used = ['issuer', ...ENDPOINTS, ...FLAGS].map((name) => [name, document[name]]);
  const methods = textsIn(document.token_endpoint_auth_methods_supported);
  return { ...Object.fromEntries(used), token_endpoint_auth_methods_supported: methods };
}

/** One `/` at the end may differ. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

function checkUrl(url: unknown, what: string): asserts url is string {
  if (typeof url !== 'string' || !isSecureUrl(url))
    throw new LoginFailure(`${what} is not an https:// URL: ${JSON.stringify(url)}`);
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

import { withDeadline } from '../../../application/async/deadline.ts';
import { isObject, type JsonObject } from '../../../domain/values/json.ts';
import { isSecureUrl } from '../network/addresses.ts';
import { type Challenge, readChallenge } from '../network/challenge.ts';
import { issuerMetadataUrls, readJson, reasonOf } from '../network/documents.ts';
import { type IssuerMetadata, LoginFailure, type OAuthNetwork, scopesIn } from './oauth-request.ts';

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
export interface Discovered {
  readonly metadata: IssuerMetadata;
  /** Undefined if none is sent. */
  readonly resource: string | undefined;
  readonly scopes: readonly string[];
}

const DOCUMENT_MS = 10_000;
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint'] as const;
const FLAGS = ['client_id_metadata_document_supported', 'authorization_response_iss_parameter_supported'];

/** Finds the issuer of a server (rulings O7 and O8). Rejects with a `LoginFailure` that names the URL and the reason. */
export async function discover(server: LoginServer, network: OAuthNetwork, signal: AbortSignal): Promise<Discovered> {
  const { url, auth } = server;
  const challenge = await challengeOf(server, network, signal);
  const problems: string[] = [];
  const find = (places: readonly string[]) => firstOf(places, problems, network, signal);
  const protectedResource = await find(
    [challenge?.resourceMetadata, ...resourceMetadataUrls(url)].filter((place) => place !== undefined),
  );
  const issuer =
    protectedResource === undefined ? (auth?.issuer ?? new URL(url).origin) : issuerOf(protectedResource, auth?.issuer);
  const resource = auth?.resource ?? (protectedResource === undefined ? url : resourceOf(protectedResource, url));
  checkUrl(issuer, 'the issuer');
  const found = await find(issuerMetadataUrls(issuer));
  if (found === undefined) throw new LoginFailure(`no metadata of an issuer was found: ${problems.join('; ')}`);
  const metadata = checkedMetadata(found, issuer, auth?.grant === 'client_credentials');
  const offered = asTexts(protectedResource?.document.scopes_supported) ?? [];
  const asked = challenge?.scope === undefined ? offered : scopesIn(challenge.scope);
  const mayStay =
    auth?.grant !== 'client_credentials' && metadata.scopes_supported?.includes('offline_access') === true;
  const offline = mayStay ? ['offline_access'] : [];
  return {
    metadata,
    resource: resource === 'none' ? undefined : resource,
    scopes: auth?.scopes ?? [...new Set([...asked, ...offline])],
  };
}

interface Found {
  readonly url: string;
  readonly document: JsonObject;
}

/** Asks the server once, without a token. Any answer, and none, may be right: the well-known places are asked next. */
async function challengeOf(
  { url, headers }: LoginServer,
  { fetchFor, clock }: OAuthNetwork,
  signal: AbortSignal,
): Promise<Challenge | undefined> {
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const ask = async (limit: AbortSignal) => {
    const fetch = await fetchFor(url);
    const accept = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers: { ...accept, ...headers }, body: JSON.stringify(message) };
    const response = await fetch(url, { ...init, redirect: 'manual', signal: limit });
    void response.body?.cancel().catch(() => {});
    return response.status === 401 ? readChallenge(response.headers.get('www-authenticate')) : undefined;
  };
  const { outcome, isTimedOut } = await withDeadline(clock, DOCUMENT_MS, signal, (limit) =>
    ask(limit).catch((error: unknown) => new LoginFailure(`${url}: ${reasonOf(error)}`)),
  );
  if (outcome instanceof LoginFailure) throw isTimedOut ? new LoginFailure(`${url}: no response in time`) : outcome;
  return outcome;
}

/** RFC 9728, 3.1: before the path of the resource, then without it. */
function resourceMetadataUrls(url: string): readonly string[] {
  const { origin, pathname } = new URL(url);
  const place = `${origin}/.well-known/oauth-protected-resource`;
  return [...new Set([`${place}${pathname.replace(/\/$/, '')}`, place])];
}

/** The first document that is not missing. One that breaks a rule ends the search. */
async function firstOf(
  places: readonly string[],
  problems: string[],
  { fetchFor, clock }: OAuthNetwork,
  signal: AbortSignal,
): Promise<Found | undefined> {
  for (const url of places) {
    checkUrl(url, 'the metadata');
    const { outcome } = await withDeadline(clock, DOCUMENT_MS, signal, async (limit) =>
      readJson(await fetchFor(url), url, limit),
    );
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
  if (!isSame || typeof resource !== 'string')
    throw new LoginFailure(
      `${from} is for the resource ${JSON.stringify(resource)}, not for ${serverUrl}; see auth.resource`,
    );
  return resource;
}

function issuerOf({ url, document }: Found, configured: string | undefined): string {
  const issuers = asTexts(document.authorization_servers) ?? [];
  const issuer = configured === undefined ? issuers[0] : issuers.find((named) => isSameIssuer(named, configured));
  if (issuer === undefined) {
    const names = issuers.join(', ') || 'none';
    throw new LoginFailure(
      `${url} names ${names} as issuers${configured === undefined ? '' : `, and not ${configured}`}`,
    );
  }
  return issuer;
}

function checkedMetadata({ url, document }: Found, issuer: string, isMachine: boolean): IssuerMetadata {
  if (typeof document.issuer !== 'string' || !isSameIssuer(document.issuer, issuer))
    throw new LoginFailure(`${url} names the issuer ${JSON.stringify(document.issuer)} instead of ${issuer}`);
  const required = isMachine ? ['token_endpoint'] : ['authorization_endpoint', 'token_endpoint'];
  for (const name of ENDPOINTS) {
    if (document[name] === undefined && required.includes(name)) throw new LoginFailure(`${url} has no ${name}`);
    if (document[name] !== undefined) checkUrl(document[name], `${name} in ${url}`);
  }
  if (!isMachine && asTexts(document.code_challenge_methods_supported)?.includes('S256') !== true)
    throw new LoginFailure(`${url} does not have S256 in code_challenge_methods_supported`);
  const used = [...ENDPOINTS, 'issuer', ...FLAGS].filter((name) => document[name] !== undefined);
  return {
    ...(Object.fromEntries(used.map((name) => [name, document[name]])) as unknown as IssuerMetadata),
    token_endpoint_auth_methods_supported: asTexts(document.token_endpoint_auth_methods_supported) ?? [],
    scopes_supported: asTexts(document.scopes_supported) ?? [],
  };
}

/** One `/` at the end may differ. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

function checkUrl(url: unknown, what: string): asserts url is string {
  if (typeof url !== 'string' || !isSecureUrl(url))
    throw new LoginFailure(`${what} is not an https:// URL: ${JSON.stringify(url)}`);
}

function asTexts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : undefined;
}

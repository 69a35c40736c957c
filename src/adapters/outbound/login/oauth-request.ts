import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import { withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { readText, reasonOf } from '../network/documents.ts';

/** How requests to issuers are sent. */
export interface OAuthNetwork {
  /** Through the configured proxy. */
  readonly fetchFor: (url: string) => Promise<typeof fetch>;
  readonly clock: Clock;
}

/**
 * Why somebody or something cannot sign in; the message is for people and has no secrets. `refusal` is the code of an OAuth error (4xx), such
 * as `invalid_grant`; without it, a later request may succeed.
 */
export class LoginFailure extends Error {
  readonly refusal: string | undefined;

  constructor(message: string, refusal?: string) {
    super(shortLine(message, MAX_MESSAGE));
    this.refusal = refusal;
  }
}

/** The parts of an issuer's metadata (RFC 8414) that are used, under their names there. */
export interface IssuerMetadata {
  readonly issuer: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint: string;
  readonly registration_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  readonly scopes_supported?: readonly string[];
  readonly client_id_metadata_document_supported?: boolean;
  readonly authorization_response_iss_parameter_supported?: boolean;
}

/** A client of an issuer, under the names of RFC 7591. */
export interface OAuthClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
}

/** What an issuer gives for a grant. `lifetimeMs` and `scopes` are undefined if it does not say. */
export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly lifetimeMs: number | undefined;
  readonly scopes: readonly string[] | undefined;
}

const REQUEST_MS = 10_000;
export const RENEWAL_MS = 8000;
/** A date, and JSON, can hold any end that is not later. */
const MAX_LIFETIME_S = 1_000_000_000;
const MAX_DETAIL = 200;
const MAX_MESSAGE = 1000;

/** Requests tokens (RFC 6749). Rejects with a `LoginFailure`. */
export async function requestTokens(
  metadata: IssuerMetadata,
  client: OAuthClient,
  grant: Readonly<Record<string, string>>,
  network: OAuthNetwork,
  signal: AbortSignal,
  limitMs = REQUEST_MS,
): Promise<Tokens> {
  const json = await postForm(metadata, 'token_endpoint', client, grant, network, signal, limitMs);
  const { token_type: type, access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = json;
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer';
  if (!isBearer || typeof accessToken !== 'string' || !/^[\x21-\x7E]+$/.test(accessToken))
    throw new LoginFailure(`${metadata.token_endpoint} sent no token of the type Bearer`);
  return {
    accessToken,
    refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined,
    lifetimeMs: Number(seconds) > 0 ? Math.min(Number(seconds), MAX_LIFETIME_S) * 1000 : undefined,
    scopes: typeof scope === 'string' ? scopesIn(scope) : undefined,
  };
}

/** Revokes a token (RFC 7009). Rejects with a `LoginFailure`. */
export async function revoke(
  metadata: IssuerMetadata,
  client: OAuthClient,
  token: string,
  network: OAuthNetwork,
  signal: AbortSignal,
): Promise<void> {
  await postForm(metadata, 'revocation_endpoint', client, { token }, network, signal, REQUEST_MS);
}

export function scopesIn(text: string): readonly string[] {
  return text.split(' ').filter((scope) => scope !== '');
}

async function postForm(
  metadata: IssuerMetadata,
  endpoint: 'token_endpoint' | 'revocation_endpoint',
  client: OAuthClient,
  parameters: Readonly<Record<string, string>>,
  network: OAuthNetwork,
  signal: AbortSignal,
  limitMs: number,
): Promise<JsonObject> {
  const { client_id: id, client_secret: secret } = client;
  const method = selectClientAuthMethod(client, [...(metadata.token_endpoint_auth_methods_supported ?? [])]);
  const isBasic = method === 'client_secret_basic' && secret !== undefined;
  const body = new URLSearchParams(parameters);
  if (!isBasic) body.set('client_id', id);
  if (method === 'client_secret_post' && secret !== undefined) body.set('client_secret', secret);
  // RFC 6749, 2.3.1: both are encoded as in a form.
  const credentials = isBasic ? [id, secret].map(encodeURIComponent).join(':') : '';
  return requestJson(
    metadata[endpoint] ?? '',
    {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        ...(isBasic && { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
      },
      body: body.toString(),
    },
    network,
    signal,
    limitMs,
  );
}

/** The JSON object with which an issuer answers, empty if there is none. Follows no redirect. Rejects with a `LoginFailure`. */
export async function requestJson(
  url: string,
  init: RequestInit & { readonly headers: Readonly<Record<string, string>> },
  { fetchFor, clock }: OAuthNetwork,
  signal: AbortSignal,
  limitMs = REQUEST_MS,
): Promise<JsonObject> {
  const request = async (limit: AbortSignal) => {
    const fetch = await fetchFor(url);
    const headers = { Accept: 'application/json', ...init.headers };
    const response = await fetch(url, { ...init, headers, redirect: 'manual', signal: limit });
    return { status: response.status, text: await readText(response) };
  };
  const { outcome, isTimedOut } = await withDeadline(clock, limitMs, signal, (limit) =>
    request(limit).catch((error: unknown) => ({ status: 0, text: reasonOf(error) })),
  );
  const { status, text } = outcome;
  if (status === 0) throw new LoginFailure(`${url}: ${isTimedOut ? 'no response in time' : text}`);
  if (text === undefined) throw new LoginFailure(`${url}: the response is too large`);
  const parsed = parseJson(text);
  const json = isObject(parsed) ? parsed : {};
  if (status >= 200 && status < 300) return json;
  const isRefused = status >= 400 && status < 500 && status !== 429;
  const { error, error_description: description } = json;
  const detail = [error, description].filter((part) => typeof part === 'string').join(': ');
  const refusal = isRefused && typeof error === 'string' ? error : undefined;
  throw new LoginFailure(`${url} answered ${shortLine(detail, MAX_DETAIL) || `with HTTP ${status}`}`, refusal);
}

import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import { TIMED_OUT, withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import { shortLine } from '../../../domain/values/clean-text.ts';
import { isObject, type JsonObject, parseJson } from '../../../domain/values/json.ts';
import { isSendableKey } from '../../../domain/values/redaction.ts';
import { scopesIn } from '../network/challenge.ts';
import { readText, reasonOf } from '../network/documents.ts';
import type { Login, OAuthClient } from './login-files.ts';

/** How requests to issuers are sent. */
export interface OAuthNetwork {
  /** Through the configured proxy. */
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** How long a request may take. Default: 10 s. */
  readonly limitMs?: number;
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

/** What an issuer gives for a grant. */
export type Tokens = Pick<Login, 'scopes' | 'accessToken' | 'refreshToken' | 'receivedAt' | 'expiresAt'>;

export const REQUEST_MS = 10_000;
/** A date, and JSON, can hold any end that is not later. */
const MAX_LIFETIME_S = 1_000_000_000;
const MAX_DETAIL = 200;
const MAX_MESSAGE = 1000;

/** Requests tokens (RFC 6749). What the response does not say is as in `login`. Rejects with a `LoginFailure`. */
export async function requestTokens(
  login: Pick<Login, 'metadata' | 'client' | 'scopes' | 'refreshToken'>,
  grant: Readonly<Record<string, string>>,
  network: OAuthNetwork,
  signal: AbortSignal,
): Promise<Tokens> {
  const { token_endpoint: url } = login.metadata;
  const json = await postForm(url, login, grant, network, signal);
  const { token_type: type, access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = json;
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer';
  if (!isBearer || typeof accessToken !== 'string' || !isSendableKey(accessToken))
    throw new LoginFailure(`${url} sent no token of the type Bearer`);
  const receivedAt = network.clock.now().getTime();
  const lifetimeMs = Math.min(Number(seconds), MAX_LIFETIME_S) * 1000;
  return {
    scopes: typeof scope === 'string' ? scopesIn(scope) : login.scopes,
    accessToken,
    refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : login.refreshToken,
    receivedAt,
    expiresAt: lifetimeMs > 0 ? receivedAt + lifetimeMs : undefined,
  };
}

/** What must not be shown of a login. */
export function secretsOf({ accessToken, refreshToken, client }: Partial<Login> & Pick<Login, 'client'>) {
  const { client_secret: secret } = client;
  const secrets = [accessToken, refreshToken, secret, secret && basicCredentials(client)];
  return secrets.filter((text) => text !== undefined);
}

/** RFC 6749, 2.3.1: the ID and the secret are encoded as in a form. */
function basicCredentials({ client_id: id, client_secret: secret = '' }: OAuthClient): string {
  return Buffer.from([id, secret].map(encodeURIComponent).join(':')).toString('base64');
}

/** Posts a form as a client, to request tokens or to revoke one (RFC 7009). Rejects with a `LoginFailure`. */
export function postForm(
  url: string,
  { metadata, client }: Pick<Login, 'metadata' | 'client'>,
  parameters: Readonly<Record<string, string>>,
  network: OAuthNetwork,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { client_id: id, client_secret: secret } = client;
  const method = selectClientAuthMethod(client, [...(metadata.token_endpoint_auth_methods_supported ?? [])]);
  const isBasic = method === 'client_secret_basic' && secret !== undefined;
  const body = new URLSearchParams(parameters);
  if (!isBasic) body.set('client_id', id);
  if (method === 'client_secret_post' && secret !== undefined) body.set('client_secret', secret);
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    ...(isBasic && { Authorization: `Basic ${basicCredentials(client)}` }),
  };
  return requestJson(url, headers, body.toString(), network, signal);
}

/** The JSON object with which an issuer answers, empty if there is none. Rejects with a `LoginFailure`. */
export async function requestJson(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  network: OAuthNetwork,
  signal: AbortSignal,
): Promise<JsonObject> {
  const read = async (response: Response) => ({ status: response.status, text: await readText(response) });
  const { status, text } = await post(url, { Accept: 'application/json', ...headers }, body, read, network, signal);
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

/** What `read` makes of the response to a POST. Follows no redirect. Rejects with a `LoginFailure` if there is no response in time. */
export async function post<T>(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  read: (response: Response) => Promise<T>,
  { fetch, clock, limitMs = REQUEST_MS }: OAuthNetwork,
  signal: AbortSignal,
): Promise<T> {
  const init = { method: 'POST', headers, body, redirect: 'manual' } as const;
  const { outcome } = await withDeadline(clock, limitMs, signal, async (limit) => {
    try {
      return await read(await fetch(url, { ...init, signal: limit }));
    } catch (error) {
      throw new LoginFailure(`${url}: ${limit.reason === TIMED_OUT ? 'no response in time' : reasonOf(error)}`);
    }
  });
  return outcome;
}

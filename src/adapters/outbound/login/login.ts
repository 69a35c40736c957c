import type {
  AuthorizationServerMetadata,
  OAuthClientInformationFull,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../../application/ports/services.ts';
import type { LoginSummary } from '../../../application/ports/tool-server.ts';
import { isUnencrypted } from '../network/addresses.ts';
import { scopesIn } from '../network/challenge.ts';

/** How this program gets tokens without a person: the parameters of its request, beside the scope. */
export interface Machine {
  readonly grant_type: string;
}

/** The kinds of login, by `auth.grant`: a person signs in with a browser, and the login is on disk; or this program signs in as a machine. */
const KINDS = {
  authorization_code: 'person',
  client_credentials: { grant_type: 'client_credentials' },
} as const satisfies Readonly<Record<string, 'person' | Machine>>;

export type Grant = keyof typeof KINDS;

/** The kind of a login; without the key `auth`, a person signs in when the server asks for it. */
export function kindOf(auth: { readonly grant: Grant } | undefined): 'person' | Machine {
  return KINDS[auth?.grant ?? 'authorization_code'];
}

/** How requests to a server get their credentials: from a header of the configuration, by a login, or not at all, because others could read a token. */
export function credentialsOf(server: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?: { readonly grant: Grant } | undefined;
}): 'header' | 'unencrypted' | Grant {
  if (Object.keys(server.headers).some((name) => name.toLowerCase() === 'authorization')) return 'header';
  return isUnencrypted(server.url) ? 'unencrypted' : (server.auth?.grant ?? 'authorization_code');
}

/** A remote server to which a person or this program signs in. */
export interface LoginServer {
  readonly name: string;
  readonly url: string;
  /** Headers that are sent to the URL of the server only. */
  readonly headers: Readonly<Record<string, string>>;
  readonly auth?:
    | {
        readonly grant: Grant;
        readonly clientId?: string | undefined;
        readonly clientSecret?: string | undefined;
        readonly clientMetadataUrl?: string | undefined;
        readonly issuer?: string | undefined;
        readonly scopes?: readonly string[] | undefined;
        readonly resource?: string | undefined;
        readonly callbackPort?: number | undefined;
      }
    | undefined;
}

/** The result of one sign-in: of a person it is stored on disk, of a machine only in memory. */
export interface Login {
  /** Each sign-in has another ID; renewals keep it. */
  readonly id: string;
  readonly metadata: AuthorizationServerMetadata;
  /** The client, without a secret that is configured. */
  readonly client: OAuthClientInformationMixed;
  /** Undefined if none is sent. */
  readonly resource?: string | undefined;
  readonly tokens: OAuthTokens;
  /** When the tokens were received, in milliseconds since 1970. */
  readonly receivedAt: number;
}

const EARLY_MS = 60_000;

/** The token, if it is valid and was not refused. */
export function usableToken(login: Login | undefined, refused: string | undefined, clock: Clock): string | undefined {
  const token = login?.tokens.access_token;
  return login !== undefined && token !== refused && clock.now().getTime() < endOf(login) ? token : undefined;
}

/** Whether a login has a valid token, or can get one. */
export function isAlive(login: Login, clock: Clock): boolean {
  return login.tokens.refresh_token !== undefined || usableToken(login, undefined, clock) !== undefined;
}

/** Whether the token should be renewed: in its last minute, or in the second half of a short life. */
export function isDue(login: Login, clock: Clock): boolean {
  const seconds = usableSeconds(login.tokens.expires_in) ?? 0;
  return endOf(login) - clock.now().getTime() < Math.min(EARLY_MS, seconds * 500);
}

export function toSummary({ name, url }: LoginServer, login: Login, isShared: boolean): LoginSummary {
  const { metadata, tokens } = login;
  const end = endOf(login);
  const expiresAt = end === Number.POSITIVE_INFINITY ? undefined : new Date(end);
  const scopes = scopesIn(tokens.scope ?? '');
  const renewable = tokens.refresh_token !== undefined;
  return { server: name, url, issuer: metadata.issuer, scopes, expiresAt, renewable, isShared };
}

/** The secrets of a login, which must not be shown. */
export function secretsOf({ tokens, client }: Login): readonly string[] {
  return [tokens.access_token, tokens.refresh_token, client.client_secret].filter((text) => text !== undefined);
}

/** A client with its configured secret, which is not stored. */
export function clientOf({ client }: Pick<Login, 'client'>, { auth }: LoginServer): Login['client'] {
  const isConfigured = auth?.clientSecret !== undefined && auth.clientId === client.client_id;
  return isConfigured ? { ...client, client_secret: auth.clientSecret } : client;
}

/** What a login needs of a client. */
interface ClientUse {
  readonly issuer: string;
  readonly redirectUrl: string;
  readonly scopes: readonly string[];
}

/** The client that was registered for a login; undefined if it has no registered one, or one that is for other uses or whose secret ends. */
export function registeredClient({ metadata, client }: Login, use: ClientUse): Login['client'] | undefined {
  const { redirect_uris: uris, scope }: Partial<OAuthClientInformationFull> = client;
  const fits = metadata.issuer === use.issuer && uris?.includes(use.redirectUrl) === true;
  const hasScopes = scope === undefined || use.scopes.every((name) => scopesIn(scope).includes(name));
  return fits && hasScopes && !client.client_secret_expires_at ? client : undefined;
}

/** Whether two URLs have the same resource: they may differ in one `/` at the end, and in a query, which chooses a part of it. */
export function isSamePlace(one: string, other: string): boolean {
  const placeOf = (url: string) => `${new URL(url).origin}${new URL(url).pathname.replace(/\/$/, '')}`;
  return placeOf(one) === placeOf(other);
}

/** Whether a resource is at a URL, or contains it: it has the same origin, and its path is the beginning of the other one. */
export function isWithin(url: string, resource: string): boolean {
  const pathOf = (text: string) => `${new URL(text).pathname.replace(/\/$/, '')}/`;
  return new URL(url).origin === new URL(resource).origin && pathOf(url).startsWith(pathOf(resource));
}

/** The ID of an issuer without a lone slash at its end: with and without it, a URL without a path is the same (RFC 3986, 6.2.3). */
export function issuerId(issuer: string): string {
  return URL.canParse(issuer) && issuer === `${new URL(issuer).origin}/` ? issuer.slice(0, -1) : issuer;
}

/** When the token expires, in milliseconds since 1970. A token without a known end is used until it is refused. */
function endOf({ tokens, receivedAt }: Login): number {
  const seconds = usableSeconds(tokens.expires_in);
  return seconds === undefined || !Number.isFinite(receivedAt) ? Number.POSITIVE_INFINITY : receivedAt + seconds * 1000;
}

/** A hundred years. Some issuers write a longer time for tokens without an end, or a number that is no date any more. */
const MAX_SECONDS = 100 * 366 * 24 * 60 * 60;

/** The time that an issuer gives in seconds, as a number or, against the standard, as text. Undefined if it is no usable time. */
export function usableSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

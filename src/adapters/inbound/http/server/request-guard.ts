import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import type { TokenOwner } from '../../../../application/ports/token-verifier.ts';
import { LOCAL_CALLER } from '../../../../domain/gateway/call-origin.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import { type Refusal, refusal } from '../shared/refusal.ts';
import { type OAuthOptions, tokenRefusal } from './protected-resource.ts';

export interface GuardOptions {
  /** The host name or address on which the server listens. */
  readonly host: string;
  /** Host names other than those of this machine; `*` is any. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Callers and their tokens; without any and without `oauth`, no token is required. */
  readonly tokens: readonly { readonly caller: string; readonly token: string }[];
  readonly oauth?: OAuthOptions | undefined;
}

/** The host of a request target that is a complete URL, which proxies may send (RFC 9112, 3.2.2). */
export const TARGET_HOST = /^https?:\/\/([^/?]*)/i;

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Checks host, origin and token of a request. */
export class RequestGuard {
  readonly #options: GuardOptions;
  readonly #hostNames: readonly string[];
  readonly #hashes: readonly { readonly caller: string; readonly hash: Buffer }[];
  #latest: { readonly host: string; readonly name: string | undefined } = { host: '', name: undefined };

  constructor(options: GuardOptions) {
    const { host, allowedHosts } = options;
    this.#options = options;
    this.#hostNames = [...LOOPBACK_NAMES, host.includes(':') ? `[${host}]` : host.toLowerCase(), ...allowedHosts];
    this.#hashes = options.tokens.map(({ caller, token }) => ({ caller, hash: hashOf(token) }));
  }

  /** Checks `Host` (against pages whose own name resolves to this machine) and `Origin` (against other pages). */
  refusalOf({ url = '', headers }: IncomingMessage): Refusal | undefined {
    const { allowedHosts, allowedOrigins } = this.#options;
    const { host = '', origin } = headers;
    const [, targetHost] = TARGET_HOST.exec(url) ?? [];
    if (targetHost !== undefined && targetHost.toLowerCase() !== headers.host?.toLowerCase())
      return refusal('VALIDATION_ERROR', REFUSALS.twoHosts);
    if (host.includes(',')) return refusal('VALIDATION_ERROR', REFUSALS.hostHeaders);
    const name = this.#nameOf(host);
    if ((name === undefined || !this.#hostNames.includes(name)) && !allowedHosts.includes('*')) {
      const shown = JSON.stringify(name ?? host.slice(0, MAX_SHOWN_LENGTH));
      return refusal('FORBIDDEN', REFUSALS.host(shown), { reason: 'host not allowed' });
    }
    // The page of this server. With `*`, its host name could be that of another page.
    const isOwn =
      name !== undefined && this.#hostNames.includes(name) && /^https?:\/\/(.*)$/.exec(origin ?? '')?.[1] === host;
    if (origin === undefined || isOwn || allowedOrigins.includes(origin) || isLoopbackOrigin(origin)) return undefined;
    return refusal('FORBIDDEN', REFUSALS.origin, { reason: 'origin not allowed' });
  }

  /** Clients name the same host in all their requests: it is parsed once. */
  #nameOf(host: string): string | undefined {
    if (this.#latest.host !== host) this.#latest = { host, name: hostNameOf(host) };
    return this.#latest.name;
  }

  /**
   * The caller with the received token (`local` if no token is required), or a refusal. The search in the configured tokens
   * takes constant time. A promise only if the token must be verified: bytes after a request that are not HTTP would otherwise
   * be answered first.
   */
  callerOf({ authorization }: IncomingHttpHeaders): Result<TokenOwner, Refusal> | Promise<Result<TokenOwner, Refusal>> {
    const { oauth } = this.#options;
    if (this.#hashes.length === 0 && oauth === undefined) return ok({ caller: LOCAL_CALLER });
    const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    const received = hashOf(token ?? '');
    const [known] = this.#hashes.filter(({ hash }) => timingSafeEqual(received, hash));
    if (known !== undefined) return ok({ caller: known.caller });
    if (oauth !== undefined) {
      if (token === undefined) return err(tokenRefusal({ kind: 'no_token' }, oauth));
      return oauth.verifier.verify(token).then((owner) => owner.mapErr((error) => tokenRefusal(error, oauth)));
    }
    const challenge = `Bearer realm="mcp"${token === undefined ? '' : ', error="invalid_token"'}`;
    return err(refusal('UNAUTHORIZED', REFUSALS.token, { headers: { 'WWW-Authenticate': challenge } }));
  }

  /** The headers with which pages of an allowed origin can read the response; undefined for other origins. */
  corsHeaders({ origin }: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
    if (origin === undefined || !this.#options.allowedOrigins.includes(origin)) return undefined;
    return {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': EXPOSED_HEADERS,
      Vary: 'Origin',
    };
  }
}

const EXPOSED_HEADERS = 'ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id';

/** The headers of the response to a browser's preflight request for these methods. */
export const preflightHeaders = (methods: string) => ({
  'Access-Control-Allow-Methods': methods,
  'Access-Control-Allow-Headers':
    'Accept, Authorization, Baggage, Content-Type, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, Traceparent, Tracestate, X-Request-Id',
  'Access-Control-Max-Age': '600',
});

/** The longest host name (RFC 1035). */
const MAX_SHOWN_LENGTH = 253;

/** The complete name is compared: `localhost.evil.example` begins like a loopback name. */
function hostNameOf(host: string): string | undefined {
  const isHost = /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/i.test(host) && URL.canParse(`http://${host}`);
  return isHost ? new URL(`http://${host}`).hostname : undefined;
}

function isLoopbackOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname, origin: parsed } = new URL(origin);
  // A browser sends nothing else; the parser accepts more.
  return parsed === origin && /^https?:$/.test(protocol) && LOOPBACK_NAMES.includes(hostname);
}

/** Hashes have the same length, so that a comparison reveals nothing about the token. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

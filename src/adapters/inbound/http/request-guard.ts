import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { latest } from '../../../domain/latest.ts';
import type { HttpServerOptions } from './http-context.ts';
import { type Refusal, refusal } from './refusal.ts';
import { tokenRefusal } from './token-refusal.ts';

/** The sender of a request, or the reason why it is not served. */
type Identified = { readonly caller: string } | Refusal;

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** The headers of the response to a browser's preflight request. */
export const preflightHeaders = (isRest: boolean): OutgoingHttpHeaders => ({
  'Access-Control-Allow-Methods': isRest ? 'GET, POST' : 'POST',
  'Access-Control-Allow-Headers':
    'Accept, Authorization, Content-Type, If-None-Match, Last-Event-ID, Mcp-Method, Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id, Traceparent, Tracestate, X-Request-Id',
  'Access-Control-Max-Age': '600',
});

/** Checks host, origin and token of a request. */
export class RequestGuard {
  readonly #options: HttpServerOptions;
  readonly #hostNames: readonly string[];
  readonly #hashes: readonly { readonly caller: string; readonly hash: Buffer }[];

  constructor(options: HttpServerOptions) {
    const { host, allowedHosts } = options;
    this.#options = options;
    this.#hostNames = [...LOOPBACK_NAMES, host.includes(':') ? `[${host}]` : host.toLowerCase(), ...allowedHosts];
    this.#hashes = options.tokens.map(({ caller, token }) => ({ caller, hash: hashOf(token) }));
  }

  /** Checks `Host` (against pages whose own name resolves to this machine) and `Origin` (against other pages). */
  refusalOf({ host = '', origin }: IncomingHttpHeaders): Refusal | undefined {
    const { allowedHosts, allowedOrigins } = this.#options;
    if (host.includes(',')) return refusal(400, 'Bad Request: there must be one Host header');
    const name = hostNameOf(host);
    if ((name === undefined || !this.#hostNames.includes(name)) && !allowedHosts.includes('*')) {
      const shown = JSON.stringify(name ?? host.slice(0, MAX_SHOWN_LENGTH));
      const advice = 'add it to MCP_HTTP_ALLOWED_HOSTS (http.allowed_hosts)';
      return { ...refusal(403, `Forbidden: host ${shown} is not allowed; ${advice}`), reason: 'host not allowed' };
    }
    // The page of this server. With `*`, its host name could be that of another page.
    const isOwn =
      name !== undefined && this.#hostNames.includes(name) && /^https?:\/\/(.*)$/.exec(origin ?? '')?.[1] === host;
    if (origin === undefined || isOwn || allowedOrigins.includes(origin) || isLoopbackOrigin(origin)) return undefined;
    const advice = 'add it to MCP_HTTP_ALLOWED_ORIGINS (http.allowed_origins)';
    const forbidden = refusal(403, `Forbidden: pages of this origin are not allowed; ${advice}`);
    return { ...forbidden, reason: 'origin not allowed' };
  }

  /**
   * The caller with the received token (`local` if no token is required), or a refusal. The search in the configured tokens
   * takes constant time. A promise only if the token must be verified: bytes after a request that are not HTTP would otherwise
   * be answered first.
   */
  callerOf({ authorization }: IncomingHttpHeaders): Identified | Promise<Identified> {
    const { oauth } = this.#options;
    if (this.#hashes.length === 0 && oauth === undefined) return { caller: 'local' };
    const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    const received = hashOf(token ?? '');
    const [known] = this.#hashes.filter(({ hash }) => timingSafeEqual(received, hash));
    if (known !== undefined) return { caller: known.caller };
    if (oauth !== undefined) {
      if (token === undefined) return tokenRefusal({ kind: 'no_token' }, oauth);
      return oauth.verifier
        .verify(token)
        .then((verified) => (verified.isOk() ? verified.value : tokenRefusal(verified.error, oauth)));
    }
    const challenge = `Bearer realm="mcp"${token === undefined ? '' : ', error="invalid_token"'}`;
    const headers = { 'WWW-Authenticate': challenge };
    return refusal(401, 'Unauthorized: send a valid token (Authorization: Bearer ...)', headers);
  }

  /** The headers with which pages of an allowed origin can read the response; undefined for other origins. */
  corsHeaders({ origin }: IncomingHttpHeaders): OutgoingHttpHeaders | undefined {
    if (origin === undefined || !this.#options.allowedOrigins.includes(origin)) return undefined;
    return {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': 'ETag, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id',
      Vary: 'Origin',
    };
  }
}

/** The longest host name (RFC 1035). */
const MAX_SHOWN_LENGTH = 253;

/** The complete name is compared: `localhost.evil.example` begins like a loopback name. */
const hostNameOf = latest((host: string) =>
  /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/i.test(host) && URL.canParse(`http://${host}`)
    ? new URL(`http://${host}`).hostname
    : undefined,
);

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

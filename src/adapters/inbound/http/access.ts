import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { type Refusal, refusal } from './refusal.ts';

export interface AccessOptions {
  /** Callers and their tokens; empty: no token is asked for. */
  readonly tokens: readonly { readonly caller: string; readonly token: string }[];
  /** Where the server listens: whoever calls it by that name or address means it. */
  readonly host: string;
  /** Host names besides those of this machine; `*` stands for any. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

/** Who calls where nobody has to say who they are: whoever can reach this machine's loopback. */
const LOCAL_CALLER = 'local';
const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const ALLOWED_HEADERS = [
  'Accept',
  'Authorization',
  'Content-Type',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'Traceparent',
  'Tracestate',
];

/** Who may call, from which pages, and under which names of this server. */
export class Access {
  readonly #options: AccessOptions;
  readonly #hostNames: readonly string[];
  readonly #hashes: readonly { readonly caller: string; readonly hash: Buffer }[];

  constructor(options: AccessOptions) {
    const { host, allowedHosts } = options;
    this.#options = options;
    this.#hostNames = [...LOOPBACK_NAMES, host.includes(':') ? `[${host}]` : host.toLowerCase(), ...allowedHosts];
    this.#hashes = options.tokens.map(({ caller, token }) => ({ caller, hash: hashOf(token) }));
  }

  /**
   * `Host` and `Origin` (MCP, Streamable HTTP, Security): a page that made its own name point to this machine is refused by
   * the first, any other page by the second. No `Origin` is no page.
   */
  refusalOf({ host = '', origin }: IncomingHttpHeaders): Refusal | undefined {
    const { allowedHosts, allowedOrigins } = this.#options;
    const name = hostNameOf(host);
    if ((name === undefined || !this.#hostNames.includes(name)) && !allowedHosts.includes('*')) {
      return refusal(403, 'Forbidden: this Host is not served; see http.allowed_hosts');
    }
    if (origin === undefined || allowedOrigins.includes(origin) || isLoopbackOrigin(origin)) return undefined;
    return refusal(403, 'Forbidden: pages of this Origin may not call; see http.allowed_origins');
  }

  /** The name of the caller whose token was sent, or why there is none. Every token is compared, each in constant time. */
  callerOf({ authorization }: IncomingHttpHeaders): { readonly caller: string } | Refusal {
    if (this.#hashes.length === 0) return { caller: LOCAL_CALLER };
    const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
    const sent = hashOf(token ?? '');
    let found: string | undefined;
    for (const { caller, hash } of this.#hashes) {
      if (timingSafeEqual(sent, hash)) found = caller;
    }
    if (found !== undefined) return { caller: found };
    const challenge = `Bearer realm="mcp"${token === undefined ? '' : ', error="invalid_token"'}`;
    return refusal(401, 'Unauthorized: send a known token as Authorization: Bearer', { 'WWW-Authenticate': challenge });
  }

  /** What lets pages of a listed origin read the answers; nothing for all others. */
  corsHeaders({ origin }: IncomingHttpHeaders): OutgoingHttpHeaders | undefined {
    if (origin === undefined || !this.#options.allowedOrigins.includes(origin)) return undefined;
    return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': 'Retry-After', Vary: 'Origin' };
  }

  /** The answer to a browser that asks, before the request itself, what it may send. */
  preflightHeaders(): OutgoingHttpHeaders {
    return {
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': ALLOWED_HEADERS.join(', '),
      'Access-Control-Max-Age': '600',
    };
  }
}

/** Never by prefix: `localhost.evil.example` begins like a loopback name. */
function hostNameOf(host: string): string | undefined {
  return /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/i.test(host) && URL.canParse(`http://${host}`)
    ? new URL(`http://${host}`).hostname
    : undefined;
}

function isLoopbackOrigin(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  return /^https?:$/.test(protocol) && LOOPBACK_NAMES.includes(hostname);
}

/** Of equal length whatever the token's, so that a comparison tells nothing of it. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

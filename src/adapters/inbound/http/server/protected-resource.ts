import type { TokenVerifier } from '../../../../application/ports/token-verifier.ts';
import type { Exchange } from '../shared/exchange.ts';

/** What clients need to know to get a token, and what checks it. */
export interface OAuthOptions {
  readonly issuer: string;
  /** The URL that clients use for this server. */
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly verifier: TokenVerifier;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The metadata that leads clients to the authorization server (RFC 9728). Anyone may read it: it is the same for everyone. */
export class ProtectedResource {
  readonly #paths: readonly string[];
  readonly #json: string;

  constructor({ resource, issuer, scopes }: OAuthOptions) {
    this.#paths = [WELL_KNOWN, new URL(metadataUrl(resource)).pathname];
    this.#json = JSON.stringify({
      resource,
      authorization_servers: [issuer],
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
    });
  }

  owns(path: string): boolean {
    return this.#paths.includes(path);
  }

  send(exchange: Exchange): void {
    const { method = '' } = exchange.request;
    exchange.response.setHeader('Access-Control-Allow-Origin', '*');
    if (method === 'GET' || method === 'HEAD') exchange.sendJson(200, this.#json);
    else if (method === 'OPTIONS') exchange.sendEmpty(204, PREFLIGHT);
    else exchange.sendEmpty(405, { Allow: 'GET, HEAD, OPTIONS' });
  }
}

/** Clients in a browser send the header of the revision with every request. */
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'MCP-Protocol-Version',
  'Access-Control-Max-Age': '600',
};

/**
 * Where the metadata of a resource is published (RFC 9728, 3.1). It follows from the configuration: behind a proxy, requests do
 * not contain the public URL, and `Host` is chosen by the sender.
 */
export function metadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`;
}

import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { TokenError } from '../../../application/ports/token-verifier.ts';
import { REFUSALS, TOKEN_PROBLEMS } from '../words/refusal-messages.ts';
import { type Refusal, refusal } from './refusal.ts';
import type { HttpEnv } from './request.ts';
import type { OAuthOptions } from './services.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/**
 * Serves the metadata that leads clients to the authorization server (RFC 9728). Anyone may read it: it is the same
 * for everyone.
 */
export function resourceMetadata({ resource, issuer, scopes }: OAuthOptions) {
  const app = new Hono<HttpEnv>();
  const metadata = {
    resource,
    authorization_servers: [issuer],
    scopes_supported: scopes.length === 0 ? undefined : scopes,
    bearer_methods_supported: ['header'],
  };
  for (const path of new Set([WELL_KNOWN, new URL(metadataUrl(resource)).pathname])) {
    // Clients in a browser send this header with every request.
    app.use(path, cors({ allowMethods: ['GET'], allowHeaders: ['MCP-Protocol-Version'], maxAge: 600 }));
    app.get(path, (c) => c.json(metadata));
    app.all(path, (c) => c.body(null, 405, { Allow: 'GET, HEAD, OPTIONS', 'Content-Length': '0' }));
  }
  return app;
}

/** The URL of the metadata (RFC 9728, 3.1). It depends only on the configuration, because senders choose the URLs of their requests. */
function metadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return `${origin}${WELL_KNOWN}${pathname === '/' ? '' : pathname}`;
}

/** The response to a request without an acceptable token, if clients can get one from an authorization server (RFC 6750). */
export function tokenRefusal(error: TokenError | { readonly kind: 'no_token' }, oauth: OAuthOptions): Refusal {
  const { issuer, scopes } = oauth;
  switch (error.kind) {
    case 'no_token':
      return refusal('UNAUTHORIZED', REFUSALS.tokenOf(issuer), { headers: challenge(oauth) });
    case 'invalid_token': {
      const { kind, problem } = error;
      const headers = challenge(oauth, { error: kind, error_description: `The token ${TOKEN_PROBLEMS[problem]}` });
      return refusal('UNAUTHORIZED', REFUSALS.badToken(problem, issuer), { headers, reason: `token: ${problem}` });
    }
    case 'insufficient_scope': {
      const headers = challenge(oauth, { error: 'insufficient_scope' });
      return refusal('FORBIDDEN', REFUSALS.scopes(scopes), { headers, reason: 'token: insufficient_scope' });
    }
    case 'issuer_unavailable':
      return refusal('ISSUER_UNAVAILABLE', REFUSALS.issuer(issuer), { retryAfterMs: error.retryAfterMs });
  }
}

/** Tells the client where to get a token, and which scopes it needs (RFC 9728, 5.1). No value contains a quote. */
function challenge({ resource, scopes }: OAuthOptions, parameters: Readonly<Record<string, string>> = {}) {
  const all = {
    ...parameters,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    resource_metadata: metadataUrl(resource),
  };
  const list = Object.entries(all).map(([name, value]) => `${name}="${value}"`);
  return { 'WWW-Authenticate': `Bearer ${list.join(', ')}` };
}

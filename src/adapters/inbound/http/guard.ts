import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { err, ok, type Result } from 'neverthrow';
import type { TokenError, TokenOwner } from '../../../application/ports/callers.ts';
import { LOCAL_CALLER } from '../../../domain/gateway/call-origin.ts';
import { REFUSALS, TOKEN_PROBLEMS } from '../words/refusal-messages.ts';
import { refuse } from './errors.ts';
import { type Refusal, refusal } from './refusal.ts';
import type { HttpEnv, Middleware } from './request.ts';
import type { HttpServices, OAuthOptions } from './services.ts';

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const LOOPBACK_ADDRESSES: readonly string[] = ['127.0.0.1', '::1', '::ffff:127.0.0.1'];

/**
 * Refuses what a proxy or a tunnel on this machine passes on. It arrives from loopback, often with a `Host` of loopback, so that an endpoint without
 * tokens would be open to everyone whom the proxy serves. A proxy that a program on this machine asked by a loopback name serves this machine.
 */
export const refuseForwarded: Middleware = async (c, next) => {
  const { headers, httpVersionMajor: major, httpVersionMinor: minor } = c.env.incoming;
  // MCP clients and browsers speak HTTP/1.1; nginx speaks HTTP/1.0 to its upstreams unless it is configured otherwise, and names itself in no header.
  const isOld = major === 1 && minor === 0;
  const marks = Object.keys(headers).filter((name) => FORWARDED.test(name));
  const isForwarded = isOld || (marks.length > 0 && !isForThisMachine(headers, marks));
  return isForwarded ? refuse(c, refusal('FORBIDDEN', REFUSALS.forwarded, { reason: 'forwarded by a proxy' })) : next();
};

/** Headers that proxies add: `Forwarded` (RFC 7239), `Via` (RFC 9110), `CDN-Loop` (RFC 8586), and those of products. */
const FORWARDED =
  /forwarded|^(?:via|cdn-loop|front-end-https|tailscale-.+|cf-.+|x-(?:original|envoy|arr|azure)-.+|x-remote-addr)$|(?:client|real|connecting|remote|user)-ip$/;

/** Whether a proxy says that it was asked by a loopback name, and no header names another machine. A list of values has passed several proxies. */
function isForThisMachine(headers: IncomingHttpHeaders, marks: readonly string[]): boolean {
  const { 'x-forwarded-host': host, 'x-forwarded-for': address = '127.0.0.1' } = headers;
  return (
    LOOPBACK_NAMES.includes(hostNameOf(String(host)) ?? '') &&
    LOOPBACK_ADDRESSES.includes(String(address)) &&
    marks.every((name) => /^x-forwarded-(?:host|for|proto|port|prefix)$/.test(name))
  );
}

/** Checks `Host` (against pages whose own name resolves to this machine) and `Origin` (against other pages). */
export function guardHost({ host: listen, allowedHosts, allowedOrigins, logins }: HttpServices): Middleware {
  const own = [...LOOPBACK_NAMES, listen.includes(':') ? `[${listen}]` : listen.toLowerCase(), ...allowedHosts];
  // The pages of the public URL are those of this server, also if a proxy replaces `Host`.
  const origins = [...allowedOrigins, ...(logins ? [new URL(logins.publicUrl).origin] : [])];
  // Most requests have the same host.
  let latest: { readonly host: string; readonly name: string | undefined } | undefined;
  return async (c, next) => {
    const { host = '', origin } = c.env.incoming.headers;
    if (latest?.host !== host) latest = { host, name: hostNameOf(host) };
    const { name } = latest;
    const isOwnHost = name !== undefined && own.includes(name);
    if (!isOwnHost && !allowedHosts.includes('*')) {
      const shown = JSON.stringify(name ?? host.slice(0, MAX_SHOWN_LENGTH));
      return refuse(c, refusal('FORBIDDEN', REFUSALS.host(shown), { reason: 'host not allowed' }));
    }
    // Accepts the page of this server. A host name that only `*` allows does not count: it could be that of another page.
    const isOwnPage = isOwnHost && (origin === `http://${host}` || origin === `https://${host}`);
    if (origin === undefined || isOwnPage || origins.includes(origin) || isLoopbackOrigin(origin)) return next();
    return refuse(c, refusal('FORBIDDEN', REFUSALS.origin, { reason: 'origin not allowed' }));
  };
}

/** Finds the caller who owns the received token, and what this caller may use. */
export function guardToken(services: HttpServices): Middleware {
  const callerOf = callersBy(services);
  return async (c, next) => {
    const found = callerOf(c.env.incoming.headers.authorization);
    const owner = found instanceof Promise ? await found : found;
    if (owner.isErr()) return refuse(c, owner.error);
    const log = c.get('log');
    const rights = services.rightsOf(owner.value);
    log.caller = owner.value.caller;
    log.isUnlisted = rights.isUnlisted;
    c.set('caller', owner.value.caller);
    c.set('subject', owner.value.subject);
    c.set('rights', rights);
    return next();
  };
}

/**
 * Returns a function that finds the caller who owns a token (`local` if none is required), or a refusal. The search in the configured tokens
 * takes constant time.
 */
function callersBy({ tokens, minTokenLength, oauth, requiresToken }: HttpServices) {
  return (authorization = ''): Result<TokenOwner, Refusal> | Promise<Result<TokenOwner, Refusal>> => {
    if (!requiresToken) return ok({ caller: LOCAL_CALLER });
    const [, token] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    const received = hashOf(token ?? '');
    const [known] = tokens().filter(({ hash }) => timingSafeEqual(received, hash));
    if (known !== undefined && token !== undefined)
      return token.length < minTokenLength ? err(shortToken(minTokenLength)) : ok({ caller: known.caller });
    if (oauth !== undefined) {
      if (token === undefined) return err(tokenRefusal({ kind: 'no_token' }, oauth));
      return oauth.verifier.verify(token).then((owner) => owner.mapErr((error) => tokenRefusal(error, oauth)));
    }
    return err(unauthorized(REFUSALS.token, token !== undefined));
  };
}

function shortToken(minLength: number): Refusal {
  return { ...unauthorized(REFUSALS.shortToken(minLength), true), reason: 'token too short' };
}

function unauthorized(message: string, hasToken: boolean): Refusal {
  const challenge = `Bearer realm="mcp"${hasToken ? ', error="invalid_token"' : ''}`;
  return refusal('UNAUTHORIZED', message, { headers: { 'WWW-Authenticate': challenge } });
}

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
  // Browsers send exactly the parsed form; the parser also accepts others.
  return parsed === origin && /^https?:$/.test(protocol) && LOOPBACK_NAMES.includes(hostname);
}

/** The hash by which a token is known. Hashes have the same length, so that a comparison reveals nothing about the token. */
function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

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
function tokenRefusal(error: TokenError | { readonly kind: 'no_token' }, oauth: OAuthOptions): Refusal {
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

import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { internalError } from '../mcp/json-rpc.ts';
import { REFUSALS } from '../words/refusal-messages.ts';
import { refuse, toJsonRpcError, toRestError } from './errors.ts';
import { guardHost, guardToken, refuseForwarded, resourceMetadata } from './guard.ts';
import { loginApi } from './login-api.ts';
import { loginPages } from './login-pages.ts';
import { postMessage } from './mcp.ts';
import { pageIn } from './page.ts';
import { methodNotAllowed, ofErrorObject, refusal, rightRequired, shuttingDown } from './refusal.ts';
import type { HttpEnv, HttpRequest, Middleware } from './request.ts';
import { restApi } from './rest.ts';
import type { HttpServices, Serving } from './services.ts';

/**
 * Everything that is served over HTTP. Handlers and checks run in the order in which they are added; `track` is the outermost of every request but the
 * probes.
 */
export function createApp(services: Serving, track: Middleware): Hono<HttpEnv> {
  const { path, oauth, metrics, logger, redactor, isDraining, pageFolder, logins } = services;
  const app = new Hono<HttpEnv>();
  app.onError((bug, c) => {
    logger.error(`internal error in an HTTP request: ${String(bug)}`);
    return refuse(c, ofErrorObject('INTERNAL_ERROR', internalError(bug)));
  });
  app.notFound((c) => refuse(c, refusal('NOT_FOUND', REFUSALS.path(path))));

  // For load balancers, which have no token and use any host name.
  app.all('/healthz', (c) => c.json({ ok: true }));
  app.all('/readyz', (c) => {
    const why = isDraining() ? 'draining' : notReady(services);
    return c.json({ ok: why === undefined, why }, why === undefined ? 200 : 503);
  });

  app.use((c, next) => {
    chooseForm(c, path, redactor);
    return track(c, next);
  });
  if (oauth !== undefined) app.route('/', resourceMetadata(oauth));
  if (!services.requiresToken) app.use(refuseForwarded);
  app.use(guardHost(services));
  if (pageFolder !== undefined) app.route('/', pageIn(pageFolder, { mcpPath: path, oauth }));
  if (logins !== undefined) app.route('/', loginPages(services, logins));
  if (services.allowedOrigins.length > 0) app.use(corsFor(services));
  app.use(guardToken(services));

  app.post(path, (c) => (isDraining() ? refuse(c, shuttingDown()) : postMessage(c, services)));
  // There are no streams to GET and no sessions to DELETE. DELETE with a session ID gets 204: OpenAI's API sends it.
  app.delete(path, (c) => (c.req.header('Mcp-Session-Id') === undefined ? methodOfMcp(c) : c.body(null, 204)));
  app.all(path, methodOfMcp);
  app.route('/', restApi(services));
  if (logins !== undefined) app.route('/', loginApi(services, logins));
  app.get('/metrics', async (c) => {
    if (!c.get('rights').mayReadMetrics) return refuse(c, rightRequired(REFUSALS.metrics));
    return c.body(await metrics.registry.metrics(), 200, { 'Content-Type': metrics.registry.contentType });
  });
  app.all('/metrics', (c) => refuse(c, methodNotAllowed(['GET', 'HEAD'])));
  return app;
}

/** The response to a request whose `Host` and target form no valid URL. No handler can read such a request. */
export function malformedRequest(): Response {
  const refused = refusal('VALIDATION_ERROR', REFUSALS.url);
  const headers = { 'Content-Type': 'application/json' };
  return new Response(toJsonRpcError(refused, undefined), { status: refused.status, headers });
}

function methodOfMcp(c: HttpRequest): Response {
  return refuse(c, methodNotAllowed(['POST'], REFUSALS.methodOfMcp));
}

/** Why load balancers should send no requests to this process. With servers, no key is needed, because their tools work without one. */
function notReady({ canAnswer, servers, oauth, quota }: HttpServices): string | undefined {
  if (oauth?.verifier.isReady === false) return 'issuer keys not read';
  if (quota?.isReady === false) return 'quota store not reached';
  if (servers.isLoading) return 'servers starting';
  const { gateway } = servers;
  if (gateway === undefined) return canAnswer ? undefined : 'no key';
  const readiness = gateway.readiness();
  return readiness === 'ready' ? undefined : readiness === 'starting' ? 'servers starting' : readiness;
}

/** Chooses the form of errors by the path. REST also has headers: results may be private, and browsers must not guess their type. */
function chooseForm(c: HttpRequest, mcpPath: string, redactor: Redactor): void {
  if (!isRest(c.req.path, mcpPath)) {
    c.set('toErrorJson', (refused) => toJsonRpcError(refused, undefined));
    return;
  }
  const received = c.env.incoming.headers['x-request-id'];
  const requestId = typeof received === 'string' && /^[\w.-]{1,64}$/.test(received) ? received : randomUUID();
  c.set('requestId', requestId);
  c.set('toErrorJson', (refused) => toRestError(refused, requestId, redactor));
  c.set('headers', {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  });
}

function isRest(path: string, mcpPath: string): boolean {
  return path !== mcpPath && (/^\/(?:mcp\/|login(?:\/|$))/.test(path) || path === '/openapi.json');
}

/** Pages of an allowed origin can read responses. A preflight request has no token. */
function corsFor({ allowedOrigins, path }: HttpServices): Middleware {
  const allow = cors({
    origin: [...allowedOrigins],
    allowMethods: (_, c) => (isRest(c.req.path, path) ? ['GET', 'POST'] : ['POST']),
    allowHeaders: REQUEST_HEADERS,
    exposeHeaders: ['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
    maxAge: 600,
  });
  return (c, next) => (allowedOrigins.includes(c.req.header('Origin') ?? '') ? allow(c, next) : next());
}

const REQUEST_HEADERS = [
  'Accept',
  'Authorization',
  'Baggage',
  'Content-Type',
  'If-None-Match',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'Traceparent',
  'Tracestate',
  'X-Request-Id',
];

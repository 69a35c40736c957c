import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import type { QuotaGuard } from '../../../application/quota/quota-guard.ts';
import type { Redactor } from '../../../domain/values/redaction.ts';
import { internalError } from '../mcp/json-rpc.ts';
import { REFUSALS } from '../words/refusal-messages.ts';
import { CallerPlaces } from './calls.ts';
import { refuse, toJsonRpcError, toRestError } from './errors.ts';
import { refuseForwarded } from './forwarded.ts';
import { type GuardOptions, guardHost, guardToken } from './guard.ts';
import { type McpOptions, postMessage } from './mcp.ts';
import type { Metrics } from './metrics.ts';
import { resourceMetadata } from './oauth.ts';
import { pageIn } from './page.ts';
import { methodNotAllowed, ofErrorObject, refusal, rightRequired, shuttingDown } from './refusal.ts';
import type { HttpEnv, HttpRequest, Middleware } from './request.ts';
import { type RestOptions, restApi } from './rest.ts';

export interface AppOptions extends GuardOptions, McpOptions {
  /** The path of the MCP endpoint. */
  readonly path: string;
  /** Whether there is a key, or recordings to answer from. */
  readonly canAnswer: boolean;
  readonly maxCallsPerToken: number;
  /** Undefined if there is no daily limit. */
  readonly quota?: Pick<QuotaGuard, 'admit' | 'isReady'> | undefined;
  readonly rest: RestOptions & {
    /** The folder with the files of the page; undefined if the page is not served. */
    readonly pageFolder: string | undefined;
  };
  readonly metrics: Metrics;
}

interface Server {
  readonly isDraining: () => boolean;
  /** The outermost middleware of every request but the probes. */
  readonly track: Middleware;
}

/** Everything that is served over HTTP. Handlers and checks run in the order in which they are added. */
export function createApp(options: AppOptions, { isDraining, track }: Server): Hono<HttpEnv> {
  const { path, oauth, tokens, rest, metrics, logger, redactor } = options;
  const requiresToken = tokens().length > 0 || oauth !== undefined;
  const places = new CallerPlaces(options.maxCallsPerToken);
  const app = new Hono<HttpEnv>();
  app.onError((bug, c) => {
    logger.error(`internal error in an HTTP request: ${String(bug)}`);
    return refuse(c, ofErrorObject('INTERNAL_ERROR', internalError(bug)));
  });
  app.notFound((c) => refuse(c, refusal('NOT_FOUND', REFUSALS.path(path))));

  // For load balancers, which have no token and use any host name.
  app.all('/healthz', (c) => c.json({ ok: true }));
  app.all('/readyz', (c) => {
    const why = isDraining() ? 'draining' : notReady(options);
    return c.json({ ok: why === undefined, why }, why === undefined ? 200 : 503);
  });

  app.use((c, next) => {
    chooseForm(c, path, redactor);
    return track(c, next);
  });
  if (oauth !== undefined) app.route('/', resourceMetadata(oauth));
  if (!requiresToken) app.use(refuseForwarded);
  app.use(guardHost(options));
  if (rest.pageFolder !== undefined) app.route('/', pageIn(rest.pageFolder, { mcpPath: path, oauth }));
  if (options.allowedOrigins.length > 0) app.use(corsFor(options));
  app.use(guardToken(options));

  const mcp = { ...options, places };
  app.post(path, (c) => (isDraining() ? refuse(c, shuttingDown()) : postMessage(c, mcp)));
  // There are no streams to GET and no sessions to DELETE. DELETE with a session ID gets 204: OpenAI's API sends it.
  app.delete(path, (c) => (c.req.header('Mcp-Session-Id') === undefined ? methodOfMcp(c) : c.body(null, 204)));
  app.all(path, methodOfMcp);
  app.route('/', restApi({ ...options, ...rest, places, requiresToken, isDraining }));
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
function notReady({ canAnswer, rest, oauth, quota }: AppOptions): string | undefined {
  if (oauth?.verifier.isReady === false) return 'issuer keys not read';
  if (quota?.isReady === false) return 'quota store not reached';
  if (rest.loading?.() !== undefined) return 'servers starting';
  const gateway = rest.gateway();
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
  return path !== mcpPath && (path.startsWith('/mcp/') || path === '/openapi.json');
}

/** Pages of an allowed origin can read responses. A preflight request has no token. */
function corsFor({ allowedOrigins, path }: AppOptions): Middleware {
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

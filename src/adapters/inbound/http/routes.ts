import type { IncomingMessage as HttpRequest, ServerResponse } from 'node:http';
import { internalError } from '../mcp/json-rpc.ts';
import { Page } from '../rest/page.ts';
import { RestApi } from '../rest/rest-api.ts';
import { type AccessEntry, CLIENT_CLOSED, REASONS, toAccessLine } from './access-log.ts';
import { discardedBody } from './discarded-body.ts';
import type { Exchange, HttpContext } from './http-context.ts';
import { McpEndpoint } from './mcp-endpoint.ts';
import { ProtectedResource } from './protected-resource.ts';
import {
  limitBytes,
  overloaded,
  type Refusal,
  refusal,
  sendEmpty,
  sendJson,
  sendRefusal,
  shuttingDown,
  tooManyCalls,
  UNREAD,
} from './refusal.ts';
import { preflightHeaders, RequestGuard } from './request-guard.ts';
import type { Route } from './route.ts';

/** Dispatches probes, metrics and MCP. Anything else is 404 or 405. */
export class Routes {
  readonly #context: HttpContext;
  readonly #guard: RequestGuard;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #rest: RestApi;
  readonly #page: Page | undefined;
  readonly #metadata: ProtectedResource | undefined;
  /** Each ends a request in progress. */
  readonly #pending = new Set<() => void>();

  constructor(context: HttpContext) {
    this.#context = context;
    this.#guard = new RequestGuard(context);
    this.#rest = new RestApi(context);
    const { pageFolder } = context.rest;
    this.#metadata = context.oauth && new ProtectedResource(context.oauth);
    this.#page = pageFolder === undefined ? undefined : new Page(pageFolder, context.path);
    const endpoint = new McpEndpoint(context);
    const { registry } = context.metrics;
    const sendMetrics = async ({ response }: Exchange) => {
      response.writeHead(200, { 'Content-Type': registry.contentType }).end(await registry.metrics());
    };
    this.#routes = new Map<string, Route>([
      ['/metrics', { GET: sendMetrics, HEAD: sendMetrics }],
      [context.path, { POST: (exchange) => endpoint.post(exchange) }],
    ]);
  }

  /** Ends what is not answered when the drain ends: without a response, clients would wait until their own time limit. */
  shutDown(): void {
    for (const end of this.#pending) end();
  }

  /** Resolves when the response was sent, or its connection is closed. Never rejects. */
  async serve(request: HttpRequest, response: ServerResponse): Promise<void> {
    const path = pathOf(request.url ?? '');
    if (path === '/healthz' || path === '/readyz') {
      this.#context.connections.close(request, response);
      return this.#probe(path, response);
    }

    const { clock, metrics, logger, writeAccessLine } = this.#context;
    const startedMs = clock.elapsedMs();
    const entry: AccessEntry = { verb: request.method ?? '', held: [] };
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
    forwardClose(request, response);
    const refuse = (refusal: Refusal) =>
      this.#rest.owns(path) ? this.#rest.refuse(response, refusal) : sendRefusal(response, refusal);
    const end = () => {
      entry.isShutDown = true;
      if (!response.headersSent) refuse({ ...shuttingDown(), id: entry.id });
      entry.onShutDown?.();
    };
    this.#pending.add(end);
    try {
      await this.#dispatch(path, request, response, entry, refuse);
    } catch (bug) {
      logger.error(`internal error in an HTTP request: ${String(bug)}`);
      if (response.headersSent) response.destroy();
      else refuse({ status: 500, error: internalError(bug) });
    }
    await closed;
    this.#pending.delete(end);
    for (const give of entry.held) give();
    const refused = REASONS[response.statusCode];
    if (entry.call === undefined && entry.gatewayCall === undefined) {
      if (refused !== undefined) entry.reason ??= refused;
      if (refused !== undefined || entry.method === undefined) entry.path = path;
    }
    const status = response.writableFinished || entry.isShutDown ? response.statusCode : CLIENT_CLOSED;
    metrics.onResponse(status);
    writeAccessLine(toAccessLine(entry, status, clock.now(), clock.elapsedMs() - startedMs));
  }

  /** For load balancers, which have no token and use any host name. */
  #probe(path: string, response: ServerResponse): void {
    const { isDraining, canAnswer, rest } = this.#context;
    const isLoading = rest.loading?.() !== undefined;
    const gateway = rest.gateway();
    const readiness = isLoading ? 'starting' : (gateway?.readiness() ?? 'ready');
    const servers = readiness === 'ready' ? undefined : readiness === 'starting' ? 'servers starting' : readiness;
    // The servers' tools need no key.
    const isUseful = canAnswer || isLoading || gateway !== undefined;
    const notReady = isDraining() ? 'draining' : isUseful ? servers : 'no key';
    const why = path === '/readyz' ? notReady : undefined;
    sendJson(response, why === undefined ? 200 : 503, JSON.stringify({ ok: why === undefined, why }));
  }

  async #dispatch(
    path: string,
    request: HttpRequest,
    response: ServerResponse,
    entry: AccessEntry,
    refuse: (refusal: Refusal) => void,
  ): Promise<void> {
    const { method = '', headers } = request;
    if (this.#metadata?.owns(path)) {
      this.#context.connections.close(request, response);
      return this.#metadata.send(request, response);
    }
    const isRest = this.#rest.owns(path);
    if (isRest) this.#rest.begin(request, response);
    const { connections, tokens, oauth, maxBodyBytes, clock } = this.#context;
    const requiresToken = tokens.length > 0 || oauth !== undefined;
    const refuseStranger = async (refusal: Refusal) => {
      if (refusal.reason !== undefined) entry.reason = refusal.reason;
      connections.close(request, response);
      await discardedBody(request, maxBodyBytes, clock);
      if (!response.destroyed) refuse(refusal);
    };
    const forbidden = targetRefusal(request) ?? this.#guard.refusalOf(headers);
    if (forbidden !== undefined) return refuseStranger(forbidden);
    // The page asks for the token.
    const file = method === 'GET' && path !== this.#context.path ? this.#page?.fileOf(path) : undefined;
    if (file !== undefined) {
      if (requiresToken) connections.close(request, response);
      return this.#page?.send(file, response);
    }

    const cors = this.#guard.corsHeaders(headers);
    for (const [name, value] of Object.entries(cors ?? {})) response.setHeader(name, value ?? '');
    // A preflight request has no token.
    if (method === 'OPTIONS' && cors !== undefined) {
      if (requiresToken) connections.close(request, response);
      return sendEmpty(response, 204, preflightHeaders(isRest));
    }

    const identified = this.#guard.callerOf(headers);
    const known = identified instanceof Promise ? await identified : identified;
    if (!('caller' in known)) return refuseStranger(known);
    entry.caller = known.caller;

    const route = isRest ? this.#rest.routeOf(path) : this.#routes.get(path);
    if (route === undefined) return refuse(refusal(404, `Not Found: MCP is served at ${this.#context.path}`));
    const handle = Object.hasOwn(route, method) ? route[method] : undefined;
    if (handle === undefined) return this.#methodNotAllowed(route, request, response, refuse);
    if (isRest) await this.#context.rest.loading?.();
    // The client may have left in the meantime.
    if (response.destroyed) return;
    const exchange = { request, response, caller: known.caller, entry };
    const { places, responseBytes, maxCallsPerToken } = this.#context;
    limitBytes(response, (bytes) => {
      const fits = responseBytes.hold(exchange, bytes);
      if (!fits) refuse({ ...overloaded(UNREAD), id: entry.id });
      return fits;
    });
    // Calls are counted when they start. Metrics are needed most when there are too many.
    if (isRest && method !== 'POST' && !places.hold(exchange, 1))
      return refuse(overloaded(tooManyCalls(maxCallsPerToken)));
    await handle(exchange);
  }

  /** There are no streams to GET and no sessions to DELETE. DELETE with a session ID gets 204: OpenAI's API sends it. */
  #methodNotAllowed(
    route: Route,
    { method, headers }: HttpRequest,
    response: ServerResponse,
    refuse: (refusal: Refusal) => void,
  ): void {
    const allow = Object.keys(route).join(', ');
    const advice =
      allow === 'POST' && route === this.#routes.get(this.#context.path) ? ': send one JSON-RPC message per POST' : '';
    if (method === 'DELETE' && headers['mcp-session-id'] !== undefined && advice !== '') sendEmpty(response, 204);
    else refuse(refusal(405, `Method Not Allowed${advice}`, { Allow: allow }));
  }
}

/** The host of a request target that is a complete URL, which proxies may send (RFC 9112, 3.2.2). */
const TARGET_HOST = /^https?:\/\/([^/?]*)/i;

/** The path of a request target. */
function pathOf(target: string): string {
  return target.replace(TARGET_HOST, '').split('?')[0] || '/';
}

function targetRefusal({ url = '', headers }: HttpRequest): Refusal | undefined {
  if (url.startsWith('/')) return undefined;
  const [, host] = TARGET_HOST.exec(url) ?? [];
  if (host === undefined || host.toLowerCase() === headers.host?.toLowerCase()) return undefined;
  return refusal(400, 'Bad Request: the request target and Host name different hosts');
}

/** When a connection closes, Node.js destroys only the first of the pipelined responses, and emits `close` on it: does so with all. */
function forwardClose({ socket }: HttpRequest, response: ServerResponse): void {
  const onClose = () => response.destroy().emit('close');
  // A connection may have any number of requests in progress.
  socket.setMaxListeners(0).once('close', onClose);
  response.once('close', () => socket.off('close', onClose));
}

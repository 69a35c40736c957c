import type { IncomingMessage as HttpRequest, ServerResponse } from 'node:http';
import { InProgress } from '../../../../application/async/in-progress.ts';
import { internalError } from '../../mcp/json-rpc.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import { McpEndpoint, type McpOptions } from '../mcp/mcp-endpoint.ts';
import { pageIn } from '../page/page.ts';
import { RestApi, type RestOptions } from '../rest/rest-api.ts';
import type { CallerLimit } from '../shared/caller-limit.ts';
import { type Api, Exchange, type HttpContext, type Route } from '../shared/exchange.ts';
import {
  CLIENT_CLOSED,
  methodNotAllowed,
  ofErrorObject,
  operatorRequired,
  type Refusal,
  refusal,
} from '../shared/refusal.ts';
import { discardedBody } from '../shared/request-body.ts';
import { REASONS, toAccessLine } from './access-log.ts';
import type { Connections } from './connections.ts';
import type { Metrics } from './metrics.ts';
import { protectedResource } from './protected-resource.ts';
import { type GuardOptions, preflightHeaders, RequestGuard, TARGET_HOST } from './request-guard.ts';

export interface RoutesOptions extends GuardOptions, McpOptions {
  readonly rest: RestOptions & {
    /** The folder with the files of the page; undefined if it is not served. */
    readonly pageFolder: string | undefined;
  };
  readonly metrics: Metrics;
  readonly writeAccessLine: (line: string) => void;
}

type Context = HttpContext &
  RoutesOptions & {
    readonly connections: Connections;
    /** Bytes of responses, which stay in memory until they are read. */
    readonly responseBytes: CallerLimit;
  };

/** Dispatches probes, metrics, MCP and REST. Anything else is 404 or 405. */
export class Routes {
  readonly #context: Context;
  readonly #guard: RequestGuard;
  readonly #mcp: McpEndpoint;
  readonly #rest: RestApi;
  readonly #page: ReturnType<typeof pageIn> | undefined;
  readonly #metadata: ReturnType<typeof protectedResource> | undefined;
  readonly #pending = new InProgress<Exchange>();

  constructor(context: Context) {
    const { rest, oauth, path } = context;
    this.#context = context;
    this.#guard = new RequestGuard(context);
    this.#mcp = new McpEndpoint(context);
    this.#rest = new RestApi({ ...context, ...rest });
    this.#metadata = oauth && protectedResource(oauth);
    this.#page = rest.pageFolder === undefined ? undefined : pageIn(rest.pageFolder, path);
  }

  /** Ends what is not answered when the drain ends: without a response, clients would wait until their own time limit. */
  shutDown(): void {
    for (const exchange of this.#pending) exchange.shutDown();
  }

  /** Resolves when the response was sent, or its connection is closed. Never rejects. `signal` aborts when it closes. */
  async serve(request: HttpRequest, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const { clock, metrics, logger, writeAccessLine, connections } = this.#context;
    const path = (request.url ?? '').replace(TARGET_HOST, '').split('?')[0] || '/';
    const api = this.#rest.owns(path) ? this.#rest : this.#mcp;
    const exchange = new Exchange(request, response, api, signal);
    if (path === '/healthz' || path === '/readyz') {
      connections.close(request, response);
      return this.#probe(path, exchange);
    }

    const startedMs = clock.elapsedMs();
    const { entry } = exchange;
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
    this.#pending.add(exchange);
    try {
      await this.#dispatch(path, exchange, api);
    } catch (bug) {
      logger.error(`internal error in an HTTP request: ${String(bug)}`);
      if (response.headersSent) response.destroy();
      else exchange.refuse(ofErrorObject('INTERNAL_ERROR', internalError(bug)));
    }
    await closed;
    this.#pending.delete(exchange);
    for (const give of exchange.held) give();
    const refused = REASONS[response.statusCode];
    if (entry.call === undefined) {
      if (refused !== undefined) entry.reason ??= refused;
      if (refused !== undefined || entry.method === undefined) entry.path = path;
    }
    const status = response.writableFinished || entry.isShutDown ? response.statusCode : CLIENT_CLOSED;
    metrics.onResponse(status);
    writeAccessLine(toAccessLine(entry, status, clock.now(), clock.elapsedMs() - startedMs));
  }

  /** For load balancers, which have no token and use any host name. */
  #probe(path: string, exchange: Exchange): void {
    const { isDraining, canAnswer, rest } = this.#context;
    const isLoading = rest.loading?.() !== undefined;
    const gateway = rest.gateway();
    const readiness = isLoading ? 'starting' : (gateway?.readiness() ?? 'ready');
    const servers = readiness === 'ready' ? undefined : readiness === 'starting' ? 'servers starting' : readiness;
    // The servers' tools need no key.
    const isUseful = canAnswer || isLoading || gateway !== undefined;
    const notReady = isDraining() ? 'draining' : isUseful ? servers : 'no key';
    const why = path === '/readyz' ? notReady : undefined;
    exchange.sendJson(why === undefined ? 200 : 503, JSON.stringify({ ok: why === undefined, why }));
  }

  async #dispatch(path: string, exchange: Exchange, api: Api): Promise<void> {
    const { request, response, entry } = exchange;
    const { method = '', headers } = request;
    const { connections, requiresToken, maxBodyBytes, clock, responseBytes, rightsOf, metrics } = this.#context;
    if (this.#metadata?.owns(path)) {
      connections.close(request, response);
      return this.#metadata.send(exchange);
    }
    Object.assign(exchange.headers, api.headersFor?.(request));
    const refuseStranger = async (refusal: Refusal) => {
      entry.reason = refusal.reason;
      connections.close(request, response);
      await discardedBody(request, maxBodyBytes, clock);
      exchange.refuse(refusal);
    };
    const forbidden = this.#guard.refusalOf(request);
    if (forbidden !== undefined) return refuseStranger(forbidden);
    // The page asks for the token.
    if (method === 'GET' && path !== this.#context.path && this.#page?.owns(path)) {
      if (requiresToken) connections.close(request, response);
      return this.#page.send(path, response);
    }

    const cors = this.#guard.corsHeaders(headers);
    Object.assign(exchange.headers, cors);
    // A preflight request has no token.
    if (method === 'OPTIONS' && cors !== undefined) {
      if (requiresToken) connections.close(request, response);
      return exchange.sendEmpty(204, preflightHeaders(api.methods));
    }

    const identified = this.#guard.callerOf(headers);
    const owner = identified instanceof Promise ? await identified : identified;
    if (owner.isErr()) return refuseStranger(owner.error);
    const onDenied = () => {
      entry.reason = 'access';
      metrics.onDenied();
    };
    exchange.identify(owner.value.caller, () => rightsOf(owner.value), onDenied);
    exchange.responseBytes = responseBytes;

    const route = api.routeOf(path) ?? (path === '/metrics' ? this.#metrics : undefined);
    if (route === undefined) return exchange.refuse(refusal('NOT_FOUND', REFUSALS.path(this.#context.path)));
    const { methods, otherMethods = () => exchange.refuse(methodNotAllowed(Object.keys(methods))) } = route;
    const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (handle === undefined) return otherMethods(exchange);
    // The client may have left while its token was verified.
    if (!response.destroyed) await handle(exchange);
  }

  readonly #sendMetrics = async (exchange: Exchange) => {
    const { response, rights } = exchange;
    if (!rights.isOperator) return exchange.refuse(operatorRequired());
    const { registry } = this.#context.metrics;
    response
      .writeHead(200, { ...exchange.headers, 'Content-Type': registry.contentType })
      .end(await registry.metrics());
  };
  readonly #metrics: Route = { methods: { GET: this.#sendMetrics, HEAD: this.#sendMetrics } };
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage as HttpRequest } from 'node:http';
import type { Result } from 'neverthrow';
import type { Gateway } from '../../../../application/gateway/gateway.ts';
import { BUILT_IN_SERVER, type Rights } from '../../../../domain/gateway/call-origin.ts';
import { toPlainResult } from '../../../../domain/gateway/tool-result.ts';
import { redactedJson } from '../../../../domain/values/redaction.ts';
import { decoded } from '../../../../domain/values/web-url.ts';
import { LIST_WAIT_MS } from '../../mcp/tool-set.ts';
import { rateLimitHeaders } from '../../words/quota-messages.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { Api, Exchange, Handler, HttpContext, Route } from '../shared/exchange.ts';
import { operatorRequired, overloaded, type Refusal, refusal } from '../shared/refusal.ts';
import { readJsonBody, typeRefusal } from '../shared/request-body.ts';
import { runCall } from '../shared/run-call.ts';
import type { BuiltInServer } from './built-in-server.ts';
import { type NamedCall, parseCallBody, parseInput } from './call-body.ts';
import { ofToolCallError, ofToolError } from './rest-error.ts';
import { ToolDocuments } from './tool-documents.ts';

export interface RestOptions {
  /** Undefined while no servers are configured. */
  readonly gateway: () => Gateway | undefined;
  /** Resolves when the gateway, which is being loaded, can be used; undefined at other times. */
  readonly loading?: () => Promise<void> | undefined;
  readonly builtIn: BuiltInServer;
  readonly version: string;
}

/** The outcome of a call that was not refused. */
interface Reply {
  readonly status: number;
  readonly json: string;
}

/** How often a server can be restarted by request: each time, the calls of all callers on it fail. */
const RESTART_EVERY_MS = 10_000;

/** The tools of the gateway's servers, and the answer tools, over REST (rulings G12 to G19). */
export class RestApi implements Api {
  readonly #context: HttpContext & RestOptions;
  /** Callers with the same rights share them. */
  readonly #documents = new WeakMap<Rights, ToolDocuments>();
  /** When each server was last restarted by request, by its name. */
  readonly #restartedMs = new Map<string, number>();
  readonly methods = 'GET, POST';

  constructor(context: HttpContext & RestOptions) {
    this.#context = context;
  }

  /** Whether a path belongs to REST, so that errors have its form. */
  owns(path: string): boolean {
    return path !== this.#context.path && (path.startsWith('/mcp/') || path === '/openapi.json');
  }

  /** Every response has an ID, that of the request if it is usable. Results may be private, and browsers must not guess their type. */
  headersFor({ headers }: HttpRequest): Readonly<Record<string, string>> {
    const [received = ''] = [headers['x-request-id']].flat();
    return {
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': /^[\w.-]{1,64}$/.test(received) ? received : randomUUID(),
    };
  }

  toRefusalJson({ code, message, details, returned }: Refusal, { headers }: Exchange): string {
    const requestId = headers['X-Request-Id'];
    const body = { success: false, error: { code, message, details: { ...details, requestId } }, ...returned };
    // What a tool returned passes unchanged, except for our own keys.
    const { inLogs, anywhere } = this.#context.redactor;
    return redactedJson(body, returned === undefined ? inLogs : anywhere);
  }

  routeOf(path: string): Route | undefined {
    const [, kind, ...segments] = /^\/mcp\/(tools|servers)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    // A malformed escape is not the name of anything.
    const [server = '', name = ''] = segments.map((segment) => decoded(segment) ?? segment);
    if (kind === 'tools') {
      const parse = (body: unknown) => parseInput(server, name, body);
      // The input is the body, and so is the result (ruling G16). Blocks other than a text have no plain value.
      return this.#route('POST', (exchange) =>
        this.#call(exchange, parse, 422, ({ result, content }) => result ?? content ?? null),
      );
    }
    if (kind === 'servers' && segments[1] === 'restart')
      return this.#route('POST', (exchange) => this.#restart(server, exchange));
    return this.#routes[path];
  }

  readonly #routes: Readonly<Record<string, Route>> = {
    '/mcp/tools': this.#route('GET', (exchange) => this.#listTools(exchange)),
    '/mcp/servers': this.#route('GET', (exchange) => this.#listServers(exchange)),
    // The result in an envelope, and a tool's own error with status 200 (rulings G14, G15).
    '/mcp/call': this.#route('POST', (exchange) =>
      this.#call(exchange, parseCallBody, 200, (plain) => ({ success: true, ...plain })),
    ),
    '/openapi.json': this.#route('GET', (exchange) => this.#describe(exchange)),
  };

  #route(method: 'GET' | 'POST', handle: Handler): Route {
    const serve = async (exchange: Exchange) => {
      const { loading, places } = this.#context;
      await loading?.();
      // The client may have left in the meantime.
      if (exchange.response.destroyed) return;
      // Calls get a place when they start.
      if (method === 'POST' || places.hold(exchange, 1)) await handle(exchange);
      else exchange.refuse(overloaded(REFUSALS.calls(places.max)));
    };
    return { methods: { [method]: serve } };
  }

  async #listTools(exchange: Exchange): Promise<void> {
    const { request, response, headers, rights } = exchange;
    const only = new URLSearchParams((request.url ?? '').split('?')[1]).get('server');
    if (only !== null && !this.#known(rights).includes(only)) return exchange.refuse(this.#unknownServer(only, rights));
    await this.#context.gateway()?.as(rights).whenStarted(LIST_WAIT_MS, exchange.signal);
    const { json, etag } = await this.#documentsFor(exchange.rights).list(only);
    if (response.destroyed) return;
    headers.ETag = etag;
    // A list may be kept by the client that got it, which then asks whether it has changed.
    headers['Cache-Control'] = 'private, no-cache';
    const cached = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (cached.includes(etag) || cached.includes('*')) response.writeHead(304, headers).end();
    else exchange.sendJson(200, json);
  }

  #listServers(exchange: Exchange): void {
    const { canAnswer, redactor, gateway } = this.#context;
    const servers = gateway()?.as(exchange.rights).servers ?? [];
    const body = { success: true, servers, ...(canAnswer ? {} : { canAnswer }) };
    exchange.sendJson(200, redactedJson(body, redactor.inLogs));
  }

  async #describe(exchange: Exchange): Promise<void> {
    await this.#context.gateway()?.as(exchange.rights).whenStarted(LIST_WAIT_MS, exchange.signal);
    const { headers } = exchange.request;
    // Each proxy may have added its own.
    const isTls = /^https\b/.test([headers['x-forwarded-proto']].flat()[0] ?? '');
    const url = `${isTls ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
    exchange.sendJson(200, await this.#documentsFor(exchange.rights).describe(url));
  }

  /** Counts as a call, and is logged as one without a tool. The body is optional, and not used. */
  async #restart(server: string, exchange: Exchange): Promise<void> {
    const { request, entry, rights } = exchange;
    const refused = rights.isOperator ? typeRefusal(request) : operatorRequired();
    request.resume();
    if (refused !== undefined) return exchange.refuse(refused);
    await this.#run(exchange, async () => {
      const gateway = this.#context.gateway();
      const known = gateway?.as(rights).servers.map(({ name }) => name) ?? [];
      if (!known.includes(server)) return ofToolCallError({ kind: 'unknown_server', server, known });
      const nowMs = this.#context.clock.elapsedMs();
      const waitMs = (this.#restartedMs.get(server) ?? Number.NEGATIVE_INFINITY) + RESTART_EVERY_MS - nowMs;
      if (waitMs > 0) {
        entry.reason = 'restarted a moment ago';
        const message = REFUSALS.earlyRestart(server, waitMs);
        return refusal('OVERLOADED', message, { details: { server }, retryAfterMs: waitMs });
      }
      this.#restartedMs.set(server, nowMs);
      gateway?.restart(server);
      entry.call = { server, tool: '', outcome: 'answered' };
      return { status: 202, json: '{"success":true}' };
    });
  }

  /** Calls the tool that the request names. `toBody` makes the body of the response from what it returned. */
  async #call(
    exchange: Exchange,
    parse: (body: unknown) => Result<NamedCall, Refusal>,
    toolErrorStatus: number,
    toBody: (result: ReturnType<typeof toPlainResult>) => unknown,
  ): Promise<void> {
    const call = (await readJsonBody(exchange, this.#context)).andThen(parse);
    if (call.isErr()) return exchange.refuse(call.error);
    if (exchange.response.destroyed) return;
    const { server } = call.value;
    const { entry, signal, rights } = exchange;
    const { builtIn, gateway, redactor, metrics } = this.#context;
    const observer = metrics.observe(entry);
    const input = { ...call.value, by: exchange.originAt('rest'), onEnded: observer.onServerCallEnded };
    await this.#run(exchange, async () => {
      const servers = gateway();
      const outcome =
        server === BUILT_IN_SERVER || servers === undefined
          ? await builtIn.call(input, observer, signal)
          : await servers.callTool(input, signal);
      // The gateway does not know that the answer tools are a server here.
      if (outcome.isErr() && outcome.error.kind === 'unknown_server') return this.#unknownServer(server, rights);
      if (outcome.isErr()) return ofToolCallError(outcome.error);
      const { value } = outcome;
      if (value.isError) return ofToolError(value, toolErrorStatus);
      return { status: 200, json: redactedJson(toBody(toPlainResult(value)), redactor.anywhere) };
    });
  }

  /** Runs what counts as a call. */
  async #run(exchange: Exchange, call: () => Promise<Refusal | Reply>): Promise<void> {
    if (this.#context.isDraining()) return exchange.refuse(ofToolCallError({ kind: 'shutting_down' }));
    const ran = await runCall(exchange, this.#context, call);
    if (ran === undefined) return;
    const { value, left } = ran;
    if (left !== undefined) Object.assign(exchange.headers, rateLimitHeaders(left));
    if ('json' in value) exchange.sendJson(value.status, value.json);
    else exchange.refuse(value);
  }

  #documentsFor(rights: Rights): ToolDocuments {
    const documents = this.#documents.get(rights) ?? new ToolDocuments({ ...this.#context, rights });
    this.#documents.set(rights, documents);
    return documents;
  }

  #known(rights: Rights): readonly string[] {
    return [...(this.#context.gateway()?.servers ?? []).map(({ name }) => name), BUILT_IN_SERVER].filter(rights.sees);
  }

  #unknownServer(server: string, rights: Rights): Refusal {
    return ofToolCallError({ kind: 'unknown_server', server, known: this.#known(rights) });
  }
}

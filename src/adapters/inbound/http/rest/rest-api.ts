import { randomUUID } from 'node:crypto';
import type { IncomingMessage as HttpRequest } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import type { ToolCallInput } from '../../../../application/gateway/call-tool.ts';
import type { Gateway } from '../../../../application/gateway/gateway.ts';
import { BUILT_IN_SERVER } from '../../../../domain/gateway/gateway-tool.ts';
import { toPlainResult } from '../../../../domain/gateway/tool-result.ts';
import { redactedJson } from '../../../../domain/values/redaction.ts';
import { LIST_WAIT_MS } from '../../mcp/tool-set.ts';
import { rateLimitHeaders } from '../../words/quota-messages.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { Api, Exchange, HttpContext, Route } from '../shared/exchange.ts';
import { overloaded, type Refusal, refusal } from '../shared/refusal.ts';
import { readJsonBody, typeRefusal } from '../shared/request-body.ts';
import { runCall } from '../shared/run-call.ts';
import type { BuiltInServer } from './built-in-server.ts';
import { parseCallBody, parseInput } from './call-body.ts';
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

/** A response; undefined if it was sent. */
type Reply = { readonly status: number; readonly json: string | Buffer } | undefined;

type Handler = (exchange: Exchange) => Promise<Result<Reply, Refusal>>;

/** How often a server can be restarted by request: each time, the calls of all callers on it fail. */
const RESTART_EVERY_MS = 10_000;

/** The tools of the gateway's servers, and the answer tools, over REST (rulings G12 to G19). */
export class RestApi implements Api {
  readonly #context: HttpContext & RestOptions;
  readonly #documents: ToolDocuments;
  /** When each server was last restarted by request, by its name. */
  readonly #restartedMs = new Map<string, number>();
  readonly methods = 'GET, POST';

  constructor(context: HttpContext & RestOptions) {
    this.#context = context;
    this.#documents = new ToolDocuments(context);
  }

  /** Whether a path belongs to REST, so that errors have its form. */
  owns(path: string): boolean {
    return path !== this.#context.path && (path.startsWith('/mcp/') || path === '/openapi.json');
  }

  /** Every response has an ID, that of the request if it is usable. Results may be private, and browsers must not guess their type. */
  headersFor({ headers }: HttpRequest): Map<string, string> {
    const [received = ''] = [headers['x-request-id']].flat();
    return new Map([
      ['Cache-Control', 'no-store'],
      ['X-Content-Type-Options', 'nosniff'],
      ['X-Request-Id', /^[\w.-]{1,64}$/.test(received) ? received : randomUUID()],
    ]);
  }

  toRefusalJson({ code, message, details, returned }: Refusal, { response }: Exchange): string {
    const requestId = response.getHeader('X-Request-Id');
    const body = { success: false, error: { code, message, details: { ...details, requestId } }, ...returned };
    // What a tool returned passes unchanged, except for our own keys.
    const { inLogs, anywhere } = this.#context.redactor;
    return redactedJson(body, returned === undefined ? inLogs : anywhere);
  }

  routeOf(path: string): Route | undefined {
    const [, kind, server = '', name = ''] = /^\/mcp\/(tools|servers)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (kind === 'tools') {
      const parse = (body: unknown) => parseInput(decode(server), decode(name), body);
      // The input is the body, and so is the result (ruling G16). Blocks other than a text have no plain value.
      return this.#route('POST', (exchange) =>
        this.#call(exchange, parse, 422, ({ result, content }) => result ?? content ?? null),
      );
    }
    if (kind === 'servers' && name === 'restart')
      return this.#route('POST', (exchange) => this.#restart(decode(server), exchange));
    return this.#routes[path];
  }

  readonly #routes: Readonly<Record<string, Route>> = {
    '/mcp/tools': this.#route('GET', (exchange) => this.#listTools(exchange)),
    '/mcp/servers': this.#route('GET', async () => ok(this.#listServers())),
    // The result in an envelope, and a tool's own error with status 200 (rulings G14, G15).
    '/mcp/call': this.#route('POST', (exchange) =>
      this.#call(exchange, parseCallBody, 200, (plain) => ({ success: true, ...plain })),
    ),
    '/openapi.json': this.#route('GET', (exchange) => this.#describe(exchange)),
  };

  #route(method: 'GET' | 'POST', handle: Handler): Route {
    const serve = async (exchange: Exchange) => {
      const { request, response } = exchange;
      const { loading, places } = this.#context;
      await loading?.();
      // The client may have left in the meantime.
      if (response.destroyed) return;
      // Calls get a place when they start.
      const hasPlace = method === 'POST' || places.hold(exchange, 1);
      const reply = hasPlace ? await handle(exchange) : err(overloaded(REFUSALS.calls(places.max)));
      if (request.socket.destroyed || response.headersSent) return;
      if (reply.isErr()) exchange.refuse(reply.error);
      else if (reply.value !== undefined) exchange.sendJson(reply.value.status, reply.value.json);
    };
    return { methods: { [method]: serve } };
  }

  async #listTools(exchange: Exchange): Promise<Result<Reply, Refusal>> {
    const { request, response } = exchange;
    const only = new URLSearchParams((request.url ?? '').split('?')[1]).get('server');
    if (only !== null && !this.#known.includes(only)) return err(this.#unknownServer(only));
    await this.#context.gateway()?.whenStarted(LIST_WAIT_MS, exchange.signal);
    if (response.destroyed) return ok(undefined);
    const { json, etag } = this.#documents.list(only);
    response.setHeader('ETag', etag);
    // A list may be kept by the client that got it, which then asks whether it has changed.
    response.setHeader('Cache-Control', 'private, no-cache');
    const cached = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (!cached.includes(etag) && !cached.includes('*')) return ok({ status: 200, json });
    response.writeHead(304).end();
    return ok(undefined);
  }

  #listServers(): Reply {
    const { canAnswer, redactor } = this.#context;
    const statuses = this.#context.gateway()?.servers ?? [];
    const servers = statuses.map(({ since, ...status }) => ({ ...status, since: since.toISOString() }));
    const body = { success: true, servers, ...(canAnswer ? {} : { canAnswer }) };
    return { status: 200, json: redactedJson(body, redactor.inLogs) };
  }

  async #describe(exchange: Exchange): Promise<Result<Reply, Refusal>> {
    await this.#context.gateway()?.whenStarted(LIST_WAIT_MS, exchange.signal);
    const { headers } = exchange.request;
    // Each proxy may have added its own.
    const isTls = /^https\b/.test([headers['x-forwarded-proto']].flat()[0] ?? '');
    const url = `${isTls ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
    return ok({ status: 200, json: this.#documents.describe(url) });
  }

  /** Counts as a call, and is logged as one without a tool. The body is optional, and not used. */
  async #restart(server: string, exchange: Exchange): Promise<Result<Reply, Refusal>> {
    const { request, entry } = exchange;
    const refused = typeRefusal(request);
    request.resume();
    if (refused !== undefined) return err(refused);
    return this.#run(exchange, async () => {
      const gateway = this.#context.gateway();
      const known = gateway?.servers.map(({ name }) => name) ?? [];
      if (!known.includes(server)) return err(ofToolCallError({ kind: 'unknown_server', server, known }));
      const nowMs = this.#context.clock.elapsedMs();
      const waitMs = (this.#restartedMs.get(server) ?? Number.NEGATIVE_INFINITY) + RESTART_EVERY_MS - nowMs;
      if (waitMs > 0) {
        entry.reason = 'restarted a moment ago';
        const message = REFUSALS.earlyRestart(server, waitMs);
        return err(refusal('OVERLOADED', message, { details: { server }, retryAfterMs: waitMs }));
      }
      this.#restartedMs.set(server, nowMs);
      gateway?.restart(server);
      entry.call = { server, tool: '', outcome: 'answered' };
      return ok({ status: 202, json: '{"success":true}' });
    });
  }

  /** Calls the tool that the request names. `toBody` makes the body of the response from what it returned. */
  async #call(
    exchange: Exchange,
    parse: (body: unknown) => Result<ToolCallInput, Refusal>,
    toolErrorStatus: number,
    toBody: (result: ReturnType<typeof toPlainResult>) => unknown,
  ): Promise<Result<Reply, Refusal>> {
    const call = (await readJsonBody(exchange, this.#context)).andThen(parse);
    if (call.isErr() || exchange.response.destroyed) return call.map(() => undefined);
    const { server } = call.value;
    const { caller, entry, signal } = exchange;
    const { builtIn, gateway, redactor, observe } = this.#context;
    const observer = observe(entry);
    const input = { ...call.value, caller, onEnded: observer.onServerCallEnded };
    return this.#run(exchange, async () => {
      const outcome =
        server === BUILT_IN_SERVER
          ? await builtIn.call(input, { caller, observer }, signal)
          : await gateway()?.callTool(input, signal);
      // The gateway does not know that the answer tools are a server here.
      if (outcome === undefined || (outcome.isErr() && outcome.error.kind === 'unknown_server')) {
        return err(this.#unknownServer(server));
      }
      if (outcome.isErr()) return err(ofToolCallError(outcome.error));
      const { value } = outcome;
      if (value.isError) return err(ofToolError(value, toolErrorStatus));
      return ok({ status: 200, json: redactedJson(toBody(toPlainResult(value)), redactor.anywhere) });
    });
  }

  /** Runs what counts as a call. */
  async #run(exchange: Exchange, call: () => Promise<Result<Reply, Refusal>>): Promise<Result<Reply, Refusal>> {
    const { response } = exchange;
    if (this.#context.isDraining()) return err(ofToolCallError({ kind: 'shutting_down' }));
    const ran = await runCall(exchange, this.#context, call);
    if (ran.isErr()) return err(ran.error);
    const { value, left } = ran.value;
    if (left !== undefined && !response.headersSent) response.setHeaders(rateLimitHeaders(left));
    return value;
  }

  get #known(): readonly string[] {
    return [...(this.#context.gateway()?.servers ?? []).map(({ name }) => name), BUILT_IN_SERVER];
  }

  #unknownServer(server: string): Refusal {
    return ofToolCallError({ kind: 'unknown_server', server, known: this.#known });
  }
}

/** A malformed escape is not the name of anything. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

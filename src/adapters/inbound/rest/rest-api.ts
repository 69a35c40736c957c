import { randomUUID } from 'node:crypto';
import type { IncomingMessage as HttpRequest, ServerResponse } from 'node:http';
import { err, ok, type Result } from 'neverthrow';
import type { ToolCallInput, ToolCallOutcome } from '../../../application/call-tool.ts';
import type { ServerStatus } from '../../../application/server-supervisor.ts';
import { BUILT_IN_SERVER } from '../../../domain/gateway-tool.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import { redactedJson } from '../../../domain/redaction.ts';
import type { ToolCallError } from '../../../domain/tool-call-error.ts';
import { type ToolResult, toPlainResult } from '../../../domain/tool-result.ts';
import { connectionSignal } from '../http/connection-signal.ts';
import type { Exchange, HttpContext } from '../http/http-context.ts';
import { type Refusal, sendJson } from '../http/refusal.ts';
import { readJsonBody, typeRefusal } from '../http/request-body.ts';
import type { Route } from '../http/route.ts';
import { retryAfter, runCall } from '../http/run-call.ts';
import { LIST_WAIT_MS } from '../mcp/tool-set.ts';
import { parseCallBody } from './call-body.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { ofInvalidBody, ofRefusal, ofToolError, type RestError, toRestError } from './rest-error.ts';
import { ServerRestarts } from './server-restarts.ts';
import { ToolDocuments } from './tool-documents.ts';

/** A call with the names from the path or the body. */
interface RestCall {
  readonly server: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly timeoutMs: number | undefined;
}

/** The tools of the gateway's servers, and the answer tools, over REST (rulings G12 to G19). */
export class RestApi {
  readonly #context: HttpContext;
  readonly #documents: ToolDocuments;
  readonly #restarts: ServerRestarts;

  constructor(context: HttpContext) {
    const { rest, tokens, oauth, redactor } = context;
    const { gateway, builtIn, version } = rest;
    this.#context = context;
    this.#restarts = new ServerRestarts(gateway);
    this.#documents = new ToolDocuments({
      tools: () => [...(gateway()?.tools ?? []), ...builtIn.tools],
      servers: () => this.#statuses(),
      timeoutOf: (server) => (server === BUILT_IN_SERVER ? builtIn.timeoutMs : gateway()?.timeoutOf(server)),
      version,
      requiresToken: tokens.length > 0 || oauth !== undefined,
      redact: redactor.anywhere,
    });
  }

  /** Whether a path belongs to REST, so that errors have its form. */
  owns(path: string): boolean {
    return path !== this.#context.path && (path.startsWith('/mcp/') || path === '/openapi.json');
  }

  /** Every response has an ID, that of the request if it is usable. Results may be private, and browsers must not guess their type. */
  begin({ headers }: HttpRequest, response: ServerResponse): void {
    const [received] = [headers['x-request-id']].flat();
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('X-Request-Id', /^[\w.-]{1,64}$/.test(received ?? '') ? String(received) : randomUUID());
  }

  refuse(response: ServerResponse, refusal: Refusal): void {
    this.#sendError(response, ofRefusal(refusal), refusal.headers);
  }

  /** The handlers of a path by HTTP method; undefined if there is no such path. */
  routeOf(path: string): Route | undefined {
    const [, server] = /^\/mcp\/servers\/([^/]+)\/restart$/.exec(path) ?? [];
    if (server !== undefined) return { POST: (exchange) => this.#restart(decode(server), exchange) };
    const [, ofServer, tool] = /^\/mcp\/tools\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    if (ofServer !== undefined && tool !== undefined) {
      return { POST: (exchange) => this.#callByPath(decode(ofServer), decode(tool), exchange) };
    }
    return this.#routes[path];
  }

  readonly #routes: Readonly<Record<string, Route>> = {
    '/mcp/tools': { GET: (exchange) => this.#listTools(exchange) },
    '/mcp/servers': {
      GET: async ({ response }) => {
        const servers = this.#statuses().map(({ since, ...status }) => ({ ...status, since: since.toISOString() }));
        const { canAnswer, redactor } = this.#context;
        const body = { success: true, servers, ...(canAnswer ? {} : { canAnswer }) };
        this.#send(response, 200, body, redactor.inLogs);
      },
    },
    '/mcp/call': { POST: (exchange) => this.#callByBody(exchange) },
    '/openapi.json': { GET: (exchange) => this.#describe(exchange) },
  };

  async #listTools(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const only = new URLSearchParams((request.url ?? '').split('?')[1]).get('server');
    const known = [...this.#statuses().map(({ name }) => name), BUILT_IN_SERVER];
    if (only !== null && !known.includes(only)) {
      return this.#sendError(response, toRestError({ kind: 'unknown_server', server: only, known }));
    }
    await this.#whenStarted(request);
    if (response.destroyed) return;
    const { json, etag } = this.#documents.list(only);
    response.setHeader('ETag', etag);
    // A list may be kept by the client that got it, which then asks whether it has changed.
    response.setHeader('Cache-Control', 'private, no-cache');
    const cached = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (cached.includes(etag) || cached.includes('*')) response.writeHead(304).end();
    else sendJson(response, 200, json);
  }

  async #whenStarted({ socket }: HttpRequest): Promise<void> {
    await this.#context.rest.gateway()?.whenStarted(LIST_WAIT_MS, connectionSignal(socket));
  }

  #statuses(): readonly ServerStatus[] {
    return this.#context.rest.gateway()?.servers ?? [];
  }

  /** Counts as a call, and is logged as one without a tool. The body is optional, and not used. */
  async #restart(server: string, exchange: Exchange): Promise<void> {
    const { request, response, entry } = exchange;
    const refused = typeRefusal(request.headers);
    request.resume();
    if (refused !== undefined) return this.refuse(response, refused);
    const restarted = await this.#run(exchange, async () => {
      const outcome = this.#restarts.restart(server, this.#context.clock.elapsedMs());
      if (outcome.isOk()) entry.gatewayCall = { server, tool: '', outcome: 'answered', seconds: 0 };
      else if (outcome.error.status === 429) entry.reason = 'restarted a moment ago';
      return outcome;
    });
    if (restarted !== undefined) this.#send(response, 202, { success: true });
  }

  async #describe({ request, response }: Exchange): Promise<void> {
    await this.#whenStarted(request);
    if (response.destroyed) return;
    // Each proxy may have added its own.
    const isTls = /^https\b/.test([request.headers['x-forwarded-proto']].flat()[0] ?? '');
    const url = `${isTls ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`;
    sendJson(response, 200, this.#documents.describe(url));
  }

  /** `POST /mcp/call`: the result in an envelope, and a tool's own error with status 200 (rulings G14, G15). */
  async #callByBody(exchange: Exchange): Promise<void> {
    const { response } = exchange;
    const body = await readJsonBody(exchange, this.#context);
    if (response.destroyed) return;
    if (body.isErr()) return this.refuse(response, body.error);
    const parsed = parseCallBody(body.value);
    if (parsed.isErr()) return this.#sendError(response, ofInvalidBody(parsed.error));
    const { server, toolName, input, timeoutMs } = parsed.value;
    const result = await this.#call({ server, tool: toolName, input, timeoutMs }, exchange, 200);
    if (result !== undefined) this.#send(response, 200, { success: true, ...toPlainResult(result) });
  }

  /** `POST /mcp/tools/{server}/{tool}`: the input is the body, and so is the result (ruling G16). */
  async #callByPath(server: string, tool: string, exchange: Exchange): Promise<void> {
    const { response } = exchange;
    const body = await readJsonBody(exchange, this.#context);
    if (response.destroyed) return;
    if (body.isErr()) return this.refuse(response, body.error);
    const problem = { path: '', message: 'must be an object: the input of the tool' };
    if (!isObject(body.value)) return this.#sendError(response, ofInvalidBody([problem]));
    const returned = await this.#call({ server, tool, input: body.value, timeoutMs: undefined }, exchange, 422);
    if (returned === undefined) return;
    const { result, content } = toPlainResult(returned);
    // Blocks other than a text have no plain value.
    this.#send(response, 200, result === null && content !== undefined ? content : result);
  }

  /** The result of a tool. Undefined if a response was sent, or the caller has left. */
  async #call(call: RestCall, exchange: Exchange, toolErrorStatus: number): Promise<ToolResult | undefined> {
    const { request, caller, entry } = exchange;
    const { observe, rest } = this.#context;
    const signal = connectionSignal(request.socket);
    const input: ToolCallInput = {
      server: call.server,
      tool: call.tool,
      args: call.input,
      caller,
      ...(call.timeoutMs === undefined ? {} : { timeoutMs: call.timeoutMs }),
      onEnded: (report) => {
        entry.gatewayCall = report;
      },
    };
    return this.#run(exchange, async () => {
      const outcome =
        call.server === BUILT_IN_SERVER
          ? await rest.builtIn.call(input, { caller, observer: observe(entry) }, signal)
          : await (rest.gateway()?.callTool(input, signal) ?? unknownServer(call.server));
      if (outcome.isErr()) return err(toRestError(withBuiltIn(outcome.error)));
      return outcome.value.isError ? err(ofToolError(outcome.value, toolErrorStatus)) : ok(outcome.value);
    });
  }

  /** Runs what counts as a call, and sends its error. Undefined if a response was sent, or the caller has left. */
  async #run<T>(exchange: Exchange, call: () => Promise<Result<T, RestError>>): Promise<T | undefined> {
    const { request, response } = exchange;
    if (this.#context.isDraining()) {
      this.#sendError(response, toRestError({ kind: 'shutting_down' }));
      return undefined;
    }
    const ran = await runCall(exchange, this.#context, call);
    if (request.socket.destroyed || response.headersSent) return undefined;
    const left = ran.isOk() ? ran.value.left : undefined;
    if (left !== undefined) for (const [name, value] of rateLimitHeaders(left)) response.setHeader(name, value);
    const outcome = ran.isOk() ? ran.value.value : err(ran.error);
    if (outcome.isOk()) return outcome.value;
    this.#sendError(response, outcome.error);
    return undefined;
  }

  #sendError(response: ServerResponse, error: RestError, headers: Refusal['headers'] = {}): void {
    const { status, code, message, details, retryAfterMs, rest } = error;
    const requestId = response.getHeader('X-Request-Id');
    const body = { success: false, error: { code, message, details: { ...details, requestId } }, ...rest };
    const wait = retryAfterMs === undefined ? {} : { 'Retry-After': retryAfter(retryAfterMs) };
    // What a tool returned passes unchanged, except for our own keys.
    const redact = rest === undefined ? this.#context.redactor.inLogs : this.#context.redactor.anywhere;
    sendJson(response, status, redactedJson(body, redact), { ...headers, ...wait });
  }

  #send(response: ServerResponse, status: number, body: unknown, redact = this.#context.redactor.anywhere): void {
    sendJson(response, status, redactedJson(body, redact));
  }
}

function unknownServer(server: string): ToolCallOutcome {
  return err({ kind: 'unknown_server', server, known: [] });
}

/** The gateway does not know that the answer tools are a server here. */
function withBuiltIn(error: ToolCallError): ToolCallError {
  return error.kind === 'unknown_server' ? { ...error, known: [...error.known, BUILT_IN_SERVER] } : error;
}

/** A malformed escape is not the name of anything. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage as HttpRequest, ServerResponse } from 'node:http';
import { err } from 'neverthrow';
import type { ToolCallInput, ToolCallOutcome } from '../../../application/call-tool.ts';
import type { ServerStatus } from '../../../application/server-supervisor.ts';
import { BUILT_IN_SERVER, type GatewayTool } from '../../../domain/gateway-tool.ts';
import { isObject, type JsonObject } from '../../../domain/json.ts';
import { redactedJson } from '../../../domain/redaction.ts';
import type { ToolCallError } from '../../../domain/tool-call-error.ts';
import { toPlainResult } from '../../../domain/tool-result.ts';
import { connectionSignal } from '../http/connection-signal.ts';
import type { Exchange, HttpContext } from '../http/http-context.ts';
import { type Refusal, sendJson } from '../http/refusal.ts';
import { readJsonBody } from '../http/request-body.ts';
import type { Route } from '../http/route.ts';
import { retryAfter, runCall } from '../http/run-call.ts';
import { parseCallBody } from './call-body.ts';
import { toOpenApi } from './openapi.ts';
import { rateLimitHeaders } from './rate-limit-headers.ts';
import { ofInvalidBody, ofRefusal, ofToolError, type RestError, toRestError } from './rest-error.ts';

/** How long a list of tools waits for first starts (ruling G12). */
const LIST_WAIT_MS = 5000;

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

  constructor(context: HttpContext) {
    this.#context = context;
  }

  /** Whether a path belongs to REST, so that errors have its form. */
  owns(path: string): boolean {
    return path !== this.#context.path && (path.startsWith('/mcp/') || path === '/openapi.json');
  }

  /** Every response has an ID, that of the request if it is usable. */
  begin({ headers }: HttpRequest, response: ServerResponse): void {
    const [received] = [headers['x-request-id']].flat();
    response.setHeader('X-Request-Id', /^[\w.-]{1,64}$/.test(received ?? '') ? String(received) : randomUUID());
  }

  refuse(response: ServerResponse, refusal: Refusal): void {
    this.#sendError(response, ofRefusal(refusal), refusal.headers);
  }

  /** The handlers of a path by HTTP method; undefined if there is no such path. */
  routeOf(path: string): Route | undefined {
    const [, server, action] = /^\/mcp\/servers\/([^/]+)\/(restart)$/.exec(path) ?? [];
    if (server !== undefined && action !== undefined)
      return { POST: (exchange) => this.#restart(decode(server), exchange) };
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
        this.#send(response, 200, { success: true, servers });
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
    await this.#context.rest.gateway()?.whenStarted(LIST_WAIT_MS, connectionSignal(request.socket));
    if (response.destroyed) return;
    const tools = this.#tools().filter(({ server }) => only === null || server === only);
    const servers = this.#statuses().filter(({ name }) => only === null || name === only);
    const body = {
      success: true,
      tools: tools.map((tool) => ({ ...tool, timeout: this.#timeoutOf(tool) })),
      servers: servers.map(({ name, state }) => ({ name, state })),
    };
    const etag = `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`;
    response.setHeader('ETag', etag);
    response.setHeader('Cache-Control', 'no-cache');
    const cached = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (cached.includes(etag) || cached.includes('*')) response.writeHead(304).end();
    else this.#send(response, 200, body);
  }

  #tools(): readonly GatewayTool[] {
    const { gateway, builtIn } = this.#context.rest;
    return [...(gateway()?.tools ?? []), ...builtIn.tools];
  }

  #timeoutOf({ server }: GatewayTool): number | undefined {
    const { gateway, builtIn } = this.#context.rest;
    return server === BUILT_IN_SERVER ? builtIn.timeoutMs : gateway()?.timeoutOf(server);
  }

  #statuses(): readonly ServerStatus[] {
    return this.#context.rest.gateway()?.servers ?? [];
  }

  async #restart(server: string, { request, response }: Exchange): Promise<void> {
    // The body is optional, and not used.
    request.resume();
    const known = this.#statuses().map(({ name }) => name);
    if (this.#context.rest.gateway()?.restart(server) !== true) {
      return this.#sendError(response, toRestError({ kind: 'unknown_server', server, known }));
    }
    this.#send(response, 202, { success: true });
  }

  async #describe({ request, response }: Exchange): Promise<void> {
    await this.#context.rest.gateway()?.whenStarted(LIST_WAIT_MS, connectionSignal(request.socket));
    if (response.destroyed) return;
    // Each proxy may have added its own.
    const isTls = /^https\b/.test([request.headers['x-forwarded-proto']].flat()[0] ?? '');
    const document = toOpenApi({
      tools: this.#tools(),
      version: this.#context.rest.version,
      url: `${isTls ? 'https' : 'http'}://${request.headers.host ?? 'localhost'}`,
      requiresToken: this.#context.tokens.length > 0 || this.#context.oauth !== undefined,
    });
    this.#send(response, 200, document);
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
    const outcome = await this.#call({ server, tool: toolName, input, timeoutMs }, exchange);
    if (outcome === undefined) return;
    if (outcome.isErr()) return this.#sendError(response, toRestError(outcome.error));
    if (outcome.value.isError) return this.#sendError(response, ofToolError(outcome.value, 200));
    this.#send(response, 200, { success: true, ...toPlainResult(outcome.value) });
  }

  /** `POST /mcp/tools/{server}/{tool}`: the input is the body, and so is the result (ruling G16). */
  async #callByPath(server: string, tool: string, exchange: Exchange): Promise<void> {
    const { response } = exchange;
    const body = await readJsonBody(exchange, this.#context);
    if (response.destroyed) return;
    if (body.isErr()) return this.refuse(response, body.error);
    if (!isObject(body.value)) {
      return this.#sendError(
        response,
        ofInvalidBody([{ path: '', message: 'must be an object: the input of the tool' }]),
      );
    }
    const outcome = await this.#call({ server, tool, input: body.value, timeoutMs: undefined }, exchange);
    if (outcome === undefined) return;
    if (outcome.isErr()) return this.#sendError(response, toRestError(outcome.error));
    if (outcome.value.isError) return this.#sendError(response, ofToolError(outcome.value, 422));
    const { result, content } = toPlainResult(outcome.value);
    // Blocks other than a text have no plain value.
    this.#send(response, 200, result === null && content !== undefined ? content : result);
  }

  /** Undefined if a response was sent, or the caller has left. */
  async #call(call: RestCall, exchange: Exchange): Promise<ToolCallOutcome | undefined> {
    const { request, response, caller, entry } = exchange;
    const { isDraining, observe } = this.#context;
    if (isDraining()) {
      this.#sendError(response, toRestError({ kind: 'shutting_down' }));
      return undefined;
    }
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
    const { gateway, builtIn } = this.#context.rest;
    const ran = await runCall(exchange, this.#context, async () =>
      call.server === BUILT_IN_SERVER
        ? builtIn.call(input, { caller, observer: observe(entry) }, signal)
        : (gateway()?.callTool(input, signal) ?? unknownServer(call.server)),
    );
    if (signal.aborted || response.headersSent) return undefined;
    if (ran.isErr()) {
      this.#sendError(response, ran.error);
      return undefined;
    }
    const { value: outcome, left } = ran.value;
    if (left !== undefined) for (const [name, value] of rateLimitHeaders(left)) response.setHeader(name, value);
    return outcome.mapErr(withBuiltIn);
  }

  #sendError(response: ServerResponse, error: RestError, headers: Refusal['headers'] = {}): void {
    const { status, code, message, details, retryAfterMs, rest } = error;
    const requestId = response.getHeader('X-Request-Id');
    const body = { success: false, error: { code, message, details: { ...details, requestId } }, ...rest };
    const wait = retryAfterMs === undefined ? {} : { 'Retry-After': retryAfter(retryAfterMs) };
    sendJson(response, status, redactedJson(body, this.#context.redact), { ...headers, ...wait });
  }

  #send(response: ServerResponse, status: number, body: unknown): void {
    sendJson(response, status, redactedJson(body, this.#context.redact));
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

import type { IncomingMessage as HttpRequest, ServerResponse } from 'node:http';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { INTERNAL_ERROR } from '../mcp/json-rpc.ts';
import type { Access } from './access.ts';
import { type AccessEntry, type AccessLog, CLIENT_LEFT } from './access-log.ts';
import type { McpEndpoint } from './mcp-endpoint.ts';
import type { Metrics } from './metrics.ts';
import { aboutToEnd, refusal, sendEmpty, sendJson, sendRefusal } from './refusal.ts';

export interface RoutesOptions {
  /** Where MCP is served. */
  readonly path: string;
  readonly endpoint: McpEndpoint;
  readonly access: Access;
  readonly metrics: Metrics;
  readonly accessLog: AccessLog;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Why calls cannot be answered now; undefined if they can. */
  readonly unreadiness: () => 'draining' | 'no key' | undefined;
}

/** Leads every request to what serves it: probes, metrics, MCP; and sends everything else back. */
export class Routes {
  readonly #options: RoutesOptions;

  constructor(options: RoutesOptions) {
    this.#options = options;
  }

  /** Resolves when the response is out, or its connection is gone. Never rejects. */
  async serve(request: HttpRequest, response: ServerResponse): Promise<void> {
    const path = pathOf(request.url ?? '');
    if (path === '/healthz' || path === '/readyz') return this.#probe(path, response);

    const { clock, accessLog, metrics, logger } = this.#options;
    const startedMs = clock.elapsedMs();
    const entry: AccessEntry = { verb: request.method ?? '' };
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
    tellOfClose(request, response);
    try {
      await this.#lead(path, request, response, entry);
    } catch (bug) {
      logger.error(`a fault of this program, in an HTTP request: ${String(bug)}`);
      if (response.headersSent) response.destroy();
      else sendRefusal(response, { status: 500, error: { code: INTERNAL_ERROR, message: 'Internal error' } });
    }
    await closed;
    const status = response.writableFinished ? response.statusCode : CLIENT_LEFT;
    metrics.answered(status);
    accessLog.write(entry, status, startedMs);
  }

  /** For load balancers, which have no token and call us by any name. */
  #probe(path: string, response: ServerResponse): void {
    const why = path === '/readyz' ? this.#options.unreadiness() : undefined;
    sendJson(response, why === undefined ? 200 : 503, JSON.stringify({ ok: why === undefined, why }));
  }

  async #lead(path: string, request: HttpRequest, response: ServerResponse, entry: AccessEntry): Promise<void> {
    const { access } = this.#options;
    const { method, headers } = request;
    const forbidden = access.refusalOf(headers);
    if (forbidden !== undefined) return sendRefusal(response, forbidden);

    const cors = access.corsHeaders(headers);
    for (const [name, value] of Object.entries(cors ?? {})) response.setHeader(name, value ?? '');
    // A browser asks without the token.
    if (method === 'OPTIONS' && cors !== undefined) return sendEmpty(response, 204, access.preflightHeaders());

    const known = access.callerOf(headers);
    if (!('caller' in known)) return sendRefusal(response, known);
    entry.caller = known.caller;

    if (path === '/metrics') return this.#tellMetrics(method, response);
    if (path !== this.#options.path)
      return sendRefusal(response, refusal(404, `Not Found: MCP is served at ${this.#options.path}`));
    if (method !== 'POST') return this.#turnAway(request, response);
    if (this.#options.unreadiness() === 'draining') return sendRefusal(response, aboutToEnd());
    return this.#options.endpoint.post(request, response, known.caller, entry);
  }

  async #tellMetrics(method: string | undefined, response: ServerResponse): Promise<void> {
    if (method !== 'GET' && method !== 'HEAD') {
      return sendRefusal(response, refusal(405, 'Method Not Allowed', { Allow: 'GET, HEAD' }));
    }
    const { metrics } = this.#options;
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(await metrics.text());
  }

  /**
   * There are no streams to GET and no sessions to DELETE. A caller that ends a session in which it believes, as OpenAI's API
   * does, goes on content.
   */
  #turnAway({ method, headers }: HttpRequest, response: ServerResponse): void {
    if (method === 'DELETE' && headers['mcp-session-id'] !== undefined) sendEmpty(response, 204);
    else sendRefusal(response, refusal(405, 'Method Not Allowed: POST one message', { Allow: 'POST' }));
  }
}

/** The target of a request without its query; proxies may name the whole URL (RFC 9112, 3.2.2). */
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?]*/i, '').split('?')[0] || '/';
}

/** A response that waits behind others on its connection hears nothing of that connection's end: Node tells only the first. */
function tellOfClose({ socket }: HttpRequest, response: ServerResponse): void {
  const onGone = () => response.emit('close');
  // A client may have any number of requests under way on one connection.
  socket.setMaxListeners(0).once('close', onGone);
  response.once('close', () => socket.off('close', onGone));
}

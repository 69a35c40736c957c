import { createServer, type IncomingMessage as HttpRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import { whenSettled } from '../../../../application/async/deadline.ts';
import { InProgress } from '../../../../application/async/in-progress.ts';
import { CallerLimit } from '../shared/caller-limit.ts';
import type { HttpContext } from '../shared/exchange.ts';
import { Connections } from './connections.ts';
import { Routes, type RoutesOptions } from './routes.ts';

export interface HttpServerOptions
  extends RoutesOptions,
    Pick<HttpContext, 'path' | 'canAnswer' | 'maxBodyBytes' | 'quota' | 'rightsOf' | 'clock' | 'logger' | 'redactor'> {
  /** 0 is any free port. */
  readonly port: number;
  readonly drainMs: number;
  /** Ends the calls that can be continued later, with what says how. Returns whether there were any (ruling K7). */
  readonly endWaits?: (() => boolean) | undefined;
  readonly maxConnections: number;
  readonly maxCallsPerToken: number;
  readonly timeouts?: typeof TIMEOUTS;
}

/** Limits of a client that sends headers, or a complete request, or reads a response that is ready. To become ready may take any time. */
const TIMEOUTS = { headersMs: 10_000, requestMs: 30_000, unreadMs: 60_000, checkEveryMs: 5000 };

/** Connections that wait to be accepted. With the 511 of Node.js, a burst makes callers wait for seconds: they repeat what was not accepted. */
const BACKLOG = 4096;

/** How long aborted calls may take to settle, and their last responses to be written, before the process exits. */
const ABORT_MS = 500;

/** Time for requests that have arrived, and were not read yet, also on new connections. */
const LAST_REQUESTS_MS = 100;

/** The limits of a caller's requests and responses in progress, all together. */
const MAX_BODIES_BYTES = 4 * 1024 * 1024;
const MAX_RESPONSES_BYTES = 32 * 1024 * 1024;

/** Longer than the 60 s of load balancers: the balancer must close first, otherwise it may reuse a closing connection. */
const KEEP_ALIVE_MS = 65_000;

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #routes: Routes;
  /** Requests without a complete response, or whose calls have not settled yet. */
  readonly #serving = new InProgress<Promise<void>>();
  #isDraining = false;
  readonly #closed = new AbortController();

  constructor(options: HttpServerOptions) {
    const { tokens, oauth, maxCallsPerToken, maxBodyBytes, maxConnections, timeouts = TIMEOUTS } = options;
    this.#options = options;
    const serverOptions = {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: timeouts.checkEveryMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Otherwise the first of several `Host` headers would count.
      joinDuplicateHeaders: true,
    };
    const serve = (request: HttpRequest, response: ServerResponse) => this.#serve(request, response);
    this.#server = createServer(serverOptions, serve);
    // Node.js would answer requests with an unknown `Expect` itself, as many as a connection sends.
    this.#server.on('checkExpectation', serve);
    this.#server.maxConnections = maxConnections;
    this.#connections = new Connections(this.#server, timeouts.unreadMs, timeouts.checkEveryMs);
    this.#routes = new Routes({
      ...options,
      requiresToken: tokens.length > 0 || oauth !== undefined,
      isDraining: () => this.#isDraining,
      places: new CallerLimit(maxCallsPerToken),
      bodyBytes: new CallerLimit(Math.max(MAX_BODIES_BYTES, maxBodyBytes)),
      responseBytes: new CallerLimit(MAX_RESPONSES_BYTES),
      connections: this.#connections,
    });
  }

  #serve(request: HttpRequest, response: ServerResponse): void {
    const signal = this.#connections.begin(request, response);
    if (signal === undefined) return;
    if (this.#isDraining) response.setHeader('Connection', 'close');
    const served = this.#routes.serve(request, response, signal);
    this.#serving.add(served);
    void served.then(() => {
      this.#serving.delete(served);
      this.#connections.end(request, response);
    });
  }

  /** Starts listening. Resolves with the URL of the endpoint, or with the error code of the operating system. */
  listen(): Promise<Result<string, string>> {
    const { host, port, path } = this.#options;
    return new Promise((resolve) => {
      // The listener stays: a later error of one connection is no reason to exit.
      this.#server.on('error', (error: NodeJS.ErrnoException) => resolve(err(error.code ?? String(error))));
      this.#server.listen(port, host, BACKLOG, () => {
        const { port } = this.#server.address() as AddressInfo;
        resolve(ok(`http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`));
      });
    });
  }

  get inFlight(): number {
    return this.#serving.size;
  }

  /** Answers new calls with 503, and closes when those in flight have finished; after `drainMs` each gets a failure, and is aborted. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#settled(this.#options.drainMs);
    if (this.#serving.size === 0) {
      await this.#options.clock.sleep(LAST_REQUESTS_MS, this.#closed.signal);
      // If a turn of the event loop took longer, nothing was read since: one accepts connections, the next reads from them.
      await nextTurn();
      await nextTurn();
      await this.#settled(LAST_REQUESTS_MS);
    }
    if (this.#options.endWaits?.() === true) await this.#settled(ABORT_MS);
    this.#routes.shutDown();
    await this.#settled(ABORT_MS);
    await this.close();
  }

  /** Closes all connections at once; calls in flight are aborted upstream. */
  async close(): Promise<void> {
    this.#isDraining = true;
    this.#closed.abort();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
    await this.#settled(ABORT_MS);
  }

  /** Waits for the requests in progress, for at most `maxMs`. */
  #settled(maxMs: number): Promise<void> {
    return whenSettled(this.#serving, this.#options.clock, maxMs);
  }
}

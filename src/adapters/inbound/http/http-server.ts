import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import type { ToolCallReport } from '../../../application/call-tool.ts';
import { whenSettled } from '../../../application/deadline.ts';
import { CallerLimit } from './caller-limit.ts';
import { Connections } from './connections.ts';
import type { HttpServerOptions, HttpTimeouts } from './http-context.ts';
import { Metrics } from './metrics.ts';
import { Routes } from './routes.ts';

const TIMEOUTS: HttpTimeouts = { headersMs: 10_000, requestMs: 30_000, unreadMs: 60_000, checkEveryMs: 5000 };

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

/** The HTTP server: connections, limits, draining. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #metrics: Metrics;
  readonly #routes: Routes;
  /** Requests without a complete response, or whose calls have not settled yet. */
  readonly #serving = new Set<Promise<void>>();
  #isDraining = false;
  readonly #closed = new AbortController();

  constructor(options: HttpServerOptions) {
    const { timeouts = TIMEOUTS } = options;
    this.#options = options;
    const metrics = new Metrics(options.rest.gateway);
    this.#metrics = metrics;
    const connections = new Connections();
    this.#routes = new Routes({
      ...options,
      metrics,
      isDraining: () => this.#isDraining,
      places: new CallerLimit(options.maxCallsPerToken),
      bodyBytes: new CallerLimit(Math.max(MAX_BODIES_BYTES, options.maxBodyBytes)),
      responseBytes: new CallerLimit(MAX_RESPONSES_BYTES),
      connections,
      observe: (entry) => ({
        onStarted: () => metrics.onStarted(),
        onWaiting: (isWaiting) => metrics.onWaiting(isWaiting),
        onEnded: (report) => {
          entry.call = report;
          metrics.onEnded(report);
        },
        onServerCallEnded: (report) => {
          entry.gatewayCall = report;
        },
      }),
    });
    this.#server = createServer(
      {
        headersTimeout: timeouts.headersMs,
        requestTimeout: timeouts.requestMs,
        connectionsCheckingInterval: timeouts.checkEveryMs,
        keepAliveTimeout: KEEP_ALIVE_MS,
        // Otherwise the first of several `Host` headers would count.
        joinDuplicateHeaders: true,
      },
      (request, response) => {
        if (!connections.begin(request)) return;
        if (this.#isDraining) response.setHeader('Connection', 'close');
        const served = this.#routes.serve(request, response);
        this.#serving.add(served);
        void served.then(() => {
          this.#serving.delete(served);
          connections.end(request);
        });
      },
    );
    this.#server.maxConnections = options.maxConnections;
    connections.watch(this.#server, timeouts.unreadMs, timeouts.checkEveryMs);
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

  /** Counts a finished call of a tool of the gateway's servers. */
  onServerCallEnded(report: ToolCallReport): void {
    this.#metrics.onServerCallEnded(report);
  }

  /** The number of requests that are being served. */
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

  /** Waits until no request is being served, for at most `maxMs`. */
  #settled(maxMs: number): Promise<void> {
    return whenSettled(this.#serving, this.#options.clock, maxMs);
  }
}

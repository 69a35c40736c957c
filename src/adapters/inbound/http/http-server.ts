import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { err, ok, type Result } from 'neverthrow';
import type { Application } from '../../../application/application.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { Access, type AccessOptions } from './access.ts';
import { AccessLog } from './access-log.ts';
import { McpEndpoint, type OpenSession } from './mcp-endpoint.ts';
import { Metrics } from './metrics.ts';
import { Routes } from './routes.ts';

export interface HttpServerOptions extends AccessOptions {
  readonly host: string;
  /** 0 is any that is free. */
  readonly port: number;
  readonly path: string;
  readonly drainMs: number;
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  readonly maxCallsPerToken: number;
  /** Whether there is what it takes to answer: a key, or recordings. */
  readonly canAnswer: boolean;
  readonly application: Application;
  readonly openSession: OpenSession;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: (text: string) => string;
  /** Where the access log goes, a line at a time. */
  readonly writeAccessLine: (line: string) => void;
  readonly patience?: Patience;
}

/** How long a client may take over its headers, and over a whole request. How long we may answer has no bound here. */
export interface Patience {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkEveryMs: number;
}

const PATIENCE: Patience = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5000 };

/** How long aborted calls may take to end before the process does. */
const ABORT_MS = 500;

/** Longer than the minute for which load balancers keep idle connections: who closes first must be them, or a call gets lost. */
const KEEP_ALIVE_MS = 65_000;

/** MCP over HTTP, from the first connection to the end of the last call. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  /** Requests that are not answered in full, or whose calls have not stopped yet. */
  readonly #serving = new Set<Promise<void>>();
  #isDraining = false;

  constructor(options: HttpServerOptions) {
    const { clock, logger, patience = PATIENCE } = options;
    this.#options = options;
    const metrics = new Metrics();
    const routes = new Routes({
      path: options.path,
      endpoint: new McpEndpoint({ ...options, watcher: metrics, isDraining: () => this.#isDraining }),
      access: new Access(options),
      metrics,
      accessLog: new AccessLog(clock, options.writeAccessLine),
      clock,
      logger,
      unreadiness: () => (this.#isDraining ? 'draining' : options.canAnswer ? undefined : 'no key'),
    });
    this.#server = createServer(
      {
        headersTimeout: patience.headersMs,
        requestTimeout: patience.requestMs,
        connectionsCheckingInterval: patience.checkEveryMs,
        keepAliveTimeout: KEEP_ALIVE_MS,
      },
      (request, response) => {
        if (this.#isDraining) response.setHeader('Connection', 'close');
        const served = routes.serve(request, response);
        this.#serving.add(served);
        void served.then(() => this.#serving.delete(served));
      },
    );
    this.#server.maxConnections = options.maxConnections;
  }

  /** Begins to serve; gives back the URL of the endpoint, or why it cannot listen. */
  listen(): Promise<Result<string, string>> {
    const { host, port, path } = this.#options;
    return new Promise((resolve) => {
      // It stays: what goes wrong with one connection later is no reason to end.
      this.#server.on('error', (error: NodeJS.ErrnoException) => resolve(err(error.code ?? String(error))));
      this.#server.listen(port, host, () => {
        const { port } = this.#server.address() as AddressInfo;
        resolve(ok(`http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`));
      });
    });
  }

  /**
   * Takes no more calls, and ends once those in flight are answered or `drainMs` are over; then the rest is aborted. Until
   * the end it still listens, so that whoever has not heard of it is told 503 and asks another replica.
   */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#settled(this.#options.drainMs);
    await this.close();
  }

  /** Ends at once: who is not answered yet loses the connection, and the call is aborted upstream. */
  async close(): Promise<void> {
    this.#isDraining = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
    await this.#settled(ABORT_MS);
  }

  /** Waits until nothing is being served, for so long at most. */
  async #settled(mostMs: number): Promise<void> {
    const idle = new AbortController();
    const untilIdle = async () => {
      while (this.#serving.size > 0) await Promise.all(this.#serving);
      idle.abort();
    };
    void untilIdle();
    await this.#options.clock.sleep(mostMs, idle.signal);
  }
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { err, ok, type Result } from 'neverthrow';
import { untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import { toAccessEntry } from './access-log.ts';
import { createApp, malformedRequest } from './app.ts';
import { CallerPlaces } from './calls.ts';
import { InFlight } from './in-flight.ts';
import type { HttpServices } from './services.ts';

export interface HttpServerOptions extends HttpServices {
  /** Time limits for a client to send its headers, and its complete request. A response may take any time. */
  readonly timeouts?: typeof TIMEOUTS;
}

const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5000 };

/** How long aborted calls may take to settle, and their last responses to be written, before the process exits. */
const ABORT_MS = 500;

/** Time to read requests that have already arrived, also on new connections. */
const LAST_REQUESTS_MS = 100;
/** The same while further requests arrive: balancers look at `/readyz` every second or two, and a request that arrives at the end is lost. */
const LONGEST_LAST_REQUESTS_MS = 3000;

/** Longer than the 60 s of load balancers: the balancer must close first, otherwise it may reuse a closing connection. */
const KEEP_ALIVE_MS = 65_000;

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #inFlight: InFlight;
  #isDraining = false;
  readonly #closed = new AbortController();

  constructor(options: HttpServerOptions) {
    const { clock, metrics, writeAccessLine, maxConnections, timeouts = TIMEOUTS } = options;
    this.#options = options;
    this.#inFlight = new InFlight({
      clock,
      onServed: (entry, status, ms) => {
        metrics.onResponse(status);
        writeAccessLine(toAccessEntry(entry, status, clock.now(), ms));
      },
    });
    const places = new CallerPlaces(options.maxCallsPerToken);
    const app = createApp({ ...options, places, isDraining: () => this.#isDraining }, this.#inFlight.track);
    const listener = getRequestListener(app.fetch, {
      overrideGlobalObjects: false,
      // The host name of a request without `Host`, which HTTP/1.0 permits.
      hostname: 'localhost',
      errorHandler: malformedRequest,
    });
    // Without joined headers, the first of several tokens would count.
    const settings = { ...timeouts, keepAliveTimeout: KEEP_ALIVE_MS, joinDuplicateHeaders: true };
    this.#server = createServer(settings, (request, response) => {
      if (this.#isDraining) response.setHeader('Connection', 'close');
      void listener(request, response);
    });
    this.#server.maxConnections = maxConnections;
  }

  /** Starts listening. Resolves with the URL of the endpoint, or with the error code of the operating system. */
  listen(): Promise<Result<string, string>> {
    const { host, port, path, logger } = this.#options;
    return new Promise((resolve) => {
      this.#server.on('error', (error: NodeJS.ErrnoException) => {
        const code = error.code ?? String(error);
        // An error of one connection is no reason to exit.
        if (this.#server.listening) logger.warn(`server: a connection could not be accepted (${code})`);
        else resolve(err(code));
      });
      this.#server.listen(port, host, () => {
        const { port } = this.#server.address() as AddressInfo;
        resolve(ok(`http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`));
      });
    });
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Answers new calls with 503, and closes when no call is in flight. After `drainMs`, each call left gets a failure, and is aborted. */
  async drain(): Promise<void> {
    const { drainMs, clock, endWaits } = this.#options;
    this.#isDraining = true;
    await this.#inFlight.settled(drainMs);
    if (this.#inFlight.size === 0) await this.#untilQuiet();
    if (endWaits?.() === true) await this.#inFlight.settled(ABORT_MS);
    this.#inFlight.shutDown();
    await this.#inFlight.settled(ABORT_MS);
    // A balancer that was refused sends its call elsewhere; one whose connection breaks does not. So connections that were accepted are served first.
    await withDeadline(clock, LAST_REQUESTS_MS, this.#closed.signal, (limit) =>
      untilAborted(this.#stopListening(), limit),
    );
    await this.close();
  }

  /** Resolves when no requests arrive any more, because balancers have noticed the drain, or do not notice it. */
  async #untilQuiet(): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.elapsedMs() + LONGEST_LAST_REQUESTS_MS;
    let seen: number;
    do {
      seen = this.#inFlight.arrived;
      await clock.sleep(LAST_REQUESTS_MS, this.#closed.signal);
    } while (seen !== this.#inFlight.arrived && clock.elapsedMs() < endMs && !this.#closed.signal.aborted);
    await this.#inFlight.settled(LAST_REQUESTS_MS);
  }

  /** Resolves when there are no connections. Closes those that are idle. */
  #stopListening(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** Closes all connections at once; calls in flight are aborted upstream. */
  async close(): Promise<void> {
    this.#isDraining = true;
    this.#closed.abort();
    const closed = this.#stopListening();
    this.#server.closeAllConnections();
    await closed;
    await this.#inFlight.settled(ABORT_MS);
  }
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { err, ok, type Result } from 'neverthrow';
import { DISCONNECTED, never, untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { Services } from '../../../application/ports/services.ts';
import { traceContextOf } from '../../../domain/gateway/call-origin.ts';
import { isRoutine, toAccessEntry } from './access-log.ts';
import { createApp, malformedRequest } from './app.ts';
import { CallerPlaces } from './calls.ts';
import { refuse } from './errors.ts';
import { CLIENT_CLOSED, interrupted, shuttingDown } from './refusal.ts';
import type { HttpRequest, LogEntry, Middleware } from './request.ts';
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
        writeAccessLine(toAccessEntry(entry, status, clock.now(), ms), isRoutine(entry, status));
      },
    });
    const places = new CallerPlaces(options.maxCallsPerToken);
    const serving = { ...options, places, isDraining: () => this.#isDraining, publicUrl: () => this.publicUrl };
    const app = createApp(serving, this.#inFlight.track);
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

  /** The origin for browsers. The port that the operating system has chosen is known when the server listens. */
  get publicUrl(): string {
    const url = new URL(this.#options.logins?.publicUrl ?? 'http://127.0.0.1:0');
    if (url.port === '0') url.port = String((this.#server.address() as AddressInfo).port);
    return url.origin;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Answers new calls with 503, and closes when no call is in flight. After `drainMs`, each call left gets a failure, and is aborted. */
  async drain(): Promise<void> {
    const { drainMs, clock, endWaits, openCalls } = this.#options;
    this.#isDraining = true;
    // The answers would be refused like all new calls.
    openCalls?.close();
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
    this.#options.openCalls?.close();
    this.#closed.abort();
    const closed = this.#stopListening();
    this.#server.closeAllConnections();
    await closed;
    await this.#inFlight.settled(ABORT_MS);
  }
}

interface InFlightOptions extends Pick<Services, 'clock'> {
  /** Called when a request was served, and its work is done. */
  readonly onServed: (entry: LogEntry, status: number, ms: number) => void;
}

/** The requests that are being served. */
class InFlight {
  readonly #options: InFlightOptions;
  /** Ends a request, because the process is about to exit. */
  readonly #ends = new Set<() => void>();
  readonly #onEmpty: (() => void)[] = [];
  /** The number of requests that have arrived so far. */
  arrived = 0;

  constructor(options: InFlightOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Resolves when no request is in flight, or after `maxMs`. */
  async settled(maxMs: number): Promise<void> {
    if (this.size === 0) return;
    const settled = new Promise<void>((resolve) => this.#onEmpty.push(resolve));
    await withDeadline(this.#options.clock, maxMs, never(), (limit) => untilAborted(settled, limit));
  }

  /** Ends every request, because the process is about to exit: without a response, clients would wait until their own time limit. */
  shutDown(): void {
    for (const end of this.#ends) end();
  }

  /** The outermost middleware: a request is in flight until its response is closed and its work is done. */
  readonly track: Middleware = (c, next) =>
    new Promise((resolve, reject) => {
      const startedMs = this.#options.clock.elapsedMs();
      const { incoming, outgoing } = c.env;
      const log = newEntry(c);
      const left = new AbortController();
      const leave = () => {
        if (!outgoing.writableFinished) left.abort(DISCONNECTED);
      };
      const closed = new Promise<void>((resolve) => {
        outgoing.once('close', () => {
          leave();
          resolve();
        });
      });
      let isHandled = false;
      const end = () => {
        log.isShutDown = true;
        c.get('onShutDown')?.();
        left.abort(DISCONNECTED);
        // A stream has already begun its response, which ends with an event of its own.
        if (isHandled || outgoing.headersSent) return;
        c.res = undefined;
        c.res = refuse(c, log.hasBegun ? interrupted() : shuttingDown());
        resolve();
      };
      this.arrived += 1;
      this.#ends.add(end);
      c.set('log', log);
      c.set('left', left);
      const serve = async () => {
        await next();
        isHandled = true;
        resolve();
        // A response that waits for an earlier one on its connection emits no `close`.
        if (incoming.socket.destroyed) leave();
        else await closed;
        await c.get('work');
        this.#leave(end);
        const status = outgoing.writableFinished || log.isShutDown ? outgoing.statusCode : CLIENT_CLOSED;
        this.#options.onServed(log, status, this.#options.clock.elapsedMs() - startedMs);
      };
      serve().catch(reject);
    });

  #leave(end: () => void): void {
    this.#ends.delete(end);
    if (this.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}

function newEntry(c: HttpRequest): LogEntry {
  const { method: verb = '', headers } = c.env.incoming;
  const isReadByPage = verb === 'GET' && headers['sec-fetch-site'] === 'same-origin';
  return { verb, isReadByPage, path: c.req.path, isShutDown: false, trace: traceContextOf(headers) };
}

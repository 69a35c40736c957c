import { DISCONNECTED, never, untilAborted, withDeadline } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import { traceContextOf } from '../../../domain/gateway/trace-context.ts';
import { refuse } from './errors.ts';
import { CLIENT_CLOSED, interrupted, shuttingDown } from './refusal.ts';
import type { HttpRequest, LogEntry, Middleware } from './request.ts';

interface InFlightOptions {
  readonly clock: Clock;
  /** Called when a request was served, and its work is done. */
  readonly onServed: (entry: LogEntry, status: number, ms: number) => void;
}

/** The requests that are being served. */
export class InFlight {
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
  return { verb, path: c.req.path, isShutDown: false, trace: traceContextOf(headers) };
}

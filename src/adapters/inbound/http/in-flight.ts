import { DISCONNECTED, untilAborted, whenSettled } from '../../../application/async/deadline.ts';
import type { Clock } from '../../../application/ports/clock.ts';
import { traceContextOf } from '../../../domain/gateway/trace-context.ts';
import { refuse } from './errors.ts';
import { CLIENT_CLOSED, interrupted, shuttingDown } from './refusal.ts';
import type { LogEntry, Middleware } from './request.ts';

interface InFlightOptions {
  readonly clock: Clock;
  /** Called when a request was served, and its work is done. */
  readonly onServed: (entry: LogEntry, status: number, ms: number) => void;
}

/** The requests that are being served. */
export class InFlight {
  readonly #options: InFlightOptions;
  readonly #served = new Set<Promise<void>>();
  readonly #shutDowns = new Set<() => void>();

  constructor(options: InFlightOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#served.size;
  }

  /** Resolves when no request is in flight, or after `maxMs`. */
  settled(maxMs: number): Promise<void> {
    return whenSettled(this.#served, this.#options.clock, maxMs);
  }

  /** Ends every request, because the process is about to exit: without a response, clients would wait until their own time limit. */
  shutDown(): void {
    for (const end of this.#shutDowns) end();
  }

  /** The outermost middleware: a request is in flight until its response is closed and its work is done. */
  readonly track: Middleware = async (c, next) => {
    const { clock, onServed } = this.#options;
    const { incoming, outgoing } = c.env;
    const startedMs = clock.elapsedMs();
    const log: LogEntry = {
      verb: incoming.method ?? '',
      path: c.req.path,
      isShutDown: false,
      trace: traceContextOf(incoming.headers),
    };
    const left = new AbortController();
    const leave = () => {
      if (!outgoing.writableFinished) left.abort(DISCONNECTED);
    };
    outgoing.once('close', leave);
    const closed = new Promise((resolve) => outgoing.once('close', resolve));
    const end = () => {
      log.isShutDown = true;
      c.get('onShutDown')?.();
      left.abort(DISCONNECTED);
    };
    this.#shutDowns.add(end);
    c.set('log', log);
    c.set('signal', left.signal);
    const handled = next();
    const serve = async () => {
      await handled;
      // A response that waits for an earlier one on its connection emits no `close`.
      if (incoming.socket.destroyed) leave();
      else await closed;
      await c.get('work');
      this.#shutDowns.delete(end);
      this.#served.delete(served);
      const status = outgoing.writableFinished || log.isShutDown ? outgoing.statusCode : CLIENT_CLOSED;
      onServed(log, status, clock.elapsedMs() - startedMs);
    };
    const served = serve();
    this.#served.add(served);
    // A stream has already begun its response, which ends with an event of its own.
    if ((await untilAborted(handled, left.signal)) !== 'aborted' || !log.isShutDown) return handled;
    // Replaces the response to the call that was aborted.
    c.res = undefined;
    c.res = refuse(c, log.hasBegun ? interrupted() : shuttingDown());
  };
}

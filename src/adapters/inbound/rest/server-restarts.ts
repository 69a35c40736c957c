import { err, ok, type Result } from 'neverthrow';
import type { Gateway } from '../../../application/gateway.ts';
import { ofEarlyRestart, type RestError, toRestError } from './rest-error.ts';

/** How often a server can be restarted by request: each time, the calls of all callers on it fail. */
const EVERY_MS = 10_000;

/** Restarts servers by request. Restarts after a failure are not affected. */
export class ServerRestarts {
  readonly #gateway: () => Gateway | undefined;
  /** When each server was last restarted by request, by its name. */
  readonly #restartedMs = new Map<string, number>();

  constructor(gateway: () => Gateway | undefined) {
    this.#gateway = gateway;
  }

  /** Starts a server again, in any state. `nowMs` is a time of the clock that only elapses. */
  restart(server: string, nowMs: number): Result<'restarted', RestError> {
    const gateway = this.#gateway();
    const known = gateway?.servers.map(({ name }) => name) ?? [];
    if (!known.includes(server)) return err(toRestError({ kind: 'unknown_server', server, known }));
    const waitMs = (this.#restartedMs.get(server) ?? Number.NEGATIVE_INFINITY) + EVERY_MS - nowMs;
    if (waitMs > 0) return err(ofEarlyRestart(server, waitMs));
    this.#restartedMs.set(server, nowMs);
    gateway?.restart(server);
    return ok('restarted');
  }
}

import { err, ok, type Result } from 'neverthrow';
import { EVERYTHING } from '../../domain/gateway/call-origin.ts';
import type { ToolCallError, ToolServerError } from '../../domain/gateway/tool-call-error.ts';
import { withoutUndefined } from '../../domain/values/json.ts';
import { withDeadline } from '../async/deadline.ts';
import type { Clock } from '../ports/clock.ts';
import type { ServerConnection } from '../ports/tool-server.ts';
import type { ServerSupervisor } from './server-supervisor.ts';

/** Runs a request on a started server as soon as the caller gets one of the server's places. Never rejects. */
export async function runOnServer<T>(
  supervisor: ServerSupervisor,
  caller: string,
  run: (connection: ServerConnection) => Promise<Result<T, ToolServerError | ToolCallError>>,
  signal: AbortSignal,
): Promise<Result<T, ToolCallError>> {
  const { name: server, maxConcurrency } = supervisor.definition;
  const place = await supervisor.places.acquire(caller, undefined, signal);
  if (place === 'aborted') return err({ kind: 'cancelled' });
  if (place === 'full') return err({ kind: 'overloaded', server, maxConcurrency });
  try {
    // The server may have been lost while the request was waiting.
    const { connection } = supervisor;
    if (connection === undefined) return err(notAvailable(supervisor));
    const outcome = await run(connection);
    if (outcome.isOk()) return ok(outcome.value);
    const { error } = outcome;
    if (error.kind === 'crashed')
      return err({ ...error, reason: supervisor.failure.explained(error.reason, EVERYTHING) });
    if (error.kind === 'login_required' || error.kind === 'unauthorized') return err({ ...error, server });
    return err(error.kind === 'aborted' ? { kind: 'cancelled' } : error);
  } finally {
    supervisor.places.release();
  }
}

/** The outcome of a task: its own, `cancelled` if `signal` aborts, or `timed_out`. */
export async function withTimeout<T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<Result<T, ToolCallError>>,
): Promise<Result<T, ToolCallError>> {
  const { outcome, isTimedOut } = await withDeadline(clock, timeoutMs, signal, task);
  const isLate = outcome.isErr() && outcome.error.kind === 'cancelled' && isTimedOut;
  return isLate ? err({ kind: 'timed_out', timeoutMs }) : outcome;
}

export function notAvailable(supervisor: ServerSupervisor): ToolCallError {
  const { name, state, lastError } = supervisor.status;
  if (state === 'login_required') return { kind: 'login_required', server: name };
  const { retryAfterMs } = supervisor;
  return { kind: 'not_available', server: name, state, ...withoutUndefined({ reason: lastError, retryAfterMs }) };
}

import { err, ok, type Result } from 'neverthrow';
import type { QuotaState } from '../../../application/quota-guard.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { NOTHING_USED, type QuotaError } from '../../../domain/quota.ts';
import { limitName, quotaMessage } from '../words/quota-messages.ts';
import { CLIENT_CLOSED } from './access-log.ts';
import { useOf } from './call-use.ts';
import type { Exchange, HttpContext } from './http-context.ts';
import { tooManyCalls } from './refusal.ts';

/** Why a call does not run. */
export interface CallRefusal {
  readonly status: number;
  /** The name of the error in REST. */
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs: number;
  readonly details?: JsonObject;
}

/** What a call returned, and what its caller may still use, if that is limited. */
export interface Ran<T> {
  readonly value: T;
  readonly left: QuotaState | undefined;
}

/** How long a client should wait for a store that fails. */
const STORE_RETRY_MS = 5000;

/** Nobody reads this. */
const HAS_LEFT: CallRefusal = {
  status: CLIENT_CLOSED,
  code: 'CANCELLED',
  message: 'The client has left.',
  retryAfterMs: 0,
};

/** Runs a call of a tool, unless its caller has too many in flight, or has used up a quota. */
export async function runCall<T>(
  exchange: Exchange,
  { places, maxCallsPerToken, quota, metrics }: HttpContext,
  call: () => Promise<T>,
): Promise<Result<Ran<T>, CallRefusal>> {
  const { request, caller, entry } = exchange;
  if (!places.hold(exchange, 1)) {
    return err({ status: 429, code: 'OVERLOADED', message: tooManyCalls(maxCallsPerToken), retryAfterMs: 1000 });
  }
  if (quota === undefined) return ok({ value: await call(), left: undefined });
  const admitted = await quota.admit(caller);
  if (admitted.isErr()) {
    const limit = admitted.error.kind === 'quota_reached' ? limitName(admitted.error.unit) : 'unknown';
    metrics.onQuotaRefused(limit);
    entry.reason = limit === 'unknown' ? 'quota store not available' : `quota reached: ${limit}`;
    return err(ofQuotaError(admitted.error));
  }
  // The client may have left while the store was asked.
  if (request.socket.destroyed) {
    await admitted.value.settle(NOTHING_USED);
    return err(HAS_LEFT);
  }
  const value = await call();
  return ok({ value, left: await admitted.value.settle(useOf(entry)) });
}

/** The refusal of a call whose caller has used up a quota, or whose quota is not known. */
export function ofQuotaError(error: QuotaError): CallRefusal {
  const message = quotaMessage(error);
  if (error.kind === 'quota_unknown') {
    return { status: 503, code: 'QUOTA_UNAVAILABLE', message, retryAfterMs: STORE_RETRY_MS };
  }
  const { unit, limit, endsAt, retryAfterMs } = error;
  const details = { limit: limitName(unit), max: limit, endsAt: endsAt.toISOString() };
  return { status: 429, code: 'QUOTA_EXCEEDED', message, retryAfterMs, details };
}

/** The seconds of `Retry-After`, at least one. */
export function retryAfter(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}

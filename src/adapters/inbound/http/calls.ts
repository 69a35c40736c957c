import { err, ok, type Result } from 'neverthrow';
import type { QuotaGuard } from '../../../application/quota/quota-guard.ts';
import { isMade } from '../../../application/tools/tool-call.ts';
import { tokensOf } from '../../../application/tools/total-use.ts';
import { NOTHING_USED, type QuotaError, type QuotaState, type QuotaUse } from '../../../domain/values/quota.ts';
import { amountOf, limitName, quotaMessage, REFUSALS, rateLimitHeaders } from '../words/refusal-messages.ts';
import type { Metrics } from './metrics.ts';
import { type Refusal, refusal } from './refusal.ts';
import type { HttpRequest, LogEntry } from './request.ts';

/** The limits on the calls of each caller. */
export interface CallLimits {
  readonly places: CallerPlaces;
  /** Undefined if there is no daily limit. */
  readonly quota?: Pick<QuotaGuard, 'admit'> | undefined;
  readonly metrics: Pick<Metrics, 'onQuotaRefused'>;
}

/** Limits how many requests of each caller run at the same time, over MCP and REST together. */
export class CallerPlaces {
  readonly #max: number;
  readonly #used = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the task, if its caller has a place left. */
  async hold<T>(c: HttpRequest, task: () => Promise<T> | T): Promise<Result<T, Refusal>> {
    const caller = c.get('caller');
    const refused = this.take(caller);
    if (refused !== undefined) return err(refused);
    try {
      return ok(await task());
    } finally {
      this.giveBack(caller);
    }
  }

  /** Takes a place, which `giveBack` gives back, or returns why there is none. */
  take(caller: string): Refusal | undefined {
    const used = this.#used.get(caller) ?? 0;
    if (used >= this.#max) return refusal('OVERLOADED', REFUSALS.calls(this.#max), { retryAfterMs: 1000 });
    this.#used.set(caller, used + 1);
    return undefined;
  }

  giveBack(caller: string): void {
    const left = (this.#used.get(caller) ?? 0) - 1;
    if (left > 0) this.#used.set(caller, left);
    else this.#used.delete(caller);
  }
}

interface Called<T> {
  readonly value: T;
  /** The remaining quota. */
  readonly left: QuotaState | undefined;
}

/** Runs a call of a tool with what was left before it, unless too many are in flight, or a quota is reached. */
export async function runCall<T>(
  c: HttpRequest,
  { places, quota, metrics }: CallLimits,
  call: (before?: QuotaState) => Promise<T>,
): Promise<Result<Called<T>, Refusal>> {
  const caller = c.get('caller');
  const refused = places.take(caller);
  if (refused !== undefined) return err(refused);
  const begin = (before?: QuotaState) => {
    c.get('log').hasBegun = true;
    return call(before);
  };
  try {
    if (quota === undefined) return ok({ value: await begin(), left: undefined });
    const admitted = await quota.admit(caller);
    if (admitted.isErr()) {
      const { error } = admitted;
      metrics.onQuotaRefused(error.kind === 'quota_reached' ? limitName(error.unit) : 'unknown');
      return err(ofQuotaError(error));
    }
    // The client may have left while the store was asked.
    if (c.get('left').signal.aborted) {
      await admitted.value.settle(NOTHING_USED);
      return err(refusal('CANCELLED', ''));
    }
    const value = await begin(admitted.value.before);
    return ok({ value, left: await admitted.value.settle(useOf(c.get('log'))) });
  } finally {
    places.giveBack(caller);
  }
}

/** How long a client should wait for a store that fails. */
const STORE_RETRY_MS = 5000;

/** The refusal of a call whose caller has reached a quota, or whose quota is not known. */
function ofQuotaError(error: QuotaError): Refusal {
  const message = quotaMessage(error);
  if (error.kind === 'quota_unknown') return refusal('QUOTA_UNAVAILABLE', message, { retryAfterMs: STORE_RETRY_MS });
  const { unit, limit, state, endsAt, retryAfterMs } = error;
  const details = { limit: limitName(unit), max: amountOf(unit, limit), endsAt: endsAt.toISOString() };
  const headers = rateLimitHeaders(state);
  return refusal('QUOTA_EXCEEDED', message, {
    retryAfterMs,
    details,
    headers,
    reason: `quota reached: ${limitName(unit)}`,
  });
}

/** The use that a finished call adds to its quota. `call` is undefined if neither its tool nor its server is known. */
function useOf({ call }: LogEntry): QuotaUse {
  if (call === undefined || !isMade(call.outcome)) return NOTHING_USED;
  const { usage, searches = 0, microUsd: usd = 0 } = call;
  return { calls: 1, searches, tokens: usage === undefined ? 0 : tokensOf(usage), usd };
}

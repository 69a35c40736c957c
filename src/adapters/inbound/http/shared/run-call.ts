import type { SearchUse } from '../../../../application/ports/llm-search.ts';
import type { QuotaState } from '../../../../application/quota/quota-guard.ts';
import { NOT_SENT } from '../../../../domain/gateway/tool-call-error.ts';
import { NOTHING_USED, type QuotaError, type QuotaUse } from '../../../../domain/values/quota.ts';
import { limitName, quotaMessage } from '../../words/quota-messages.ts';
import { REFUSALS } from '../../words/refusal-messages.ts';
import type { AccessEntry, Exchange, HttpContext } from './exchange.ts';
import { overloaded, type Refusal, refusal } from './refusal.ts';

/** How long a client should wait for a store that fails. */
const STORE_RETRY_MS = 5000;

/** Runs a call of a tool. Undefined if it was refused: too many in flight, or a quota is used up. `left` is what is left of the quota. */
export async function runCall<T>(
  exchange: Exchange,
  { places, quota, metrics }: HttpContext,
  call: () => Promise<T>,
): Promise<{ readonly value: T; readonly left: QuotaState | undefined } | undefined> {
  const { request, caller, entry } = exchange;
  if (!places.hold(exchange, 1)) return void exchange.refuse(overloaded(REFUSALS.calls(places.max)));
  if (quota === undefined) return { value: await call(), left: undefined };
  const admitted = await quota.admit(caller);
  if (admitted.isErr()) {
    const limit = admitted.error.kind === 'quota_reached' ? limitName(admitted.error.unit) : 'unknown';
    metrics.onQuotaRefused(limit);
    entry.reason = limit === 'unknown' ? 'quota store not available' : `quota reached: ${limit}`;
    return void exchange.refuse(ofQuotaError(admitted.error));
  }
  // The client may have left while the store was asked.
  if (request.socket.destroyed) {
    await admitted.value.settle(NOTHING_USED);
    return undefined;
  }
  // A search that outlives the call counts for the day of the call. Not an assignment: see `Exchange.identify`.
  Object.assign(entry, { onUsedLater: (use: SearchUse) => void admitted.value.settle(toUse(use)) });
  const value = await call();
  return { value, left: await admitted.value.settle(useOf(entry)) };
}

/** The refusal of a call whose caller has used up a quota, or whose quota is not known. */
export function ofQuotaError(error: QuotaError): Refusal {
  const message = quotaMessage(error);
  if (error.kind === 'quota_unknown') return refusal('QUOTA_UNAVAILABLE', message, { retryAfterMs: STORE_RETRY_MS });
  const { unit, limit, endsAt, retryAfterMs } = error;
  const details = { limit: limitName(unit), max: limit, endsAt: endsAt.toISOString() };
  return refusal('QUOTA_EXCEEDED', message, { retryAfterMs, details });
}

/** Outcomes of calls that were not passed on, neither to the API nor to a server. */
const NOT_RUN: ReadonlySet<NonNullable<AccessEntry['call']>['outcome']> = new Set([
  'invalid_arguments',
  'no_profile',
  'no_api_key',
  'placeholder_api_key',
  'malformed_api_key',
  'unknown_answer',
  // Very few of these calls were made.
  'audit_unavailable',
  ...NOT_SENT,
] as const);

/** What a finished call used. A call of a tool that does not exist has no report. */
function useOf({ call }: AccessEntry): QuotaUse {
  if (call === undefined || NOT_RUN.has(call.outcome)) return NOTHING_USED;
  return toUse(call);
}

function toUse({ usage, searches = 0 }: SearchUse): QuotaUse {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return { calls: 1, searches, tokens: inputTokens + outputTokens };
}

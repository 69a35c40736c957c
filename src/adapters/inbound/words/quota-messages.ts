import type { QuotaState } from '../../../application/quota/quota-guard.ts';
import { QUOTA_UNITS, type QuotaError, type QuotaUnit } from '../../../domain/values/quota.ts';
import { zonedDate, zonedTime } from '../../../domain/values/zoned-date.ts';

/** The name of a limit, as in the configuration. */
export function limitName(unit: QuotaUnit): string {
  return `${unit}_per_day`;
}

/** The message for a call that is refused because of its quota: what happened, then what to do. */
export function quotaMessage(error: QuotaError): string {
  if (error.kind === 'quota_unknown') {
    return 'The quota cannot be checked, because its store is not available. Try again soon; the reason is in the log of the server.';
  }
  const { unit, limit, endsAt, timeZone } = error;
  const end = `${zonedDate(endsAt, timeZone)} ${zonedTime(endsAt, timeZone)} (${timeZone})`;
  return `Daily quota reached (${limitName(unit)}: ${limit}). It resets at ${end}; try again after that.`;
}

/** The limits that are set, each with the remaining quota. */
function leftOf({ limits, used }: QuotaState) {
  return QUOTA_UNITS.flatMap((unit) => {
    const limit = limits[unit];
    return limit === undefined ? [] : [{ name: limitName(unit), limit, left: Math.max(0, limit - used[unit]) }];
  });
}

/** The remaining quota, as JSON for callers. */
export function toQuotaJson(state: QuotaState): Readonly<Record<string, unknown>> {
  const entries = leftOf(state).map(({ name, ...left }) => [name, left] as const);
  return { ...Object.fromEntries(entries), ends_at: state.endsAt.toISOString() };
}

const DAY_S = 24 * 60 * 60;

/** The remaining quota as the headers of draft-ietf-httpapi-ratelimit-headers-10, with the seconds until the day ends. */
export function rateLimitHeaders(state: QuotaState): Readonly<Record<string, string>> {
  const limits = leftOf(state);
  const endsInS = Math.ceil(state.endsInMs / 1000);
  return {
    'RateLimit-Policy': limits.map(({ name, limit }) => `"${name}";q=${limit};w=${DAY_S}`).join(', '),
    RateLimit: limits.map(({ name, left }) => `"${name}";r=${left};t=${endsInS}`).join(', '),
  };
}

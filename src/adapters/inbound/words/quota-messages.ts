import type { QuotaState } from '../../../application/quota-guard.ts';
import { QUOTA_UNITS, type QuotaError, type QuotaUnit } from '../../../domain/quota.ts';
import { zonedDate, zonedTime } from '../../../domain/zoned-date.ts';

/** The name of a limit, as in the configuration. */
export function limitName(unit: QuotaUnit): string {
  return `${unit}_per_day`;
}

/** The message for a call that is refused because of its quota: what happened, then what to do. */
export function quotaMessage(error: QuotaError): string {
  if (error.kind === 'quota_unknown') {
    return 'The quota cannot be checked, because its store cannot be used. Try again soon; the log of the server has the reason.';
  }
  const { unit, limit, endsAt, timeZone } = error;
  const end = `${zonedDate(endsAt, timeZone)} ${zonedTime(endsAt, timeZone)} (${timeZone})`;
  return `The daily quota is used up: ${limitName(unit)} is ${limit}. It ends at ${end}; try again after that.`;
}

/** What is left, as JSON for callers. */
export function toQuotaJson({ limits, used, endsAt }: QuotaState): Readonly<Record<string, unknown>> {
  const entries = QUOTA_UNITS.flatMap((unit) => {
    const limit = limits[unit];
    return limit === undefined ? [] : [[limitName(unit), { limit, left: Math.max(0, limit - used[unit]) }] as const];
  });
  return { ...Object.fromEntries(entries), ends_at: endsAt.toISOString() };
}

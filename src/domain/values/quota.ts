import type { Kind } from './kind.ts';
import { zonedDate } from './zoned-date.ts';

/** The units that callers use, and that can be limited per day; `usd` counts micro-dollars. */
export const QUOTA_UNITS = ['calls', 'searches', 'tokens', 'usd'] as const;
export type QuotaUnit = (typeof QUOTA_UNITS)[number];

/** The use of a caller, or an addition to it. */
export type QuotaUse = Readonly<Record<QuotaUnit, number>>;

/** The limits of a caller per day. A unit without one is not limited. */
export type QuotaLimits = Readonly<Partial<Record<QuotaUnit, number>>>;

/** The limits of every caller, and the limits that replace them for named callers. */
export interface QuotaPolicy {
  readonly limits: QuotaLimits;
  readonly callers: Readonly<Record<string, QuotaLimits>>;
}

/** The limits of a caller, and what of them is used. */
export interface QuotaState {
  readonly limits: QuotaLimits;
  readonly used: QuotaUse;
  readonly endsAt: Date;
  readonly endsInMs: number;
}

/** `endsAt`: when the limit ends. */
export type QuotaError =
  | Kind<
      'quota_reached',
      { unit: QuotaUnit; state: QuotaState; limit: number; endsAt: Date; timeZone: string; retryAfterMs: number }
    >
  | Kind<'quota_unknown'>;

export const NOTHING_USED: QuotaUse = { calls: 0, searches: 0, tokens: 0, usd: 0 };

export function limitsOf({ limits, callers }: QuotaPolicy, caller: string): QuotaLimits {
  return Object.hasOwn(callers, caller) ? { ...limits, ...callers[caller] } : limits;
}

/** The first unit whose limit is reached. */
export function reachedUnit(limits: QuotaLimits, used: QuotaUse): QuotaUnit | undefined {
  return QUOTA_UNITS.find((unit) => used[unit] >= (limits[unit] ?? Number.POSITIVE_INFINITY));
}

export function addedUse(a: QuotaUse, b: QuotaUse): QuotaUse {
  return {
    calls: a.calls + b.calls,
    searches: a.searches + b.searches,
    tokens: a.tokens + b.tokens,
    usd: a.usd + b.usd,
  };
}

/** Longer than any day: a day on which clocks are turned back has 25 hours. */
const LONGEST_DAY_S = 26 * 60 * 60;

/** The date of an instant, `YYYY-MM-DD`, and the end of that day. If clocks are turned forward at midnight, the next day begins at 01:00. */
export function quotaDay(instant: Date, timeZone: string) {
  const date = zonedDate(instant, timeZone);
  // Time zones change on complete seconds.
  let sameS = Math.floor(instant.getTime() / 1000);
  let laterS = sameS + LONGEST_DAY_S;
  while (laterS - sameS > 1) {
    const middleS = Math.floor((sameS + laterS) / 2);
    if (zonedDate(new Date(middleS * 1000), timeZone) === date) sameS = middleS;
    else laterS = middleS;
  }
  return { date, endsAt: new Date(laterS * 1000) };
}

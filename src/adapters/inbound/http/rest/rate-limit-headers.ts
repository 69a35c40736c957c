import type { QuotaState } from '../../../../application/quota-guard.ts';
import { QUOTA_UNITS } from '../../../../domain/quota.ts';
import { limitName } from '../../words/quota-messages.ts';

const DAY_S = 24 * 60 * 60;

/** What a caller may use per day, and what is left of it until the day ends, in seconds (draft-ietf-httpapi-ratelimit-headers-10). */
export function rateLimitHeaders({ limits, used, endsInMs }: QuotaState): Map<string, string> {
  const limited = QUOTA_UNITS.flatMap((unit) => {
    const limit = limits[unit];
    return limit === undefined ? [] : [{ name: `"${limitName(unit)}"`, limit, left: Math.max(0, limit - used[unit]) }];
  });
  const endsInS = Math.ceil(endsInMs / 1000);
  return new Map([
    ['RateLimit-Policy', limited.map(({ name, limit }) => `${name};q=${limit};w=${DAY_S}`).join(', ')],
    ['RateLimit', limited.map(({ name, left }) => `${name};r=${left};t=${endsInS}`).join(', ')],
  ]);
}

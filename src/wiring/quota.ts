import type { CheckedQuota } from '../adapters/inbound/cli/team-checks.ts';
import type { QuotaConfig } from '../adapters/outbound/config/sections.ts';
import { shownStore } from '../adapters/outbound/config/shown-config.ts';
import { MemoryQuotaStore } from '../adapters/outbound/quota/memory-quota-store.ts';
import { repeatUntil } from '../application/async/repeat-until.ts';
import type { Clock } from '../application/ports/clock.ts';
import { QuotaGuard } from '../application/quota/quota-guard.ts';
import type { Runtime } from './runtime.ts';

/** Composes the limits of callers per day. Their store ends with the runtime. */
export async function composeQuota({ clock, logger, config: { timeZone }, atClose }: Runtime, quota: QuotaConfig) {
  const store = await openQuotaStore(quota, clock);
  const closed = new AbortController();
  atClose(() => {
    closed.abort();
    return store.close();
  });
  const guard = new QuotaGuard({ ...quota, policy: quota, store, timeZone, clock, logger });
  // Until it was reached, no caller is sent here (`/readyz`).
  void repeatUntil(() => guard.reach(), clock, closed.signal);
  return guard;
}

/** Checks the store with an entry that expires at once. */
export function checkedQuota(quota: QuotaConfig, { clock }: Runtime): CheckedQuota {
  const probe = async () => {
    const store = await openQuotaStore(quota, clock);
    const outcome = await store.admit({ caller: 'doctor', date: 'never', keepMs: 0 }, {});
    await store.close();
    return outcome.isErr() ? outcome.error : undefined;
  };
  return { ...quota, store: shownStore(quota.store), probe };
}

/** Opens the store without waiting for a connection. The client of Redis is loaded only if a store is configured. */
async function openQuotaStore({ store: url }: QuotaConfig, clock: Clock) {
  if (url === 'memory') return new MemoryQuotaStore();
  const { RedisQuotaStore } = await import('../adapters/outbound/quota/redis-quota-store.ts');
  return new RedisQuotaStore({ url, clock });
}

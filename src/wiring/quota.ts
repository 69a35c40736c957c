import type { QuotaConfig } from '../adapters/outbound/config/server-config.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { QuotaStore } from '../application/ports/quota-store.ts';
import { QuotaGuard } from '../application/quota/quota-guard.ts';
import type { Runtime } from './runtime.ts';

/** The limits of callers per day, and what ends the connection to their store. */
export interface ComposedQuota {
  readonly guard: QuotaGuard;
  readonly close: () => Promise<void>;
}

/** Composes the quota. Import this only if something is limited. */
export async function composeQuota(
  { clock, logger }: Runtime,
  quota: QuotaConfig,
  timeZone: string,
): Promise<ComposedQuota> {
  const store = await openQuotaStore(quota, clock);
  const guard = new QuotaGuard({ policy: quota, store, onStoreFailure: quota.onStoreFailure, timeZone, clock, logger });
  return { guard, close: () => store.close() };
}

/** Does not wait for a connection. The client of the store is loaded only if there is one. */
export async function openQuotaStore({ store: url }: QuotaConfig, clock: Clock): Promise<QuotaStore> {
  if (url === 'memory') {
    const { MemoryQuotaStore } = await import('../adapters/outbound/quota/memory-quota-store.ts');
    return new MemoryQuotaStore();
  }
  const { RedisQuotaStore } = await import('../adapters/outbound/quota/redis-quota-store.ts');
  return new RedisQuotaStore({ url, clock });
}

/** Why the store cannot be used; undefined if it can. What is written to it expires at once. */
export async function probeQuotaStore(quota: QuotaConfig, clock: Clock): Promise<string | undefined> {
  const store = await openQuotaStore(quota, clock);
  const outcome = await store.admit({ caller: 'doctor', date: 'never', keepMs: 0 }, {});
  await store.close();
  return outcome.isErr() ? outcome.error : undefined;
}

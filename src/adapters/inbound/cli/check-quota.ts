import type { Check } from '../../../application/diagnose-setup.ts';
import { QUOTA_UNITS, type QuotaLimits, type QuotaPolicy } from '../../../domain/quota.ts';
import { limitName } from '../words/quota-messages.ts';

/** The quota, as the doctor checks it. */
export interface CheckedQuota extends QuotaPolicy {
  /** `memory`, or a URL without its password. */
  readonly store: string;
  readonly onStoreFailure: 'refuse' | 'allow';
  /** Why the store cannot be used; undefined if it can. */
  readonly probe: () => Promise<string | undefined>;
}

/** The limits, and whether their store can be used. */
export async function checkQuota({ limits, callers, store, onStoreFailure, probe }: CheckedQuota): Promise<Check> {
  const own = Object.entries(callers).map(([caller, limits]) => `${caller}: ${listOf(limits)}`);
  const list = [listOf(limits), ...own].join('; ');
  const name = 'quota';
  if (store === 'memory') return { name, verdict: 'ok', detail: `${list}; each process counts in its own memory` };
  const failure = await probe();
  if (failure === undefined) return { name, verdict: 'ok', detail: `${list}; counted in ${store}` };
  const isRefused = onStoreFailure === 'refuse';
  const consequence = `calls are ${isRefused ? 'refused' : 'allowed without a quota'} (http.quota.on_store_failure)`;
  const detail = `the store ${store} cannot be used (${failure}): ${consequence}`;
  return { name, verdict: isRefused ? 'failed' : 'warning', detail };
}

function listOf(limits: QuotaLimits): string {
  const set = QUOTA_UNITS.filter((unit) => limits[unit] !== undefined);
  return set.map((unit) => `${limitName(unit)} ${limits[unit]}`).join(', ') || 'no limit';
}

import { isObject, withoutUndefined } from '../../../domain/json.ts';
import type { QuotaLimits, QuotaPolicy } from '../../../domain/quota.ts';
import { MASK } from '../../../domain/redaction.ts';
import type { Values } from './keys.ts';

/** The section `http.quota`. */
export interface QuotaConfig extends QuotaPolicy {
  /** `memory`, or a URL that may contain a password. */
  readonly store: string;
  readonly onStoreFailure: 'refuse' | 'allow';
}

/** Undefined if nothing is limited. */
export function toQuotaConfig(values: Values): QuotaConfig | undefined {
  const limits = toLimits((key) => values.get(`http.quota.${key}`));
  const entries = Object.entries((values.get('http.quota.callers') ?? {}) as Readonly<Record<string, unknown>>);
  const callers = Object.fromEntries(
    entries.map(([caller, own]) => [caller, toLimits((key) => (isObject(own) ? own[key] : undefined))]),
  );
  if ([limits, ...Object.values(callers)].every((some) => Object.keys(some).length === 0)) return undefined;
  return {
    limits,
    callers,
    store: String(values.get('http.quota.store')),
    onStoreFailure: values.get('http.quota.on_store_failure') as 'refuse' | 'allow',
  };
}

function toLimits(get: (key: string) => unknown): QuotaLimits {
  const limit = (key: string) => get(key) as number | undefined;
  return withoutUndefined({
    calls: limit('calls_per_day'),
    searches: limit('searches_per_day'),
    tokens: limit('tokens_per_day'),
  });
}

/** The URL of a store without its password. */
export function shownStore(store: string): string {
  return store.replace(/^(rediss?:\/\/[^:@/]*):.*@/, `$1:${MASK}@`);
}

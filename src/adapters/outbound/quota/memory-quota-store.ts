import { ok, type Result } from 'neverthrow';
import type { Admission, QuotaKey, QuotaStore } from '../../../application/ports/callers.ts';
import { BoundedMap } from '../../../domain/values/bounded-map.ts';
import { addedUse, NOTHING_USED, type QuotaLimits, type QuotaUse, reachedUnit } from '../../../domain/values/quota.ts';

/** Maximum number of callers that are remembered. Each takes about 200 bytes. */
const MAX_CALLERS = 10_000;

/** Counts in the memory of this process. Beyond the maximum, the caller that has not called for the longest time is forgotten. */
export class MemoryQuotaStore implements QuotaStore {
  readonly #used: BoundedMap<string, QuotaUse>;

  constructor(maxCallers = MAX_CALLERS) {
    this.#used = new BoundedMap(maxCallers);
  }

  async admit(key: QuotaKey, limits: QuotaLimits): Promise<Result<Admission, string>> {
    const name = nameOf(key);
    const used = this.#used.get(name) ?? NOTHING_USED;
    const reached = reachedUnit(limits, used);
    const now = reached === undefined ? addedUse(used, { ...NOTHING_USED, calls: 1 }) : used;
    this.#used.set(name, now);
    return ok({ used: now, reached });
  }

  async add(key: QuotaKey, use: QuotaUse): Promise<Result<QuotaUse, string>> {
    const name = nameOf(key);
    const used = this.#used.get(name);
    if (used === undefined) return ok(NOTHING_USED);
    const now = addedUse(used, use);
    this.#used.set(name, now);
    return ok(now);
  }

  async close(): Promise<void> {
    this.#used.clear();
  }
}

/** The name of an entry. It is unique, because all dates have the same length. */
const nameOf = ({ caller, date }: QuotaKey) => `${date} ${caller}`;

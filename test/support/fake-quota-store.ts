import { err, type Result } from 'neverthrow';
import { MemoryQuotaStore } from '../../src/adapters/outbound/quota/memory-quota-store.ts';
import type { Admission, QuotaKey, QuotaStore } from '../../src/application/ports/callers.ts';
import type { QuotaLimits, QuotaUse } from '../../src/domain/values/quota.ts';

/** A store in memory that fails while `failure` is set, and answers when `wait` resolves. Records the keys. */
export class FakeQuotaStore implements QuotaStore {
  failure: string | undefined;
  readonly keys: QuotaKey[] = [];
  readonly #wait: () => Promise<unknown>;
  readonly #memory = new MemoryQuotaStore();

  constructor(wait: () => Promise<unknown> = async () => {}) {
    this.#wait = wait;
  }

  async admit(key: QuotaKey, limits: QuotaLimits): Promise<Result<Admission, string>> {
    this.keys.push(key);
    await this.#wait();
    return this.failure === undefined ? this.#memory.admit(key, limits) : err(this.failure);
  }

  async add(key: QuotaKey, use: QuotaUse): Promise<Result<QuotaUse, string>> {
    this.keys.push(key);
    await this.#wait();
    return this.failure === undefined ? this.#memory.add(key, use) : err(this.failure);
  }

  async close(): Promise<void> {}
}

import type { Result } from 'neverthrow';
import type { QuotaLimits, QuotaUnit, QuotaUse } from '../../domain/values/quota.ts';

export interface QuotaKey {
  readonly caller: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** How long the store must remember it, in milliseconds. */
  readonly keepMs: number;
}

/** What was used, the call included if it was admitted. */
export interface Admission {
  readonly used: QuotaUse;
  /** The limit because of which the call is refused. */
  readonly reached: QuotaUnit | undefined;
}

/** Counts atomically, also between processes that share the store. Never rejects, and settles within about a second; an error is for people. */
export interface QuotaStore {
  /** Counts one call, unless a limit is reached. */
  admit(key: QuotaKey, limits: QuotaLimits): Promise<Result<Admission, string>>;
  /** Adds what a call used, which may be negative to take it back, and returns the sum. What the store forgot stays forgotten. */
  add(key: QuotaKey, use: QuotaUse): Promise<Result<QuotaUse, string>>;
  close(): Promise<void>;
}

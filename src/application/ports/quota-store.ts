import type { Result } from 'neverthrow';
import type { QuotaLimits, QuotaUnit, QuotaUse } from '../../domain/values/quota.ts';

export interface QuotaKey {
  readonly caller: string;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** How long the store must remember the day, in milliseconds. */
  readonly keepMs: number;
}

/** The use so far, including the call if it was admitted. */
export interface Admission {
  readonly used: QuotaUse;
  /** The limit because of which the call is refused. */
  readonly reached: QuotaUnit | undefined;
}

/** Counts atomically, also between processes that share the store. Never rejects, and settles within about a second; an error is for people. */
export interface QuotaStore {
  /** Counts one call, unless a limit is reached. */
  admit(key: QuotaKey, limits: QuotaLimits): Promise<Result<Admission, string>>;
  /** Adds the use of a call, which may be negative, and returns the sum. Does not restore a day that the store has forgotten. */
  add(key: QuotaKey, use: QuotaUse): Promise<Result<QuotaUse, string>>;
  close(): Promise<void>;
}

import { err, ok, type Result } from 'neverthrow';
import {
  addedUse,
  limitsOf,
  NOTHING_USED,
  QUOTA_UNITS,
  type QuotaError,
  type QuotaPolicy,
  type QuotaState,
  type QuotaUse,
  quotaDay,
} from '../../domain/values/quota.ts';
import type { QuotaKey, QuotaStore } from '../ports/callers.ts';
import type { Services } from '../ports/services.ts';

interface AdmittedCall {
  /** The state with this call, before its use is known. Undefined if it is not counted. */
  readonly before?: QuotaState;
  /** Counts the use of the call in place of the one call that `admit` counted. Undefined if the new state is not known. */
  settle(used: QuotaUse): Promise<QuotaState | undefined>;
}

interface Dependencies extends Pick<Services, 'clock' | 'logger'> {
  readonly policy: QuotaPolicy;
  readonly store: QuotaStore;
  /** Whether calls are refused or allowed while the store fails. */
  readonly onStoreFailure: 'refuse' | 'allow';
  readonly timeZone: string;
}

/** How long a day is remembered after its end, for calls that started on it. */
const KEEP_MS = 60 * 60 * 1000;

const NOT_COUNTED: AdmittedCall = { settle: async () => undefined };

/**
 * Limits what each caller uses per day. A call is counted before it runs, so that calls at the same time never exceed `calls`; its
 * searches and tokens are known only after it.
 */
export class QuotaGuard {
  readonly #deps: Dependencies;
  #hasFailed = false;
  #isReached = false;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Whether the store could be used once, or calls are allowed without it. Stays true if the store is lost later. */
  get isReady(): boolean {
    return this.#isReached || this.#deps.onStoreFailure === 'allow';
  }

  /** Whether the store could be used when it was last needed. */
  get isUp(): boolean {
    return this.#isReached && !this.#hasFailed;
  }

  /** Tries whether the store can be used, with an entry that expires at once. */
  async reach(): Promise<boolean> {
    return this.#reported(await this.#deps.store.admit({ caller: 'readyz', date: 'never', keepMs: 0 }, {})).isOk();
  }

  async admit(caller: string): Promise<Result<AdmittedCall, QuotaError>> {
    const { policy, store, onStoreFailure, timeZone, clock } = this.#deps;
    const limits = limitsOf(policy, caller);
    if (QUOTA_UNITS.every((unit) => limits[unit] === undefined)) return ok(NOT_COUNTED);
    const { date, endsAt } = quotaDay(clock.now(), timeZone);
    const key: QuotaKey = { caller, date, keepMs: this.#msUntil(endsAt) + KEEP_MS };
    const admission = this.#reported(await store.admit(key, limits));
    if (admission.isErr()) return onStoreFailure === 'allow' ? ok(NOT_COUNTED) : err({ kind: 'quota_unknown' });
    const { used, reached: unit } = admission.value;
    if (unit !== undefined) {
      const retryAfterMs = this.#msUntil(endsAt);
      const state = { limits, used, endsAt, endsInMs: retryAfterMs };
      return err({ kind: 'quota_reached', unit, state, limit: limits[unit] ?? 0, endsAt, timeZone, retryAfterMs });
    }
    return ok({
      before: { limits, used, endsAt, endsInMs: this.#msUntil(endsAt) },
      settle: async (usedByCall) => {
        const rest = addedUse(usedByCall, { ...NOTHING_USED, calls: -1 });
        const isCounted = QUOTA_UNITS.every((unit) => rest[unit] === 0);
        const total = isCounted ? ok(used) : this.#reported(await store.add(key, rest));
        return total.isErr() ? undefined : { limits, used: total.value, endsAt, endsInMs: this.#msUntil(endsAt) };
      },
    });
  }

  #msUntil(instant: Date): number {
    return Math.max(0, instant.getTime() - this.#deps.clock.now().getTime());
  }

  /** Logs when the store begins to fail, and when it works again. */
  #reported<T>(outcome: Result<T, string>): Result<T, string> {
    const { logger, onStoreFailure } = this.#deps;
    if (outcome.isErr() && !this.#hasFailed) {
      const consequence = onStoreFailure === 'allow' ? 'allowed without a quota' : 'refused';
      logger.warn(`quota: the store cannot be used (${outcome.error}); calls are ${consequence} until it can`);
    }
    if (outcome.isOk() && this.#hasFailed) logger.warn('quota: the store can be used again');
    this.#hasFailed = outcome.isErr();
    this.#isReached ||= outcome.isOk();
    return outcome;
  }
}

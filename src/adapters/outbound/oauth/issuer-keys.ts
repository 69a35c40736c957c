import { type CryptoKey, createLocalJWKSet, type JSONWebKeySet, type JWSHeaderParameters } from 'jose';
import { err, ok, type Result } from 'neverthrow';
import { never, withDeadline } from '../../../application/async/deadline.ts';
import type { TokenError } from '../../../application/ports/callers.ts';
import type { Clock, Logger } from '../../../application/ports/services.ts';

/** Keys that are older are read again before they are used. */
const MAX_AGE_MS = 10 * 60_000;

/** While the issuer cannot be reached, its last known keys are used for a day. */
const MAX_STALE_MS = 24 * 60 * 60_000;

/** The shortest time between two attempts, so that invalid tokens cannot cause a flood of requests. */
const COOLDOWN_MS = 10_000;

/** Time limit for all documents of an attempt together. */
export const TIME_LIMIT_MS = 5000;

interface IssuerKeysOptions {
  readonly issuer: string;
  /** The published keys; or why they cannot be read, for the log. */
  readonly read: (signal: AbortSignal) => Promise<Result<JSONWebKeySet, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The published keys of an issuer. All callers share one request, and one set of keys is kept. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #known: { readonly find: ReturnType<typeof createLocalJWKSet>; readonly readMs: number } | undefined;
  #reading: Promise<void> | undefined;
  #attemptedMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** Whether the keys were read once. */
  get areRead(): boolean {
    return this.#known !== undefined;
  }

  /** Whether the last attempt to read the keys succeeded. */
  get isUp(): boolean {
    return this.areRead && !this.#isFailing;
  }

  /** The key that a token names in its header. */
  async keyFor(header: JWSHeaderParameters): Promise<Result<CryptoKey, TokenError>> {
    const isRead = this.prepare();
    // Callers do not wait for an issuer that is failing.
    if (!this.#isFailing) await isRead;
    const known = await this.#find(header);
    if (known !== undefined) return ok(known);
    // The issuer may have published a new key.
    await this.prepare(0);
    const found = await this.#find(header);
    if (found !== undefined) return ok(found);
    if (!this.#isFailing) return err({ kind: 'invalid_token', problem: 'unknown_key' });
    return err({ kind: 'issuer_unavailable', retryAfterMs: this.#cooldownMs() });
  }

  /** Reads the keys, unless the known ones are younger than `ageMs`. Also called at the start, so that a problem is logged before the first token. */
  async prepare(ageMs = MAX_AGE_MS): Promise<void> {
    if (this.#known !== undefined && this.#ageMs(this.#known.readMs) < ageMs) return;
    if (this.#reading === undefined && this.#cooldownMs() > 0) return;
    this.#reading ??= this.#read();
    await this.#reading;
  }

  /** Reads the keys, and logs when a failure begins and ends. */
  async #read(): Promise<void> {
    const { clock, read, logger, issuer } = this.#options;
    const { outcome } = await withDeadline(clock, TIME_LIMIT_MS, never(), read);
    this.#attemptedMs = clock.elapsedMs();
    this.#reading = undefined;
    if (outcome.isOk()) this.#known = { find: createLocalJWKSet(outcome.value), readMs: this.#attemptedMs };
    if (outcome.isErr() === this.#isFailing) return;
    this.#isFailing = outcome.isErr();
    const what = outcome.isErr() ? `cannot be read: ${outcome.error}` : 'can be read again';
    logger.warn(`oauth: the keys of ${issuer} ${what}`);
  }

  /** The key that can verify a token; undefined if there is none, or more than one. */
  async #find(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    if (this.#known === undefined || this.#ageMs(this.#known.readMs) > MAX_STALE_MS) return undefined;
    return this.#known.find(header).catch(() => undefined);
  }

  #ageMs(sinceMs: number): number {
    return this.#options.clock.elapsedMs() - sinceMs;
  }

  #cooldownMs(): number {
    return Math.max(0, COOLDOWN_MS - this.#ageMs(this.#attemptedMs));
  }
}

import type { RequestBody } from './api-types.ts';

/** With the tier `flex`, a request may be refused for lack of capacity: after half of the time, it is sent without it (ruling A6). */
export class FlexTier {
  readonly #isFlex: boolean;
  readonly #halfMs: number;
  readonly #maxRetries: number;

  constructor({ service_tier: tier }: RequestBody, startedMs: number, deadlineMs: number, maxRetries: number) {
    this.#isFlex = tier === 'flex';
    this.#halfMs = startedMs + (deadlineMs - startedMs) / 2;
    this.#maxRetries = maxRetries;
  }

  bodyFor(body: RequestBody, nowMs: number): RequestBody {
    if (!this.#isFlex || nowMs < this.#halfMs) return body;
    const { service_tier: _, ...rest } = body;
    return rest as RequestBody;
  }

  /** The wait after an attempt with this body: the last attempt is the one without the tier, at half of the time at the latest. */
  waitFor({ service_tier: tier }: RequestBody, number: number, waitMs: number, nowMs: number): number {
    // The model may have rejected the tier.
    if (tier !== 'flex' || nowMs >= this.#halfMs) return waitMs;
    const untilHalfMs = this.#halfMs - nowMs;
    return number >= this.#maxRetries ? untilHalfMs : Math.min(waitMs, untilHalfMs);
  }
}

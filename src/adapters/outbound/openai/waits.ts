import type { RequestBody } from './request-body.ts';

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8000;

/** The wait after an attempt, in milliseconds. */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)) * (0.75 + random / 4);
}

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
    return rest;
  }

  /** The wait after an attempt with this body: the last attempt is the one without the tier, at half of the time at the latest. */
  waitFor({ service_tier: tier }: RequestBody, attempt: number, waitMs: number, nowMs: number): number {
    // The model may have rejected the tier.
    if (tier !== 'flex' || nowMs >= this.#halfMs) return waitMs;
    const untilHalfMs = this.#halfMs - nowMs;
    return attempt >= this.#maxRetries ? untilHalfMs : Math.min(waitMs, untilHalfMs);
  }
}

import type { RequestBody } from './request-body.ts';

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 8000;

/** The wait after an attempt, in milliseconds. */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)) * (0.75 + random / 4);
}

/** With the tier `flex`, a request may be refused for lack of capacity: after half of the time, it is sent without it (ruling A6). */
export function withoutLateFlex(body: RequestBody, untilHalfMs: number): RequestBody {
  if (body.service_tier !== 'flex' || untilHalfMs > 0) return body;
  const { service_tier: _, ...rest } = body;
  return rest;
}

/** The wait after an attempt with this body: the last attempt is the one without the tier, at half of the time at the latest. */
export function flexWaitMs(body: RequestBody, waitMs: number, untilHalfMs: number, isLast: boolean): number {
  if (body.service_tier !== 'flex' || untilHalfMs <= 0) return waitMs;
  return isLast ? untilHalfMs : Math.min(waitMs, untilHalfMs);
}

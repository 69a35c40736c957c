import { expect, test } from 'vitest';
import { callAtRandom } from '../e2e/gateway/random-callers.ts';
import { sized } from '../support/sized.ts';

const CALLS = sized(5000, 50_000);

// S89
test(
  `${CALLS} calls of six callers at three servers, by two processes: no request has the token of another caller`,
  async () => {
    const { violations, outcomes } = await callAtRandom({ calls: CALLS, processes: 2 });
    expect(violations).toEqual([]);
    expect(outcomes.answered).toBeGreaterThan(CALLS / 2);
    for (const outcome of ['LOGIN_REQUIRED', 'cancelled']) expect(outcomes[outcome]).toBeGreaterThan(0);
  },
  CALLS * 60,
);

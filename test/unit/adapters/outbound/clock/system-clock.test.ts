import { expect, test } from 'vitest';
import { SystemClock } from '../../../../../src/adapters/outbound/clock/system-clock.ts';
import { never } from '../../../../support/core.ts';

const clock = new SystemClock();

test('shows the time of the machine', () => {
  const before = Date.now();
  const now = clock.now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('a sleep never ends early, although a Node.js timer may fire up to 1 ms early', async () => {
  const isEarly = async () => {
    // Start anywhere within a millisecond, since Node.js timers count in milliseconds.
    for (const until = clock.elapsedMs() + Math.random(); clock.elapsedMs() < until; );
    const startedMs = clock.elapsedMs();
    await clock.sleep(2, never());
    return clock.elapsedMs() - startedMs < 2;
  };
  for (let round = 0; round < 100; round += 1) expect(await isEarly()).toBe(false);
});

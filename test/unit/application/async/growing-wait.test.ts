import { expect, test } from 'vitest';
import { GrowingWait } from '../../../../src/application/async/growing-wait.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('each wait is twice as long as the one before, up to a minute, until it was quiet for a minute', async () => {
  const clock = new FakeClock();
  const wait = new GrowingWait(clock, 1000, 1);
  const waits: number[] = [];
  for (let count = 0; count < 9; count += 1) {
    const ms = wait.next();
    waits.push(ms);
    await clock.advance(ms);
  }
  expect(waits).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  await clock.advance(60_000);
  expect(wait.next()).toBe(0);
});

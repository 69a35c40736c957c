import { expect, test } from 'vitest';
import { GrowingWait, repeatUntil } from '../../../../src/application/async/waits.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';

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

function start(succeedsAt: number) {
  const clock = new FakeClock();
  const controller = new AbortController();
  const times: number[] = [];
  const startedMs = clock.elapsedMs();
  const attempt = async () => times.push((clock.elapsedMs() - startedMs) / 1000) === succeedsAt;
  return { clock, controller, times, repeated: repeatUntil(attempt, clock, controller.signal) };
}

test('waits longer after each attempt, at most 30 s, and ends with the first success', async () => {
  const { clock, times, repeated } = start(8);
  for (let second = 0; second < 200; second += 1) await clock.advance(1000);
  await repeated;
  expect(times).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
  expect(clock.pendingSleeps).toBe(0);
});

test('ends when it is aborted', async () => {
  const { clock, controller, times, repeated } = start(8);
  await settled();
  controller.abort();
  await repeated;
  expect([times, clock.pendingSleeps]).toEqual([[0], 0]);
});

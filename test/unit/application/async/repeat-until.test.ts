import { expect, test } from 'vitest';
import { repeatUntil } from '../../../../src/application/async/repeat-until.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';

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

import { expect, test } from 'vitest';
import { reopenPace } from '../../../../../src/adapters/outbound/mcp-client/reopen-pace.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

/** The delays before streams that each stay open for some time. */
async function delays(openMs: readonly number[], askedMs?: number): Promise<readonly number[]> {
  const clock = new FakeClock();
  const delayAfter = reopenPace(clock);
  const delays: number[] = [];
  for (const ms of openMs) {
    await clock.advance(ms);
    const delayMs = delayAfter(askedMs);
    delays.push(delayMs);
    await clock.advance(delayMs);
  }
  return delays;
}

test('grows from 1 s to 60 s while streams end at once', async () => {
  expect(await delays([0, 0, 0, 0, 0, 0, 0, 0])).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test('begins again after a stream of 30 s', async () => {
  expect(await delays([0, 0, 29_999, 30_000, 0])).toEqual([1000, 2000, 4000, 1000, 2000]);
});

test.each([
  [0, [1000, 2000, 4000]],
  [3000, [3000, 3000, 4000]],
  [99_999_999_999, [60_000, 60_000, 60_000]],
])('stays within its limits if the server asks for %d ms', async (askedMs, expected) => {
  expect(await delays([0, 0, 0], askedMs)).toEqual(expected);
});

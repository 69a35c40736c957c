import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { SystemClock } from '../../../../../src/adapters/outbound/clock/system-clock.ts';
import { never } from '../../../../support/core.ts';

const clock = new SystemClock();
const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

test('tells the time of the machine', () => {
  const before = Date.now();
  const now = clock.now().getTime();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

test('counts milliseconds and never runs backwards', () => {
  const first = clock.elapsedMs();
  expect(clock.elapsedMs()).toBeGreaterThanOrEqual(first);
});

describe('a sleep', () => {
  test('ends, and leaves no listener', async () => {
    const signal = never();
    expect(await clock.sleep(1, signal)).toBe('elapsed');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('never ends before its time, as Node’s own timer may', async () => {
    const early = async () => {
      // Begun anywhere within a millisecond, since Node's timers count whole ones.
      for (const until = clock.elapsedMs() + Math.random(); clock.elapsedMs() < until; );
      const startedMs = clock.elapsedMs();
      await clock.sleep(2, never());
      return clock.elapsedMs() - startedMs < 2;
    };
    for (let round = 0; round < 100; round += 1) expect(await early()).toBe(false);
  });

  test.each([0, -1])('of %i ms ends at once', async (ms) => {
    expect(await clock.sleep(ms, never())).toBe('elapsed');
  });

  test('that is aborted ends then, and leaves neither listener nor timer', async () => {
    const stop = new AbortController();
    const before = timers();
    const sleeping = clock.sleep(60_000, stop.signal);
    expect(timers()).toBe(before + 1);
    stop.abort();
    expect(await sleeping).toBe('aborted');
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
    expect(timers()).toBe(before);
  });

  test('whose signal is aborted already does not begin', async () => {
    const signal = AbortSignal.abort();
    const before = timers();
    expect(await clock.sleep(60_000, signal)).toBe('aborted');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(timers()).toBe(before);
  });

  test.each([2 ** 31 - 1, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER])(
    'of %i ms does not end at once, as Node’s own timer would',
    async (ms) => {
      const stop = new AbortController();
      const sleeping = clock.sleep(ms, stop.signal);
      expect(await Promise.race([sleeping, clock.sleep(5, never())])).toBe('elapsed');
      let isAwake = false;
      void sleeping.then(() => {
        isAwake = true;
      });
      await clock.sleep(1, never());
      expect(isAwake).toBe(false);
      stop.abort();
      expect(await sleeping).toBe('aborted');
    },
  );
});

import { expect, test } from 'vitest';
import { TimeLimits } from '../../../src/application/time-limits.ts';
import { expectNoListener } from '../../contract/search-kit.ts';
import { never } from '../../support/core.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { deferred } from '../../support/fake-llm-search.ts';

function start() {
  const clock = new FakeClock();
  return { clock, limits: new TimeLimits(clock) };
}

/** A task that ends when its signal aborts, and how it was aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });

test('returns what the task resolves with, and leaves no timer and no listener', async () => {
  const { clock, limits } = start();
  const caller = never();
  expect(await limits.run(1000, caller, async () => 'done')).toEqual({ outcome: 'done', isTimedOut: false });
  expect(clock.pendingSleeps).toBe(0);
  expectNoListener(caller);
});

test('aborts the task when its time is over, not earlier', async () => {
  const { clock, limits } = start();
  let isOver = false;
  const limited = limits.run(1000, never(), untilAborted).finally(() => {
    isOver = true;
  });
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  expect(await limited).toMatchObject({ isTimedOut: true });
});

test('aborts the task with the caller, with the same reason', async () => {
  const { clock, limits } = start();
  const caller = new AbortController();
  const limited = limits.run(1000, caller.signal, untilAborted);
  caller.abort('gone');
  expect(await limited).toEqual({ outcome: 'gone', isTimedOut: false });
  expect(clock.pendingSleeps).toBe(0);
  expectNoListener(caller.signal);
});

test('aborts at once if the caller has left already', async () => {
  const { limits } = start();
  expect(await limits.run(1000, AbortSignal.abort('gone'), untilAborted)).toEqual({
    outcome: 'gone',
    isTimedOut: false,
  });
});

test('passes an exception on, and leaves no timer and no listener', async () => {
  const { clock, limits } = start();
  const caller = never();
  const failing = limits.run(1000, caller, () => Promise.reject(new Error('a bug')));
  await expect(failing).rejects.toThrow('a bug');
  expect(clock.pendingSleeps).toBe(0);
  expectNoListener(caller);
});

test('uses a signal again only if it did not abort', async () => {
  const { clock, limits } = start();
  const seen: AbortSignal[] = [];
  const record = async (signal: AbortSignal) => void seen.push(signal);
  await limits.run(1000, never(), record);
  await limits.run(1000, never(), record);
  expect(seen[1]).toBe(seen[0]);

  const late = limits.run(1000, never(), untilAborted);
  await clock.advance(1000);
  await late;
  await limits.run(1000, never(), record);
  expect(seen[2]).not.toBe(seen[0]);
  expect(seen[2]?.aborted).toBe(false);
});

test('gives tasks that run at the same time different signals', async () => {
  const { clock, limits } = start();
  const slow = deferred<void>();
  const seen: AbortSignal[] = [];
  const runs = [10_000, 1000].map((timeoutMs) =>
    limits.run(timeoutMs, never(), async (signal) => {
      seen.push(signal);
      await slow.promise;
    }),
  );
  await clock.advance(1000);
  expect(seen.map(({ aborted }) => aborted)).toEqual([false, true]);
  slow.settle();
  expect(await Promise.all(runs)).toMatchObject([{ isTimedOut: false }, { isTimedOut: true }]);
});

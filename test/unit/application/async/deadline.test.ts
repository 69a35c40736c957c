import { describe, expect, test, vi } from 'vitest';
import { TIMED_OUT, untilAborted, whenSettled, withDeadline } from '../../../../src/application/async/deadline.ts';
import { expectNoListener } from '../../../contract/search-kit.ts';
import { never } from '../../../support/core.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { deferred } from '../../../support/fake-llm-search.ts';

describe('withDeadline', () => {
  function start() {
    const clock = new FakeClock();
    const run = <T>(ms: number, signal: AbortSignal, task: (signal: AbortSignal) => Promise<T>) =>
      withDeadline(clock, ms, signal, task);
    return { clock, run };
  }

  /** A task that ends when its signal aborts, and how it was aborted. */
  const reasonOfAbort = (signal: AbortSignal) =>
    new Promise<unknown>((resolve) => {
      if (signal.aborted) resolve(signal.reason);
      else signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
    });

  test('returns what the task resolves with, and leaves no timer and no listener', async () => {
    const { clock, run } = start();
    const caller = never();
    expect(await run(1000, caller, async () => 'done')).toEqual({ outcome: 'done', isTimedOut: false });
    expect(clock.pendingSleeps).toBe(0);
    expectNoListener(caller);
  });

  test('aborts the task when its time is over, not earlier', async () => {
    const { clock, run } = start();
    const onOver = vi.fn();
    const limited = run(1000, never(), reasonOfAbort).finally(onOver);
    await clock.advance(999);
    expect(onOver).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(await limited).toMatchObject({ isTimedOut: true });
  });

  test('stands still while it is paused, until the last pause ends', async () => {
    const clock = new FakeClock();
    let ends: (() => void)[] = [];
    const limited = withDeadline(clock, 1000, never(), (signal, pause) => {
      ends = [pause(), pause()];
      return reasonOfAbort(signal);
    });
    await clock.advance(5000);
    ends[0]?.();
    await clock.advance(5000);
    ends[1]?.();
    await clock.advance(999);
    expect(clock.pendingSleeps).toBe(1);
    await clock.advance(1);
    expect(await limited).toEqual({ outcome: TIMED_OUT, isTimedOut: true });
  });

  test('leaves no timer if a pause ends after the task', async () => {
    const { clock } = start();
    let goOn = () => {};
    await withDeadline(clock, 1000, never(), async (_, pause) => {
      goOn = pause();
    });
    goOn();
    expect(clock.pendingSleeps).toBe(0);
  });

  test('aborts the task with the caller, with the same reason', async () => {
    const { clock, run } = start();
    const caller = new AbortController();
    const limited = run(1000, caller.signal, reasonOfAbort);
    caller.abort('gone');
    expect(await limited).toEqual({ outcome: 'gone', isTimedOut: false });
    expect(clock.pendingSleeps).toBe(0);
    expectNoListener(caller.signal);
  });

  test('aborts at once if the caller has left already', async () => {
    const { run } = start();
    expect(await run(1000, AbortSignal.abort('gone'), reasonOfAbort)).toEqual({
      outcome: 'gone',
      isTimedOut: false,
    });
  });

  test('without a limit gives the task the signal of the caller, and starts no timer', async () => {
    const { clock, run } = start();
    const caller = never();
    const limited = await run(Number.POSITIVE_INFINITY, caller, async (signal) => signal === caller);
    expect(limited).toEqual({ outcome: true, isTimedOut: false });
    expect(clock.slept).toEqual([]);
    const over = await run(Number.POSITIVE_INFINITY, AbortSignal.abort(TIMED_OUT), reasonOfAbort);
    expect(over).toEqual({ outcome: TIMED_OUT, isTimedOut: true });
  });

  test('passes an exception on, and leaves no timer and no listener', async () => {
    const { clock, run } = start();
    const caller = never();
    const failing = run(1000, caller, () => Promise.reject(new Error('a bug')));
    await expect(failing).rejects.toThrow('a bug');
    expect(clock.pendingSleeps).toBe(0);
    expectNoListener(caller);
  });
});

describe('untilAborted', () => {
  test('settles as the promise does, and leaves no listener', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    expectNoListener(signal);
  });

  test('settles when the signal aborts, or if it already has', async () => {
    const controller = new AbortController();
    const outcome = untilAborted(new Promise(() => {}), controller.signal);
    controller.abort();
    expect(await outcome).toBe('aborted');
    expect(await untilAborted(Promise.resolve(1), controller.signal)).toBe('aborted');
    expectNoListener(controller.signal);
  });

  test('a promise that rejects after the abort is no unhandled rejection', async () => {
    const controller = new AbortController();
    const onRejection = vi.fn();
    process.on('unhandledRejection', onRejection);
    const late = [deferred<Promise<never>>(), deferred<Promise<never>>()] as const;
    const outcome = untilAborted(late[0].promise, controller.signal);
    controller.abort();
    expect([await outcome, await untilAborted(late[1].promise, controller.signal)]).toEqual(['aborted', 'aborted']);
    for (const { settle } of late) settle(Promise.reject(new Error('late')));
    await settled();
    process.off('unhandledRejection', onRejection);
    expect(onRejection).not.toHaveBeenCalled();
  });
});

describe('whenSettled', () => {
  test('waits for every task, also for those that are added meanwhile, and leaves no timer', async () => {
    const clock = new FakeClock();
    const tasks = new Set<Promise<unknown>>();
    const add = () => {
      const { promise, settle } = deferred<void>();
      const task: Promise<unknown> = promise.finally(() => tasks.delete(task));
      tasks.add(task);
      return settle;
    };
    const first = add();
    const onOver = vi.fn();
    const over = whenSettled(tasks, clock, 1000).then(onOver);
    const second = add();
    first();
    await settled();
    expect(onOver).not.toHaveBeenCalled();
    second();
    await over;
    expect(clock.pendingSleeps).toBe(0);
  });

  test('does not wait longer than it may', async () => {
    const clock = new FakeClock();
    const over = whenSettled(new Set([new Promise(() => {})]), clock, 1000);
    await clock.advance(1000);
    await over;
  });
});

import { expect, test } from 'vitest';
import { untilAborted } from '../../../src/application/until-aborted.ts';
import { expectNoListener } from '../../contract/search-kit.ts';
import { settled } from '../../support/fake-clock.ts';
import { deferred } from '../../support/fake-llm-search.ts';

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
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  const late = [deferred<Promise<never>>(), deferred<Promise<never>>()] as const;
  const outcome = untilAborted(late[0].promise, controller.signal);
  controller.abort();
  expect([await outcome, await untilAborted(late[1].promise, controller.signal)]).toEqual(['aborted', 'aborted']);
  for (const { settle } of late) settle(Promise.reject(new Error('late')));
  await settled();
  process.off('unhandledRejection', onRejection);
  expect(rejections).toEqual([]);
});

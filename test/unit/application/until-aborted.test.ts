import { expect, test } from 'vitest';
import { untilAborted } from '../../../src/application/until-aborted.ts';
import { expectNoListener } from '../../contract/search-kit.ts';

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

import { expect, test, vi } from 'vitest';
import { coalesced, whenNeeded } from '../../../../src/application/async/shared-runs.ts';
import { settled } from '../../../support/fake-clock.ts';
import { deferred } from '../../../support/fake-llm-search.ts';

test('runs one task at a time, and once more for any number of requests in the meantime', async () => {
  const running: (() => void)[] = [];
  const request = coalesced(() => new Promise((resolve) => running.push(resolve)));
  request();
  for (let more = 0; more < 5; more += 1) request();
  expect(running).toHaveLength(1);
  running[0]?.();
  await settled();
  expect(running).toHaveLength(2);
  running[1]?.();
  await settled();
  expect(running).toHaveLength(2);
  request();
  expect(running).toHaveLength(3);
});

const closable = () => ({ close: vi.fn(async () => {}) });

test('what is needed is made once', async () => {
  const one = closable();
  const make = vi.fn(async () => one);
  const { get } = whenNeeded(make);
  expect(make).not.toHaveBeenCalled();
  expect(await Promise.all([get(), get()])).toEqual([one, one]);
  expect(await get()).toBe(one);
  expect(make).toHaveBeenCalledTimes(1);
});

test('what cannot be made fails for those who wait, and is made again at the next use', async () => {
  const one = closable();
  const attempts = [async () => Promise.reject(new Error('no file')), async () => one];
  const { get, close } = whenNeeded<typeof one>(async () => attempts.shift()?.() ?? expect.fail('made too often'));
  const failed = [get(), get()];
  for (const wait of failed) await expect(wait).rejects.toThrow('no file');
  await close();
  expect(await get()).toBe(one);
});

test('what is being made is closed when it is made, and what was not needed is not', async () => {
  const [making, unused] = [closable(), closable()];
  const loaded = deferred<void>();
  const needed = whenNeeded(() => loaded.promise.then(() => making));
  const later = needed.get();
  const closed = Promise.all([needed, whenNeeded(async () => unused)].map(({ close }) => close()));
  loaded.settle();
  await Promise.all([closed, later]);
  expect(making.close).toHaveBeenCalledTimes(1);
  expect(unused.close).not.toHaveBeenCalled();
});

import { describe, expect, test } from 'vitest';
import { Container } from '../../../src/wiring/container.ts';
import { deferred } from '../../support/fake-llm-search.ts';

/** A service that counts how often it was closed. */
function closable() {
  const service = {
    closes: 0,
    close: async () => {
      service.closes += 1;
    },
  };
  return service;
}

describe('a service', () => {
  test('is made when it is first needed, once', async () => {
    let made = 0;
    const service = closable();
    const get = new Container().register(async () => {
      made += 1;
      return service;
    });
    expect(made).toBe(0);
    expect(await Promise.all([get(), get()])).toEqual([service, service]);
    expect(await get()).toBe(service);
    expect(made).toBe(1);
  });

  test('that cannot be made fails for those who wait, and is made again at the next use', async () => {
    const service = closable();
    const attempts = [async () => Promise.reject(new Error('no file')), async () => service];
    const get = new Container().register(async () => attempts.shift()?.() ?? expect.fail('made too often'));
    const failed = [get(), get()];
    for (const one of failed) await expect(one).rejects.toThrow('no file');
    expect(await get()).toBe(service);
  });
});

describe('the end', () => {
  test('closes what was made or is being made, and nothing else', async () => {
    const [used, making, unused, failing] = [closable(), closable(), closable(), closable()];
    const container = new Container();
    const loaded = deferred<void>();
    const getUsed = container.register(async () => used);
    const getMaking = container.register(() => loaded.promise.then(() => making));
    container.register(async () => unused);
    const getFailing = container.register<typeof failing>(() => Promise.reject(new Error('no file')));
    await getUsed();
    const later = getMaking();
    await expect(getFailing()).rejects.toThrow('no file');
    const closed = container.close();
    loaded.settle();
    await Promise.all([closed, later]);
    expect([used, making, unused, failing].map(({ closes }) => closes)).toEqual([1, 1, 0, 0]);
  });
});

import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { MemoryQuotaStore } from '../../src/adapters/outbound/quota/memory-quota-store.ts';
import { RedisQuotaStore } from '../../src/adapters/outbound/quota/redis-quota-store.ts';
import { NOTHING_USED } from '../../src/domain/values/quota.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { describeWithRedis, type RedisServer, startRedisServer } from '../support/redis-server.ts';
import { describeQuotaStore } from './describe-quota-store.ts';

const KEY = { caller: 'alice', date: '2026-11-22', keepMs: 60_000 };
const clock = new SystemClock();

describeQuotaStore('MemoryQuotaStore', async () => {
  const store = new MemoryQuotaStore();
  return { store, other: store };
});

test('in memory, the caller that has not called for the longest time is forgotten', async () => {
  const store = new MemoryQuotaStore(2);
  const usedBy = async (caller: string) => (await store.admit({ ...KEY, caller }, {}))._unsafeUnwrap().used.calls;
  for (const caller of ['alice', 'bob', 'alice', 'carol']) await usedBy(caller);
  expect(await usedBy('alice')).toBe(3);
  expect(await usedBy('bob')).toBe(1);
});

describeWithRedis('RedisQuotaStore', (file) => {
  const password = 'p@ss:w/rd';
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer(file, { password });
  });
  afterAll(() => server?.stop());

  const open = (url = `${server.url}/3`) => {
    const store = new RedisQuotaStore({ url, clock });
    onTestFinished(() => store.close());
    return store;
  };

  /** A client that is not part of the program. */
  const control = async () => {
    const client = await createClient({ url: `${server.url}/3` }).connect();
    onTestFinished(() => client.destroy());
    return client;
  };

  describeQuotaStore('RedisQuotaStore', async () => {
    await (await control()).flushAll();
    return { store: open(), other: open() };
  });

  describe('its connection', () => {
    test('keeps a day for as long as it was asked to, in the database of the URL', async () => {
      const client = await control();
      await client.flushAll();
      await open().admit(KEY, {});
      const key = 'openai-responses-mcp:quota:2026-11-22:alice';
      expect(await client.keys('*')).toEqual([key]);
      expect(await client.pTTL(key)).toBeGreaterThan(50_000);
      expect(await client.pTTL(key)).toBeLessThanOrEqual(60_000);
    });

    test('fails at once while nothing listens, and works as soon as something does, also again', async () => {
      const first = await startRedisServer(file);
      await first.stop();
      const store = open(first.url);
      expect(await store.admit(KEY, {})).toMatchObject({ error: 'ECONNREFUSED' });
      for (const _ of [1, 2]) {
        const next = await startRedisServer(file, { port: first.port });
        onTestFinished(() => next.stop());
        await expect.poll(async () => (await store.admit(KEY, {})).isOk()).toBe(true);
        await next.stop();
        await expect.poll(async () => (await store.admit(KEY, {})).isErr()).toBe(true);
      }
    });

    test('reports that the password is wrong, without the password', async () => {
      const store = open(server.url.replace(encodeURIComponent(password), 'guess'));
      const { error } = (await store.admit(KEY, {})) as { error?: string };
      expect(error).toMatch(/^WRONGPASS /);
      expect(error).not.toContain('guess');
    });

    test('a call does not wait longer than a second for a server that hangs, and a new connection is made', async () => {
      const fakeClock = new FakeClock();
      const store = new RedisQuotaStore({ url: server.url, clock: fakeClock });
      onTestFinished(() => store.close());
      expect((await store.admit(KEY, {})).isOk()).toBe(true);
      const client = await control();
      const connections = async () => Number(/total_connections_received:(\d+)/.exec(await client.info('stats'))?.[1]);
      const before = await connections();
      server.kill('SIGSTOP');
      onTestFinished(() => server.kill('SIGCONT'));
      const calls = [store.admit(KEY, {}), store.add(KEY, NOTHING_USED)];
      await settled();
      await fakeClock.advance(1000);
      const [first, second] = await Promise.all(calls);
      expect(first).toMatchObject({ error: 'no response within 1 s' });
      expect(second?.isErr()).toBe(true);
      expect(fakeClock.pendingSleeps).toBe(0);
      server.kill('SIGCONT');
      expect((await store.admit(KEY, {})).isOk()).toBe(true);
      expect(await connections()).toBe(before + 1);
    });
  });
});

import { type AddressInfo, connect, createServer } from 'node:net';
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

    // S27
    test('what was refused while the server hung is not counted when it goes on, and what was used meanwhile is', async () => {
      await (await control()).flushAll();
      const fakeClock = new FakeClock();
      const stores = [1, 2, 3].map(() => new RedisQuotaStore({ url: `${server.url}/3`, clock: fakeClock }));
      for (const store of stores) onTestFinished(() => store.close());
      for (const store of stores) expect((await store.admit(KEY, {})).isOk()).toBe(true);
      server.kill('SIGSTOP');
      onTestFinished(() => server.kill('SIGCONT'));
      const refused = [];
      // The first second is sent and hangs; nothing is sent later, because the new connections have no answer yet.
      for (let second = 0; second < 8; second += 1) {
        const calls = stores.flatMap((store) => [store.admit(KEY, {}), store.admit(KEY, { calls: 9 })]);
        const uses = second === 7 ? stores.map((store) => store.add(KEY, { ...NOTHING_USED, tokens: 5 })) : [];
        await settled();
        await fakeClock.advance(1000);
        refused.push(...(await Promise.all([...calls, ...uses])));
      }
      expect(refused.filter((outcome) => outcome.isOk())).toEqual([]);
      server.kill('SIGCONT');
      for (const store of stores) expect((await store.admit(KEY, {})).isOk()).toBe(true);
      const used = async () => (await stores[0]?.add(KEY, NOTHING_USED))?.unwrapOr(undefined);
      await expect.poll(used).toEqual({ calls: 6, searches: 0, tokens: 15, usd: 0 });
    });

    // S27
    test('after a failover, what the lost server counted late is not taken from what its successor counts', async () => {
      const [old, next] = [await startRedisServer(file), await startRedisServer(file)];
      let target = old.port;
      const relay = createServer((socket) => {
        const upstream = connect(target, '127.0.0.1');
        for (const [from, to] of [
          [socket, upstream],
          [upstream, socket],
        ] as const) {
          from.on('error', () => to.destroy()).on('close', () => to.destroy());
          from.pipe(to);
        }
      });
      await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
      onTestFinished(async () => {
        store.close();
        relay.close();
        await Promise.all([old.stop(), next.stop()]);
      });
      const fakeClock = new FakeClock();
      const url = `redis://127.0.0.1:${(relay.address() as AddressInfo).port}`;
      const store = new RedisQuotaStore({ url, clock: fakeClock });
      expect((await store.admit(KEY, {})).isOk()).toBe(true);
      old.kill('SIGSTOP');
      const refused = Array.from({ length: 5 }, () => store.admit(KEY, {}));
      await settled();
      target = next.port;
      await fakeClock.advance(1000);
      expect((await Promise.all(refused)).filter((call) => call.isOk())).toEqual([]);
      for (const calls of [1, 2]) expect((await store.admit(KEY, {}))._unsafeUnwrap().used.calls).toBe(calls);
      old.kill('SIGCONT');
      const client = await createClient({ url: old.url }).connect();
      onTestFinished(() => client.destroy());
      const key = 'openai-responses-mcp:quota:2026-11-22:alice';
      await expect.poll(async () => (await client.hGetAll(key)).calls).toBe('1');
      expect((await store.admit(KEY, {}))._unsafeUnwrap().used.calls).toBe(3);
    });
  });
});

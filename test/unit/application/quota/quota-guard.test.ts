import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QuotaGuard } from '../../../../src/application/quota/quota-guard.ts';
import { NOTHING_USED, type QuotaPolicy, type QuotaUse } from '../../../../src/domain/values/quota.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FakeQuotaStore } from '../../../support/fake-quota-store.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';

const HOUR_MS = 3_600_000;
const ONE_CALL: QuotaUse = { ...NOTHING_USED, calls: 1 };

interface GuardOptions {
  readonly policy?: Partial<QuotaPolicy>;
  readonly store?: FakeQuotaStore;
  readonly onStoreFailure?: 'refuse' | 'allow';
  readonly start?: string;
}

function startGuard({ policy, store = new FakeQuotaStore(), onStoreFailure = 'refuse', start }: GuardOptions = {}) {
  const clock = new FakeClock(start ?? '2026-11-22T03:00:00Z');
  const logger = new RecordingLogger();
  const guard = new QuotaGuard({
    policy: { limits: {}, callers: {}, ...policy },
    store,
    onStoreFailure,
    timeZone: 'Asia/Tokyo',
    clock,
    logger,
  });
  const call = async (used = ONE_CALL, caller = 'alice') =>
    (await guard.admit(caller)).match(
      (call) => call.settle(used),
      (error) => error,
    );
  return { guard, clock, logger, store, call };
}

test('a caller without limits is not counted', async () => {
  const { call, store } = startGuard({ policy: { callers: { bob: { calls: 0 } } } });
  expect(await call()).toBeUndefined();
  expect(store.keys).toEqual([]);
});

test('says what is used, and when the day ends in the zone', async () => {
  const limits = { calls: 5, tokens: 1000 };
  const { call } = startGuard({ policy: { limits } });
  expect(await call({ calls: 1, searches: 2, tokens: 300, usd: 0 })).toEqual({
    limits,
    used: { calls: 1, searches: 2, tokens: 300, usd: 0 },
    endsAt: new Date('2026-11-22T15:00:00Z'),
    endsInMs: 12 * HOUR_MS,
  });
});

test('refuses a call when a limit is reached, until the day ends', async () => {
  const { call, clock } = startGuard({ policy: { limits: { calls: 1 } } });
  await call();
  await clock.advance(HOUR_MS);
  expect(await call()).toEqual({
    kind: 'quota_reached',
    unit: 'calls',
    state: {
      limits: { calls: 1 },
      used: ONE_CALL,
      endsAt: new Date('2026-11-22T15:00:00Z'),
      endsInMs: 11 * HOUR_MS,
    },
    limit: 1,
    endsAt: new Date('2026-11-22T15:00:00Z'),
    timeZone: 'Asia/Tokyo',
    retryAfterMs: 11 * HOUR_MS,
  });
  await clock.advance(11 * HOUR_MS - 1);
  expect(await call()).toMatchObject({ kind: 'quota_reached', retryAfterMs: 1 });
  await clock.advance(1);
  expect(await call()).toMatchObject({ used: ONE_CALL, endsAt: new Date('2026-11-23T15:00:00Z') });
});

test('a call that did not run is taken back', async () => {
  const { call } = startGuard({ policy: { limits: { calls: 1 } } });
  expect(await call(NOTHING_USED)).toMatchObject({ used: NOTHING_USED });
  expect(await call()).toMatchObject({ used: ONE_CALL });
});

test('what a call uses after midnight belongs to the day on which it began', async () => {
  const { guard, clock, store } = startGuard({ policy: { limits: { calls: 9 } }, start: '2026-11-22T14:59:00Z' });
  const call = (await guard.admit('alice'))._unsafeUnwrap();
  await clock.advance(5 * 60_000);
  expect(await call.settle({ ...ONE_CALL, tokens: 5 })).toMatchObject({ used: { calls: 1, tokens: 5 }, endsInMs: 0 });
  expect(store.keys.map(({ date }) => date)).toEqual(['2026-11-22', '2026-11-22']);
  // One minute of the day, and an hour for calls that began in it.
  expect(store.keys[0]?.keepMs).toBe(HOUR_MS + 60_000);
});

describe('a guard', () => {
  test('is ready when its store was reached once, and uses nothing for that', async () => {
    const { guard, call, store } = startGuard({ policy: { limits: { calls: 1 } } });
    store.failure = 'ECONNREFUSED';
    expect([await guard.reach(), guard.isReady, guard.isUp]).toEqual([false, false, false]);
    store.failure = undefined;
    expect([await guard.reach(), guard.isReady, guard.isUp]).toEqual([true, true, true]);
    expect(store.keys).toContainEqual({ caller: 'readyz', date: 'never', keepMs: 0 });
    expect(await call()).toMatchObject({ used: ONE_CALL });
    store.failure = 'ECONNREFUSED';
    expect([await guard.reach(), guard.isReady, guard.isUp]).toEqual([false, true, false]);
  });

  test('is ready without its store if calls are allowed then', () => {
    expect(startGuard({ onStoreFailure: 'allow' }).guard.isReady).toBe(true);
  });
});

describe('while the store fails', () => {
  test('calls are refused, and the log reports the failure and the recovery once', async () => {
    const { call, store, logger } = startGuard({ policy: { limits: { calls: 9 } } });
    store.failure = 'ECONNREFUSED';
    for (let count = 0; count < 3; count += 1) expect(await call()).toEqual({ kind: 'quota_unknown' });
    store.failure = undefined;
    for (let count = 0; count < 3; count += 1) expect(await call()).toMatchObject({ used: {} });
    expect(logger.lines).toEqual([
      'warn quota: the store cannot be used (ECONNREFUSED); calls are refused until it can',
      'warn quota: the store can be used again',
    ]);
  });

  test('calls are allowed if that is configured', async () => {
    const { call, store, logger } = startGuard({ policy: { limits: { calls: 0 } }, onStoreFailure: 'allow' });
    store.failure = 'ECONNREFUSED';
    expect(await call()).toBeUndefined();
    expect(logger.lines).toEqual([
      'warn quota: the store cannot be used (ECONNREFUSED); calls are allowed without a quota until it can',
    ]);
  });

  test('a call that was admitted before has its answer', async () => {
    const { guard, store } = startGuard({ policy: { limits: { calls: 1 } } });
    const call = (await guard.admit('alice'))._unsafeUnwrap();
    store.failure = 'no response within 1 s';
    expect(await call.settle({ ...ONE_CALL, tokens: 7 })).toBeUndefined();
  });
});

test('never runs more calls than the limit, in any order of what the store and the calls do', async () => {
  const isRun = fc.boolean();
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.nat(5), fc.array(isRun, { maxLength: 12 }), async (scheduler, limit, calls) => {
      const store = new FakeQuotaStore(() => scheduler.schedule(Promise.resolve()));
      // Two processes that share a store.
      const guards = [1, 2].map(() => startGuard({ policy: { limits: { calls: limit } }, store }).guard);
      let ran = 0;
      let admitted = 0;
      let atMost = 0;
      const all = calls.map(async (isRun, index) => {
        const call = (await guards[index % 2]?.admit('alice'))?.unwrapOr(undefined);
        if (call === undefined) return;
        admitted += 1;
        atMost = Math.max(atMost, ran + admitted);
        await scheduler.schedule(Promise.resolve());
        admitted -= 1;
        if (isRun) ran += 1;
        await call.settle(isRun ? ONE_CALL : NOTHING_USED);
      });
      await scheduler.waitFor(Promise.all(all));
      expect(atMost).toBeLessThanOrEqual(limit);
      // Nothing of the quota is lost either.
      let left = 0;
      const useUp = async () => {
        while ((await guards[0]?.admit('alice'))?.isOk()) left += 1;
      };
      await scheduler.waitFor(useUp());
      expect(ran + left).toBe(limit);
    }),
  );
});

import { beforeEach, describe, expect, test } from 'vitest';
import type { QuotaKey, QuotaStore } from '../../src/application/ports/callers.ts';
import { NOTHING_USED, type QuotaUse } from '../../src/domain/values/quota.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ALICE: QuotaKey = { caller: 'alice', date: '2026-11-22', keepMs: DAY_MS };
const BOB: QuotaKey = { ...ALICE, caller: 'bob' };
const TOMORROW: QuotaKey = { ...ALICE, date: '2026-11-23' };

const use = (part: Partial<QuotaUse>): QuotaUse => ({ ...NOTHING_USED, ...part });

/** What every QuotaStore guarantees. `start` returns a store in which nothing was used, and another connection to the same one. */
export function describeQuotaStore(name: string, start: () => Promise<{ store: QuotaStore; other: QuotaStore }>): void {
  describe(`${name} as a QuotaStore`, () => {
    let store: QuotaStore;
    let other: QuotaStore;
    beforeEach(async () => {
      ({ store, other } = await start());
    });

    const admit = async (key = ALICE, limits = {}) => (await store.admit(key, limits))._unsafeUnwrap();
    const add = async (part: Partial<QuotaUse>, key = ALICE) => (await store.add(key, use(part)))._unsafeUnwrap();

    test('counts the calls that it admits, and none beyond the limit', async () => {
      expect(await admit(ALICE, { calls: 0 })).toEqual({ used: NOTHING_USED, reached: 'calls' });
      expect(await admit(ALICE, { calls: 1 })).toEqual({ used: use({ calls: 1 }) });
      expect(await admit(ALICE, { calls: 1 })).toEqual({ used: use({ calls: 1 }), reached: 'calls' });
      expect(await admit()).toEqual({ used: use({ calls: 2 }) });
    });

    test.for(['searches', 'tokens'] as const)('admits no call when the limit of %s is reached', async (unit) => {
      await admit();
      await add({ [unit]: 9 });
      expect(await admit(ALICE, { [unit]: 10 })).toEqual({ used: use({ calls: 2, [unit]: 9 }) });
      await add({ [unit]: 3 });
      expect(await admit(ALICE, { [unit]: 10 })).toEqual({ used: use({ calls: 2, [unit]: 12 }), reached: unit });
    });

    test('names the first limit that is reached', async () => {
      await admit();
      await add({ searches: 1, tokens: 1 });
      expect((await admit(ALICE, { tokens: 1, searches: 1 })).reached).toBe('searches');
    });

    test('returns the sum of what was added', async () => {
      await admit();
      await add({ searches: 2, tokens: 5_000_000_000 });
      expect(await add({ searches: 1, tokens: 1 })).toEqual({ calls: 1, searches: 3, tokens: 5_000_000_001, usd: 0 });
    });

    test('a call that is taken back can be made again', async () => {
      await admit(ALICE, { calls: 1 });
      expect(await add({ calls: -1 })).toEqual(NOTHING_USED);
      expect(await admit(ALICE, { calls: 1 })).toEqual({ used: use({ calls: 1 }) });
    });

    test('what is added to a day that was forgotten is not counted', async () => {
      expect(await add({ calls: -1, tokens: 7 })).toEqual(NOTHING_USED);
      expect(await admit()).toEqual({ used: use({ calls: 1 }) });
    });

    test('keeps callers and days apart', async () => {
      await admit();
      await add({ tokens: 3 });
      expect(await admit(BOB)).toEqual({ used: use({ calls: 1 }) });
      expect(await admit(TOMORROW)).toEqual({ used: use({ calls: 1 }) });
    });

    test.for(['', 'a:b', '日本語'])('accepts the name %j of a caller', async (caller) => {
      expect(await admit({ ...ALICE, caller })).toEqual({ used: use({ calls: 1 }) });
      expect(await add({ tokens: 1 }, { ...ALICE, caller })).toEqual(use({ calls: 1, tokens: 1 }));
    });

    test('never admits more calls than the limit, however many come at the same time', async () => {
      const calls = Array.from({ length: 60 }, (_, index) =>
        (index % 2 === 0 ? store : other).admit(ALICE, { calls: 7 }),
      );
      const admitted = (await Promise.all(calls)).filter((call) => call._unsafeUnwrap().reached === undefined);
      expect(admitted).toHaveLength(7);
    });

    test('loses nothing that is added at the same time', async () => {
      await admit();
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? store : other).add(ALICE, use({ tokens: 5 }))),
      );
      expect(await add({})).toEqual(use({ calls: 1, tokens: 100 }));
    });
  });
}

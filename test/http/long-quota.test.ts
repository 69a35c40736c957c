import { expect, test, vi } from 'vitest';
import { QuotaGuard } from '../../src/application/quota/quota-guard.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeQuotaStore } from '../support/fake-quota-store.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { detailed, serveLong, TIMEOUT_MS } from './serve-long.ts';

const JSON_ONLY = { Accept: 'application/json' };
const QUOTA = 'io.github.uchimanajet7.openai-responses-mcp/quota';
const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const [ALICE = {}, BOB = {}] = TOKENS.map(({ token }) => ({ ...JSON_ONLY, Authorization: `Bearer ${token}` }));
const usage = { inputTokens: 900, cachedTokens: 500, outputTokens: 100, reasoningTokens: 40 };
const FOUND = { report: { queries: ['a', 'b'], searches: 2, attempts: 1, usage } };

/** The endpoint with quotas, and what a caller has used of them. */
async function serveWithQuota() {
  const quota = new QuotaGuard({
    policy: { limits: { calls: 100, searches: 100, tokens: 100_000 }, callers: {} },
    store: new FakeQuotaStore(),
    onStoreFailure: 'refuse',
    timeZone: 'Asia/Tokyo',
    clock: new FakeClock(),
    logger: new RecordingLogger(),
  });
  const served = await serveLong({ tokens: TOKENS, quota });
  const usedBy = async (caller: string) => {
    const admitted = (await quota.admit(caller))._unsafeUnwrap();
    const { calls, searches, tokens } = (await admitted.settle({ calls: 0, searches: 0, tokens: 0 }))?.used ?? {};
    return [calls, searches, tokens];
  };
  const begun = async (count = 1) => vi.waitFor(() => expect(served.api.posts).toHaveLength(count));
  return { ...served, usedBy, begun };
}

test('a search that outlives its call counts once, for the caller that began it', async () => {
  const { api, begin, post, begun, usedBy, untilLogged } = await serveWithQuota();
  const left = begin(detailed('Why?'), ALICE);
  await begun();
  left.leave();
  await untilLogged(1);
  expect(await usedBy('alice')).toEqual([1, 0, 0]);
  api.finish('resp_1', FOUND);
  await vi.waitFor(async () => expect(await usedBy('alice')).toEqual([1, 2, 1000]));
  const kept = await post(detailed('Why?'), ALICE);
  expect(kept.message.result?._meta).toMatchObject({ [QUOTA]: { calls_per_day: { limit: 100, left: 98 } } });
  expect(await usedBy('alice')).toEqual([2, 2, 1000]);
  expect(await usedBy('bob')).toEqual([0, 0, 0]);
});

test('a call that joins counts as one call, and the search counts for the first', async () => {
  const { api, begin, begun, usedBy, at } = await serveWithQuota();
  const first = begin(detailed('Why?'), ALICE);
  await begun();
  const joined = begin(detailed('Why?'), ALICE);
  await vi.waitFor(async () => {
    const text = await (await fetch(at('/metrics'), { headers: ALICE })).text();
    expect(text).toContain('calls_in_flight 2');
  });
  api.finish('resp_1', FOUND);
  await Promise.all([first.reply, joined.reply]);
  expect(await usedBy('alice')).toEqual([2, 2, 1000]);
});

test('a handle counts as one call without searches and tokens, and an invalid one not at all', async () => {
  const { api, begin, post, begun, usedBy, clock } = await serveWithQuota();
  const unfinished = begin(detailed('Why?'), ALICE);
  await begun();
  await clock.advance(TIMEOUT_MS);
  const [handle = ''] = /la1\.[\w.-]*[\w-]/.exec((await unfinished.reply).text) ?? [];
  expect(await usedBy('alice')).toEqual([1, 0, 0]);
  api.finish('resp_1', FOUND);
  await vi.waitFor(async () => expect(await usedBy('alice')).toEqual([1, 2, 1000]));
  expect((await post(detailed(handle), ALICE)).text).toContain('kept');
  expect(await usedBy('alice')).toEqual([2, 2, 1000]);
  for (const invalid of [`${handle}x`, 'la1.d.x'])
    expect((await post(detailed(invalid), ALICE)).text).toContain('No answer with this ID');
  expect((await post(detailed(handle), BOB)).text).toContain('No answer with this ID');
  expect(await usedBy('alice')).toEqual([2, 2, 1000]);
  expect(await usedBy('bob')).toEqual([0, 0, 0]);
});

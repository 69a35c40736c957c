import { expect, test } from 'vitest';
import { answers, fails } from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Asked, apiPerTest, ask, errorOf, openAiSearch, replyOf, searchRequest } from './search-kit.ts';

const api = apiPerTest();

const OK = answers('Here it is.');
const FLEX: Asked = { profile: { serviceTier: 'flex' }, deadlineMs: 300_000 };
const tiers = () => api.requests.map(({ body }) => body.service_tier);

/** As documented: no capacity for the tier. */
function unavailable(headers: Readonly<Record<string, string>> = {}, status = 429) {
  const error = { message: 'Resource Unavailable', type: 'resource_unavailable', param: null, code: null };
  return fails({ status, headers, error });
}

function start(maxRetries = 3) {
  const clock = FakeClock.instant();
  const search = openAiSearch(api.url, { clock, maxRetries });
  return { clock, ask: (asked: Asked = FLEX) => ask(search, searchRequest(asked)) };
}

test('is temporary, and the tier is kept in the first half of the time', async () => {
  api.reply(unavailable(), unavailable(), OK);
  const { ask, clock } = start();
  expect(replyOf(await ask()).report.attempts).toBe(3);
  expect(tiers()).toEqual(['flex', 'flex', 'flex']);
  expect(clock.slept).toEqual([500, 1000]);
});

test('the last attempt is the one without the tier, at half of the time', async () => {
  api.reply(unavailable(), unavailable(), unavailable(), OK);
  const { ask, clock } = start();
  expect(replyOf(await ask()).text).toBe('Here it is.');
  expect(tiers()).toEqual(['flex', 'flex', 'flex', undefined]);
  expect(clock.slept).toEqual([500, 1000, 148_500]);
});

test('half of the time is measured from the start of the call', async () => {
  api.reply(unavailable(), OK);
  const { ask, clock } = start(1);
  await clock.sleep(100_000, new AbortController().signal);
  await ask({ ...FLEX, deadlineMs: 400_000 });
  expect(clock.slept).toEqual([100_000, 150_000]);
  expect(tiers()).toEqual(['flex', undefined]);
});

test('a requested wait beyond half of the time ends there', async () => {
  api.reply(unavailable({ 'retry-after': '200' }), OK);
  const { ask, clock } = start();
  expect((await ask()).isOk()).toBe(true);
  expect(clock.slept).toEqual([150_000]);
  expect(tiers()).toEqual(['flex', undefined]);
});

test('without the tier, waits and attempts are as usual', async () => {
  api.reply(unavailable({ 'retry-after': '150' }), unavailable(), unavailable(), OK);
  const { ask, clock } = start();
  expect((await ask()).isOk()).toBe(true);
  expect(clock.slept).toEqual([150_000, 1000, 2000]);
  expect(tiers()).toEqual(['flex', undefined, undefined, undefined]);
});

test('without retries there is one attempt, with the tier', async () => {
  api.reply(unavailable());
  const { ask, clock } = start(0);
  expect(errorOf(await ask())).toMatchObject({ kind: 'rate_limited', attempts: 1 });
  expect(tiers()).toEqual(['flex']);
  expect(clock.slept).toEqual([]);
});

test('an exhausted quota is no lack of capacity', async () => {
  const error = { message: 'You exceeded your current quota.', type: 'x', param: null, code: 'insufficient_quota' };
  api.reply(fails({ status: 429, error }));
  const { ask, clock } = start();
  expect(errorOf(await ask())).toMatchObject({ kind: 'quota_exhausted' });
  expect(clock.slept).toEqual([]);
});

test('other tiers keep their waits and their tier', async () => {
  api.reply(unavailable(), unavailable(), unavailable(), OK);
  const { ask, clock } = start();
  await ask({ profile: { serviceTier: 'priority' } });
  expect(clock.slept).toEqual([500, 1000, 2000]);
  expect(new Set(tiers())).toEqual(new Set(['priority']));
});

test('a tier that the model rejected extends no wait', async () => {
  const error = { message: 'Not supported.', type: 'x', param: 'service_tier', code: 'unsupported_parameter' };
  api.reply(fails({ status: 400, error }), unavailable(), unavailable(), OK);
  const { ask, clock } = start();
  expect((await ask()).isOk()).toBe(true);
  expect(tiers()).toEqual(['flex', undefined, undefined, undefined]);
  expect(clock.slept).toEqual([1000, 2000]);
});

test('the next call has the tier again', async () => {
  api.reply(unavailable(), OK, OK);
  const { ask } = start(1);
  await ask();
  await ask({ ...FLEX, deadlineMs: 600_000 });
  expect(tiers()).toEqual(['flex', undefined, 'flex']);
});

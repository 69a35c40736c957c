import { describe, expect, test } from 'vitest';
import {
  answers,
  type Behaviour,
  cutsStream,
  fails,
  failsHtml,
  failsInStream,
  resetsBeforeHeaders,
  resetsDuringHeaders,
  resetsMidStream,
  sendsBody,
  sendsBrokenEvent,
  sendsUnknownEvents,
} from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { apiPerTest, ask, errorOf, openAiSearch, replyOf } from './search-kit.ts';

const api = apiPerTest();

function http(status: number, over: object = {}, headers = {}): Behaviour {
  const error = { message: `Something with ${status}.`, type: 'some_error', param: null, code: null, ...over };
  return fails({ status, headers, error });
}
const AFTER_1_S = { 'retry-after': '1' };
const inStream = (code: string, over: object = {}) => failsInStream({ code, message: 'Sorry.', ...over });

/** What the API always does, what the call fails with, and its attempts with one retry, before which it waits for half a second. */
type Row = readonly [what: string, behaviour: Behaviour, kind: string, attempts: 1 | 2, more?: object];

const FAILURES: readonly Row[] = [
  ['400', http(400), 'bad_request', 1],
  ['401', http(401), 'rejected_api_key', 1, { variable: 'OPENAI_API_KEY' }],
  ['403', http(403), 'forbidden', 1, { detail: 'Something with 403.' }],
  ['404', http(404), 'bad_request', 1],
  ['404 of a model', http(404, { message: 'Model not found gpt-5.2' }), 'model_not_found', 1],
  ['400 of a model', http(400, { code: 'model_not_found' }), 'model_not_found', 1, { model: 'gpt-5.2' }],
  ['408', http(408), 'bad_request', 1],
  ['409', http(409), 'bad_request', 1],
  ['413', failsHtml(413), 'bad_request', 1, { detail: 'HTTP status 413' }],
  ['422', http(422), 'bad_request', 1],
  ['429', http(429, { code: 'rate_limit_exceeded' }), 'rate_limited', 2],
  ['a spent quota by code', http(429, { code: 'insufficient_quota' }), 'quota_exhausted', 1],
  ['a spent quota by type', http(429, { type: 'insufficient_quota' }), 'quota_exhausted', 1],
  ['a billing limit', http(429, { code: 'billing_hard_limit_reached' }), 'quota_exhausted', 1],
  ['a spent quota to wait for', http(429, { code: 'insufficient_quota' }, AFTER_1_S), 'quota_exhausted', 1],
  ['a spent quota in a stream', inStream('insufficient_quota'), 'quota_exhausted', 1, { detail: 'Sorry.' }],
  ['500', http(500), 'server_error', 2],
  ['502', failsHtml(502), 'server_error', 2],
  ['503', http(503), 'server_error', 2],
  ['503 as a page', failsHtml(503), 'server_error', 2, { detail: 'HTTP status 503' }],
  ['504', failsHtml(504), 'server_error', 2],
  ['529', http(529), 'server_error', 2],
  ['rate_limit_exceeded in a stream', inStream('rate_limit_exceeded'), 'rate_limited', 2],
  ['server_error in a stream', inStream('server_error'), 'server_error', 2, { detail: 'Sorry.' }],
  ['only an `error` event', inStream('server_error', { only: 'error' }), 'server_error', 2],
  ['a flat `error` event', inStream('server_error', { flat: true, only: 'error' }), 'server_error', 2],
  ['only response.failed', inStream('server_error', { only: 'response.failed' }), 'server_error', 2],
  ['another failure in a stream', inStream('other_failure'), 'failed', 1],
  ['a reset before headers', resetsBeforeHeaders(), 'connection_failed', 2],
  ['a reset within headers', resetsDuringHeaders(), 'connection_failed', 2],
  ['a reset within the stream', resetsMidStream(), 'connection_failed', 2],
  ['a stream without its end', cutsStream(), 'connection_failed', 2],
  ['an empty stream', sendsBody({ body: '' }), 'connection_failed', 2],
  ['a policy violation', http(403, { code: 'misalignment_policy_violation' }), 'policy_violation', 1],
  ['a policy violation by type', http(403, { type: 'misalignment_policy_violation' }), 'policy_violation', 1],
  ['a policy violation in a stream', inStream('misalignment_policy_violation'), 'policy_violation', 1],
  ['bio_policy', http(400, { code: 'bio_policy' }), 'content_filtered', 1],
  ['bio_policy in a stream', inStream('bio_policy'), 'content_filtered', 1],
  ['cyber_policy', http(403, { code: 'cyber_policy' }), 'content_filtered', 1],
  ['cyber_policy by type', http(400, { type: 'cyber_policy' }), 'content_filtered', 1],
  ['cyber_policy in a stream', inStream('cyber_policy'), 'content_filtered', 1],
  ['invalid_prompt', http(400, { code: 'invalid_prompt' }), 'content_filtered', 1],
  ['invalid_prompt in a stream', inStream('invalid_prompt'), 'content_filtered', 1],
  ['another region', http(403, { code: 'data_residency_mismatch' }), 'data_residency', 1],
  ['another region, with 401', http(401, { code: 'data_residency_mismatch' }), 'data_residency', 1],
  ['another region in a stream', inStream('data_residency_mismatch'), 'data_residency', 1, { detail: 'Sorry.' }],
];

// S43
describe('an API that always answers with', () => {
  test.for(FAILURES)('%s', async ([, behaviour, kind, attempts, more]) => {
    const clock = FakeClock.instant();
    api.replyAlways(behaviour);
    const failure = errorOf(await ask(openAiSearch(api.url, { clock, maxRetries: 1 })));
    expect(failure).toMatchObject({ kind, ...more });
    if ('attempts' in failure) expect(failure.attempts).toBe(attempts);
    if (kind === 'connection_failed') expect(failure).toMatchObject({ host: new URL(api.url).host });
    expect(api.requests).toHaveLength(attempts);
    expect(clock.slept).toEqual(attempts === 2 ? [500] : []);
  });
});

test.each([
  ['an invalid event', sendsBrokenEvent()],
  ['unknown events', sendsUnknownEvents()],
])('%s is no failure', async (_name, behaviour) => {
  api.reply(behaviour);
  const clock = FakeClock.instant();
  expect(replyOf(await ask(openAiSearch(api.url, { clock }))).text).toBe('An answer that some tests cut short.');
  expect(clock.slept).toEqual([]);
});

test('a server that cannot be reached is tried four times', async () => {
  await api.close();
  const clock = FakeClock.instant();
  const failure = errorOf(await ask(openAiSearch(api.url, { clock })));
  expect(failure).toMatchObject({ kind: 'connection_failed', attempts: 4, detail: 'ECONNREFUSED' });
  expect(clock.slept).toEqual([500, 1000, 2000]);
});

test('different failures share one count, and an answer ends them', async () => {
  const behaviours = [http(429, { code: 'rate_limit_exceeded' }), resetsMidStream(), failsHtml(503), answers('Here.')];
  const clock = FakeClock.instant();
  api.reply(...behaviours);
  expect(replyOf(await ask(openAiSearch(api.url, { clock })))).toMatchObject({
    text: 'Here.',
    report: { attempts: 4 },
  });
  expect(clock.slept).toEqual([500, 1000, 2000]);
});

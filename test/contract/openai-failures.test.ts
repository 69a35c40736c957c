import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  type Behaviour,
  cutsStream,
  fails,
  failsInStream,
  resets,
  resetsMidStream,
  sendsBody,
} from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { apiPerTest, ask, errorOf, openAiSearch } from './search-kit.ts';

const api = apiPerTest();

const NOW = FakeClock.instant().now().getTime();

const http = (status: number, error: object = {}, headers = {}) => fails({ status, error, headers });
const tooMany = (headers = {}) => http(429, { code: 'rate_limit_exceeded' }, headers);
const inStream = (code: string, message = 'Sorry.') => failsInStream({ code, message });
const page = (status: number) => sendsBody({ status, contentType: 'text/html', body: `<html>${status}</html>` });
const inSeconds = (seconds: number) => ({ 'retry-after': new Date(NOW + 1000 * seconds).toUTCString() });

/** A body of 20 MiB, compressed. */
const large = (contentType: string, line: string) =>
  sendsBody({
    contentType,
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(line.repeat(Math.ceil((20 * 2 ** 20) / line.length))),
  });
const TOO_LARGE = { detail: 'it is larger than 16 MiB' };

const ELSEWHERE = 'http://127.0.0.1:9/responses';
const redirect = sendsBody({ status: 307, headers: { location: `${ELSEWHERE}?api-key=secret` }, body: '' });
const REDIRECTED = { detail: `it redirects to ${ELSEWHERE}, which is not followed` };

const SCOPES = 'You have insufficient permissions. Missing scopes: api.responses.write. Check your role.';
const LATER = 'Rate limit reached for gpt-5.2. Please try again in 3.2s. Visit https://platform.openai.com/.';
const VIOLATION = {
  code: 'misalignment_policy_violation',
  message: 'Blocked.',
  misalignment: { detailed_explanation: `A ticket\u202E named\na host. ${'x'.repeat(500)}` },
};
const EXPLAINED = { detail: `Blocked. A ticket named a host. ${'x'.repeat(276)}…` };

/** What the API always does, what the call fails with, and the waits before its attempts after the first, of which there is one at most. */
type Row = readonly [what: string, behaviour: Behaviour, kind: string, waits: readonly number[], more?: object];

const FAILURES: readonly Row[] = [
  ['400', http(400), 'bad_request', []],
  ['401', http(401), 'rejected_api_key', [], { variable: 'OPENAI_API_KEY' }],
  [
    '401 for a missing permission',
    http(401, { message: SCOPES }),
    'missing_permission',
    [],
    { detail: 'Missing scopes: api.responses.write' },
  ],
  ['403', http(403), 'forbidden', [], { detail: 'Something with 403.' }],
  ['404', http(404), 'bad_request', []],
  ['404 of a model', http(404, { message: 'Model not found gpt-5.2' }), 'model_not_found', []],
  ['a missing model in a stream', inStream('model_not_found'), 'model_not_found', []],
  ['400 of a model', http(400, { code: 'model_not_found' }), 'model_not_found', [], { model: 'gpt-5.2' }],
  ['402', http(402), 'quota_exhausted', []],
  ['408', http(408), 'server_error', [500]],
  ['409', http(409), 'server_error', [500]],
  ['425', http(425), 'server_error', [500]],
  ['529', http(529), 'server_error', [500]],
  ['413 as a page', page(413), 'bad_request', [], { detail: 'HTTP status 413' }],
  ['another region', http(401, { code: 'data_residency_mismatch' }), 'data_residency', []],
  ['another region in a stream', inStream('data_residency_mismatch'), 'data_residency', [], { detail: 'Sorry.' }],
  ['a policy violation', http(403, VIOLATION), 'policy_violation', [], EXPLAINED],
  ['a policy violation by type', http(403, { type: VIOLATION.code }), 'policy_violation', []],
  ['a policy violation in a stream', inStream(VIOLATION.code), 'policy_violation', []],
  ['bio_policy', http(400, { code: 'bio_policy' }), 'content_filtered', []],
  ['cyber_policy by type', http(403, { type: 'cyber_policy' }), 'content_filtered', []],
  ['invalid_prompt in a stream', inStream('invalid_prompt'), 'content_filtered', []],
  ['a spent quota by code', http(429, { code: 'insufficient_quota' }), 'quota_exhausted', []],
  ['a spent quota by type', http(429, { type: 'insufficient_quota' }), 'quota_exhausted', []],
  ['a billing limit', http(429, { code: 'billing_hard_limit_reached' }), 'quota_exhausted', []],
  ['a spent quota in a stream', inStream('insufficient_quota'), 'quota_exhausted', [], { detail: 'Sorry.' }],
  ['a refused inspection', http(400, { code: 'DataInspectionFailed' }), 'content_filtered', []],
  ['a sensitive input', http(400, { code: 'InputTextSensitiveContentDetected' }), 'content_filtered', []],
  ['guidelines', http(403, { message: 'Content violates usage guidelines.' }), 'content_filtered', []],
  ['a spent budget', http(400, { type: 'budget_exceeded', code: '400' }), 'quota_exhausted', []],
  ['an unpaid account', http(400, { code: 'Arrearage' }), 'quota_exhausted', []],
  ['a spent quota by another type', http(429, { type: 'exceeded_current_quota_error' }), 'quota_exhausted', []],
  ['a flagged input', http(403, { message: 'No.', metadata: { flagged_input: 'x' } }), 'content_filtered', []],
  ['a missing deployment', http(404, { code: 'DeploymentNotFound' }), 'model_not_found', []],
  [
    'an invalid request with the code of a filter',
    http(400, { code: 'invalid_prompt', message: 'Invalid Responses API request' }),
    'bad_request',
    [],
  ],
  ['another failure in a stream', inStream('other_failure'), 'failed', []],
  ['a redirect', redirect, 'unreadable_reply', [], REDIRECTED],
  ['too much JSON', large('application/json', 'x'), 'unreadable_reply', [], TOO_LARGE],
  ['too long a line in a stream', large('text/event-stream', 'x'), 'unreadable_reply', [], TOO_LARGE],
  [
    'too many lines of an event',
    large('text/event-stream', `data: ${'x'.repeat(94)}\n`),
    'unreadable_reply',
    [],
    TOO_LARGE,
  ],
  ['429', tooMany(), 'rate_limited', [500]],
  ['429 and Retry-After in seconds', tooMany({ 'retry-after': '2' }), 'rate_limited', [2000], { retryAfterMs: 2000 }],
  ['429 and Retry-After in fractions of a second', tooMany({ 'retry-after': '0.25' }), 'rate_limited', [250]],
  ['429 and Retry-After as a date', tooMany(inSeconds(7)), 'rate_limited', [7000]],
  ['429 and Retry-After in the past', tooMany(inSeconds(-7)), 'rate_limited', [500]],
  ['429 and an invalid Retry-After', tooMany({ 'retry-after': 'soon' }), 'rate_limited', [500]],
  ['429 and retry-after-ms', tooMany({ 'retry-after-ms': '1234', 'retry-after': '9' }), 'rate_limited', [1234]],
  [
    '429 and Retry-After beyond the deadline',
    tooMany({ 'retry-after': '600' }),
    'rate_limited',
    [],
    { retryAfterMs: 600_000 },
  ],
  ['rate_limit_exceeded in a stream', inStream('rate_limit_exceeded', LATER), 'rate_limited', [3200]],
  ['500', http(500), 'server_error', [500]],
  ['503 as a page', page(503), 'server_error', [500], { detail: 'HTTP status 503' }],
  ['server_error in a stream', inStream('server_error'), 'server_error', [500], { detail: 'Sorry.' }],
  ['a reset before headers', resets(), 'connection_failed', [500]],
  ['a reset within the stream', resetsMidStream(), 'connection_failed', [500]],
  ['a stream without its end', cutsStream(), 'connection_failed', [500]],
];

// S35, S43
describe('an API that always answers with', () => {
  test.for(FAILURES)('%s', async ([, behaviour, kind, waits, more]) => {
    const clock = FakeClock.instant();
    api.replyAlways(behaviour);
    const failure = errorOf(await ask(openAiSearch(api.url, { clock, maxRetries: 1 })));
    expect(failure).toMatchObject({ kind, ...more });
    const attempts = waits.length + 1;
    if ('attempts' in failure) expect(failure.attempts).toBe(attempts);
    if (kind === 'connection_failed') expect(failure).toMatchObject({ host: new URL(api.url).host });
    expect(api.requests).toHaveLength(attempts);
    expect(clock.slept).toEqual(waits);
  });
});

test.each([
  ['ECONNREFUSED', [500]],
  // It stays invalid.
  ['CERT_HAS_EXPIRED', []],
])('a connection that fails with %s is made again after %j ms', async (code, waits) => {
  const clock = FakeClock.instant();
  const fetch = async () =>
    Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) }));
  const failure = errorOf(await ask(openAiSearch(api.url, { clock, fetch, maxRetries: 1 })));
  expect(failure).toMatchObject({ kind: 'connection_failed', attempts: waits.length + 1, detail: code });
  expect(clock.slept).toEqual(waits);
});

import { describe, expect, test } from 'vitest';
import { readRefusal } from '../../../../../src/adapters/outbound/openai/refusal.ts';

const NOW = new Date('2026-11-21T03:00:00Z');

function read(body: unknown, { status = 200, headers = {} as Record<string, string> } = {}) {
  return readRefusal({ status, body, headers: new Headers(headers), now: NOW });
}

const waitOf = (headers: Record<string, string>, body: unknown = {}) =>
  read(body, { status: 429, headers }).retryAfterMs;
const waitIn = (message: string) => waitOf({}, { error: { message } });

// S43
describe('the status of a refusal in a response with status 200', () => {
  test.each<[body: object, status: number | undefined]>([
    [{ code: 429 }, 429],
    [{ code: '503', type: 'x' }, 503],
    [{ error: { code: 401 } }, 401],
    [{ message: 'x', statusCode: 529 }, 529],
    [{ error: { code: 1015, status: 'RESOURCE_EXHAUSTED' } }, 429],
    [{ error: { type: 'RateLimitError', code: null } }, 429],
    [{ type: 'throttling_error' }, 429],
    [{ type: 'overloaded_error' }, 503],
    [{ type: 'Timeout' }, 503],
    [{ type: 'InternalServerError' }, 500],
    [{ type: 'BadRequestError' }, 400],
    [{ type: 'invalid_request_error', code: null }, 400],
    [{ type: 'AuthenticationError' }, 401],
    [{ type: 'PermissionDeniedError' }, 403],
    [{ type: 'NotFoundError' }, 404],
    [{ code: 'something_new', type: 'server_error' }, undefined],
    [{ message: 'x' }, undefined],
    [{ detail: [{ type: 'extra_forbidden', loc: ['body', 'include'], msg: 'x' }] }, 422],
  ])('%j: %s', (body, status) => {
    expect(read(body).status).toBe(status);
  });

  test('is the HTTP status otherwise', () => {
    expect(read({ error: { code: 429 } }, { status: 503 }).status).toBe(503);
  });
});

describe('the words of a refusal', () => {
  test.each<[body: unknown, message: string]>([
    [{ error: { message: 'No.' } }, 'No.'],
    [{ error: 'model "x" not found, try pulling it first' }, 'model "x" not found, try pulling it first'],
    [{ code: 'Client specified an invalid argument', error: 'Bad argument.' }, 'Bad argument.'],
    [{ detail: 'Not authenticated' }, 'Not authenticated'],
    [{ detail: { message: 'No.', error: 'Bad' } }, 'Bad: No.'],
    [
      {
        detail: [
          { loc: ['body', 'a', 'b'], msg: 'Bad' },
          { loc: ['body', 'c'], msg: 'Worse' },
        ],
      },
      'a.b: Bad; c: Worse',
    ],
    [{ success: false, errors: [{ code: 7003, message: 'No route' }] }, 'No route'],
    [{ title: 'Too many', status: 429, detail: 'Slow down' }, 'Too many: Slow down'],
    [{ error: { error: { message: 'Inner' } } }, 'Inner'],
    [
      { error: { message: 'Provider returned error', metadata: { raw: '{"error":{"message":"Why"}}' } } },
      'Provider returned error: Why',
    ],
    [
      { error: { message: 'Provider returned error', metadata: { raw: 'slow down' } } },
      'Provider returned error: slow down',
    ],
    [{ error: { message: 'A wrapper - {"error": {"message": "Why"}}. Fallbacks={}' } }, 'Why'],
    [{ fault: { faultstring: 'Quota' } }, 'Quota'],
    [[{ error: { message: 'In a list' } }], 'In a list'],
    [{ error: { message: '[{"path":["a"],"message":"Bad"},{"path":["b"],"message":"Worse"}]' } }, 'a: Bad; b: Worse'],
    [
      { title: 'Invalid', errors: { Include: ['Not known.', 'Not here.'], b: ['Bad'] } },
      'Invalid: Include: Not known.; Not here.; b: Bad',
    ],
    ['"just a text"', 'just a text'],
    ['upstream connect error', 'HTTP status 503: upstream connect error'],
    [
      '<html><head><title>503 Service Unavailable</title></head><body><h1>503 Service Unavailable</h1>nginx</body></html>',
      '503 Service Unavailable\nnginx',
    ],
    ['<!DOCTYPE html><title>Bad gateway</title><style>p{}</style><p>Try later.</p>', 'HTTP status 503: Try later.'],
    ['<html>503</html>', 'HTTP status 503'],
    ['', 'HTTP status 503'],
    [{ strange: ['body'] }, 'HTTP status 503: {"strange":["body"]}'],
  ])('%j', (body, message) => {
    expect(read(body, { status: 503 }).message).toBe(message);
  });
});

test.each<[body: unknown, param: string]>([
  [{ error: { message: 'x', param: 'reasoning.effort' } }, 'reasoning.effort'],
  [{ detail: [{ loc: ['body', 'reasoning', 'effort'], msg: 'x' }] }, 'reasoning.effort'],
  [{ error: { message: '[{"path":["reasoning","effort"],"message":"x"}]' } }, 'reasoning.effort'],
  [{ error: { message: '[{"path":["text"],"keys":["verbosity"],"message":"x"}]' } }, 'text.verbosity'],
  [{ errors: { service_tier: ['x'] } }, 'service_tier'],
  [{ errors: [{ message: 'x' }] }, ''],
  [{ errors: { message: 'x' } }, ''],
])('the parameter that %j refuses', (body, param) => {
  expect(read(body, { status: 400 }).param).toBe(param);
});

describe('the requested wait', () => {
  test.each<[headers: Record<string, string>, ms: number | undefined]>([
    [{ 'retry-after-ms': '1234', 'retry-after': '9' }, 1234],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '2m' }, 120_000],
    [{ 'retry-after': new Date(NOW.getTime() + 5000).toUTCString() }, 5000],
    [{ 'x-ratelimit-reset-tokens': '1m13.5s', 'x-ratelimit-remaining-tokens': '0' }, 73_500],
    [{ 'x-ratelimit-reset-requests': '120ms' }, 120],
    [{ 'x-ratelimit-reset-requests': '1h2m3s' }, 3_723_000],
    [{ 'x-ratelimit-reset-tokens': '17' }, 17_000],
    [{ 'x-ratelimit-reset-tokens': '2026-11-21T03:00:08Z' }, 8000],
    [{ 'x-ratelimit-reset': String(NOW.getTime() + 6000) }, 6000],
    [{ 'x-ratelimit-reset': String(NOW.getTime() / 1000 + 6) }, 6000],
    [
      {
        'x-ratelimit-reset-tokens': '3s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-requests': '6m0s',
        'x-ratelimit-remaining-requests': '59',
      },
      3000,
    ],
    [{ 'x-ratelimit-reset-tokens': '0s' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
  ])('%j: %s ms', (headers, ms) => {
    expect(waitOf(headers)).toBe(ms);
  });

  test.each<[message: string, ms: number | undefined]>([
    ['Please try again in 1.2s.', 1200],
    ['Try again in 17 seconds.', 17_000],
    ['Please retry after 1 minute.', 60_000],
    ['try again in 1 minute and 20 seconds', 80_000],
    ['Please try again in 6m0s. Visit us.', 360_000],
    ['Please wait 30 seconds before you retry.', 30_000],
    ['Please retry in 34.07s.', 34_070],
    ['Your limit resets in 2h.', 7_200_000],
    ['Retry-After: 12', 12_000],
    ['Limit resets at: 2026-11-21 03:00:09 UTC', 9000],
    ['Wait: 60 requests per minute are allowed.', undefined],
    ['Limit 30000, used 20 s ago.', undefined],
    ['Try again later.', undefined],
  ])('in "%s"', (message, ms) => {
    expect(waitIn(message)).toBe(ms);
  });

  test.each<[body: object, ms: number]>([
    [{ error: { message: 'x', retry_after: 30 } }, 30_000],
    [{ error: { message: 'x', metadata: { headers: { 'X-RateLimit-Reset': String(NOW.getTime() + 4000) } } } }, 4000],
    [{ error: { details: [{ '@type': 'RetryInfo', retryDelay: '34s' }] } }, 34_000],
    [{ status: 429, retry_after: 12, title: 'Error 1015' }, 12_000],
    [{ error: { message: 'x', resets_in_seconds: 5 } }, 5000],
  ])('in the body %j', (body, ms) => {
    expect(waitOf({}, body)).toBe(ms);
  });

  test('is not that of a limit if no limit was reached', () => {
    expect(read({}, { status: 500, headers: { 'x-ratelimit-reset-tokens': '5s' } }).retryAfterMs).toBeUndefined();
  });
});

test('a wait can be in a member that names its end', () => {
  expect(waitOf({}, { error: { reset_at: '2026-11-21T03:00:09Z' } })).toBe(9000);
});

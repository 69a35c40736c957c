import { once } from 'node:events';
import { err, ok } from 'neverthrow';
import nock from 'nock';
import { describe, expect, test } from 'vitest';
import { OpenAiProbe, type OpenAiProbeOptions } from '../../src/adapters/outbound/openai/openai-probe.ts';
import { FakeApiProbe, type FakeApiProbeOptions } from '../support/fake-api-probe.ts';
import { redactorOf } from '../support/redactor.ts';
import { type ApiState, describeApiProbe } from './describe-api-probe.ts';
import { nockPerTest } from './nock-kit.ts';
import { API_KEY, errorOf, never } from './search-kit.ts';

nockPerTest();

const HOST = 'https://api.test';

/** Answers each request for a path; returns the authorization of each. */
function serves(path: string | RegExp, status: number, body: nock.Body): readonly unknown[] {
  const keys: unknown[] = [];
  nock(HOST)
    .persist()
    .get(path)
    .reply(status, body)
    .on('request', ({ headers }) => keys.push(headers.authorization));
  return keys;
}

function probeOf(over: Partial<OpenAiProbeOptions> = {}): OpenAiProbe {
  return new OpenAiProbe({
    baseUrl: `${HOST}/v1`,
    apiKey: API_KEY,
    apiKeyVariable: 'OPENAI_API_KEY',
    route: 'api.test',
    fetch: globalThis.fetch,
    redactor: redactorOf(API_KEY),
    ...over,
  });
}

/** Ends only with its signal. */
const silent: typeof fetch = async (_, { signal } = {}) => {
  if (signal) await once(signal, 'abort');
  throw new Error('aborted');
};

const REJECTED = { error: { message: 'No.', type: 'invalid_request_error', code: 'invalid_api_key' } };

const ANSWERS: Readonly<Record<ApiState, readonly [status: number, body: nock.Body]>> = {
  'has every model': [200, {}],
  'lists no models': [404, '"Not Found"'],
  'refuses the key': [401, REJECTED],
  'does not respond': [200, {}],
};

const CONFIGURED: Readonly<Record<ApiState, FakeApiProbeOptions>> = {
  'has every model': {},
  'lists no models': { findModel: () => ok('unknown') },
  'refuses the key': {
    findModel: () => err({ kind: 'rejected_api_key', variable: 'OPENAI_API_KEY', detail: 'No.' }),
  },
  'does not respond': { reach: 'hangs', findModel: () => 'hangs' },
};

describeApiProbe('OpenAiProbe', async (state) => {
  serves(/.*/, ...ANSWERS[state]);
  return probeOf(state === 'does not respond' ? { fetch: silent } : {});
});
describeApiProbe('FakeApiProbe', async (state) => new FakeApiProbe(CONFIGURED[state]));

describe('reaching the API', () => {
  test.each([401, 503])('succeeds with any status, such as %d, and sends no key', async (status) => {
    const keys = serves('/v1/models', status, {});
    expect((await probeOf().reach(never()))._unsafeUnwrap()).toBe(status);
    expect(keys).toEqual([undefined]);
  });

  test('fails without a connection', async () => {
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const broken = async () => Promise.reject(new TypeError('fetch failed', { cause }));
    expect(errorOf(await probeOf({ fetch: broken }).reach(never()))).toMatchObject({
      kind: 'connection_failed',
      host: 'api.test',
      detail: 'ECONNREFUSED',
    });
  });
});

describe('a model', () => {
  const find = async (model: string) => probeOf().findModel(model, never());

  test('is found by its ID with the key, and may have a day on which it is shut down', async () => {
    const keys = serves('/v1/models/gpt-5.2', 200, { id: 'gpt-5.2', object: 'model' });
    serves('/v1/models/ft%3Agpt-5%2Fx%20y%3F%23', 200, { id: 'gpt-5', shutdown_date: '2026-12-11' });
    expect((await find('gpt-5.2'))._unsafeUnwrap()).toBe('found');
    expect((await find('ft:gpt-5/x y?#'))._unsafeUnwrap()).toEqual({ shutsDownOn: '2026-12-11' });
    expect(keys).toEqual([`Bearer ${API_KEY}`]);
  });

  test('is unknown to a server that says with an error that it has no list', async () => {
    const message = 'Invalid URL (GET /v1/models/x)';
    serves(/.*/, 404, { error: { message, type: 'invalid_request_error' } });
    expect((await find('gpt-5.2'))._unsafeUnwrap()).toBe('unknown');
  });

  const gone = { message: `The model 'gpt-5.2' does not exist: ${API_KEY}`, code: 'model_not_found' };

  test.each<[string, number, nock.Body, object]>([
    ['it does not exist', 404, { error: gone }, { kind: 'model_not_found', model: 'gpt-5.2' }],
    ['the API fails', 500, { error: { message: `No, ${API_KEY}.` } }, { kind: 'server_error' }],
    ['a page comes instead of JSON', 200, '<html>', { kind: 'unreadable_reply', detail: '<html>' }],
  ])('is not found if %s, and the failure does not show the key', async (_, status, body, expected) => {
    serves(/.*/, status, body);
    const failure = errorOf(await find('gpt-5.2'));
    expect(failure).toMatchObject(expected);
    expect(JSON.stringify(failure)).not.toContain(API_KEY);
  });
});

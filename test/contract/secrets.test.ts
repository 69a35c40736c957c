import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { StderrLogger } from '../../src/adapters/outbound/logger/stderr-logger.ts';
import { type Behaviour, fails, failsInStream, sendsBody, sendsJson } from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { redactorOf } from '../support/redactor.ts';
import { apiPerTest, ask, errorOf, openAiSearch } from './search-kit.ts';

const api = apiPerTest();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-secrets-'));
});

afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** Asks with a key and debug enabled; returns the failure and everything that was logged, as it leaves the process. */
async function failWith(behaviour: Behaviour, apiKey: string) {
  const stderr: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.push(String(text)) > 0);
  const clock = FakeClock.instant();
  const redactor = redactorOf(apiKey);
  const debugFile = join(folder, 'debug.log');
  const logger = new StderrLogger({ debug: true, debugFile, redactor, clock });
  api.reply(behaviour);
  const outcome = await ask(openAiSearch(api.url, { apiKey, clock, logger, redactor, maxRetries: 0 }));
  logger.close();
  expect(readFileSync(debugFile, 'utf8')).toBe(stderr.join(''));
  return { error: errorOf(outcome), log: stderr.join('') };
}

function unauthorized(shownKey: string): Behaviour {
  const message = `Incorrect API key provided: ${shownKey}. You can find your API key at https://platform.openai.com.`;
  return fails({
    status: 401,
    error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' },
  });
}

describe('a 401 of the API, which repeats the key', () => {
  // The key, and how real bodies show it: long keys with asterisks, short keys in full.
  test.each([
    ['sk-proj-abcdefghijklmnop1234', 'sk-proj-********************1234', /sk-proj|1234/],
    ['sk-abcdefghijklmnopqrstuvwxyz', 'sk-abcde*****************wxyz', /sk-abc|wxyz/],
    ['invalid_key', 'invalid_key', /invalid_key/],
    ['test', 'test', /provided: test/],
    ['gateway-key-0123456789', 'gateway-**********6789', /gateway-\*|6789/],
  ])('the key %s shown as %s is neither in the failure nor in the debug log', async (apiKey, shown, trace) => {
    const { error, log } = await failWith(unauthorized(shown), apiKey);
    expect(error).toMatchObject({ kind: 'rejected_api_key', variable: 'OPENAI_API_KEY' });
    expect(JSON.stringify(error)).not.toMatch(trace);
    expect(log).toMatch(/error attempt=1 status=401/);
    expect(log.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '')).not.toMatch(trace);
  });

  test('nor is it if the error is inside a stream', async () => {
    const message = 'Incorrect API key provided: sk-abcde*****************wxyz.';
    const { error, log } = await failWith(
      failsInStream({ code: 'invalid_api_key', message }),
      'sk-abcdefghijklmnopwxyz',
    );
    expect(error.kind).toBe('rejected_api_key');
    expect(`${JSON.stringify(error)}${log}`).not.toMatch(/sk-abc|wxyz/);
  });
});

describe('the key, wherever a server repeats it', () => {
  const KEY = 'gateway.key/0123456789+=';
  const error = (message: string, over: object = {}) => ({
    message,
    type: 'invalid_request_error',
    param: null,
    code: null,
    ...over,
  });

  test.each<[string, Behaviour]>([
    ['the message of a 400', fails({ status: 400, error: error(`Bearer ${KEY} cannot do this.`) })],
    ['the type of a 500', fails({ status: 500, error: error('Sorry.', { type: KEY }) })],
    ['the code of a 400', fails({ status: 400, error: error('Sorry.', { code: KEY }) })],
    ['the param of a 400', fails({ status: 400, error: error('Sorry.', { param: KEY }) })],
    ['a failure in a stream', failsInStream({ code: 'server_error', message: `Key ${KEY} failed.` })],
    ['the code of a failure in a stream', failsInStream({ code: KEY, message: 'Sorry.' })],
    ['a page with status 502', sendsBody({ status: 502, contentType: 'text/plain', body: `denied ${KEY}` })],
    ['a page with status 200', sendsBody({ contentType: 'text/html', body: `<html>${KEY}</html>` })],
    ['JSON that is not a reply', sendsJson({ echo: { authorization: KEY } })],
    ['an unknown status', sendsJson({ status: KEY, output: [] })],
    // Cut at 300 characters: half of a key is a key too.
    ['the 300th character of a message', fails({ status: 400, error: error(`${'x'.repeat(290)}${KEY}`) })],
    ['the 300th character of a body', fails({ status: 400, error: error(`${'x'.repeat(275)}${KEY}`) })],
  ])('%s', async (_name, behaviour) => {
    const { error, log } = await failWith(behaviour, KEY);
    expect(JSON.stringify(error)).not.toMatch(/gateway\.|0123456789/);
    expect(log).toMatch(/error attempt=1/);
    expect(log).not.toMatch(/gateway\.|0123456789/);
  });

  test('the debug log contains neither the question nor the instructions', async () => {
    const { log } = await failWith(fails({ status: 500, error: error('Sorry.') }), KEY);
    expect(log).not.toMatch(/What is new in Node|Answer well/);
  });
});

describe('a key that cannot be used', () => {
  test('is missing: the failure names the variable, and nothing is sent', async () => {
    const { networkCalls } = await import('../../src/adapters/outbound/openai/api-client.ts');
    const callFor = networkCalls({ apiKeyVariable: 'MY_KEY', baseUrl: api.url });
    expect(errorOf(await ask(openAiSearch(api.url, { callFor })))).toEqual({ kind: 'no_api_key', variable: 'MY_KEY' });
    expect(api.requests).toEqual([]);
  });

  test.each(['sk-with blank', 'sk-with\nnewline', 'sk-キー', ''])('is malformed: %j', async (apiKey) => {
    const error = errorOf(await ask(openAiSearch(api.url, { apiKey })));
    expect(error).toEqual({ kind: 'malformed_api_key', variable: 'OPENAI_API_KEY' });
    expect(api.requests).toEqual([]);
  });
});

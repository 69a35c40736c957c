import { expect, test } from 'vitest';
import { networkCalls } from '../../src/adapters/outbound/openai/api-client.ts';
import { type Behaviour, failsInStream, sendsBody, sendsJson } from '../support/behaviours.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { apiPerTest, ask, errorOf, openAiSearch } from './search-kit.ts';

const api = apiPerTest();

/** Asks once: the failure, and the debug log before keys are removed from its lines. */
async function failWith(behaviour: Behaviour, apiKey: string) {
  const logger = new RecordingLogger({ isDebug: true });
  api.reply(behaviour);
  const outcome = await ask(openAiSearch(api.url, { apiKey, logger, maxRetries: 0 }));
  return { error: errorOf(outcome), log: logger.lines.join('\n') };
}

const failing = (status: number, error: object) => sendsJson({ error }, status);
const rejected = (shown: string) => ({ code: 'invalid_api_key', message: `Incorrect API key provided: ${shown}.` });

// Real bodies show long keys with asterisks, which no redactor recognizes, and short keys in full.
test.each([
  ['a body with a part of the key', 'gateway-key-0123456789', failing(401, rejected('gateway-**6789'))],
  ['a body with a short key', 'test', failing(401, rejected('test'))],
  ['an event of a stream', 'gateway-key-0123456789', failsInStream(rejected('gateway-**6789'))],
])('of %s with status 401 nothing is shown or logged', async (_, apiKey, behaviour) => {
  const { error, log } = await failWith(behaviour, apiKey);
  expect(error).toMatchObject({ kind: 'rejected_api_key', variable: 'OPENAI_API_KEY' });
  expect(log).toMatch(/error attempt=1 status=401/);
  expect(JSON.stringify(error) + log).not.toMatch(/gateway-|6789|provided/);
});

const KEY = 'gateway.key/0123456789+=';

test.each<[string, Behaviour]>([
  ['the message of an error', failing(500, { message: `Bearer ${KEY} cannot do this.` })],
  ['the type of an error', failing(500, { message: 'Sorry.', type: KEY })],
  ['a failure in a stream', failsInStream({ code: KEY, message: `Key ${KEY} failed.` })],
  ['a page with status 502', sendsBody({ status: 502, contentType: 'text/plain', body: `denied ${KEY}` })],
  ['a page with status 200', sendsBody({ contentType: 'text/html', body: `<html>${KEY}</html>` })],
  ['JSON that is not a reply', sendsJson({ echo: { authorization: KEY } })],
  ['an unknown status', sendsJson({ status: KEY, output: [] })],
  // Half of a key is a key too.
  ['a message that is cut within the key', failing(500, { message: `${'x'.repeat(290)}${KEY}` })],
  ['a body that is cut within the key', failing(500, { message: `${'x'.repeat(275)}${KEY}` })],
])(
  'neither the failure nor the debug log contains the key that a server repeats in %s, or the question',
  async (_, behaviour) => {
    const { error, log } = await failWith(behaviour, KEY);
    expect(JSON.stringify(error) + log).not.toMatch(/gateway\.|0123456789|What is new in Node|Answer well/);
  },
);

test('without a key, the failure names the variable, and nothing is sent', async () => {
  const callFor = networkCalls({ apiKeyVariable: 'MY_KEY', baseUrl: api.url });
  expect(errorOf(await ask(openAiSearch(api.url, { callFor })))).toEqual({ kind: 'no_api_key', variable: 'MY_KEY' });
  expect(api.requests).toEqual([]);
});

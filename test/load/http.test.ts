import { expect, test } from 'vitest';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { answers, holds } from '../support/behaviours.ts';
import { begin, legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';

const ENV = {
  MCP_HTTP_MAX_CALLS_PER_TOKEN: '2000',
  MCP_HTTP_MAX_CONNECTIONS: '3000',
  OPENAI_MAX_CONCURRENCY: '2000',
};

const call = (number: number, meta: object = {}) =>
  legacy('tools/call', { name: 'answer', arguments: { query: `question ${number}` }, ...meta }, number);
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const JSON_ONLY = { Accept: 'application/json' };

test('1,000 calls in flight and 500 idle streams: each gets its answer', async () => {
  const api = await fakeApi();
  const held = holds();
  api.replyAlways(held);
  const { url } = await startHttpProcess({ env: { ...apiEnv(api), ...ENV } });
  const streams = numbers(500).map((number) =>
    begin(url, { body: call(number, { _meta: { progressToken: number } }) }),
  );
  await Promise.all(streams.map((stream) => stream.until('progress')));
  const calls = numbers(1000).map((number) => begin(url, { body: call(1000 + number), headers: JSON_ONLY }));
  await api.waitForRequests(1500);
  expect((await send(url, { body: legacy('ping') })).status).toBe(200);
  held.release(answers('Here.'));
  const answered = await Promise.all(calls.map(({ reply }) => reply));
  const streamed = await Promise.all(streams.map(({ reply }) => reply));
  expect(answered.map(({ message }) => [message.id, message.result?.isError])).toEqual(
    numbers(1000).map((number) => [1000 + number, undefined]),
  );
  expect(streamed.map(({ events }) => events.at(-1)?.id)).toEqual(numbers(500));
});

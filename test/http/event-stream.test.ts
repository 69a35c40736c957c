import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeLlmSearch, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { legacy, modern } from '../support/http-client.ts';
import { until } from '../support/until.ts';
import { serveHttp } from './serve-http.ts';

const QUESTION = { name: 'answer', arguments: { query: 'q' } };

test.each([
  ['2025-06-18', legacy('tools/call', { ...QUESTION, _meta: { progressToken: 0 } })],
  ['2026-07-28', modern('tools/call', QUESTION, { progressToken: 0 })],
])('a call with progress is an event stream, which opens before there is an answer (%s)', async (_, message) => {
  const search = repliesLate();
  const { begin } = await serveHttp({ llmSearch: new FakeLlmSearch(search.configured) });
  const call = begin(message);
  await call.until('notifications/progress');
  search.settle(ok(searchReply()));
  const reply = await call.reply;
  expect(reply.status).toBe(200);
  expect(reply.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  expect(reply.events).toMatchObject([
    { method: 'notifications/progress', params: { progressToken: 0, progress: 1 } },
    { id: 1, result: { structuredContent: { answer: 'Not Found.' } } },
  ]);
  expect(reply.text).toMatch(/^event: message\ndata: \{.*\}\n\n/);
  expect(reply.text).not.toMatch(/^id:/m);
});

test('an answer that takes more than 10 seconds becomes a stream, with a comment every 15 seconds', async () => {
  const clock = new FakeClock();
  const search = repliesLate();
  const llmSearch = new FakeLlmSearch(search.configured);
  const { begin } = await serveHttp({ clock, llmSearch });
  const call = begin(modern('tools/call', QUESTION));
  await until(() => llmSearch.requests.length > 0);

  await clock.advance(9_999);
  let hasHeaders = false;
  void call.response.then(() => {
    hasHeaders = true;
  });
  await clock.advance(0);
  expect(hasHeaders).toBe(false);
  await clock.advance(1);
  expect((await call.response).headers['content-type']).toBe('text/event-stream');

  await clock.advance(15_000);
  await call.until(': keepalive\n\n');
  await clock.advance(45_000);
  search.settle(ok(searchReply()));
  const reply = await call.reply;
  expect(reply.text.match(/: keepalive\n\n/g)).toHaveLength(4);
  expect(reply.events).toHaveLength(1);
  expect(clock.pendingSleeps).toBe(0);
});

test('a failure after the stream has opened is sent in the stream', async () => {
  const clock = new FakeClock();
  const llmSearch = new FakeLlmSearch(async () => {
    await clock.sleep(20_000, new AbortController().signal);
    throw new Error('planted');
  });
  const { begin } = await serveHttp({ clock, llmSearch });
  const call = begin(modern('tools/call', QUESTION));
  await until(() => llmSearch.requests.length > 0);
  await clock.advance(20_000);
  const reply = await call.reply;
  expect(reply.status).toBe(200);
  expect(reply.events).toMatchObject([{ id: 1, error: { code: -32603 } }]);
});

test.each(['application/json', 'application/json, text/event-stream;q=0'])(
  'a client that accepts only JSON (%s) gets it, however long it takes, without progress',
  async (Accept) => {
    const clock = new FakeClock();
    const search = repliesLate();
    const llmSearch = new FakeLlmSearch(search.configured);
    const { begin } = await serveHttp({ clock, llmSearch });
    const call = begin(legacy('tools/call', { ...QUESTION, _meta: { progressToken: 1 } }), { Accept });
    await until(() => llmSearch.requests.length > 0);
    await clock.advance(60_000);
    search.settle(ok(searchReply()));
    const reply = await call.reply;
    expect(reply.headers['content-type']).toBe('application/json');
    expect(reply.message.result).toBeDefined();
  },
);

test('a client that accepts only streams gets one', async () => {
  const { post } = await serveHttp();
  const reply = await post(legacy('tools/call', QUESTION), { Accept: 'text/event-stream' });
  expect(reply.events).toHaveLength(1);
});

test('protocol errors keep their status although the request has a progress token', async () => {
  const { post } = await serveHttp();
  expect((await post(modern('prompts/list', {}, { progressToken: 1 }))).status).toBe(404);
  const refused = await post(legacy('tools/call', { name: 'answer', _meta: { progressToken: 1 } }));
  expect(refused.headers['content-type']).toBe('application/json');
  const streamed = await post(modern('prompts/list'), { Accept: 'text/event-stream' });
  expect([streamed.status, streamed.headers['content-type']]).toEqual([404, 'application/json']);
});

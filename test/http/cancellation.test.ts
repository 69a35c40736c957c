import { expect, test } from 'vitest';
import { FakeLlmSearch, hangs, replies } from '../support/fake-llm-search.ts';
import { legacy, modern } from '../support/http-client.ts';
import { until } from '../support/until.ts';
import { serveHttp } from './serve-http.ts';

const QUESTION = { name: 'answer', arguments: { query: 'q' } };

test.each([
  ['2025-06-18, JSON', legacy('tools/call', QUESTION)],
  ['2026-07-28, a stream', modern('tools/call', QUESTION, { progressToken: 0 })],
])('a client that disconnects aborts its call upstream (%s)', async (_, message) => {
  const llmSearch = new FakeLlmSearch(hangs);
  const { begin, accessLines, untilLogged } = await serveHttp({ llmSearch });
  const call = begin(message);
  await until(() => llmSearch.requests.length === 1);
  call.leave();
  await untilLogged(1);
  expect(llmSearch.signals[0]?.aborted).toBe(true);
  expect(accessLines).toMatchObject([{ method: 'tools/call', tool: 'answer', outcome: 'cancelled' }]);
});

// S18
test('the same ID may be in flight many times: only the client that disconnects ends its call', async () => {
  const llmSearch = new FakeLlmSearch(hangs, replies());
  const { begin, post } = await serveHttp({ llmSearch });
  const leaving = begin(legacy('tools/call', { name: 'answer', arguments: { query: 'one' } }, 0));
  await until(() => llmSearch.requests.length === 1);
  const staying = await post(legacy('tools/call', { name: 'answer', arguments: { query: 'two' } }, 0));
  expect(staying.message.result).toBeDefined();
  const cancelled = await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0 } });
  expect(cancelled.status).toBe(202);
  expect(llmSearch.signals[0]?.aborted).toBe(false);
  leaving.leave();
  await until(() => llmSearch.signals[0]?.aborted === true);
});

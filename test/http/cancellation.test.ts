import { expect, test } from 'vitest';
import { FakeLlmSearch, hangs, replies } from '../support/fake-llm-search.ts';
import { legacy, modern } from '../support/http-client.ts';
import { serveHttp } from './serve-http.ts';

const QUESTION = { name: 'answer', arguments: { query: 'q' } };

test.each([
  ['2025-06-18, JSON', legacy('tools/call', QUESTION)],
  ['2025-06-18, a stream', legacy('tools/call', { ...QUESTION, _meta: { progressToken: 0 } })],
  ['2026-07-28, JSON', modern('tools/call', QUESTION)],
  ['2026-07-28, a stream', modern('tools/call', QUESTION, { progressToken: 0 })],
])('a client that disconnects aborts its call upstream (%s)', async (_, message) => {
  const { configured, asked, aborted } = observedHang();
  const { begin, accessLines, untilLogged } = await serveHttp({ llmSearch: new FakeLlmSearch(configured) });
  const call = begin(message);
  await asked;
  call.leave();
  await aborted;
  await untilLogged(1);
  expect(accessLines).toMatchObject([{ method: 'tools/call', tool: 'answer', outcome: 'cancelled' }]);
});

test('the same id may be in flight many times, and a client that disconnects ends only its own call', async () => {
  const first = observedHang();
  const llmSearch = new FakeLlmSearch(first.configured, replies());
  const { begin, post } = await serveHttp({ llmSearch });
  const leaving = begin(legacy('tools/call', { name: 'answer', arguments: { query: 'one' } }, 0));
  await first.asked;
  const staying = await post(legacy('tools/call', { name: 'answer', arguments: { query: 'two' } }, 0));
  expect(staying.message.result).toBeDefined();
  leaving.leave();
  await first.aborted;
});

// S18
test.each(['2025-06-18', '2026-07-28'])('a posted cancellation does not cancel another request (%s)', async (era) => {
  const { configured, asked, signal } = observedHang();
  const { begin, post } = await serveHttp({ llmSearch: new FakeLlmSearch(configured) });
  const call = begin(era === '2026-07-28' ? modern('tools/call', QUESTION) : legacy('tools/call', QUESTION));
  await asked;
  const cancelled = await post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  expect(cancelled.status).toBe(202);
  expect(signal().aborted).toBe(false);
  call.leave();
});

/** A search that hangs, and reports when it was asked and when it was aborted. */
function observedHang() {
  let onAsked: () => void = () => {};
  let onAborted: () => void = () => {};
  let seen = new AbortController().signal;
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const aborted = new Promise<void>((resolve) => {
    onAborted = resolve;
  });
  const configured: typeof hangs = (observer, signal) => {
    seen = signal;
    signal.addEventListener('abort', () => onAborted(), { once: true });
    onAsked();
    return hangs(observer, signal);
  };
  return { configured, asked, aborted, signal: () => seen };
}

import { expect, onTestFinished, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { answerOf, serveWithApi } from './serve.ts';

test('HTTP_PROXY leads the calls through the proxy', async () => {
  const proxy = await startProxy();
  const { api, server } = await serveWithApi({ env: { HTTP_PROXY: proxy.url } });
  api.replyAlways(answers('Through the proxy.'));
  expect(answerOf(await server.callTool('answer', { query: 'q' })).answer).toBe('Through the proxy.');
  expect(proxy.seen).toEqual([expect.stringContaining(new URL(api.url).host)]);
  expect(server.stderr()).toBe('');
});

test('NO_PROXY bypasses the proxy', async () => {
  const proxy = await startProxy();
  const { api, server } = await serveWithApi({ env: { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' } });
  api.replyAlways(answers('Directly.'));
  expect(answerOf(await server.callTool('answer', { query: 'q' })).answer).toBe('Directly.');
  expect(proxy.seen).toEqual([]);
});

async function startProxy() {
  const proxy = await startForwardProxy();
  onTestFinished(() => proxy.close());
  return proxy;
}

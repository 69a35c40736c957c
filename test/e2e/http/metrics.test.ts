import { expect, test } from 'vitest';
import { answers, holds } from '../../support/behaviours.ts';
import { legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { apiEnv, fakeApi } from '../serve.ts';

const call = (query: string, id: number) => legacy('tools/call', { name: 'answer', arguments: { query } }, id);

/** The metrics of a server, without their prefix. */
async function metricsOf(url: string): Promise<Record<string, number>> {
  const { text } = await send(new URL('/metrics', url).href, { method: 'GET' });
  const samples = text.matchAll(/^openai_responses_mcp_(\S+) (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, name, value]) => [name, Number(value)]));
}

test('a search that two calls share is counted once, and both calls are counted', async () => {
  const api = await fakeApi();
  const held = holds();
  api.replyAlways(held);
  const { url } = await startHttpProcess({ env: apiEnv(api) });
  const calls = [1, 2].map((id) => send(url, { body: call('the same', id) }));
  await expect.poll(() => metricsOf(url), { timeout: 10_000 }).toMatchObject({ calls_in_flight: 2 });
  await api.waitForRequests(1);
  held.release(answers('Sunny.', { search: 'weather' }));
  for (const { message } of await Promise.all(calls)) {
    expect(message.result).toMatchObject({ structuredContent: { used_search: true } });
  }
  expect(api.requests).toHaveLength(1);
  expect(await metricsOf(url)).toMatchObject({
    'calls_total{tool="answer",outcome="answered"}': 2,
    'searches_total{tool="answer"}': 1,
    'tokens_total{tool="answer",kind="input"}': 1200,
    'tokens_total{tool="answer",kind="output"}': 2,
  });
});

test('a queued call that gets its slot is no longer counted as waiting', async () => {
  const api = await fakeApi();
  const [first, second] = [holds(), holds()];
  api.reply(first, second);
  const { url } = await startHttpProcess({ env: { ...apiEnv(api), OPENAI_MAX_CONCURRENCY: '1' } });
  const calls = [1, 2].map((id) => send(url, { body: call(`question ${id}`, id) }));
  await expect.poll(() => metricsOf(url), { timeout: 10_000 }).toMatchObject({ calls_in_flight: 2, calls_waiting: 1 });
  await api.waitForRequests(1);
  first.release(answers('One.'));
  await api.waitForRequests(2);
  expect(await metricsOf(url)).toMatchObject({ calls_in_flight: 1, calls_waiting: 0 });
  second.release(answers('Two.'));
  await Promise.all(calls);
  expect(await metricsOf(url)).toMatchObject({ calls_in_flight: 0, calls_waiting: 0 });
});

import { expect, onTestFinished } from 'vitest';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { answers, holds } from '../support/behaviours.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { posixTest } from '../support/platform.ts';
import { startProxy } from '../support/round-robin-proxy.ts';

const call = (query: string, id: number) => legacy('tools/call', { name: 'answer', arguments: { query } }, id);

posixTest('signals')('a rolling restart of three processes that share no state loses no call', async () => {
  const api = await fakeApi();
  const replicas = await Promise.all([1, 2, 3].map(() => startHttpProcess({ env: apiEnv(api) })));
  const proxy = await startProxy(replicas.map(({ url }) => url));
  onTestFinished(() => proxy.close());
  const held = holds();
  api.replyAlways(held);
  const before = [0, 1, 2].map((id) => send(proxy.url, { body: call(`before ${id}`, id) }));
  await api.waitForRequests(3);

  replicas[0]?.kill('SIGTERM');
  const readiness = new URL('/readyz', replicas[0]?.url).href;
  await expect.poll(async () => (await send(readiness, { method: 'GET' })).status).toBe(503);
  const after = [3, 4, 5, 6].map((id) => send(proxy.url, { body: call(`after ${id}`, id) }));
  await api.waitForRequests(7);
  held.release(answers('Whole.'));

  for (const [id, reply] of (await Promise.all([...before, ...after])).entries()) {
    expect(reply.message).toMatchObject({ id, result: { structuredContent: { answer: 'Whole.' } } });
  }
  expect(await replicas[0]?.exited).toEqual({ code: 0, signal: null });
  expect(proxy.answeredBy.filter((index) => index === 0)).toHaveLength(1);
});

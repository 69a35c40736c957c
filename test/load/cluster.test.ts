import { expect, onTestFinished, test } from 'vitest';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { answers, holds } from '../support/behaviours.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { begin, legacy, modern, modernHeaders, send } from '../support/http-client.ts';
import { type HttpProcess, startHttpProcess } from '../support/http-process.ts';
import { CONTENT, playOpenAi } from '../support/openai-sequence.ts';
import { posixTest } from '../support/platform.ts';
import { type RoundRobinProxy, startProxy } from '../support/round-robin-proxy.ts';

interface Cluster {
  readonly api: FakeApi;
  readonly replicas: readonly HttpProcess[];
  readonly proxy: RoundRobinProxy;
}

/** Three processes that share no state, at one address. */
async function startCluster(): Promise<Cluster> {
  const api = await fakeApi();
  const replicas = await Promise.all([1, 2, 3].map(() => startHttpProcess({ env: apiEnv(api) })));
  const proxy = await startProxy(replicas.map(({ url }) => url));
  onTestFinished(() => proxy.close());
  return { api, replicas, proxy };
}

const call = (query: string, id: number, meta: object = {}) =>
  legacy('tools/call', { name: 'answer', arguments: { query }, _meta: meta }, id);

test("three replicas answer OpenAI's sequence like one", async () => {
  const { api, proxy } = await startCluster();
  api.replyAlways(answers('Here.'));
  for (let time = 0; time < 3; time += 1) {
    const replies = await playOpenAi(proxy.url, `question ${time}`);
    for (const [index, reply] of replies.entries()) expect(reply).toMatchObject({ ...CONTENT[index] });
  }
  expect(new Set(proxy.answeredBy)).toEqual(new Set([0, 1, 2]));
});

test('every replica serves clients of both eras, and tools/list is the same everywhere', async () => {
  const { proxy } = await startCluster();
  const bodies = [legacy('tools/list'), modern('tools/list')];
  const lists = await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (index) => {
      const body = bodies[index % 2] ?? legacy('tools/list');
      const headers = index % 2 === 1 ? modernHeaders(body) : {};
      return (await send(proxy.url, { body, headers })).message.result?.tools;
    }),
  );
  expect(new Set(lists.map((tools) => JSON.stringify(tools))).size).toBe(1);
});

test('progress is streamed while calls run on every replica', async () => {
  const { api, proxy } = await startCluster();
  const held = holds();
  api.replyAlways(held);
  const calls = [0, 1, 2].map((id) => begin(proxy.url, { body: call(`question ${id}`, id, { progressToken: id }) }));
  await Promise.all(calls.map((running, id) => running.until(`"progressToken":${id}`)));
  await api.waitForRequests(3);
  held.release(answers('At last.'));
  for (const [id, { reply }] of calls.entries()) {
    expect((await reply).events.at(-1)).toMatchObject({ id, result: { structuredContent: { answer: 'At last.' } } });
  }
  expect([...proxy.answeredBy].sort()).toEqual([0, 1, 2]);
});

posixTest('signals')('a rolling restart loses no call', async () => {
  const { api, replicas, proxy } = await startCluster();
  const held = holds();
  api.replyAlways(held);
  const before = [0, 1, 2].map((id) => send(proxy.url, { body: call(`before ${id}`, id) }));
  await api.waitForRequests(3);

  replicas[0]?.kill('SIGTERM');
  const readiness = new URL('/readyz', replicas[0]?.url).href;
  while ((await send(readiness, { method: 'GET' })).status !== 503) await nextTurn();
  const after = [3, 4, 5, 6].map((id) => send(proxy.url, { body: call(`after ${id}`, id) }));
  await api.waitForRequests(7);
  held.release(answers('Whole.'));

  for (const [id, reply] of (await Promise.all([...before, ...after])).entries()) {
    expect(reply.message).toMatchObject({ id, result: { structuredContent: { answer: 'Whole.' } } });
  }
  expect(await replicas[0]?.exited).toEqual({ code: 0, signal: null });
  expect(proxy.answeredBy.filter((index) => index === 0)).toHaveLength(1);
});

test('a replica that is killed loses no call: another one answers those that it had not answered', async () => {
  const { api, replicas, proxy } = await startCluster();
  const held = holds();
  api.replyAlways(held);
  const calls = [0, 1, 2, 3, 4, 5].map((id) => send(proxy.url, { body: call(`question ${id}`, id) }));
  await api.waitForRequests(6);
  replicas[1]?.kill('SIGKILL');
  await replicas[1]?.exited;
  // Two were sent to the replica that was killed; they reach the others again.
  await api.waitForRequests(8);
  held.release(answers('Still here.'));
  for (const [id, reply] of (await Promise.all(calls)).entries()) {
    expect(reply.message).toMatchObject({ id, result: { structuredContent: { answer: 'Still here.' } } });
  }
  expect(proxy.answeredBy).not.toContain(1);
  expect((await send(proxy.url, { body: call('one more', 7) })).status).toBe(200);
});

test('callers of different replicas share nothing, and one that leaves does not end the call of the other', async () => {
  const { api, proxy } = await startCluster();
  const held = holds();
  api.replyAlways(held);
  const [leaving, staying] = [0, 0].map((id) => begin(proxy.url, { body: call('the same', id) }));
  await api.waitForRequests(2);
  leaving?.leave();
  await api.until(() => api.requests.some(({ aborted }) => aborted));
  held.release(answers('For you.'));
  expect((await staying?.reply)?.message.result).toMatchObject({ structuredContent: { answer: 'For you.' } });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

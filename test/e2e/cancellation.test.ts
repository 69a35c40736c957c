import { expect, test } from 'vitest';
import { answers, fails, holds, neverAnswers, stallsAfterHeaders, stallsMidStream } from '../support/behaviours.ts';
import { serveWithApi } from './serve.ts';

test('answers calls in the order in which they finish', async () => {
  const { api, server } = await serveWithApi();
  const slow = holds();
  api.replyWith(({ body }) => (String(body.input).startsWith('slow') ? slow : answers('Quick.')));
  const first = server.callTool('answer', { query: 'slow' }, undefined, 1);
  await api.waitForRequests(1);
  await server.callTool('answer', { query: 'quick' }, undefined, 2);
  slow.release(answers('Slow.'));
  await first;
  expect(server.messages.map(({ id }) => id)).toEqual([2, 1]);
});

test('answers ping and tools/list while calls run', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(neverAnswers());
  for (let id = 1; id <= 20; id += 1) void server.callTool('answer', { query: `question ${id}` }, undefined, id);
  // As many as may run at a time; the others wait.
  await api.waitForRequests(16);
  expect((await server.request('ping', {}, 'ping')).result).toEqual({});
  expect((await server.request('tools/list', {}, 'list')).result?.tools).toHaveLength(3);
  expect(server.messages).toHaveLength(2);
  server.kill();
  await server.exited;
  expect(server.stderr()).toBe('');
});

test.for([
  ['before headers', neverAnswers()],
  ['after headers', stallsAfterHeaders()],
  ['in the middle of the stream', stallsMidStream()],
] as const)('a call cancelled %s is aborted upstream at once and gets no response', async ([, behaviour]) => {
  const { api, server } = await serveWithApi();
  api.replyAlways(behaviour);
  void server.callTool('answer', { query: 'q' }, { progressToken: 0 }, 0);
  await api.waitForRequests(1);
  server.notify('notifications/cancelled', { requestId: 0, reason: 'changed my mind' });
  await api.waitForAbort(0);
  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  // Progress may have been sent before.
  expect(server.messages.filter(({ id }) => id !== undefined)).toEqual([]);
  expect(api.requests).toHaveLength(1);
  expect(server.stderr()).toBe('');
});

test('a call cancelled on the very next line never reaches the API, or is aborted there', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(neverAnswers());
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'answer', arguments: { query: 'q' } } };
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
  server.sendRaw(`${JSON.stringify(call)}\n${JSON.stringify(cancel)}\n`);
  server.closeStdin();
  expect((await server.exited).code).toBe(0);
  expect(server.messages).toEqual([]);
  await api.until(() => api.requests.every(({ aborted }) => aborted));
});

test('a call cancelled while it waits to retry is not retried', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(fails({ ...RATE_LIMIT, headers: { 'retry-after': '30' } }));
  void server.callTool('answer', { query: 'q' }, undefined, 1);
  await api.waitForRequests(1);
  await api.until(() => api.openResponses() === 0);
  server.notify('notifications/cancelled', { requestId: 1 });
  // If the call were still waiting, the end of input would wait for it.
  server.closeStdin();
  expect((await server.exited).code).toBe(0);
  expect(server.messages).toEqual([]);
  expect(api.requests).toHaveLength(1);
});

test('cancels only the named call', async () => {
  const { api, server } = await serveWithApi();
  const held = holds();
  api.replyAlways(held);
  const kept = server.callTool('answer', { query: 'kept' }, undefined, 1);
  void server.callTool('answer', { query: 'dropped' }, undefined, 2);
  await api.waitForRequests(2);
  server.notify('notifications/cancelled', { requestId: 2 });
  await api.until(() => api.requests.some(({ aborted }) => aborted));
  held.release(answers('Still here.'));
  expect((await kept).result).toBeDefined();
  expect(server.messages.map(({ id }) => id)).toEqual([1]);
});

test.for([[{ requestId: 99 }], [{ requestId: '1' }], [{ requestId: null }], [{ requestId: {} }], [{}], [undefined]])(
  'a cancellation of no call, %j, is ignored',
  async ([params]) => {
    const { api, server } = await serveWithApi();
    const held = holds();
    api.replyAlways(held);
    const call = server.callTool('answer', { query: 'q' }, undefined, 1);
    await api.waitForRequests(1);
    server.notify('notifications/cancelled', params);
    await server.request('ping', {}, 2);
    held.release(answers('Here.'));
    expect((await call).result).toBeDefined();
    expect(server.messages).toHaveLength(2);
  },
);

test('a cancellation of initialize is ignored', async () => {
  const { server } = await serveWithApi();
  const response = server.request('initialize', { protocolVersion: '2025-06-18' }, 0);
  server.notify('notifications/cancelled', { requestId: 0 });
  expect((await response).result).toBeDefined();
});

test('the id of a cancelled call may be used again', async () => {
  const { api, server } = await serveWithApi();
  api.reply(neverAnswers(), answers('Second.'));
  void server.callTool('answer', { query: 'q' }, undefined, 1);
  await api.waitForRequests(1);
  server.notify('notifications/cancelled', { requestId: 1 });
  await api.waitForAbort(0);
  await server.request('ping', {}, 2);
  expect((await server.callTool('answer', { query: 'q' }, undefined, 1)).result).toBeDefined();
});

const RATE_LIMIT = {
  status: 429,
  error: { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
};

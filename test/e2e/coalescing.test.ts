import { describe, expect, test } from 'vitest';
import { answers, fails, holds, neverAnswers } from '../support/behaviours.ts';
import type { JsonRpcMessage } from '../support/mcp-output.ts';
import { answerOf, failureOf, serveWithApi } from './serve.ts';

const QUESTION = { query: 'What is new in Node.js?' };

/** A later call that has reached the API: every earlier request has been sent upstream by then, if it ever is. */
const LATER = { query: 'Something else?' };

const isProgressOf = (token: unknown) => (message: JsonRpcMessage) =>
  message.method === 'notifications/progress' && message.params?.progressToken === token;

describe('a question that is asked again during its search', () => {
  test('is one request upstream, and two answers', async () => {
    const { api, server } = await serveWithApi();
    const held = holds();
    api.reply(held);
    const first = server.callTool('answer', QUESTION, { progressToken: 'first' }, 1);
    await api.waitForRequests(1);
    const second = server.callTool('answer', { query: ` ${QUESTION.query}\n` }, { progressToken: 'second' }, 2);
    await server.waitFor(isProgressOf('second'));
    held.release(answers('A lot.', { search: 'node.js release notes' }));
    const [one, other] = await Promise.all([first, second]);
    expect(answerOf(one).answer).toMatch(/^A lot\./);
    expect(other.result?.structuredContent).toEqual(one.result?.structuredContent);
    expect(api.requests).toHaveLength(1);
    for (const token of ['first', 'second']) {
      const words = server.messages.filter(isProgressOf(token)).map(({ params }) => params?.message);
      expect(words).toContain('Searched: node.js release notes');
    }
  });

  test('continues for the second when the first is cancelled, as by a client after its timeout', async () => {
    const { api, server } = await serveWithApi();
    const held = holds();
    api.reply(held, neverAnswers());
    void server.callTool('answer', QUESTION, {}, 1);
    await api.waitForRequests(1);
    const second = server.callTool('answer', QUESTION, {}, 2);
    server.notify('notifications/cancelled', { requestId: 1, reason: 'timeout' });
    void server.callTool('answer', LATER, {}, 'later');
    await api.waitForRequests(2);
    expect(api.requests[0]?.aborted).toBe(false);
    held.release(answers('A lot.'));
    expect(answerOf(await second).answer).toBe('A lot.');
    expect(server.messages.map(({ id }) => id)).toEqual([2]);
  });

  test('is aborted upstream when both are cancelled', async () => {
    const { api, server } = await serveWithApi();
    api.replyAlways(neverAnswers());
    void server.callTool('answer', QUESTION, {}, 1);
    await api.waitForRequests(1);
    void server.callTool('answer', QUESTION, {}, 2);
    server.notify('notifications/cancelled', { requestId: 2 });
    server.notify('notifications/cancelled', { requestId: 1 });
    await api.waitForAbort(0);
    expect((await server.request('ping', {}, 'ping')).result).toEqual({});
    expect(server.messages.map(({ id }) => id)).toEqual(['ping']);
    expect(api.requests).toHaveLength(1);
  });

  test('fails for both when it fails', async () => {
    const { api, server } = await serveWithApi();
    const held = holds();
    api.reply(held);
    const calls = [1, 2].map((id) => server.callTool('answer', QUESTION, {}, id));
    await api.waitForRequests(1);
    held.release(fails({ status: 403, error: { message: 'No.', type: 'x', param: null, code: null } }));
    for (const call of calls) expect(failureOf(await call)).toContain('403');
    expect(api.requests).toHaveLength(1);
  });

  test('is searched again after it ended', async () => {
    const { api, server } = await serveWithApi();
    api.reply(answers('First.'), answers('Second.'));
    expect(answerOf(await server.callTool('answer', QUESTION)).answer).toBe('First.');
    expect(answerOf(await server.callTool('answer', QUESTION)).answer).toBe('Second.');
  });

  test('is searched again after it was abandoned', async () => {
    const { api, server } = await serveWithApi();
    api.reply(neverAnswers(), answers('Second.'));
    void server.callTool('answer', QUESTION, {}, 1);
    await api.waitForRequests(1);
    server.notify('notifications/cancelled', { requestId: 1 });
    expect(answerOf(await server.callTool('answer', QUESTION, {}, 2)).answer).toBe('Second.');
    await api.waitForAbort(0);
  });
});

test.for([
  ['another tool', 'answer_detailed', QUESTION],
  ['another question', 'answer', { query: 'What is new in Deno?' }],
  ['another hint', 'answer', { ...QUESTION, recency_days: 7 }],
  ['other sites', 'answer', { ...QUESTION, domains: ['nodejs.org'] }],
] as const)('%s is searched separately', async ([, tool, args]) => {
  const { api, server } = await serveWithApi();
  api.replyAlways(neverAnswers());
  void server.callTool('answer', QUESTION, {}, 1);
  void server.callTool(tool, args, {}, 2);
  await api.waitForRequests(2);
});

test('two processes share nothing', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(neverAnswers());
  const other = await serveWithApi({ env: { OPENAI_BASE_URL: api.url } });
  void server.callTool('answer', QUESTION);
  void other.server.callTool('answer', QUESTION);
  await api.waitForRequests(2);
});

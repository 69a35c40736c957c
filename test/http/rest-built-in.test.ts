import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { FakeLlmSearch, fails, hangs, replies, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { type Reply, send } from '../support/http-client.ts';
import { ScriptedToolServer } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { serveGateway } from './serve-gateway.ts';

const json = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>;
const ANSWER = { server: 'openai-responses-mcp', toolName: 'answer' };
const INPUT = { query: 'What does HTTP 404 mean?' };

// S63
test('an answer tool is called like a tool of a server', async () => {
  const llmSearch = new FakeLlmSearch(replies({ text: 'Not Found.' }), replies({ text: 'Again.' }));
  const { call, at } = await serveGateway({}, { llmSearch });
  expect(json(await call({ ...ANSWER, input: INPUT }))).toEqual({
    success: true,
    result: { answer: 'Not Found.', used_search: false, citations: [], model: 'gpt-5.2' },
  });
  const reply = await send(at('/mcp/tools/openai-responses-mcp/answer'), { body: INPUT });
  expect(json(reply)).toEqual({ answer: 'Again.', used_search: false, citations: [], model: 'gpt-5.2' });
});

test('its description has the time limit of a question', async () => {
  const { get } = await serveGateway({});
  const { tools } = json(await get('/mcp/tools?server=openai-responses-mcp')) as { tools: object[] };
  expect(tools[0]).toMatchObject({
    name: 'answer',
    title: 'Answer with web search',
    server: 'openai-responses-mcp',
    timeout: 300_000,
    inputSchema: { required: ['query'] },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  });
});

test('its input is checked before anything is asked', async () => {
  const llmSearch = new FakeLlmSearch();
  const { call, at } = await serveGateway({}, { llmSearch });
  for (const reply of [
    await call({ ...ANSWER, input: { query: '?', max_results: 'many' } }),
    await send(at('/mcp/tools/openai-responses-mcp/answer'), { body: { query: '?', max_results: 'many' } }),
  ]) {
    expect(reply.status).toBe(400);
    expect(json(reply)).toMatchObject({
      error: {
        code: 'VALIDATION_ERROR',
        details: { errors: [{ path: '/max_results', message: 'must be an integer, 1 or greater' }] },
      },
    });
  }
  expect(llmSearch.requests).toEqual([]);
});

test('a failed question is an answer of the tool', async () => {
  const llmSearch = new FakeLlmSearch(fails({ kind: 'content_filtered' }), fails({ kind: 'content_filtered' }));
  const { call, at } = await serveGateway({}, { llmSearch });
  const reply = await call({ ...ANSWER, input: INPUT });
  expect(reply.status).toBe(200);
  expect(json(reply)).toMatchObject({
    success: false,
    error: { code: 'TOOL_EXECUTION_ERROR', message: expect.stringContaining('answer failed') },
  });
  const onRoute = await send(at('/mcp/tools/openai-responses-mcp/answer'), { body: INPUT });
  expect(onRoute.status).toBe(422);
});

test('an unknown tool is 404', async () => {
  const { call } = await serveGateway({ files: new ScriptedToolServer() });
  const reply = await call({ ...ANSWER, toolName: 'none' });
  expect(reply.status).toBe(404);
  expect(json(reply)).toMatchObject({
    error: {
      code: 'TOOL_NOT_FOUND',
      message:
        'The server openai-responses-mcp has no tool "none". Its tools are answer, answer_detailed, answer_quick.',
    },
  });
});

describe('the time limit', () => {
  test('of the call can be shorter, and then the request to the API is aborted', async () => {
    const llmSearch = new FakeLlmSearch(hangs);
    const { beginCall, clock } = await serveGateway({}, { llmSearch });
    const call = beginCall({ ...ANSWER, input: INPUT, timeout: 2000 });
    await until(() => llmSearch.requests.length === 1);
    await clock.advance(1999);
    expect(llmSearch.signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    const reply = await call.reply;
    expect(reply.status).toBe(504);
    expect(json(reply)).toMatchObject({ error: { code: 'TIMEOUT_ERROR', details: { timeoutMs: 2000 } } });
    expect(llmSearch.signals[0]?.aborted).toBe(true);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('of the configuration still applies to a call with a longer one', async () => {
    const llmSearch = new FakeLlmSearch(hangs);
    const { beginCall, clock } = await serveGateway({}, { llmSearch, config: { timeoutMs: 5000 } });
    const call = beginCall({ ...ANSWER, input: INPUT, timeout: 900_000 });
    await until(() => llmSearch.requests.length === 1);
    await clock.advance(5000);
    // It is the question that failed.
    expect(json(await call.reply)).toMatchObject({ success: false, error: { code: 'TOOL_EXECUTION_ERROR' } });
  });
});

test('a caller that leaves aborts the request to the API', async () => {
  const llmSearch = new FakeLlmSearch(hangs);
  const { beginCall, untilLogged, accessLines } = await serveGateway({}, { llmSearch });
  const call = beginCall({ ...ANSWER, input: INPUT });
  await until(() => llmSearch.requests.length === 1);
  call.leave();
  await untilLogged(1);
  expect(llmSearch.signals[0]?.aborted).toBe(true);
  expect(accessLines).toMatchObject([{ tool: 'answer', status: 499, outcome: 'cancelled' }]);
});

test('a shutdown answers the questions in flight', async () => {
  const search = repliesLate();
  const llmSearch = new FakeLlmSearch(search.configured);
  const { server, clock, beginCall, call } = await serveGateway({}, { llmSearch });
  const running = beginCall({ ...ANSWER, input: INPUT });
  await until(() => llmSearch.requests.length === 1);
  const drained = server.drain();
  expect((await call({ ...ANSWER, input: INPUT })).status).toBe(503);
  search.settle(ok(searchReply()));
  expect((await running.reply).status).toBe(200);
  await clock.advance(100);
  await drained;
});

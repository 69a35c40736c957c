import { expect, test } from 'vitest';
import { FakeLlmSearch, fails, hangs, replies } from '../support/fake-llm-search.ts';
import { type Reply, send } from '../support/http-client.ts';
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

test('its input is checked before anything is asked', async () => {
  const llmSearch = new FakeLlmSearch();
  const { call } = await serveGateway({}, { llmSearch });
  const reply = await call({ ...ANSWER, input: { query: '?', max_results: 'many' } });
  expect(reply.status).toBe(400);
  expect(json(reply)).toMatchObject({
    error: {
      code: 'VALIDATION_ERROR',
      details: { errors: [{ path: '/max_results', message: 'must be an integer, 1 or greater' }] },
    },
  });
  expect(llmSearch.requests).toEqual([]);
});

test('a failed question is an answer of the tool', async () => {
  const llmSearch = new FakeLlmSearch(fails({ kind: 'content_filtered' }));
  const { call } = await serveGateway({}, { llmSearch });
  const reply = await call({ ...ANSWER, input: INPUT });
  expect(reply.status).toBe(200);
  expect(json(reply)).toMatchObject({
    success: false,
    error: { code: 'TOOL_EXECUTION_ERROR', message: expect.stringContaining('answer failed') },
  });
});

test('the time limit of the call can be shorter, and then the request to the API is aborted', async () => {
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

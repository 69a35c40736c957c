import { expect, test } from 'vitest';
import { answers, fails, holds, resetsBeforeHeaders } from '../support/behaviours.ts';
import { newFile } from './files.ts';
import { API_KEY, answerOf, closedPort, failureOf, serve, serveWithApi } from './serve.ts';

/**
 * An error of the API; `retry-after-ms` keeps the waits of retries short. What each kind of failure is reported as is tested
 * end to end in test/reliability/faults.test.ts.
 */
const apiError = (status: number, code: string | null, message: string) =>
  fails({
    status,
    error: { message, type: 'invalid_request_error', param: null, code },
    headers: { 'retry-after-ms': '1' },
  });

test('a 500 is retried three times by default', async () => {
  const { api, server } = await serveWithApi();
  api.replyAlways(apiError(500, null, 'The server had an error.'));
  const message = failureOf(await server.callTool('answer', { query: 'q' }));
  expect(message).toMatch(/^The API failed; gave up after 4 attempts: The server had an error\./);
  expect(api.requests).toHaveLength(4);
});

test('a retry that succeeds gives the answer, and reports the number of attempts', async () => {
  const { api, server } = await serveWithApi();
  api.reply(apiError(500, null, 'no'), resetsBeforeHeaders(), answers('At last.'));
  const response = await server.callTool('answer', { query: 'q' });
  expect(answerOf(response).answer).toBe('At last.');
  expect(Object.values(response.result?._meta as object)[0]).toMatchObject({ attempts: 3 });
});

test('a model that was shut down is reported with the date and the successor (ruling A19)', async () => {
  const { api, server } = await serveWithApi({ env: { MODEL_ANSWER: 'o3-mini-2025-01-31' } });
  api.replyAlways(apiError(404, 'model_not_found', 'The model does not exist.'));
  const message = failureOf(await server.callTool('answer', { query: 'q' }));
  expect(message).toContain('The model o3-mini-2025-01-31 does not exist');
  expect(message).toContain('shutdown for 2026-10-23 and recommends gpt-5.6-sol.');
  expect(api.requests).toHaveLength(1);
});

test('a refused connection names host and cause', async () => {
  const port = await closedPort();
  const server = serve({
    env: { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_MAX_RETRIES: '0' },
  });
  const message = failureOf(await server.callTool('answer', { query: 'q' }));
  expect(message).toMatch(new RegExp(`^Could not connect to 127\\.0\\.0\\.1:${port} \\(1 attempt, ECONNREFUSED\\)\\.`));
});

test('a missing key fails the call and nothing else', async () => {
  const server = serve();
  expect((await server.initialize()).result).toBeDefined();
  expect((await server.request('tools/list')).result).toBeDefined();
  const response = await server.callTool('answer', { query: 'q' });
  expect(response.error).toMatchObject({ code: -32001, message: 'answer failed' });
  expect(failureOf(response)).toMatch(/^No API key: the environment variable OPENAI_API_KEY is not set\./);
  expect((await server.request('ping')).result).toEqual({});
  expect(server.stderr()).toBe('');
});

test.for([['sk-...'], [`\${OPENAI_API_KEY}`], ['<your key>']])(
  'the placeholder %s instead of a key fails the call, and is not sent',
  async ([key = '']) => {
    const { api, server } = await serveWithApi({ env: { OPENAI_API_KEY: key } });
    const message = failureOf(await server.callTool('answer', { query: 'q' }));
    expect(message).toMatch(/^The key in OPENAI_API_KEY is a placeholder/);
    expect(api.requests).toEqual([]);
  },
);

test('a question that is not recorded fails, with the recorded ones', async () => {
  const server = serve({ args: ['--stdio', '--offline'] });
  const message = failureOf(await server.callTool('answer', { query: 'What is love?' }));
  expect(message).toMatch(/^No recording matches this question \(offline mode\)/);
  expect(message).toContain('HTTP 404 の意味は？');
});

test('a failure does not affect other calls', async () => {
  const { api, server } = await serveWithApi();
  const held = holds();
  api.replyWith(({ body }) => (String(body.input).startsWith('good') ? held : apiError(403, null, 'No.')));
  const good = server.callTool('answer', { query: 'good' });
  expect((await server.callTool('answer', { query: 'bad' })).error?.code).toBe(-32001);
  held.release(answers('Good.'));
  expect(answerOf(await good).answer).toBe('Good.');
});

test('server.tool_errors: result turns failures into results, invalid arguments too; an unknown tool remains an error', async () => {
  const { api, server } = await serveWithApi({
    args: ['--stdio', '--config', newFile('config.yaml', 'server: {tool_errors: result}\n')],
  });
  api.replyAlways(apiError(403, null, 'No entry.'));
  const failed = await server.callTool('answer', { query: 'q' });
  expect(failed).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: expect.stringMatching(/^answer failed: .*No entry\./) }], isError: true },
  });
  const refused = await server.callTool('answer', {});
  expect(refused.result).toEqual({
    content: [
      { type: 'text', text: expect.stringMatching(/^answer failed: query: required; pass a non-empty string/) },
    ],
    isError: true,
  });
  expect((await server.callTool('unknown', {})).error).toEqual({
    code: -32601,
    message: 'Unknown tool',
    data: { message: 'There is no tool "unknown". The tools are answer, answer_detailed, answer_quick.' },
  });
});

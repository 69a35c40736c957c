import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import {
  answers,
  cutsStream,
  emptyBody,
  fails,
  failsHtml,
  failsInStream,
  holds,
  neverAnswers,
  resetsBeforeHeaders,
  resetsMidStream,
  stallsMidStream,
} from '../support/behaviours.ts';
import { newFile } from './files.ts';
import { API_KEY, answerOf, failureOf, serve, serveWithApi } from './serve.ts';

/** An error of the API; `retry-after-ms` keeps the waits of retries short. */
const apiError = (status: number, code: string | null, message: string, param: string | null = null) =>
  fails({
    status,
    error: { message, type: 'invalid_request_error', param, code },
    headers: { 'retry-after-ms': '1' },
  });

const lasting = [
  ['401', apiError(401, 'invalid_api_key', `Incorrect API key provided: ${API_KEY}.`), /\(401\).*OPENAI_API_KEY/],
  ['403', apiError(403, 'unsupported_country', 'Country not supported.'), /\(403\): Country not supported\./],
  ['404', apiError(404, 'model_not_found', 'The model does not exist', 'model'), /gpt-5\.2.*The model does not exist/],
  ['400', apiError(400, null, 'Something is wrong.'), /refused the request: Something is wrong\./],
  ['a spent quota', apiError(429, 'insufficient_quota', 'You exceeded your current quota.'), /quota.*billing/],
] as const;

test.for(lasting)('%s fails at once, in words that say what to do', async ([, behaviour, words]) => {
  const { api, server } = await serveWithApi();
  api.replyAlways(behaviour);
  const response = await server.callTool('answer', { query: 'q' });
  expect(response.error).toMatchObject({ code: -32001, message: 'answer failed' });
  expect(Object.keys(response.error?.data as object)).toEqual(['message']);
  expect(failureOf(response)).toMatch(words);
  expect(api.requests).toHaveLength(1);
  expect(server.stdout + server.stderr()).not.toContain(API_KEY);
});

const passing = [
  ['429', apiError(429, 'rate_limit_exceeded', 'Rate limit reached.'), /rate.*\(429\) after 4 attempts: Rate limit/],
  ['500', apiError(500, null, 'The server had an error.'), /failed after 4 attempts: The server had an error\./],
] as const;

test.for(passing)('%s is retried three times and no more', async ([, behaviour, words]) => {
  const { api, server } = await serveWithApi();
  api.replyAlways(behaviour);
  expect(failureOf(await server.callTool('answer', { query: 'q' }))).toMatch(words);
  expect(api.requests).toHaveLength(4);
});

test.for([
  ['a page of a proxy', failsHtml(502), /failed after 1 attempt.*502/],
  ['a failure inside the stream', failsInStream({ code: 'server_error', message: 'It broke.' }), /It broke\./],
  ['a connection reset before the answer', resetsBeforeHeaders(), /127\.0\.0\.1:\d+ after 1 attempt \(ECONNRESET\)/],
  ['a connection reset within the answer', resetsMidStream(), /127\.0\.0\.1:\d+ after 1 attempt/],
  ['a stream without its end', cutsStream(), /127\.0\.0\.1:\d+ after 1 attempt/],
  ['an empty body', emptyBody(), /\S/],
  ['an empty answer', answers(''), /without any text/],
  ['an answer cut before it began', answers('', { incomplete: 'max_output_tokens' }), /max_output_tokens/],
  ['a filtered answer', answers('', { incomplete: 'content_filter' }), /content filter/],
] as const)('%s is a failure in words', async ([, behaviour, words]) => {
  const { api, server } = await serveWithApi({ env: { OPENAI_MAX_RETRIES: '0' } });
  api.replyAlways(behaviour);
  const response = await server.callTool('answer', { query: 'q' });
  expect(response.error).toMatchObject({ code: -32001, message: 'answer failed' });
  expect(failureOf(response)).toMatch(words);
  expect(api.requests).toHaveLength(1);
  expect(server.junk).toEqual([]);
});

test('mends what a retry mends, and tells how many attempts it took', async () => {
  const { api, server } = await serveWithApi();
  api.reply(apiError(500, null, 'no'), resetsBeforeHeaders(), answers('At last.'));
  const response = await server.callTool('answer', { query: 'q' });
  expect(answerOf(response).answer).toBe('At last.');
  expect(Object.values(response.result?._meta as object)[0]).toMatchObject({ attempts: 3 });
});

test('asks again without an optional parameter that the model refuses', async () => {
  const { api, server } = await serveWithApi();
  api.reply(apiError(400, 'unsupported_value', 'Unsupported value.', 'reasoning.effort'), answers('Fine.'));
  expect(answerOf(await server.callTool('answer', { query: 'q' })).answer).toBe('Fine.');
  expect(api.requests.map(({ body }) => body.reasoning)).toEqual([{ effort: 'medium' }, undefined]);
});

test('a refused connection names host and cause', async () => {
  const port = await freePort();
  const server = serve({
    env: { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, OPENAI_MAX_RETRIES: '0' },
  });
  const message = failureOf(await server.callTool('answer', { query: 'q' }));
  expect(message).toMatch(new RegExp(`127\\.0\\.0\\.1:${port} after 1 attempt \\(ECONNREFUSED\\)`));
});

test.for([
  ['that never answers', neverAnswers()],
  ['that stalls in its answer', stallsMidStream()],
] as const)('an API %s is given up at the deadline, upstream too', async ([, behaviour]) => {
  const { api, server } = await serveWithApi({ env: { OPENAI_API_TIMEOUT: '300' } });
  api.replyAlways(behaviour);
  expect(failureOf(await server.callTool('answer', { query: 'q' }))).toMatch(/^No answer within 300 ms\./);
  await api.waitForAbort(0);
  expect(api.requests).toHaveLength(1);
});

test('a wait beyond the deadline fails at once and says how long it would be', async () => {
  const { api, server } = await serveWithApi();
  const error = { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' };
  api.replyAlways(fails({ status: 429, error, headers: { 'retry-after': '3600' } }));
  expect(failureOf(await server.callTool('answer', { query: 'q' }))).toMatch(/asks to wait 3600 s/);
  expect(api.requests).toHaveLength(1);
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

test('a question that is not recorded fails, and says what is', async () => {
  const server = serve({ args: ['--stdio', '--offline'] });
  const message = failureOf(await server.callTool('answer', { query: 'What is love?' }));
  expect(message).toMatch(/not recorded.*offline/);
  expect(message).toContain('HTTP 404 の意味は？');
});

test('a failure costs nothing around it', async () => {
  const { api, server } = await serveWithApi();
  const held = holds();
  api.replyWith(({ body }) => (String(body.input).startsWith('good') ? held : apiError(403, null, 'No.')));
  const good = server.callTool('answer', { query: 'good' });
  expect((await server.callTool('answer', { query: 'bad' })).error?.code).toBe(-32001);
  held.release(answers('Good.'));
  expect(answerOf(await good).answer).toBe('Good.');
});

test('server.tool_errors: result turns failures into results, bad arguments too; an unknown tool stays an error', async () => {
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
    content: [{ type: 'text', text: expect.stringMatching(/^answer failed: query: got nothing/) }],
    isError: true,
  });
  expect((await server.callTool('nobody', {})).error).toEqual({ code: -32601, message: 'Unknown tool' });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

import { expect, onTestFinished, test } from 'vitest';
import { answers, works } from '../support/behaviours.ts';
import { startCleanProcess } from '../support/clean-process.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { posixTest } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { answerOf, apiEnv, failureOf, fakeApi, serve } from './serve.ts';

const QUESTION = { query: 'What changed in HTTP in this century?' };
const HANDLE = /la1\.d\.resp_\w+\.[\w-]{22}/;

/** The environment of a program that answers detailed questions in the long way. */
const envOf = (api: FakeApi, timeoutMs = 20_000) => ({
  ...apiEnv(api),
  LONG_ANSWERS: 'answer_detailed',
  OPENAI_API_TIMEOUT: String(timeoutMs),
});

async function serveLong(api: FakeApi, timeoutMs?: number) {
  const server = serve({ env: envOf(api, timeoutMs) });
  await server.initialize();
  return server;
}

const linesOf = ({ requests }: FakeApi) =>
  requests.map(({ method, path }) => `${method} ${path.replace(/resp_\w+/, 'ID').replace(/\?.*/, '')}`);
const POST = 'POST /v1/responses';
const LOOK = 'GET /v1/responses/ID';
const CANCEL = 'POST /v1/responses/ID/cancel';

test('a client that gives up and asks again follows its request; its cancellation cancels at the API', async () => {
  const api = await fakeApi();
  const working = works(answers('A lot.'));
  api.reply(working, works());
  const server = await serveLong(api);
  void server.callTool('answer_detailed', QUESTION, {}, 1);
  await api.waitForRequests(1);
  server.notify('notifications/cancelled', { requestId: 1, reason: 'Request timed out' });
  const again = server.callTool('answer_detailed', QUESTION, {}, 2);
  working.release();
  expect(answerOf(await again).answer).toBe('A lot.');
  expect(linesOf(api).filter((line) => line === POST)).toHaveLength(1);
  expect(api.requests[0]?.body).toMatchObject({ background: true, store: false });

  void server.callTool('answer_detailed', { query: 'Another?' }, { progressToken: 'p' }, 3);
  await server.waitFor(({ params }) => params?.progressToken === 'p' && /[Tt]hinking/.test(String(params.message)));
  server.notify('notifications/cancelled', { requestId: 3 });
  await expect.poll(() => linesOf(api).at(-1)).toBe(CANCEL);
});

test('the handle of a process that was killed gets the answer over MCP, over REST and in ask', async () => {
  const api = await fakeApi();
  api.reply(answers('Warm.'), works(answers('A lot.')));
  const killed = await serveLong(api, 2000);
  // What the first question loads does not count against the limit of the second.
  await killed.callTool('answer', QUESTION);
  const [handle = ''] = HANDLE.exec(answerOf(await killed.callTool('answer_detailed', QUESTION)).answer) ?? [];
  killed.kill('SIGKILL');
  await killed.exited;

  api.endResponses();
  const server = await serveLong(api);
  expect(answerOf(await server.callTool('answer', { query: handle })).answer).toBe('A lot.');
  const changed = await server.callTool('answer', { query: `${handle.slice(0, -1)}_` });
  expect(failureOf(changed)).toMatch(/No answer with this ID/);
  const { url } = await startHttpProcess({ env: envOf(api) });
  const overHttp = legacy('tools/call', { name: 'answer', arguments: { query: handle } });
  expect((await send(url, { body: overHttp })).text).toContain('A lot.');
  const rest = new URL('/mcp/tools/openai-responses-mcp/answer_detailed', url).href;
  expect((await send(rest, { body: { query: handle } })).text).toContain('A lot.');
  expect((await runCli(['ask', handle], { env: envOf(api) })).stdout).toBe('A lot.\n');
  expect(linesOf(api)).toEqual([POST, POST, LOOK, LOOK, LOOK, LOOK]);
});

posixTest('signals')('Ctrl-C cancels a question at the API', async () => {
  const api = await fakeApi();
  api.reply(works());
  const args = ['ask', '--tool', 'answer_detailed', QUESTION.query];
  const { child, exited, removeHome } = startCleanProcess(args, { env: envOf(api), timeoutMs: 150_000 });
  onTestFinished(removeHome);
  await api.waitForRequests(1);
  child.kill('SIGINT');
  expect(await exited).toEqual({ code: 130, signal: null });
  await expect.poll(() => linesOf(api)).toEqual([POST, CANCEL]);
});

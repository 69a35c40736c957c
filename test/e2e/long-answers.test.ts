import { describe, expect, test } from 'vitest';
import { answers, fails, works } from '../support/behaviours.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
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

/** An API that works on an answer, and the handle that a server gave out before it was killed. */
async function startSearch() {
  const api = await fakeApi();
  api.reply(answers('Warm.'), works(answers('A lot.')));
  const server = await serveLong(api, 2000);
  // What the first question loads does not count against the limit of the second.
  await server.callTool('answer', QUESTION);
  const [handle = ''] = HANDLE.exec(answerOf(await server.callTool('answer_detailed', QUESTION)).answer) ?? [];
  server.kill('SIGKILL');
  await server.exited;
  return { api, handle };
}

describe('a question that takes long', () => {
  test.each(['Request timed out', 'timeout'])(
    'is one request, although its client gives up (%s) and asks again',
    async (reason) => {
      const api = await fakeApi();
      const working = works(answers('A lot.'));
      api.reply(working);
      const server = await serveLong(api);
      void server.callTool('answer_detailed', QUESTION, {}, 1);
      await api.waitForRequests(1);
      server.notify('notifications/cancelled', { requestId: 1, reason });
      const again = server.callTool('answer_detailed', QUESTION, {}, 2);
      working.release();
      expect(answerOf(await again).answer).toBe('A lot.');
      expect(linesOf(api).filter((line) => line === POST)).toHaveLength(1);
      expect(api.requests[0]?.body).toMatchObject({ background: true, store: false });
    },
  );

  test('is cancelled at the API by a cancellation message', async () => {
    const api = await fakeApi();
    api.reply(works());
    const server = await serveLong(api);
    void server.callTool('answer_detailed', QUESTION, { progressToken: 'p' }, 1);
    await server.waitFor(({ params }) => /[Tt]hinking/.test(JSON.stringify(params)));
    server.notify('notifications/cancelled', { requestId: 1 });
    await api.waitForRequests(2);
    expect(linesOf(api)).toEqual([POST, CANCEL]);
  });
});

describe('the handle of a process that was killed', () => {
  test('gets the answer over MCP, over REST and in ask', async () => {
    const { api, handle } = await startSearch();
    api.endResponses();
    expect(answerOf(await (await serveLong(api)).callTool('answer', { query: handle })).answer).toBe('A lot.');
    const { url } = await startHttpProcess({ args: ['--http=127.0.0.1:0'], env: envOf(api) });
    const overHttp = legacy('tools/call', { name: 'answer', arguments: { query: handle } });
    expect((await send(url, { body: overHttp })).text).toContain('A lot.');
    const rest = new URL('/mcp/tools/openai-responses-mcp/answer_detailed', url).href;
    expect((await send(rest, { body: { query: handle } })).text).toContain('A lot.');
    expect((await runCli(['ask', handle], { env: envOf(api) })).stdout).toBe('A lot.\n');
    expect(linesOf(api)).toEqual([POST, POST, LOOK, LOOK, LOOK, LOOK]);
  });

  test('is unknown if the response has expired, or the handle was changed', async () => {
    const { api, handle } = await startSearch();
    const error = { message: 'Not found.', type: 'invalid_request_error', param: 'id', code: null };
    api.replyToLooks(fails({ status: 404, error }));
    const server = await serveLong(api);
    for (const query of [handle, `${handle.slice(0, -1)}_`])
      expect(failureOf(await server.callTool('answer', { query }))).toMatch(/No answer with this ID/);
    expect(linesOf(api)).toEqual([POST, POST, LOOK]);
  });
});

/** Numbers from 0 up to `below`, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test('no answer whose response ID had arrived is lost, in 200 interleavings', async () => {
  const api = await fakeApi();
  const next = random(38);
  api.replyAlways(works(answers('A lot.'), 3));
  let server = await serveLong(api, 150);
  let id = 0;
  /** The questions whose responses are known, with their handles. */
  const known = new Map<string, string>();
  const ask = (query: string) => {
    id += 1;
    return server.callTool('answer_detailed', { query }, {}, id);
  };
  for (let step = 0; step < 200; step += 1) {
    const query = `Question ${next(40)}?`;
    const handle = known.get(query);
    const event = next(20);
    if (event === 0) {
      server.kill('SIGKILL');
      await server.exited;
      server = await serveLong(api, 150);
    } else if (event < 4 && handle !== undefined) {
      id += 1;
      const posts = linesOf(api).filter((line) => line === POST).length;
      void server.callTool('answer_detailed', { query: handle }, {}, id);
      server.notify('notifications/cancelled', { requestId: id, reason: event === 1 ? 'timed out' : 'Stop' });
      expect(linesOf(api).filter((line) => line === POST)).toHaveLength(posts);
    } else if (known.size < 12) {
      const response = await ask(handle ?? query);
      // The time limit may pass before the response ID arrives: such an answer has no handle.
      if (handle === undefined && response.error !== undefined) continue;
      known.set(query, HANDLE.exec(answerOf(response).answer)?.[0] ?? '');
    }
  }
  api.endResponses();
  server = await serveLong(api);
  for (const handle of known.values()) expect(answerOf(await ask(handle)).answer).toBe('A lot.');
  expect(known.size).toBeGreaterThan(0);
  expect(linesOf(api)).not.toContain(CANCEL);
});

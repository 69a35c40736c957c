import {
  Client,
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  resultFromTaskOutcome,
} from '@modelcontextprotocol/ext-tasks/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answers, stallsMidStream, works } from '../support/behaviours.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { HOME_VARIABLE } from '../support/platform.ts';
import { newFile, newFolder } from './files.ts';
import { answerOf, apiEnv, BUILT_PROGRAM, failureOf, fakeApi, serve, serveWithApi, textOf } from './serve.ts';

const QUESTION = { query: 'What changed in HTTP in this century?' };
const HANDLE = /la1\.d\.resp_\w+\.[\w-]{22}/;

/** A server that answers detailed questions in the long way, and waits as long as `limits` says. */
function serveLong(api: FakeApi, limits = '') {
  const config = newFile('config.yaml', `long_answers: { tools: [answer_detailed] }\n${limits}`);
  return serve({ args: ['--stdio', '--config', config], env: apiEnv(api) });
}

describe('a question that takes long', () => {
  test('is one request, although its client times out and asks again', async () => {
    const api = await fakeApi();
    const working = works(answers('A lot.'));
    api.reply(working);
    const server = serveLong(api);
    await server.initialize();
    void server.callTool('answer_detailed', QUESTION, {}, 1);
    await api.waitForRequests(1);
    server.notify('notifications/cancelled', { requestId: 1, reason: 'Request timed out' });
    const again = server.callTool('answer_detailed', QUESTION, {}, 2);
    working.release();
    expect(answerOf(await again).answer).toBe('A lot.');
    expect(api.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /v1/responses']);
    expect(api.requests[0]?.body).toMatchObject({ background: true, store: false });
  });

  test('is found by its handle after the process was killed, also by one that records answers', async () => {
    const api = await fakeApi();
    const working = works(answers('A lot.'));
    api.reply(working);
    const first = serveLong(api, 'request: { timeout_ms: 1000 }\n');
    const unfinished = answerOf(await first.callTool('answer_detailed', QUESTION));
    expect(unfinished.answer).toMatch(/not finished/);
    const [handle = ''] = HANDLE.exec(unfinished.answer) ?? [];
    first.kill('SIGKILL');
    working.release();
    const second = serveLong(api);
    expect(answerOf(await second.callTool('answer', { query: handle })).answer).toBe('A lot.');
    const recording = serveLong(api, `llm: { record: ${JSON.stringify(newFolder())} }\n`);
    expect(JSON.stringify(await recording.initialize())).not.toContain('not finished');
    expect(answerOf(await recording.callTool('answer', { query: handle })).answer).toBe('A lot.');
    expect(failureOf(await recording.callTool('answer', { query: `${handle}x` }))).toMatch(/No answer with this ID/);
    expect(api.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('a call in progress at the end of the input is answered in time, and its search continues', async () => {
    const { api, server } = await serveWithApi({
      env: { LONG_ANSWERS: 'answer_detailed', OPENAI_API_TIMEOUT: '1000' },
    });
    api.reply(stallsMidStream(8, answers('A long answer.')));
    await server.initialize();
    const answered = server.callTool('answer_detailed', { query: 'Why?' });
    server.closeStdin();
    expect(textOf(await answered)).toMatch(/not finished.*la1\.d\./s);
    expect(await server.exited).toMatchObject({ code: 0 });
    expect(api.requests.map(({ path }) => path)).toEqual(['/v1/responses']);
  });
});

const CLIENT_INFO = { name: 'e2e', version: '1.0.0' };
const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** Sends what the client does not know past it, with IDs of its own. */
function rawDispatchOver(transport: Transport): RawClientDispatch {
  const pending = new Map<unknown, (response: never) => void>();
  const received = transport.onmessage;
  transport.onmessage = (message: JSONRPCMessage, extra) => {
    const settle = 'id' in message && !('method' in message) ? pending.get(message.id) : undefined;
    if (settle === undefined) received?.(message, extra);
    else settle(message as never);
  };
  return (request) =>
    new Promise((resolve, reject) => {
      const id = `raw-${pending.size}`;
      pending.set(id, resolve as (response: never) => void);
      transport.send({ ...(request as object), jsonrpc: '2.0', id } as never).catch(reject);
    });
}

async function connectedSession(transport: Transport) {
  const client = new Client(CLIENT_INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode: 'auto' } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return createTaskSessionFromClient(client, {
    endpointId: 'e2e',
    rawDispatch: rawDispatchOver(transport),
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo: CLIENT_INFO, clientCapabilities: CAPABILITIES },
  });
}

/** The longer of the two intervals. */
const POLL_MS = 15_000;
const TASKS = 'long_answers: { tools: [answer_detailed], task_after_ms: 1 }\n';

/** A way to a new process, and how it ends. */
interface Connection {
  readonly transport: Transport;
  readonly end: () => Promise<unknown>;
}

describe.each([
  [
    'stdio',
    async (api: FakeApi): Promise<Connection> => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [BUILT_PROGRAM, '--stdio', '--config', newFile('config.yaml', TASKS)],
        env: { PATH: process.env.PATH ?? '', [HOME_VARIABLE]: newFolder(), ...apiEnv(api) },
        stderr: 'pipe',
      });
      return { transport, end: () => transport.close() };
    },
  ],
  [
    'HTTP',
    async (api: FakeApi): Promise<Connection> => {
      const { url, kill, exited } = await startHttpProcess({
        args: ['--http=127.0.0.1:0', '--config', newFile('config.yaml', TASKS)],
        env: apiEnv(api),
      });
      const end = () => {
        kill();
        return exited;
      };
      return { transport: new StreamableHTTPClientTransport(new URL(url)), end };
    },
  ],
])('the official client for tasks, over %s', (_, connectionFor) => {
  test('gets a task, and its answer', async () => {
    const api = await fakeApi();
    const working = works(answers('A lot.'));
    api.reply(working);
    const session = await connectedSession((await connectionFor(api)).transport);
    // The client looks after the interval that the task names.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const execution = await session.callTool('answer_detailed', QUESTION);
    expect(execution.kind).toBe('task');
    working.release();
    const settled = execution.settle();
    const looks = setInterval(() => vi.advanceTimersByTime(POLL_MS), 100);
    onTestFinished(() => clearInterval(looks));
    const { outcome } = await settled;
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { answer: 'A lot.' } });
    expect(api.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('resumes it in another process, after the first has ended', async () => {
    const api = await fakeApi();
    const working = works(answers('A lot.'));
    api.reply(working);
    const { transport, end } = await connectionFor(api);
    const execution = await (await connectedSession(transport)).callTool('answer_detailed', QUESTION);
    if (execution.kind !== 'task') throw new Error('The call did not become a task.');
    const reference = execution.serializeReference();
    await end();
    working.release();
    const another = await connectedSession((await connectionFor(api)).transport);
    const { outcome } = await (await another.resumeTask(reference)).settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { answer: 'A lot.' } });
    expect(api.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  test('cancels it, once', async () => {
    const api = await fakeApi();
    api.reply(works(answers('A lot.')));
    const session = await connectedSession((await connectionFor(api)).transport);
    const execution = await session.callTool('answer_detailed', QUESTION);
    await execution.cancel();
    await api.waitForRequests(2);
    expect(api.requests.map(({ path }) => path.replace(/resp_\w+/, 'ID'))).toEqual([
      '/v1/responses',
      '/v1/responses/ID/cancel',
    ]);
  });
});

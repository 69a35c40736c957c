import { expect, onTestFinished, test } from 'vitest';
import { newFile } from '../e2e/files.ts';
import { apiEnv, fakeApi } from '../e2e/serve.ts';
import { answers, works } from '../support/behaviours.ts';
import { legacy, modern, modernHeaders, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { startProxy } from '../support/round-robin-proxy.ts';

const QUESTION = { name: 'answer_detailed', arguments: { query: 'What changed in HTTP in this century?' } };
const TASKS = {
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
};

/** Two processes at one address, and a call that one of them has made a task. */
async function startTask() {
  const api = await fakeApi();
  const working = works(answers('A lot.'));
  api.reply(working);
  const config = newFile('config.yaml', 'long_answers: { tools: [answer_detailed], task_after_ms: 1 }\n');
  const start = () => startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env: apiEnv(api) });
  const replicas = await Promise.all([start(), start()]);
  const proxy = await startProxy(replicas.map(({ url }) => url));
  onTestFinished(() => proxy.close());
  const body = modern('tools/call', QUESTION, TASKS);
  const { result } = (await send(proxy.url, { body, headers: modernHeaders(body) })).message;
  const handle = String(result?.taskId);
  const killFirst = async () => {
    const replica = replicas[proxy.answeredBy[0] ?? 0];
    replica?.kill('SIGKILL');
    await replica?.exited;
  };
  const ask = async (url = proxy.url) => {
    const body = legacy('tools/call', { name: 'answer', arguments: { query: handle } });
    return (await send(url, { body })).message.result;
  };
  const getTask = async () => {
    const body = modern('tasks/get', { taskId: handle }, TASKS);
    const headers = { ...modernHeaders(body), 'Mcp-Name': handle };
    return (await send(proxy.url, { body, headers })).message.result;
  };
  const first = replicas[proxy.answeredBy[0] ?? 0]?.url;
  return { api, working, proxy, ask, getTask, killFirst, first };
}

const COMPLETED = { status: 'completed', result: { structuredContent: { answer: 'A lot.' } } };

test('a search of a killed process is found by its handle and its task in another one', async () => {
  const { api, working, proxy, ask, getTask, killFirst } = await startTask();
  await killFirst();
  working.release();
  expect(await ask()).toMatchObject(COMPLETED.result);
  expect(await getTask()).toMatchObject(COMPLETED);
  expect(new Set(proxy.answeredBy).size).toBe(2);
  expect(api.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
});

test('also one whose answer the killed process had', async () => {
  const { api, working, ask, getTask, killFirst, first } = await startTask();
  working.release();
  await ask(first);
  await killFirst();
  expect(await getTask()).toMatchObject(COMPLETED);
  expect(api.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
});

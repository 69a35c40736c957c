import { expect, onTestFinished, test } from 'vitest';
import { answers, stallsMidStream } from '../support/behaviours.ts';
import { startCleanProcess } from '../support/clean-process.ts';
import { posixTest } from '../support/platform.ts';
import { newFile } from './files.ts';
import { apiEnv, fakeApi, serveWithApi } from './serve.ts';

const config = () => newFile('config.yaml', 'request: { background: true }\n');
const CANCEL = /^\/v1\/responses\/resp_\w+\/cancel$/;

posixTest('signals')('Ctrl-C cancels the background response of ask', async () => {
  const api = await fakeApi();
  api.reply(stallsMidStream(8, answers('A long answer.')));
  const { child, exited, removeHome } = startCleanProcess(['ask', 'Why?', '--config', config(), '--debug'], {
    env: apiEnv(api),
    timeoutMs: 30_000,
  });
  onTestFinished(removeHome);
  await api.waitForRequests(1);
  // The first events are read before the process gets the signal.
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.kill('SIGINT');
  expect(await exited).toMatchObject({ code: 130 });
  expect(api.requests[1]?.path).toMatch(CANCEL);
});

test('the cancellation by a client cancels the background response', async () => {
  const { api, server } = await serveWithApi({ args: ['--stdio', '--config', config()] });
  api.reply(stallsMidStream(8, answers('A long answer.')));
  await server.initialize();
  void server.callTool('answer', { query: 'Why?' }, { progressToken: 'p' }, 7).catch(() => undefined);
  await server.waitFor(
    ({ method, params }) => method === 'notifications/progress' && /characters/.test(String(params?.message)),
  );
  server.notify('notifications/cancelled', { requestId: 7 });
  await api.waitForRequests(2);
  expect(api.requests[1]?.path).toMatch(CANCEL);
});

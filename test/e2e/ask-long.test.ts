import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { answers, cutsStream, fails, works } from '../support/behaviours.ts';
import { startCleanProcess } from '../support/clean-process.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { posixTest } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { apiEnv, fakeApi, serve, textOf } from './serve.ts';

const envOf = (api: FakeApi) => ({ ...apiEnv(api), LONG_ANSWERS: 'answer_detailed', OPENAI_API_TIMEOUT: '300' });
const NO_RETRIES = { OPENAI_MAX_RETRIES: '0' };

/** An API that works on an answer, and the handle that a server gave out before it was killed. */
async function startSearch() {
  const api = await fakeApi();
  api.reply(answers('Warm.'), works(answers('Canberra.')));
  const server = serve({ env: { ...envOf(api), OPENAI_API_TIMEOUT: '2000' } });
  await server.initialize();
  // What the first question loads does not count against the limit of the second.
  await server.callTool('answer', { query: 'Warm?' });
  const text = textOf(await server.callTool('answer_detailed', { query: 'What is the capital of Australia?' }));
  server.kill('SIGKILL');
  await server.exited;
  const [handle = ''] = /^la1\.d\.\S+$/m.exec(JSON.parse(text).answer) ?? [];
  expect(handle).not.toBe('');
  return { api, handle };
}

/** Runs ask, and presses Ctrl-C when the API has got so many requests. */
async function interrupt(api: FakeApi, args: readonly string[], requests: number, env = {}) {
  const { child, exited, removeHome } = startCleanProcess(args, { env: { ...envOf(api), ...env }, timeoutMs: 150_000 });
  onTestFinished(removeHome);
  await Promise.race([api.waitForRequests(requests), once(child, 'exit')]);
  // Longer than the limit of a call of a client.
  await wait(2000);
  child.kill('SIGINT');
  return exited;
}

const cancellations = ({ requests }: FakeApi) => requests.filter(({ path }) => path.endsWith('/cancel')).length;

test('ask with a handle that cannot be looked at names it again', async () => {
  const { api, handle } = await startSearch();
  const error = { message: 'No.', type: 'invalid_request_error', param: null, code: null };
  api.replyToLooks(fails({ status: 403, error }));
  const { code, stdout, stderr } = await runCli(['ask', '--json', handle], { env: envOf(api) });
  expect(code).toBe(1);
  expect(JSON.parse(stdout).error).toMatchObject({ kind: 'interrupted', handle });
  expect(stderr).toMatch(/\(403\)/);
  expect(stderr.endsWith(`ask again with this query: ${handle}\n`)).toBe(true);
  expect(cancellations(api)).toBe(0);
});

posixTest('signals')('Ctrl-C stops waiting for a handle, and cancels nothing', async () => {
  const { api, handle } = await startSearch();
  expect(await interrupt(api, ['ask', handle], 3)).toEqual({ code: 130, signal: null });
  expect(cancellations(api)).toBe(0);
});

posixTest('signals')('Ctrl-C cancels a question at the API', async () => {
  const api = await fakeApi();
  api.reply(works());
  const args = ['ask', '--tool', 'answer_detailed', 'What is the capital of Australia?'];
  expect(await interrupt(api, args, 1)).toEqual({ code: 130, signal: null });
  await expect.poll(() => cancellations(api)).toBe(1);
});

posixTest('signals')('Ctrl-C cancels a question also while it is looked at', async () => {
  const api = await fakeApi();
  api.reply(cutsStream(2, answers('Canberra.')));
  const args = ['ask', '--tool', 'answer_detailed', 'What is the capital of Australia?'];
  expect(await interrupt(api, args, 2, NO_RETRIES)).toEqual({ code: 130, signal: null });
  expect(api.requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'POST']);
  await expect.poll(() => cancellations(api)).toBe(1);
});

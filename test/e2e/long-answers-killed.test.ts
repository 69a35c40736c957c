import { describe, expect, test } from 'vitest';
import { answers, type Behaviour, holds, works } from '../support/behaviours.ts';
import type { FakeApi } from '../support/fake-api.ts';
import { posixTest } from '../support/platform.ts';
import { answerOf, apiEnv, fakeApi, serve } from './serve.ts';

const QUESTION = { query: 'What changed in HTTP in this century?' };
const ANSWER = answers('A long answer.');

function serveLong(api: FakeApi) {
  return serve({ env: { ...apiEnv(api), LONG_ANSWERS: 'answer_detailed' } });
}

/** A process with a question that the API handles as `behaviour` says. */
async function ask(behaviour: Behaviour) {
  const api = await fakeApi();
  api.reply(behaviour);
  const server = serveLong(api);
  await server.initialize();
  void server.callTool('answer_detailed', QUESTION, { progressToken: 'p' });
  await api.waitForRequests(1);
  return { api, server };
}

/** The requests of another process, which answers the same question. */
async function askAgain(api: FakeApi) {
  const asked = api.requests.length;
  api.reply(ANSWER);
  expect(answerOf(await serveLong(api).callTool('answer_detailed', QUESTION)).answer).toBe('A long answer.');
  return api.requests.slice(asked).map(({ method, path }) => `${method} ${path}`);
}

/** Resolves when events after `response.created` were read. */
const readAnswer = ({ waitFor }: Awaited<ReturnType<typeof ask>>['server']) =>
  waitFor(({ method, params }) => method === 'notifications/progress' && /characters/.test(String(params?.message)));

describe('after a process was killed, the same question is another search', () => {
  test('if the API had not accepted the request: nothing was begun', async () => {
    const { api, server } = await ask(holds());
    server.kill('SIGKILL');
    await api.waitForAbort(0);
    expect(await askAgain(api)).toEqual(['POST /v1/responses']);
  });

  test.each([
    ['the response was accepted, but its ID not read', works(ANSWER, 0), undefined],
    ['its ID was known to no client', works(ANSWER, 8), readAnswer],
  ])('if %s: that one is lost', async (_, working, read) => {
    const { api, server } = await ask(working);
    await read?.(server);
    server.kill('SIGKILL');
    await server.exited;
    expect(await askAgain(api)).toEqual(['POST /v1/responses']);
    expect(api.requests).toHaveLength(2);
  });
});

posixTest('signals')('an orderly exit cancels a search whose ID is known to no client', async () => {
  const { api, server } = await ask(works(ANSWER, 8));
  await readAnswer(server);
  server.kill('SIGTERM');
  await server.exited;
  expect(api.requests.map(({ path }) => path.replace(/resp_\w+/, 'ID'))).toEqual([
    '/v1/responses',
    '/v1/responses/ID/cancel',
  ]);
});

import { expect, test } from 'vitest';
import { answerOf, apiEnv, fakeApi, serve } from '../e2e/serve.ts';
import { answers, works } from '../support/behaviours.ts';
import type { FakeApi } from '../support/fake-api.ts';

async function serveLong(api: FakeApi, timeoutMs: number) {
  const env = { ...apiEnv(api), LONG_ANSWERS: 'answer_detailed', OPENAI_API_TIMEOUT: String(timeoutMs) };
  const server = serve({ env });
  await server.initialize();
  return server;
}

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
      void server.callTool('answer_detailed', { query: handle }, {}, id);
      server.notify('notifications/cancelled', { requestId: id, reason: event === 1 ? 'timed out' : 'Stop' });
    } else if (known.size < 12) {
      const response = await ask(handle ?? query);
      // The time limit may pass before the response ID arrives: such an answer has no handle.
      if (handle === undefined && response.error !== undefined) continue;
      known.set(query, /la1\.d\.resp_\w+\.[\w-]{22}/.exec(answerOf(response).answer)?.[0] ?? '');
    }
  }
  api.endResponses();
  server = await serveLong(api, 20_000);
  for (const handle of known.values()) expect(answerOf(await ask(handle)).answer).toBe('A lot.');
  expect(known.size).toBeGreaterThan(0);
  expect(api.requests.filter(({ path }) => path.endsWith('/cancel'))).toEqual([]);
});

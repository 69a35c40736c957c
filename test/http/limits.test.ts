import { connect } from 'node:net';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { FakeClock } from '../support/fake-clock.ts';
import { FakeLlmSearch, hangsUntilTold, searchReply } from '../support/fake-llm-search.ts';
import { legacy, send } from './http-client.ts';
import { serveHttp } from './serve-http.ts';

const TOKENS = [
  { caller: 'alice', token: 'alice-token-0123456789' },
  { caller: 'bob', token: 'bob-token-0123456789' },
];
const [ALICE, BOB] = TOKENS.map(({ token }) => ({ Authorization: `Bearer ${token}` }));

test('a token has so many calls in flight and no more; others are not touched by it', async () => {
  const [first, second] = [hangsUntilTold(), hangsUntilTold()];
  const llmSearch = new FakeLlmSearch(first.told, second.told, async () => ok(searchReply()));
  const { begin, post } = await serveHttp({ llmSearch, http: { tokens: TOKENS, maxCallsPerToken: 1 } });
  const call = (id: string) =>
    legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: id } }, id);

  const alice = begin(call('a1'), ALICE);
  const bob = begin(call('b1'), BOB);
  await Promise.all([alice.until('progress'), bob.until('progress')]);

  const refused = await post(call('a2'), ALICE);
  expect(refused.status).toBe(429);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.message).toMatchObject({ id: 'a2', error: { code: -32600 } });
  expect((await post(legacy('tools/list'), ALICE)).status).toBe(200);

  first.settle(ok(searchReply()));
  second.settle(ok(searchReply()));
  await Promise.all([alice.reply, bob.reply]);
  expect((await post(call('a3'), ALICE)).status).toBe(200);
});

test('a call that its client left gives its place back', async () => {
  const search = hangsUntilTold();
  const llmSearch = new FakeLlmSearch(search.told, async () => ok(searchReply()));
  const { begin, post, untilLogged } = await serveHttp({ llmSearch, http: { maxCallsPerToken: 1 } });
  const call = legacy('tools/call', { name: 'answer', arguments: { query: 'q' }, _meta: { progressToken: 1 } });
  const left = begin(call);
  await left.until('progress');
  left.leave();
  search.settle(ok(searchReply()));
  await untilLogged(1);
  expect((await post(call)).status).toBe(200);
});

test('serves so many connections at a time and no more', async () => {
  const { url } = await serveHttp({ clock: new FakeClock(), http: { maxConnections: 1 } });
  const { port } = new URL(url);
  const first = connect(Number(port), '127.0.0.1');
  await new Promise<void>((resolve) => first.once('connect', () => resolve()));
  await expect(send(url, { body: legacy('ping') })).rejects.toThrow();
  first.destroy();
});

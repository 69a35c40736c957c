import { expect, test } from 'vitest';
import { ask, startCore } from '../../support/core.ts';
import { settled } from '../../support/fake-clock.ts';
import { FakeLlmSearch, hangs, replies } from '../../support/fake-llm-search.ts';

test('an unknown id is ignored', async () => {
  const { app } = startCore();
  app.cancelRequest({ requestKey: 'test/1' });
  expect((await app.answerQuery(ask())).isOk()).toBe(true);
});

test('a question that was answered is ignored', async () => {
  const { app } = startCore({ llmSearch: new FakeLlmSearch(replies(), replies()) });
  await app.answerQuery(ask());
  app.cancelRequest({ requestKey: 'test/1' });
  expect((await app.answerQuery(ask())).isOk()).toBe(true);
});

test('only the question with that key ends', async () => {
  const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(hangs, replies()) });
  const first = app.answerQuery(ask({ requestKey: 'a/1', args: { query: 'one' } }));
  const second = app.answerQuery(ask({ requestKey: 'b/1', args: { query: 'two' } }));
  await settled();
  app.cancelRequest({ requestKey: 'a/1' });
  expect((await first).isErr()).toBe(true);
  expect((await second).isOk()).toBe(true);
  expect(llmSearch.requests).toHaveLength(2);
});

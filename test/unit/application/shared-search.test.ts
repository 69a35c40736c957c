import { getEventListeners } from 'node:events';
import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { ask, never, startCore } from '../../support/core.ts';
import { settled } from '../../support/fake-clock.ts';
import { FakeLlmSearch, hangs, hangsUntilTold, replies, searchReply } from '../../support/fake-llm-search.ts';

const first = ask({ requestKey: 'test/1' });
const again = ask({ requestKey: 'test/2' });

describe('the same question of the same caller, while it is searched', () => {
  test('is asked once and answered twice', async () => {
    const reply = hangsUntilTold();
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(reply.told) });
    const answers = [app.answerQuery(first, never()), app.answerQuery(again, never())];
    await settled();
    reply.settle(ok(searchReply({ text: 'Not Found.' })));
    for (const answer of await Promise.all(answers)) expect(answer._unsafeUnwrap().result.answer).toBe('Not Found.');
    expect(llmSearch.requests).toHaveLength(1);
  });

  test('goes on when one of the two leaves', async () => {
    const reply = hangsUntilTold();
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(reply.told) });
    const left = app.answerQuery(first, never());
    const stays = app.answerQuery(again, never());
    await settled();
    app.cancelRequest({ requestKey: 'test/1', requestId: 1 });
    expect((await left)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([false]);
    reply.settle(ok(searchReply()));
    expect((await stays).isOk()).toBe(true);
  });

  test('stops when both have left', async () => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(hangs) });
    const answers = [app.answerQuery(first, never()), app.answerQuery(again, never())];
    await settled();
    app.cancelRequest({ requestKey: 'test/1', requestId: 1 });
    app.cancelRequest({ requestKey: 'test/2', requestId: 2 });
    await Promise.all(answers);
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('leaves no listener on the signal of either', async () => {
    const signals = [never(), never()];
    const { app } = startCore();
    await Promise.all(signals.map((signal, n) => app.answerQuery(ask({ requestKey: `test/${n}` }), signal)));
    for (const signal of signals) expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

describe('is asked by itself', () => {
  const askedTwice = async (other: ReturnType<typeof ask>) => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(replies(), replies()) });
    await Promise.all([app.answerQuery(first, never()), app.answerQuery(other, never())]);
    return llmSearch.requests.length === 2;
  };

  test.each([
    ['another question', ask({ requestKey: 'test/2', args: { query: 'What does HTTP 403 mean?' } })],
    ['another hint', ask({ requestKey: 'test/2', args: { ...first.args, recency_days: 7 } })],
    ['another tool', ask({ requestKey: 'test/2', tool: 'answer_detailed' })],
    ['another caller', ask({ requestKey: 'test/2', caller: 'somebody else' })],
  ])('%s', async (_, other) => {
    expect(await askedTwice(other)).toBe(true);
  });

  test('the same question, once it is answered', async () => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(replies(), replies()) });
    await app.answerQuery(first, never());
    await app.answerQuery(again, never());
    expect(llmSearch.requests).toHaveLength(2);
  });

  test('the same question, once it was given up', async () => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(hangs, replies()) });
    const left = app.answerQuery(first, never());
    await settled();
    app.cancelRequest({ requestKey: 'test/1', requestId: 1 });
    const answer = await app.answerQuery(again, never());
    await left;
    expect(answer.isOk()).toBe(true);
    expect(llmSearch.requests).toHaveLength(2);
  });
});

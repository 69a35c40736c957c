import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import type { SearchUse } from '../../../../src/application/ports/llm-search.ts';
import { totalUse } from '../../../../src/application/tools/total-use.ts';
import type { SearchError } from '../../../../src/domain/answers/answer-error.ts';
import { returns, text } from '../../../support/fake-answer-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import {
  asks,
  asksWith,
  type ConfiguredReply,
  type ConfiguredRound,
  calls,
  type FakeLlmSearch,
  fails,
  says,
  searchReply,
} from '../../../support/fake-llm-search.ts';
import { groundedRequest, startGrounded, tool } from '../../../support/grounding.ts';

const TOOLS = [tool('jira/get'), tool('jira/search')];
const get = (id: number) => calls('jira__get', { id }, { callId: `call_${id}` });

const start = (replies: readonly ConfiguredRound[], own = {}, over: Parameters<typeof startGrounded>[2] = {}) =>
  startGrounded(replies, { tools: TOOLS, ...own }, over);
// S74
test('each round has the same question and instructions: nothing of a server is in them', async () => {
  const hostile = tool('jira/get', { description: 'HOSTILE', title: 'HOSTILE' });
  const own = { tools: [hostile], replies: { get: returns(text('HOSTILE')) } };
  const { search, llmSearch } = start([asks(get(1)), says('Two.')], own);
  await search();
  for (const { mode: _, ...request } of llmSearch.requests) {
    expect(request).toMatchObject({ instructions: 'The policy.', question: { query: 'What is open?' } });
    expect(JSON.stringify(request)).not.toContain('HOSTILE');
  }
});

describe('a reply that must be the last', () => {
  const cutOff = { text: '', ending: { kind: 'incomplete', reason: 'max_output_tokens' } } as const;

  test('is the answer if it was cut off before its text', async () => {
    const { search } = start([async () => ok(searchReply(cutOff))], {}, { policy: { maxRounds: 1 } });
    expect((await search())._unsafeUnwrap()).toMatchObject(cutOff);
  });

  test.each([
    ['calls, though there are none', { calls: [get(1)] }],
    ['nothing', { text: '' }],
  ])('is the answer if no tool was offered: %s', async (_, reply) => {
    const policy = { web: 'never', maxRounds: 1 } as const;
    const { search } = start([async () => ok(searchReply(reply))], { tools: [] }, { policy });
    expect((await search())._unsafeUnwrap()).toMatchObject(reply);
  });
});

describe('limits', () => {
  const mayCall = ({ conversations }: Pick<FakeLlmSearch, 'conversations'>) =>
    conversations.map(({ mayCall }) => mayCall);
  const ask = (count: number) => Array.from({ length: count }, (_, index) => asks(get(index)));

  // S73
  test('in the last round, the model must answer', async () => {
    const { search, llmSearch, gateway } = start([...ask(2), says('Two.')], {}, { policy: { maxRounds: 3 } });
    expect((await search())._unsafeUnwrap().text).toBe('Two.');
    expect(mayCall(llmSearch)).toEqual([true, true, false]);
    expect(gateway.called).toHaveLength(2);
  });

  test('without a text in the last round, the failure names the limit', async () => {
    const failure = { kind: 'no_final_answer', limit: 'rounds', max: 2 };
    for (const last of [says(' \n'), asks(get(9)), asksWith({ text: 'Let me look.' }, get(9))]) {
      const { search, gateway } = start([...ask(1), last], {}, { policy: { maxRounds: 2 } });
      expect((await search())._unsafeUnwrapErr()).toEqual(failure);
      expect(gateway.called).toHaveLength(1);
    }
    const { search } = start([says('')], {}, { policy: { maxRounds: 1 } });
    expect((await search())._unsafeUnwrapErr()).toEqual({ ...failure, max: 1 });
  });

  test('when the calls are used up, no other runs, and the model must answer', async () => {
    const rounds = [asks(get(1), get(2), get(3)), says('Two.')];
    const { search, llmSearch, gateway } = start(rounds, {}, { policy: { maxCalls: 2 } });
    await search();
    expect(gateway.called.map(({ args }) => args)).toEqual([{ id: 1 }, { id: 2 }]);
    expect(llmSearch.conversations[1]?.rounds[0]?.outputs[2]?.output.text).toBe(
      'error: the limit of 2 calls for an answer is reached',
    );
    expect(mayCall(llmSearch)).toEqual([true, false]);
  });

  test('the failure names the calls', async () => {
    const { search } = start([...ask(1), says('')], {}, { policy: { maxCalls: 1 } });
    expect((await search())._unsafeUnwrapErr()).toEqual({ kind: 'no_final_answer', limit: 'calls', max: 1 });
  });

  test('when less than 15 s remain, the model must answer, and the failure names the time', async () => {
    const clock = new FakeClock();
    const slow: ConfiguredReply = async (...args) => {
      await clock.advance(85_001);
      return asks(get(1))(...args);
    };
    const answered = start([slow, says('Two.')], {}, { clock });
    expect((await answered.search({ deadlineMs: 100_000 })).isOk()).toBe(true);
    expect(mayCall(answered.llmSearch)).toEqual([true, false]);
    expect(answered.gateway.called).toEqual([]);
    expect(answered.llmSearch.conversations[1]?.rounds[0]?.outputs[0]?.output.text).toBe(
      'error: there is no time left for this call',
    );
    const silent = start([slow, says('')], {}, { clock });
    const deadlineMs = clock.elapsedMs() + 100_000;
    expect((await silent.search({ deadlineMs }))._unsafeUnwrapErr()).toMatchObject({
      kind: 'no_final_answer',
      limit: 'time',
    });
  });

  test('a model that answers without a text, although it could call, is no limit', async () => {
    const reply = (await start([says('')]).search())._unsafeUnwrap();
    expect(reply.text).toBe('');
  });
});

test('a request that fails ends the answer, and no tool runs again', async () => {
  const error: SearchError = { kind: 'history_rejected', detail: 'x' };
  const { search, llmSearch, gateway } = start([asks(get(1)), asks(get(2)), fails(error)]);
  expect((await search())._unsafeUnwrapErr()).toEqual(error);
  expect(llmSearch.conversations).toHaveLength(3);
  expect(gateway.called).toHaveLength(2);
});

describe('what the API reported is reported on, round by round, whatever becomes of the answer', () => {
  const cost = (tokens: number) => ({
    usage: { inputTokens: tokens, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
    searches: 1,
  });
  const report = { ...cost(10), queries: [], attempts: 1 };

  test.each([
    ['no final answer', [asksWith({ report }, get(1)), asksWith({ report }, get(2))]],
    [
      'a request that is refused',
      [asksWith({ report }, get(1)), asksWith({ report }, get(2)), fails({ kind: 'content_filtered' })],
    ],
  ] as const)('%s', async (_, rounds) => {
    const { grounded } = start([...rounds], {}, { policy: { maxRounds: rounds.length } });
    const uses: SearchUse[] = [];
    const observer = { onProgress: () => {}, onUsed: (use: SearchUse) => void uses.push(use) };
    const outcome = await grounded.search(groundedRequest(), observer, new AbortController().signal);
    expect(outcome.isErr()).toBe(true);
    expect(totalUse(uses)).toMatchObject({ ...cost(20), searches: 2, rounds: 2 });
  });
});

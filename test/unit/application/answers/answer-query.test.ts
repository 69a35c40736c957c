import { err, ok } from 'neverthrow';
import { describe, expect, test, vi } from 'vitest';
import { SYSTEM_POLICY } from '../../../../src/domain/answers/system-policy.ts';
import { expectNoListener } from '../../../contract/search-kit.ts';
import { ask, never, startCore } from '../../../support/core.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import {
  type ConfiguredReply,
  FakeLlmSearch,
  fails,
  hangs,
  progresses,
  replies,
  repliesLate,
  searchReply,
} from '../../../support/fake-llm-search.ts';

describe('the search request', () => {
  test('contains the question, its hints, the profile and the instructions', async () => {
    const { application, llmSearch } = startCore({ config: { instructions: 'Be brief.' } });
    await application.answerQuery.execute(ask({ args: { query: 'q', recency_days: 7 } }), never());
    expect(llmSearch.requests).toMatchObject([
      {
        question: { tool: 'answer', query: 'q', recencyDays: 7, maxResults: 5, domains: [] },
        profile: { model: 'gpt-5.2', reasoningEffort: 'medium', verbosity: 'medium' },
        instructions: 'Be brief.',
      },
    ]);
  });

  test('contains the built-in policy if nothing replaces it', async () => {
    const { application, llmSearch } = startCore();
    await application.answerQuery.execute(ask(), never());
    expect(llmSearch.requests).toMatchObject([{ instructions: SYSTEM_POLICY }]);
  });

  test('contains the deadline of the caller', async () => {
    const clock = new FakeClock();
    const { application, llmSearch } = startCore({ clock, config: { request: { timeoutMs: 5000 } } });
    await clock.advance(1000);
    await application.answerQuery.execute(ask(), never());
    expect(llmSearch.requests.map((request) => request.deadlineMs)).toEqual([6000]);
  });

  test('has the profile of the tool, completed from that of answer', async () => {
    const profiles = {
      answer: { model: 'gpt-5.2', verbosity: 'low' },
      answer_quick: { model: 'gpt-5.2-chat' },
    } as const;
    const { application, llmSearch } = startCore({ config: { profiles } });
    const answer = await application.answerQuery.execute(ask({ tool: 'answer_quick' }), never());
    expect(llmSearch.requests).toMatchObject([{ profile: { model: 'gpt-5.2-chat', verbosity: 'low' } }]);
    expect(answer._unsafeUnwrap().result.model).toBe('gpt-5.2-chat');
  });
});

describe('the answer', () => {
  // S38
  test('has its sources, dated by the day in Tokyo', async () => {
    const sources = { cited: [{ url: 'https://a.com' }], consulted: [], opened: [] };
    const llmSearch = new FakeLlmSearch(replies({ text: 'Sunny.', searched: true, sources }));
    const { application } = startCore({ llmSearch, clock: new FakeClock('2025-12-31T15:30:00Z') });
    expect((await application.answerQuery.execute(ask(), never()))._unsafeUnwrap().result).toEqual({
      answer: 'Sunny.\n\nSources:\n- https://a.com (2026-01-01)',
      used_search: true,
      citations: [{ url: 'https://a.com', published_at: '2026-01-01' }],
      model: 'gpt-5.2',
    });
  });

  test('keeps the day of the question, although it arrives on the next', async () => {
    const reply = repliesLate();
    const clock = new FakeClock('2025-12-31T14:59:59Z');
    const { application } = startCore({ llmSearch: new FakeLlmSearch(reply.configured), clock });
    const answer = application.answerQuery.execute(ask(), never());
    await clock.advance(2000);
    reply.settle(ok(searchReply({ searched: true })));
    expect((await answer)._unsafeUnwrap().result.answer).toMatch(/\n- web_search \(2025-12-31\)$/);
  });

  test('has a report of its costs and its seconds', async () => {
    const reply = repliesLate();
    const clock = new FakeClock();
    const { application } = startCore({ llmSearch: new FakeLlmSearch(reply.configured), clock });
    const answer = application.answerQuery.execute(ask(), never());
    await clock.advance(1500);
    reply.settle(
      ok(searchReply({ report: { model: 'gpt-5.2-2025-12-11', queries: ['q'], searches: 1, attempts: 2 } })),
    );
    expect((await answer)._unsafeUnwrap().report).toEqual({
      model: 'gpt-5.2-2025-12-11',
      queries: ['q'],
      searches: 1,
      attempts: 2,
      seconds: 1.5,
    });
  });

  test('fails as the search failed', async () => {
    const error = { kind: 'forbidden', detail: 'Not here.', diagnostics: { status: 403 } } as const;
    const { application } = startCore({ llmSearch: new FakeLlmSearch(fails(error)) });
    expect((await application.answerQuery.execute(ask(), never()))._unsafeUnwrapErr()).toEqual(error);
  });

  test('is preceded by progress', async () => {
    const reported: unknown[] = [];
    const { application } = startCore({
      llmSearch: new FakeLlmSearch(progresses({ kind: 'thinking' }, { kind: 'searching' })),
    });
    await application.answerQuery.execute(
      ask({ observer: { onProgress: (progress) => reported.push(progress) } }),
      never(),
    );
    expect(reported).toEqual([{ kind: 'asking' }, { kind: 'thinking' }, { kind: 'searching' }]);
  });

  // S8
  test('logs nothing without debug', async () => {
    const { application, logger } = startCore();
    await application.answerQuery.execute(ask(), never());
    expect(logger.lines).toEqual([]);
  });
});

describe('nothing is billed for', () => {
  test('a call with bad arguments', async () => {
    const { application, llmSearch } = startCore();
    const answer = await application.answerQuery.execute(ask({ args: { query: ' ', max_results: 0 } }), never());
    expect(answer._unsafeUnwrapErr()).toEqual({
      kind: 'invalid_arguments',
      problems: [
        { argument: 'query', received: ' ', accepted: 'a non-empty string' },
        { argument: 'max_results', received: 0, accepted: 'an integer, 1 or greater' },
      ],
    });
    expect(llmSearch.requests).toEqual([]);
  });

  test('a call of a tool without a profile', async () => {
    const { application, llmSearch } = startCore({ config: { profiles: { answer_quick: { model: 'o3' } } } });
    const answer = await application.answerQuery.execute(ask({ tool: 'answer_detailed' }), never());
    expect(answer._unsafeUnwrapErr()).toEqual({ kind: 'no_profile', tool: 'answer_detailed' });
    expect(llmSearch.requests).toEqual([]);
  });
});

// S42
describe('the deadline', () => {
  test('is exact to the millisecond, and aborts the search', async () => {
    const clock = new FakeClock();
    const { application, llmSearch } = startCore({
      llmSearch: new FakeLlmSearch(hangs),
      clock,
      config: { request: { timeoutMs: 5000 } },
    });
    const onEnded = vi.fn();
    const answer = application.answerQuery.execute(ask(), never()).finally(onEnded);
    await clock.advance(4999);
    expect(onEnded).not.toHaveBeenCalled();
    await clock.advance(1);
    expect((await answer)._unsafeUnwrapErr()).toEqual({ kind: 'timed_out', timeoutMs: 5000 });
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('a cancellation', () => {
  /** A question that the test cancels. */
  function startCancellable(configured: ConfiguredReply) {
    const clock = new FakeClock();
    const { application, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(configured), clock });
    const controller = new AbortController();
    const answer = application.answerQuery.execute(ask(), controller.signal);
    return { answer, clock, llmSearch, cancel: () => controller.abort() };
  }

  test('ends the question and its search, and leaves nothing', async () => {
    const { answer, clock, llmSearch, cancel } = startCancellable(hangs);
    await settled();
    cancel();
    expect((await answer)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([true]);
    for (const signal of llmSearch.signals) expectNoListener(signal);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('before the deadline is the cause, even if the deadline passes as well', async () => {
    const { answer, clock, cancel } = startCancellable(hangs);
    await settled();
    cancel();
    await clock.advance(300_000);
    expect((await answer)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
  });

  test.each([
    ['a reply', ok(searchReply())],
    ['a failure', err({ kind: 'content_filtered' } as const)],
  ])('drops %s that comes after it', async (_, late) => {
    const reply = repliesLate();
    const { answer, cancel } = startCancellable(reply.configured);
    await settled();
    cancel();
    reply.settle(late);
    expect((await answer)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
  });
});

test('a search that breaks its contract is not hidden, and leaves no timer', async () => {
  const clock = new FakeClock();
  const { application } = startCore({ llmSearch: new FakeLlmSearch(), clock });
  await expect(application.answerQuery.execute(ask(), never())).rejects.toThrow('needs more');
  expect(clock.pendingSleeps).toBe(0);
});

import { getEventListeners } from 'node:events';
import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { CoalescingSearch } from '../../../../src/application/answers/coalescing-search.ts';
import type { SearchObserver, SearchProgress, SearchRequest } from '../../../../src/application/ports/llm-search.ts';
import { ask, never, startCore } from '../../../support/core.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import {
  deferred,
  FakeLlmSearch,
  fails,
  hangs,
  replies,
  repliesLate,
  searchReply,
} from '../../../support/fake-llm-search.ts';
import { callerOf } from '../../../support/origins.ts';

const first = ask({ requestKey: 'test/1' });
const again = ask({ requestKey: 'test/2' });

describe('the same question of the same caller, during its search', () => {
  test('is searched once and answered twice', async () => {
    const reply = repliesLate();
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(reply.configured) });
    const answers = [app.answerQuery(first), app.answerQuery(again)];
    await settled();
    reply.settle(ok(searchReply({ text: 'Not Found.' })));
    for (const answer of await Promise.all(answers)) expect(answer._unsafeUnwrap().result.answer).toBe('Not Found.');
    expect(llmSearch.requests).toHaveLength(1);
  });

  test('continues when one of the two leaves', async () => {
    const reply = repliesLate();
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(reply.configured) });
    const left = app.answerQuery(first);
    const stays = app.answerQuery(again);
    await settled();
    app.cancelRequest({ requestKey: 'test/1' });
    expect((await left)._unsafeUnwrapErr()).toEqual({ kind: 'cancelled' });
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([false]);
    reply.settle(ok(searchReply()));
    expect((await stays).isOk()).toBe(true);
  });

  test('stops when both have left', async () => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(hangs) });
    const answers = [app.answerQuery(first), app.answerQuery(again)];
    await settled();
    app.cancelRequest({ requestKey: 'test/1' });
    app.cancelRequest({ requestKey: 'test/2' });
    await Promise.all(answers);
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('what a shared search uses', () => {
  test('is reported to one caller that waits, and to another one after that has left', async () => {
    const seen: string[] = [];
    const observerOf = (name: string): SearchObserver => ({
      onProgress: () => {},
      onUsed: ({ searches }) => void seen.push(`${name} ${searches}`),
    });
    const late = repliesLate();
    let use: SearchObserver['onUsed'];
    const llmSearch = new FakeLlmSearch((observer, signal) => {
      use = observer.onUsed;
      return late.configured(observer, signal);
    });
    const { app } = startCore({ llmSearch });
    const left = app.answerQuery({ ...first, observer: observerOf('first') });
    const stays = app.answerQuery({ ...again, observer: observerOf('second') });
    await settled();
    use?.({ searches: 1 });
    app.cancelRequest({ requestKey: 'test/1' });
    await left;
    use?.({ searches: 2 });
    late.settle(err({ kind: 'content_filtered' }));
    await stays;
    expect(seen).toEqual(['first 1', 'second 2']);
  });
});

describe('is searched separately', () => {
  const askedTwice = async (other: ReturnType<typeof ask>) => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(replies(), replies()) });
    await Promise.all([app.answerQuery(first), app.answerQuery(other)]);
    return llmSearch.requests.length === 2;
  };

  test.each([
    ['another question', ask({ requestKey: 'test/2', args: { query: 'What does HTTP 403 mean?' } })],
    ['another hint', ask({ requestKey: 'test/2', args: { ...first.args, recency_days: 7 } })],
    ['another tool', ask({ requestKey: 'test/2', tool: 'answer_detailed' })],
    ['another caller', ask({ requestKey: 'test/2', by: callerOf('another') })],
  ])('%s', async (_, other) => {
    expect(await askedTwice(other)).toBe(true);
  });

  test('the same question, after it was answered', async () => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(replies(), replies()) });
    await app.answerQuery(first);
    await app.answerQuery(again);
    expect(llmSearch.requests).toHaveLength(2);
  });

  test('the same question, after it was abandoned', async () => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(hangs, replies()) });
    const left = app.answerQuery(first);
    await settled();
    app.cancelRequest({ requestKey: 'test/1' });
    const answer = await app.answerQuery(again);
    await left;
    expect(answer.isOk()).toBe(true);
    expect(llmSearch.requests).toHaveLength(2);
  });
});

describe('a search that is shared', () => {
  test('is not shared with the same question on the next day in Tokyo', async () => {
    const clock = new FakeClock('2025-12-31T14:59:59.000Z');
    const { app, llmSearch } = startCore({ clock, llmSearch: new FakeLlmSearch(hangs, hangs) });
    const answers = [app.answerQuery(first)];
    await clock.advance(1000);
    answers.push(app.answerQuery(again));
    await settled();
    expect(llmSearch.requests.map(({ today }) => today)).toEqual(['2025-12-31', '2026-01-01']);
    for (const requestKey of ['test/1', 'test/2']) app.cancelRequest({ requestKey });
    await Promise.all(answers);
  });

  test('is not shared between profiles that differ', async () => {
    const llmSearch = new FakeLlmSearch(replies(), replies());
    const shared = new CoalescingSearch(llmSearch);
    const answers = [
      shared.search(request(), unobserved, never()),
      shared.search(request({ profile: { model: 'gpt-5.2', verbosity: 'low' } }), unobserved, never()),
    ];
    await Promise.all(answers);
    expect(llmSearch.requests).toHaveLength(2);
  });

  test('is shared if the hints are equal but written differently', async () => {
    const { app, llmSearch } = startCore();
    const { query } = first.args;
    await Promise.all([
      app.answerQuery(ask({ requestKey: 'test/1', args: { query, recency_days: 7, domains: 'jma.go.jp' } })),
      app.answerQuery(
        ask({ requestKey: 'test/2', args: { query, domains: ['https://JMA.go.jp/'], recency_days: '7' } }),
      ),
    ]);
    expect(llmSearch.requests).toHaveLength(1);
  });

  test('is shared by any number of callers, and each gets a separate answer', async () => {
    const reply = repliesLate();
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(reply.configured) });
    const asked = Array.from({ length: 50 }, (_, n) => app.answerQuery(ask({ requestKey: `test/${n}` })));
    await settled();
    reply.settle(ok(searchReply({ text: 'Not Found.' })));
    const answers = (await Promise.all(asked)).map((answer) => answer._unsafeUnwrap().result);
    expect(answers.map(({ answer }) => answer)).toEqual(Array(50).fill('Not Found.'));
    expect(new Set(answers).size).toBe(50);
    expect(llmSearch.requests).toHaveLength(1);
  });

  test('reports progress to each caller, and the current state to a late one', async () => {
    const reported: [string, SearchProgress][] = [];
    const observer = (name: string) => ({
      onProgress: (progress: SearchProgress) => void reported.push([name, progress]),
    });
    let report: (progress: SearchProgress) => void = () => {};
    const reply = repliesLate();
    const llmSearch = new FakeLlmSearch((upstream, signal) => {
      report = (progress) => upstream.onProgress(progress);
      return reply.configured(upstream, signal);
    });
    const shared = new CoalescingSearch(llmSearch);
    const leaving = new AbortController();
    const early = shared.search(request(), observer('early'), leaving.signal);
    await settled();
    report({ kind: 'thinking' });
    report({ kind: 'searching', query: 'tokyo weather' });
    const late = shared.search(request(), observer('late'), never());
    report({ kind: 'writing', characters: 3 });
    leaving.abort();
    await early;
    report({ kind: 'writing', characters: 9 });
    reply.settle(ok(searchReply()));
    await late;
    expect(reported).toEqual([
      ['early', { kind: 'thinking' }],
      ['early', { kind: 'searching', query: 'tokyo weather' }],
      ['late', { kind: 'searching', query: 'tokyo weather' }],
      ['early', { kind: 'writing', characters: 3 }],
      ['late', { kind: 'writing', characters: 3 }],
      ['late', { kind: 'writing', characters: 9 }],
    ]);
  });

  test('is accounted to one caller that is left', async () => {
    const reply = repliesLate();
    const { app } = startCore({ llmSearch: new FakeLlmSearch(reply.configured) });
    const asked = [1, 2, 3].map((n) => app.answerQuery(ask({ requestKey: `test/${n}` })));
    await settled();
    app.cancelRequest({ requestKey: 'test/1' });
    reply.settle(ok(searchReply()));
    const [, ...answers] = await Promise.all(asked);
    expect(answers.map((answer) => answer._unsafeUnwrap().report.isShared)).toEqual([undefined, true]);
  });

  test('that fails fails for all', async () => {
    const { app, llmSearch } = startCore({ llmSearch: new FakeLlmSearch(fails({ kind: 'content_filtered' })) });
    const answers = await Promise.all([app.answerQuery(first), app.answerQuery(again)]);
    for (const answer of answers) expect(answer._unsafeUnwrapErr()).toEqual({ kind: 'content_filtered' });
    expect(llmSearch.requests).toHaveLength(1);
  });

  test('that failed is repeated for the next caller', async () => {
    const { app } = startCore({ llmSearch: new FakeLlmSearch(fails({ kind: 'content_filtered' }), replies()) });
    expect((await app.answerQuery(first)).isErr()).toBe(true);
    expect((await app.answerQuery(again)).isOk()).toBe(true);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
    ],
    ['rejects', () => Promise.reject(new Error('a bug'))],
  ])('that %s because of a bug does so for all, and leaves nothing', async (_, bug) => {
    const llmSearch = new FakeLlmSearch(bug, replies());
    const shared = new CoalescingSearch(llmSearch);
    const signals = [never(), never()];
    const answers = signals.map((signal) => shared.search(request(), unobserved, signal));
    for (const answer of answers) await expect(answer).rejects.toThrow('a bug');
    for (const signal of signals) expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect((await shared.search(request(), unobserved, never())).isOk()).toBe(true);
  });

  test('that rejects after all have left causes no error', async () => {
    const reply = deferred<void>();
    const shared = new CoalescingSearch(
      new FakeLlmSearch(() => reply.promise.then(() => Promise.reject(new Error('bug')))),
    );
    const leaving = new AbortController();
    const answer = shared.search(request(), unobserved, leaving.signal);
    await settled();
    leaving.abort();
    expect((await answer)._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
    reply.settle();
    // An unhandled rejection here would fail the run.
    await settled();
  });

  test.each([0, 1, 2, 3, 4, 5, 6])(
    'a caller that leaves %i turns after the reply does not abort the next search',
    async (turns) => {
      const reply = repliesLate();
      const llmSearch = new FakeLlmSearch(reply.configured, hangs);
      const shared = new CoalescingSearch(llmSearch);
      const leaving = new AbortController();
      const answer = shared.search(request(), unobserved, leaving.signal);
      await settled();
      reply.settle(ok(searchReply()));
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      void shared.search({ ...request(), by: callerOf('another') }, unobserved, never());
      leaving.abort();
      await answer;
      await settled();
      expect(llmSearch.signals.at(-1)?.aborted).toBe(false);
    },
  );

  test('is neither started nor joined if the signal of the caller has already aborted', async () => {
    const llmSearch = new FakeLlmSearch(hangs);
    const shared = new CoalescingSearch(llmSearch);
    expect((await shared.search(request(), unobserved, AbortSignal.abort()))._unsafeUnwrapErr()).toEqual({
      kind: 'aborted',
    });
    expect(llmSearch.requests).toEqual([]);

    const staying = new AbortController();
    const stays = shared.search(request(), unobserved, staying.signal);
    expect((await shared.search(request(), unobserved, AbortSignal.abort())).isErr()).toBe(true);
    await settled();
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([false]);
    staying.abort();
    await stays;
  });

  test('can be left right after it was joined', async () => {
    const llmSearch = new FakeLlmSearch(hangs, replies());
    const shared = new CoalescingSearch(llmSearch);
    const leaving = new AbortController();
    const left = shared.search(request(), unobserved, leaving.signal);
    leaving.abort();
    const stays = shared.search(request(), unobserved, never());
    expect((await left)._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
    expect((await stays).isOk()).toBe(true);
  });

  test('that all have left does not answer a caller that arrives meanwhile', async () => {
    const slow = repliesLate();
    const llmSearch = new FakeLlmSearch(slow.configured, replies({ text: 'The second.' }));
    const shared = new CoalescingSearch(llmSearch);
    const leaving = new AbortController();
    const left = shared.search(request(), unobserved, leaving.signal);
    await settled();
    leaving.abort();
    await left;
    const next = shared.search(request(), unobserved, never());
    // Aborted, but its reply was already received.
    slow.settle(ok(searchReply({ text: 'The first.' })));
    expect((await next)._unsafeUnwrap().text).toBe('The second.');
    const joined = llmSearch.requests.length;
    expect(joined).toBe(2);
  });
});

describe('the deadline', () => {
  test('counts for each caller from its arrival, and a later one may still be answered', async () => {
    const clock = new FakeClock();
    const reply = repliesLate();
    const { app, llmSearch } = startCore({
      clock,
      llmSearch: new FakeLlmSearch(reply.configured),
      config: { timeoutMs: 1000 },
    });
    const early = app.answerQuery(first);
    await clock.advance(600);
    const late = app.answerQuery(again);
    await clock.advance(400);
    expect((await early)._unsafeUnwrapErr()).toEqual({ kind: 'timed_out', timeoutMs: 1000 });
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([false]);
    await clock.advance(500);
    reply.settle(ok(searchReply()));
    expect((await late)._unsafeUnwrap().report.seconds).toBe(0.9);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('of the last caller ends the search', async () => {
    const clock = new FakeClock();
    const { app, llmSearch } = startCore({ clock, llmSearch: new FakeLlmSearch(hangs), config: { timeoutMs: 1000 } });
    const early = app.answerQuery(first);
    await clock.advance(600);
    const late = app.answerQuery(again);
    await clock.advance(999);
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([false]);
    await clock.advance(1);
    for (const answer of [early, late]) {
      expect((await answer)._unsafeUnwrapErr()).toEqual({ kind: 'timed_out', timeoutMs: 1000 });
    }
    expect(llmSearch.signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('that the search sees is the latest one, also if its caller joined later', async () => {
    const llmSearch = new FakeLlmSearch(hangs);
    const shared = new CoalescingSearch(llmSearch);
    const [early, late] = [new AbortController(), new AbortController()];
    const answers = [
      shared.search(request({ deadlineMs: () => 1000 }), unobserved, early.signal),
      shared.search(request({ deadlineMs: () => 1600 }), unobserved, late.signal),
    ];
    await settled();
    expect(llmSearch.requests[0]?.deadlineMs()).toBe(1600);
    late.abort();
    early.abort();
    await Promise.all(answers);
  });
});

test('no caller leaves a listener, whether the search is answered, fails or is left', async () => {
  const controllers = Array.from({ length: 30 }, () => new AbortController());
  const reply = repliesLate();
  const shared = new CoalescingSearch(new FakeLlmSearch(reply.configured));
  const answers = controllers.map(({ signal }) => shared.search(request(), unobserved, signal));
  await settled();
  for (const controller of controllers.slice(0, 10)) controller.abort();
  reply.settle(ok(searchReply()));
  await Promise.all(answers);
  for (const { signal } of controllers) expect(getEventListeners(signal, 'abort')).toEqual([]);
});

const unobserved = { onProgress: () => {} };

function request(over: Partial<SearchRequest> = {}): SearchRequest {
  return {
    by: callerOf('test'),
    question: { tool: 'answer', query: 'q', recencyDays: 60, maxResults: 5, domains: [] },
    profile: { model: 'gpt-5.2' },
    instructions: 'Answer.',
    timeZone: 'Asia/Tokyo',
    today: '2026-01-05',
    deadlineMs: () => 300_000,
    ...over,
  };
}

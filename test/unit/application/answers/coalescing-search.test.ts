import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { CoalescingSearch } from '../../../../src/application/answers/coalescing-search.ts';
import type { SearchProgress, SearchRequest, SearchUse } from '../../../../src/application/ports/llm-search.ts';
import { expectNoListener, never } from '../../../contract/search-kit.ts';
import { settled } from '../../../support/fake-clock.ts';
import { FakeLlmSearch, hangs, replies, repliesLate, searchReply } from '../../../support/fake-llm-search.ts';
import { groundedRequest } from '../../../support/grounding.ts';
import { callerOf } from '../../../support/origins.ts';

const REPLY = searchReply({ text: 'Canberra.' });

/** A search that the test ends, and calls that can be left. */
function start() {
  const late = repliesLate();
  const llmSearch = new FakeLlmSearch(late.configured, hangs, hangs);
  const shared = new CoalescingSearch(llmSearch);
  const call = (over: Partial<SearchRequest> = {}) => {
    const controller = new AbortController();
    const progress: SearchProgress[] = [];
    const uses: SearchUse[] = [];
    const observer = {
      onProgress: (step: SearchProgress) => void progress.push(step),
      onUsed: (use: SearchUse) => void uses.push(use),
    };
    const outcome = shared.search(groundedRequest(over), observer, controller.signal);
    return { outcome, progress, uses, leave: () => controller.abort(), signal: controller.signal };
  };
  return { llmSearch, call, settle: late.settle };
}

// S45
describe('the same question of the same caller, during its search', () => {
  test('is searched once and answered to each; one of the calls accounts for it', async () => {
    const { llmSearch, call, settle } = start();
    const [first, second] = [call(), call()];
    settle(ok(REPLY));
    expect(await first.outcome).toEqual(ok(REPLY));
    expect(await second.outcome).toEqual(ok({ ...REPLY, report: { ...REPLY.report, isShared: true } }));
    expect([first.uses, second.uses]).toEqual([[REPLY.report], []]);
    expect(llmSearch.requests).toHaveLength(1);
    for (const { signal } of [first, second]) expectNoListener(signal);
  });

  test('continues when the first call leaves, which another one then accounts for', async () => {
    const { call, settle } = start();
    const [first, second] = [call(), call()];
    await settled();
    first.leave();
    expect(await first.outcome).toEqual(err({ kind: 'aborted' }));
    settle(ok(REPLY));
    expect(await second.outcome).toEqual(ok(REPLY));
    expect([first.uses, second.uses]).toEqual([[], [REPLY.report]]);
  });

  test('stops when all have left, and the next call is another search', async () => {
    const { llmSearch, call } = start();
    const calls = [call(), call()];
    await settled();
    for (const { leave } of calls) leave();
    call();
    await settled();
    expect(llmSearch.signals[0]?.aborted).toBe(true);
    expect(llmSearch.requests).toHaveLength(2);
  });

  test('that fails fails for all, and is searched again', async () => {
    const { llmSearch, call, settle } = start();
    const calls = [call(), call()];
    const failure = err({ kind: 'failed', detail: 'No.' } as const);
    settle(failure);
    for (const { outcome } of calls) expect(await outcome).toEqual(failure);
    call();
    await settled();
    expect(llmSearch.requests).toHaveLength(2);
  });

  test('shows a late call the current progress', async () => {
    const asking = replies({}, [{ kind: 'thinking' }, { kind: 'searching' }]);
    const shared = new CoalescingSearch(
      new FakeLlmSearch(async (observer, signal) => {
        await asking(observer, signal);
        return hangs(observer, signal);
      }),
    );
    const seen: SearchProgress[][] = [[], []];
    for (const steps of seen) {
      void shared.search(groundedRequest(), { onProgress: (step) => steps.push(step) }, never());
      await settled();
    }
    expect(seen).toEqual([[{ kind: 'thinking' }, { kind: 'searching' }], [{ kind: 'searching' }]]);
  });
});

test.each<[string, Partial<SearchRequest>]>([
  ['of another caller', { by: callerOf('bob') }],
  ['with another text', { question: { ...groundedRequest().question, query: 'What else?' } }],
  ['with another profile', { profile: { model: 'gpt-5-mini' } }],
  ['on another day', { today: '2026-01-06' }],
  ['in a conversation', { mode: { functions: [], mayCall: false, web: 'open', rounds: [] } }],
  ['in background mode', { mode: 'background' }],
])('a question %s is searched separately', async (_name, over) => {
  const { llmSearch, call } = start();
  call();
  call(over);
  await settled();
  expect(llmSearch.requests).toHaveLength(2);
});

test('a call whose signal has already aborted starts and joins nothing', async () => {
  const llmSearch = new FakeLlmSearch();
  const shared = new CoalescingSearch(llmSearch);
  const outcome = await shared.search(groundedRequest(), { onProgress: () => {} }, AbortSignal.abort());
  expect(outcome).toEqual(err({ kind: 'aborted' }));
  expect(llmSearch.requests).toEqual([]);
});

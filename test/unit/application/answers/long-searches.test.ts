import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { LongSearches } from '../../../../src/application/answers/long-searches.ts';
import { collectGarbage } from '../../../support/collect-garbage.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';

/** Searches whose answers are kept for a second. */
function startSearches() {
  const clock = new FakeClock();
  const limits = { maxMs: 1000, keepMs: 1000, taskAfterMs: 1, orphanMs: 0 };
  const config = { timeoutMs: 1, longAnswers: { tools: ['answer' as const], ...limits } };
  return { clock, searches: new LongSearches({ clock, config }) };
}

/** Keeps the answer to a question, as nothing but `searches` does. */
async function keepOne({ clock, searches }: ReturnType<typeof startSearches>, isCreated = true) {
  const result = { answer: 'A lot.', used_search: false, citations: [], model: 'gpt-5.2' };
  const search = searches.begin({
    tool: 'answer',
    language: 'en',
    key: 'question',
    run: async (observer) => {
      if (isCreated) observer.onCreated({ id: 'resp_1', createdAt: clock.now() });
      return ok({ result, report: { queries: [], searches: 0, attempts: 1, seconds: 1 } });
    },
  });
  await search.ended;
  return new WeakRef(result);
}

test('an answer is held as long as configured, and no longer, also if nothing asks for it', async () => {
  const { clock, searches } = startSearches();
  const answer = await keepOne({ clock, searches });
  await clock.advance(999);
  collectGarbage();
  expect(answer.deref()).toBeDefined();
  await settled();
  await clock.advance(1);
  await settled();
  collectGarbage();
  expect(answer.deref()).toBeUndefined();
  expect([searches.counts.long_answers.kept, clock.pendingSleeps]).toEqual([0, 0]);
});

test('an answer that has no handle is not held', async () => {
  const { clock, searches } = startSearches();
  const answer = await keepOne({ clock, searches }, false);
  await settled();
  collectGarbage();
  expect(answer.deref()).toBeUndefined();
  expect(searches.counts.long_answers.kept).toBe(0);
});

import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { KeptAnswers } from '../../../../src/application/answers/kept-answers.ts';
import { LongSearch } from '../../../../src/application/answers/long-search.ts';
import { collectGarbage } from '../../../support/collect-garbage.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';

/** Keeps the answer to a question, as nothing but `kept` does. */
async function keepOne(kept: KeptAnswers, clock: FakeClock, isCreated = true): Promise<WeakRef<object>> {
  const result = { answer: 'A lot.', used_search: false, citations: [], model: 'gpt-5.2' };
  const search: LongSearch = new LongSearch(
    {
      clock,
      tool: 'answer',
      language: 'en',
      orphanMs: 0,
      timeoutMs: 1,
      run: async (observer) => {
        if (isCreated) observer.onCreated({ id: 'resp_1', createdAt: clock.now() });
        return ok({ result, report: { queries: [], searches: 0, attempts: 1, seconds: 1 } });
      },
      onCreated: ({ id }) => kept.onCreated(id, search),
      onJoined: () => {},
      onDetached: () => {},
      onOver: () => kept.onOver(search),
    },
    { onProgress: () => {} },
  );
  kept.onAsked('question', search);
  await search.whenEnded();
  return new WeakRef(result);
}

test('an answer is held as long as configured, and no longer, also if nothing asks for it', async () => {
  const clock = new FakeClock();
  const kept = new KeptAnswers(clock, 1000);
  const answer = await keepOne(kept, clock);
  await clock.advance(999);
  collectGarbage();
  expect(answer.deref()).toBeDefined();
  await settled();
  await clock.advance(1);
  await settled();
  collectGarbage();
  expect(answer.deref()).toBeUndefined();
  expect([kept.count, clock.pendingSleeps]).toEqual([0, 0]);
});

test('an answer that has no handle is not held', async () => {
  const clock = new FakeClock();
  const kept = new KeptAnswers(clock, 1000);
  const answer = await keepOne(kept, clock, false);
  await settled();
  collectGarbage();
  expect(answer.deref()).toBeUndefined();
  expect(kept.count).toBe(0);
});

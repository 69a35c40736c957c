import { expect, test } from 'vitest';
import { answers, fails, holds } from '../support/behaviours.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { apiPerTest, ask, never, openAiSearch, ProgressLog, searchRequest } from './search-kit.ts';

const api = apiPerTest();

const OK = answers('Here it is.');

test('at most max_concurrency calls run; the others report how many are ahead, and run also if one fails', async () => {
  const held = holds();
  api.reply(held, OK, OK);
  const search = openAiSearch(api.url, { maxConcurrency: 1 });
  const observers = [new ProgressLog(), new ProgressLog(), new ProgressLog()];
  const outcomes = observers.map((observer, index) =>
    search.search(searchRequest({ question: { query: `question ${index}` } }), observer, never()),
  );
  await api.waitForRequests(1);
  await settled();
  expect(api.requests).toHaveLength(1);
  expect(observers.map(({ seen }) => seen)).toEqual([
    [],
    [{ kind: 'waiting', ahead: 0 }],
    [{ kind: 'waiting', ahead: 1 }],
  ]);
  held.release(fails({ status: 400 }));
  expect((await Promise.all(outcomes)).map((outcome) => outcome.isOk())).toEqual([false, true, true]);
  expect(api.requests.map(({ body }) => String(body.input).split('\n')[0])).toEqual([
    'question 0',
    'question 1',
    'question 2',
  ]);
  expect(observers[2]?.seen[1]).toEqual({ kind: 'asking' });
});

// S46
test('a call that waits for a retry keeps its place', async () => {
  api.reply(fails({ status: 429, headers: { 'retry-after': '20' } }), OK, OK);
  const clock = new FakeClock();
  const search = openAiSearch(api.url, { clock, maxConcurrency: 1 });
  const outcomes = [ask(search), ask(search)];
  await clock.asleep;
  await clock.advance(19_999);
  expect(api.requests).toHaveLength(1);
  await clock.advance(1);
  for (const outcome of await Promise.all(outcomes)) expect(outcome.isOk()).toBe(true);
});

import { expect, test } from 'vitest';
import { answers, fails, holds } from '../support/behaviours.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import {
  apiPerTest,
  ask,
  errorOf,
  expectNoListener,
  never,
  openAiSearch,
  ProgressLog,
  replyOf,
  searchRequest,
} from './search-kit.ts';

const api = apiPerTest();

const OK = answers('Here it is.');

test('runs at most max_concurrency calls at a time; the others report how many are ahead and run in order', async () => {
  const held = holds();
  api.replyAlways(held);
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
  held.release(OK);
  for (const outcome of await Promise.all(outcomes)) expect(replyOf(outcome).text).toBe('Here it is.');
  expect(api.requests.map(({ body }) => String(body.input).slice(0, 10))).toEqual([
    'question 0',
    'question 1',
    'question 2',
  ]);
});

test('a call that is aborted while it waits never reaches the API and leaves no listener', async () => {
  const held = holds();
  api.replyAlways(held);
  const search = openAiSearch(api.url, { maxConcurrency: 1 });
  const first = ask(search);
  await api.waitForRequests(1);
  const controller = new AbortController();
  const second = ask(search, searchRequest(), controller.signal);
  controller.abort();
  expect(errorOf(await second)).toEqual({ kind: 'aborted' });
  expectNoListener(controller.signal);
  held.release(OK);
  expect((await first).isOk()).toBe(true);
  expect((await ask(search)).isOk()).toBe(true);
  expect(api.requests).toHaveLength(2);
});

test('a failure frees its place', async () => {
  const error = { message: 'No.', type: 'invalid_request_error', param: null, code: null };
  api.reply(fails({ status: 400, error }), OK);
  const search = openAiSearch(api.url, { maxConcurrency: 1 });
  expect((await ask(search)).isErr()).toBe(true);
  expect((await ask(search)).isOk()).toBe(true);
});

// S46
test('a call that waits for a retry keeps its slot', async () => {
  const error = { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' };
  api.reply(fails({ status: 429, error, headers: { 'retry-after': '20' } }), OK, OK);
  const clock = new FakeClock();
  const search = openAiSearch(api.url, { clock, maxConcurrency: 1 });
  const first = ask(search);
  await api.waitForRequests(1);
  const second = ask(search);
  await expect.poll(() => clock.pendingSleeps).toBe(1);
  await clock.advance(19_999);
  expect(api.requests).toHaveLength(1);
  await clock.advance(1);
  expect((await first).isOk()).toBe(true);
  expect((await second).isOk()).toBe(true);
});

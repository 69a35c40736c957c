import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createApplication } from '../../../../src/application/answers/application.ts';
import { LongAnswers } from '../../../../src/application/answers/long-answers.ts';
import { WatchedSearch } from '../../../../src/application/answers/watch-response.ts';
import { CLIENT_TIMED_OUT, DISCONNECTED, TIMED_OUT } from '../../../../src/application/async/deadline.ts';
import type { SearchProgress } from '../../../../src/application/ports/llm-search.ts';
import type { LookError } from '../../../../src/application/ports/started-responses.ts';
import { ask, coreConfig, type TestQuestion } from '../../../support/core.ts';
import { settled } from '../../../support/fake-clock.ts';
import { FakeHandleSigner } from '../../../support/fake-handle-signer.ts';
import { FakeLongApi } from '../../../support/fake-long-api.ts';
import { callerOf, LOCAL } from '../../../support/origins.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';
import { runs } from '../../../support/sized.ts';

const LIMITS = { maxMs: 3_600_000, keepMs: 3_600_000, taskAfterMs: 30_000, orphanMs: 120_000 };
const TIMEOUT_MS = 300_000;
const MINUTE_MS = 60_000;

/** A process that answers detailed questions in the long way, with the API that it uses. */
function startProcess(api = new FakeLongApi(), maxConcurrency?: number) {
  const { clock } = api;
  const longAnswers = { tools: ['answer_detailed' as const], ...LIMITS };
  const config = coreConfig({ longAnswers, timeoutMs: TIMEOUT_MS, profiles: { answer: { model: 'gpt-5.2' } } });
  const long = new LongAnswers({
    llmSearch: api,
    responses: api,
    signer: new FakeHandleSigner(),
    clock,
    config: { timeoutMs: TIMEOUT_MS, longAnswers, maxConcurrency, citationCheck: 'links' },
  });
  const apiProbe = async () => Promise.reject(new Error('this test has no API to probe'));
  const application = createApplication(
    { llmSearch: api, apiProbe, clock, logger: new RecordingLogger(), long },
    config,
  );
  /** A call, which its client can leave for a reason. */
  const call = (over: Partial<TestQuestion> = {}) => {
    const controller = new AbortController();
    const { requestKey: _, ...input } = ask({ tool: 'answer_detailed', by: LOCAL, ...over });
    const answer = application.answerQuery(input, controller.signal);
    return { answer, leave: (reason?: string) => controller.abort(reason) };
  };
  return { api, clock, call, searches: long.searches, application };
}

const answerOf = async ({ answer }: ReturnType<ReturnType<typeof startProcess>['call']>) =>
  (await answer)._unsafeUnwrap();
const errorOf = async ({ answer }: ReturnType<ReturnType<typeof startProcess>['call']>) =>
  (await answer)._unsafeUnwrapErr();

/** The handle of a call that is not finished in time. */
async function unfinishedHandle({ api, clock, call }: ReturnType<typeof startProcess>): Promise<string> {
  const unfinished = call();
  await settled();
  await clock.advance(TIMEOUT_MS);
  expect(api.posts).not.toEqual([]);
  const { report } = await answerOf(unfinished);
  if (report.handle === undefined) throw new Error('There is no handle.');
  return report.handle;
}

describe('the same question again', () => {
  test('joins the search that a client has timed out on, with its progress', async () => {
    const { api, call } = startProcess();
    const first = call();
    await settled();
    api.progress('resp_1', { kind: 'thinking' });
    first.leave(CLIENT_TIMED_OUT);
    expect(await errorOf(first)).toEqual({ kind: 'cancelled', isDetached: true });
    const seen: SearchProgress[] = [];
    const second = call({ observer: { onProgress: (progress) => seen.push(progress) } });
    await settled();
    api.finish('resp_1', { text: 'Found.' });
    const { result, report } = await answerOf(second);
    expect(result.answer).toContain('Found.');
    expect(report).toMatchObject({ state: 'joined', isShared: true });
    expect(seen).toEqual([{ kind: 'thinking' }]);
    expect(api.posts).toHaveLength(1);
    expect(api.cancels).toEqual([]);
  });

  test('gets an answer that was never delivered, and for ten minutes one that was', async () => {
    const { api, clock, call } = startProcess();
    const left = call();
    await settled();
    left.leave(CLIENT_TIMED_OUT);
    api.finish('resp_1');
    await settled();
    await clock.advance(50 * MINUTE_MS);
    expect((await answerOf(call())).report.state).toBe('kept');
    await clock.advance(9 * MINUTE_MS);
    expect((await answerOf(call())).report.state).toBe('kept');
    expect(api.posts).toHaveLength(1);
    await clock.advance(10 * MINUTE_MS);
    const again = call();
    await settled();
    expect(api.posts).toHaveLength(2);
    api.finish('resp_2');
    expect((await answerOf(again)).report.state).toBeUndefined();
  });

  test.each([
    ['has failed', (api: FakeLongApi) => api.fail('resp_1', { kind: 'content_filtered' }), {}],
    ['has another caller', () => {}, { by: callerOf('alice') }],
    ['has another hint', () => {}, { args: { query: 'What does HTTP 404 mean?', max_results: 2 } }],
  ])('begins another search if the first %s', async (_, end, over: Partial<TestQuestion>) => {
    const { api, call } = startProcess();
    void call();
    await settled();
    end(api);
    await settled();
    void call(over);
    await settled();
    expect(api.posts).toHaveLength(2);
  });
});

describe('what becomes of the search when its last call', () => {
  test.each([
    ['is cancelled', undefined, ['resp_1']],
    ['is cancelled with a reason', 'User pressed Esc', ['resp_1']],
    ['is timed out by its client', CLIENT_TIMED_OUT, []],
    ['is timed out by its own limit', TIMED_OUT, []],
  ])('%s', async (_, reason, cancels) => {
    const { api, clock, call } = startProcess();
    const left = call();
    await settled();
    left.leave(reason);
    expect(await errorOf(left)).toEqual({ kind: 'cancelled', ...(cancels.length === 0 && { isDetached: true }) });
    await clock.advance(30 * MINUTE_MS);
    expect(api.cancels).toEqual(cancels);
  });

  test('disconnects: it waits two minutes for another, and is then cancelled once', async () => {
    const { api, clock, call } = startProcess();
    const left = call();
    await settled();
    left.leave(DISCONNECTED);
    await settled();
    await clock.advance(2 * MINUTE_MS - 1);
    const joined = call();
    await settled();
    await clock.advance(MINUTE_MS);
    expect(api.cancels).toEqual([]);
    joined.leave(DISCONNECTED);
    await settled();
    await clock.advance(2 * MINUTE_MS);
    expect(api.cancels).toEqual(['resp_1']);
    await clock.advance(2 * MINUTE_MS);
    expect(api.cancels).toEqual(['resp_1']);
  });

  test('is answered after the API has rejected background mode: calls share it as before', async () => {
    const { api, call, searches } = startProcess();
    api.createsAtOnce = false;
    const calls = [call(), call()] as const;
    await settled();
    api.rejectBackground('resp_1');
    api.finish('resp_1');
    const [first, second] = [await answerOf(calls[0]), await answerOf(calls[1])];
    expect(second.report).toEqual({ ...first.report, isShared: true });
    expect(searches.counts.long_answers_returned_total.joined).toBe(0);
  });

  test('is not the only one: nothing', async () => {
    const { api, call } = startProcess();
    const [left, stays] = [call(), call()];
    await settled();
    left.leave();
    await settled();
    expect(api.cancels).toEqual([]);
    api.finish('resp_1');
    expect((await answerOf(stays)).report.state).toBe('joined');
  });

  test.each(['before', 'after'])('leaves %s the API rejects background mode: it is ended as before', async (when) => {
    const { api, call } = startProcess();
    api.createsAtOnce = false;
    const left = call();
    await settled();
    if (when === 'after') api.rejectBackground('resp_1');
    left.leave(CLIENT_TIMED_OUT);
    await settled();
    if (when === 'before') expect(api.cancels).toEqual([]);
    if (when === 'before') api.rejectBackground('resp_1');
    await settled();
    expect(api.cancels).toEqual(['resp_1']);
  });

  test('never ends it: the search does, at its own limit', async () => {
    const { api, clock, call } = startProcess();
    const left = call();
    await settled();
    left.leave(CLIENT_TIMED_OUT);
    await clock.advance(LIMITS.maxMs);
    expect(api.cancels).toEqual(['resp_1']);
  });
});

describe('a call that reaches our own limit', () => {
  test('gets a handle, and the search continues', async () => {
    const { api, clock, call } = startProcess();
    const unfinished = call();
    await settled();
    api.progress('resp_1', { kind: 'searching' });
    await clock.advance(TIMEOUT_MS);
    const { result, report } = await answerOf(unfinished);
    expect(result).toMatchObject({ used_search: false, citations: [], model: 'gpt-5.2' });
    expect(result.answer).toMatch(/not finished/);
    expect(result.answer).toContain(report.handle);
    expect(report).toMatchObject({ state: 'unfinished', searches: 1, seconds: TIMEOUT_MS / 1000, checks: [] });
    expect(report.usage).toBeUndefined();
    await clock.advance(10 * MINUTE_MS);
    expect(api.cancels).toEqual([]);
    api.finish('resp_1', { text: 'Found.' });
    expect((await answerOf(call())).result.answer).toContain('Found.');
    expect(api.posts).toHaveLength(1);
  });

  test.each([false, true])(
    'fails as before if the response has no ID, and the search is ended (task: %s)',
    async (takesTask) => {
      const { api, clock, call } = startProcess();
      api.createsAtOnce = false;
      const lost = call({ takesTask });
      await settled();
      await clock.advance(TIMEOUT_MS);
      expect(await errorOf(lost)).toEqual({ kind: 'timed_out', timeoutMs: TIMEOUT_MS });
      expect(api.cancels).toEqual(['resp_1']);
    },
  );
});

describe('of four places', () => {
  const start = () => {
    const process = startProcess(new FakeLongApi(undefined, 4), 4);
    const { api, call } = process;
    const asked = (query: string, over: Partial<TestQuestion> = {}) => call({ args: { query }, ...over });
    const queries = () => api.posts.map(({ question }) => question.query);
    const leave = async (query: string) => {
      const left = asked(query);
      await settled();
      left.leave(CLIENT_TIMED_OUT);
      await settled();
    };
    return { ...process, asked, queries, leave };
  };

  test('detached searches keep two from other long searches, but not from other questions', async () => {
    const { api, asked, queries, leave } = start();
    await leave('A?');
    await leave('B?');
    const seen: SearchProgress[] = [];
    const waits = asked('C?', { observer: { onProgress: (progress) => seen.push(progress) } });
    void asked('Short?', { tool: 'answer' });
    await settled();
    expect(queries()).toEqual(['A?', 'B?', 'Short?']);
    expect(seen.at(-1)).toEqual({ kind: 'waiting', ahead: 0 });
    api.finish('resp_1');
    await settled();
    expect(queries()).toEqual(['A?', 'B?', 'Short?', 'C?']);
    expect(seen.at(-1)).toEqual({ kind: 'asking' });
    api.finish('resp_4', { text: 'Found.' });
    expect((await answerOf(waits)).result.answer).toContain('Found.');
  });

  test('a detached search that is joined lets another start', async () => {
    const { asked, queries, leave } = start();
    await leave('A?');
    await leave('B?');
    void asked('C?');
    await settled();
    void asked('A?');
    await settled();
    expect(queries()).toEqual(['A?', 'B?', 'C?']);
  });

  test('a third detached search gives its place back, and continues', async () => {
    const { api, asked, queries } = start();
    const left = [asked('A?'), asked('B?'), asked('C?'), asked('D?')];
    await settled();
    for (const query of ['E?', 'F?', 'G?']) void asked(query, { tool: 'answer' });
    await settled();
    expect(queries()).toHaveLength(4);
    for (const one of left) {
      one.leave(CLIENT_TIMED_OUT);
      await settled();
    }
    expect(queries().slice(4)).toEqual(['E?', 'F?']);
    expect(api.cancels).toEqual([]);
    // What has no place gives none back.
    api.finish('resp_4', { text: 'Found.' });
    await settled();
    expect(queries().slice(4)).toEqual(['E?', 'F?']);
    expect((await answerOf(asked('D?'))).report.state).toBe('kept');
    api.finish('resp_1');
    await settled();
    expect(queries().slice(4)).toEqual(['E?', 'F?', 'G?']);
  });

  test('a search whose stream has broken keeps its place until it ends, or gives it back when it is detached', async () => {
    const { api, clock, asked, queries } = start();
    const left = [asked('A?'), asked('B?'), asked('C?'), asked('D?')];
    await settled();
    for (const number of [1, 3, 4]) api.fail(`resp_${number}`, { kind: 'interrupted' });
    for (const query of ['E?', 'F?', 'G?']) void asked(query, { tool: 'answer' });
    await settled();
    expect(queries()).toHaveLength(4);
    for (const one of left.slice(1)) {
      one.leave(CLIENT_TIMED_OUT);
      await settled();
    }
    expect(queries().slice(4)).toEqual(['E?']);
    api.finish('resp_1');
    await clock.advance(5000);
    expect(queries().slice(4)).toEqual(['E?', 'F?']);
    api.finish('resp_4');
    await clock.advance(5000);
    expect(queries().slice(4)).toEqual(['E?', 'F?']);
  });

  test.each([
    ['waits for detached searches', 2],
    ['waits for a place', 0],
  ])('a search that is left while it %s is never sent', async (_, detached) => {
    const { api, asked, queries, leave } = start();
    for (let number = 1; number <= detached; number += 1) await leave(`Detached ${number}?`);
    for (let number = detached; number < 4; number += 1) void asked(`Short ${number}?`, { tool: 'answer' });
    await settled();
    await leave('Long?');
    for (let number = 1; number <= 4; number += 1) api.finish(`resp_${number}`);
    await settled();
    expect(queries()).not.toContain('Long?');
    expect(api.cancels).toEqual([]);
    void asked('Long?');
    await settled();
    expect(queries()).toContain('Long?');
  });
});

describe('a handle', () => {
  test('returns the answer in the same process, through any tool, as often as wanted', async () => {
    const process = startProcess();
    const { api, call } = process;
    const query = `"${await unfinishedHandle(process)}".`;
    const waiting = call({ tool: 'answer_quick', args: { query } });
    await settled();
    api.finish('resp_1', { text: 'Found.' });
    expect((await answerOf(waiting)).report.state).toBe('joined');
    const { report, result } = await answerOf(call({ args: { query, max_results: 'no number' } }));
    expect(report.state).toBe('kept');
    expect(result.answer).toContain('Found.');
    expect(api.looks).toEqual([]);
  });

  test('returns the answer in another process, with one look after it is known', async () => {
    const first = startProcess();
    const query = await unfinishedHandle(first);
    const { call, api } = startProcess(first.api);
    const waiting = call({ args: { query } });
    await settled();
    api.finish('resp_1', { text: 'Found.' });
    await api.clock.advance(5000);
    expect((await answerOf(waiting)).report).toMatchObject({ state: 'recovered', isShared: true });
    expect((await answerOf(call({ args: { query } }))).report.state).toBe('kept');
    expect(api.looks).toEqual(['resp_1', 'resp_1']);
    expect(api.posts).toHaveLength(1);
  });

  test('waits in another process until the limit of the call, with progress, and can be used again', async () => {
    const first = startProcess();
    const query = await unfinishedHandle(first);
    const { call, api, clock } = startProcess(first.api);
    const seen: SearchProgress[] = [];
    const waiting = call({ args: { query }, observer: { onProgress: (progress) => seen.push(progress) } });
    await settled();
    expect(seen).toEqual([{ kind: 'thinking' }]);
    await clock.advance(TIMEOUT_MS);
    expect((await answerOf(waiting)).report).toMatchObject({ state: 'unfinished', handle: query });
    const looks = api.looks.length;
    await clock.advance(MINUTE_MS);
    expect(api.looks).toHaveLength(looks);
    api.finish('resp_1');
    expect((await answerOf(call({ args: { query } }))).report.state).toBe('recovered');
    expect(api.cancels).toEqual([]);
  });

  test('is looked at once in two seconds, however many calls ask, one after another', async () => {
    const first = startProcess();
    const query = await unfinishedHandle(first);
    const { call, api, clock } = startProcess(first.api);
    for (let count = 0; count < 3; count += 1) {
      const left = call({ args: { query } });
      await settled();
      left.leave();
      await errorOf(left);
    }
    expect(api.looks).toHaveLength(1);
    await clock.advance(2000);
    void call({ args: { query } });
    await settled();
    expect(api.looks).toHaveLength(2);
  });

  test.each([false, true])('whose looks all fail reports why (takes a task: %s)', async (takesTask) => {
    const first = startProcess();
    const query = await unfinishedHandle(first);
    const { call, api, clock } = startProcess(first.api);
    const error = { kind: 'server_error', attempts: 1, detail: 'overloaded' } as const;
    api.lookError = { kind: 'not_looked', error, isPassing: true };
    const waiting = call({ args: { query }, takesTask });
    await settled();
    await clock.advance(TIMEOUT_MS);
    expect(api.looks.length).toBeGreaterThan(3);
    expect(await errorOf(waiting)).toEqual(error);
    const looks = api.looks.length;
    await clock.advance(MINUTE_MS);
    expect(api.looks).toHaveLength(looks);
  });

  test('whose first look comes late is a task as soon as it shows something', async () => {
    const first = startProcess();
    const query = await unfinishedHandle(first);
    const { call, api, clock } = startProcess(first.api);
    const error = { kind: 'server_error', attempts: 1, detail: 'overloaded' } as const;
    api.lookError = { kind: 'not_looked', error, isPassing: true };
    const waiting = call({ args: { query }, takesTask: true });
    await settled();
    await clock.advance(MINUTE_MS);
    api.lookError = undefined;
    await clock.advance(15_000);
    expect((await answerOf(waiting)).report).toMatchObject({ state: 'unfinished', handle: query });
  });

  test.each([
    ['is malformed', (handle: string) => `${handle}x`, {}],
    ['belongs to another caller', (handle: string) => handle, { by: callerOf('alice') }],
    ['is that of another tool', (handle: string) => handle.replace('la1.d.', 'la1.a.'), {}],
  ])('that %s gets the same error, without a request', async (_, change, over) => {
    const process = startProcess();
    const query = change(await unfinishedHandle(process));
    const { posts, looks } = process.api;
    expect(await errorOf(process.call({ args: { query }, ...over }))).toEqual({ kind: 'unknown_answer' });
    expect([posts.length, looks.length]).toEqual([1, 0]);
  });

  test('whose call is cancelled in another process leaves the search alone', async () => {
    const first = startProcess();
    const query = await unfinishedHandle(first);
    const left = startProcess(first.api).call({ args: { query } });
    await settled();
    left.leave();
    expect(await errorOf(left)).toEqual({ kind: 'cancelled', isDetached: true });
    expect(first.api.cancels).toEqual([]);
  });

  test('that the API does not know gets it after one look', async () => {
    const query = await unfinishedHandle(startProcess());
    const { api, call } = startProcess();
    expect(await errorOf(call({ args: { query } }))).toEqual({ kind: 'unknown_answer' });
    expect(api.looks).toEqual(['resp_1']);
  });
});

test('a stream that breaks for good is continued by looks', async () => {
  const { api, clock, call } = startProcess();
  const waiting = call();
  await settled();
  api.fail('resp_1', { kind: 'interrupted' });
  await settled();
  api.finish('resp_1', { text: 'Found.' });
  await clock.advance(5000);
  expect((await answerOf(waiting)).result.answer).toContain('Found.');
  expect(api.posts).toHaveLength(1);
});

test('the search that is looked at ends with its signal, and is cancelled, however late it has begun', async () => {
  const { api, call } = startProcess();
  void call();
  await settled();
  const [request] = api.posts;
  if (request === undefined) throw new Error('There is no request.');
  const watched = new WatchedSearch({ llmSearch: api, responses: api, clock: api.clock });
  const limit = new AbortController();
  const late = { ...request, deadlineMs: () => 1000 };
  const outcome = watched.search(late, { onProgress: () => {} }, limit.signal);
  await settled();
  api.fail('resp_2', { kind: 'interrupted' });
  await api.clock.advance(1000);
  expect(api.cancels).toEqual([]);
  limit.abort(TIMED_OUT);
  expect((await outcome)._unsafeUnwrapErr()).toEqual({ kind: 'aborted' });
  expect(api.cancels).toEqual(['resp_2']);
});

test('a call is answered at the limit of its search, also while that is looked at', async () => {
  const { api, clock, call } = startProcess();
  const left = call();
  await settled();
  api.fail('resp_1', { kind: 'interrupted' });
  left.leave(CLIENT_TIMED_OUT);
  await clock.advance(LIMITS.maxMs - MINUTE_MS);
  const waiting = call();
  await clock.advance(MINUTE_MS);
  const limit = { timeoutMs: LIMITS.maxMs, limit: 'long_answers.max_ms' };
  expect(await errorOf(waiting)).toEqual({ kind: 'timed_out', ...limit });
  expect(api.cancels).toEqual(['resp_1']);
});

describe('a person who waits', () => {
  const overloaded = { kind: 'server_error', attempts: 1, detail: 'overloaded' } as const;
  const forbidden = { kind: 'forbidden', detail: 'No.' } as const;
  const passing = { kind: 'not_looked', error: overloaded, isPassing: true } as const;

  /** Waits for the answer to a question whose stream has broken, or by its handle in another process. */
  async function startWaiting(by: 'question' | 'handle', lookError: LookError) {
    const first = startProcess();
    const { api, clock } = first;
    api.lookError = lookError;
    if (by === 'question') {
      const waiting = first.call({ isUnlimited: true });
      await settled();
      api.fail('resp_1', { kind: 'interrupted' });
      await settled();
      return { api, clock, waiting };
    }
    const query = await unfinishedHandle(first);
    const waiting = startProcess(api).call({ args: { query }, isUnlimited: true });
    await settled();
    return { api, clock, waiting };
  }

  test.each(['question', 'handle'] as const)('gets the handle after three looks that fail (%s)', async (by) => {
    const { api, clock, waiting } = await startWaiting(by, passing);
    await clock.advance(9999);
    expect(api.looks).toHaveLength(2);
    await clock.advance(1);
    const handle = expect.stringMatching(/^la1\.d\.resp_1\./);
    expect(await errorOf(waiting)).toEqual({ kind: 'interrupted', reason: overloaded, handle });
    await clock.advance(MINUTE_MS);
    expect([api.looks.length, api.cancels]).toEqual([3, []]);
  });

  test.each(['question', 'handle'] as const)('gets it after one that will always fail (%s)', async (by) => {
    const { api, waiting } = await startWaiting(by, { kind: 'not_looked', error: forbidden, isPassing: false });
    const handle = expect.stringMatching(/^la1\.d\.resp_1\./);
    expect(await errorOf(waiting)).toEqual({ kind: 'interrupted', reason: forbidden, handle });
    expect([api.looks.length, api.cancels]).toEqual([1, []]);
  });

  test('waits on if looks fail, but not three in a row', async () => {
    const { api, clock, waiting } = await startWaiting('handle', passing);
    await clock.advance(5000);
    api.lookError = undefined;
    await clock.advance(5000);
    api.lookError = passing;
    await clock.advance(10_000);
    expect(api.looks).toHaveLength(5);
    api.lookError = undefined;
    api.finish('resp_1');
    await clock.advance(5000);
    expect((await answerOf(waiting)).report.state).toBe('recovered');
  });

  test('by a handle waits as long as the search may take, and then gets the handle as a failure', async () => {
    const first = startProcess();
    const query = await unfinishedHandle(first);
    const waiting = startProcess(first.api).call({ args: { query }, isUnlimited: true });
    await settled();
    await first.clock.advance(LIMITS.maxMs - TIMEOUT_MS - 1);
    expect(first.api.cancels).toEqual([]);
    void first.searches.close();
    await first.clock.advance(TIMEOUT_MS + 1);
    const limit = { timeoutMs: LIMITS.maxMs, limit: 'long_answers.max_ms' };
    expect(await errorOf(waiting)).toEqual({ kind: 'timed_out', ...limit, handle: query });
    expect(first.api.cancels).toEqual([]);
  });

  test('for a question gets a failure without a handle then, because the search is ended', async () => {
    const { api, clock, call } = startProcess();
    const waiting = call({ isUnlimited: true });
    await settled();
    await clock.advance(LIMITS.maxMs);
    const limit = { timeoutMs: LIMITS.maxMs, limit: 'long_answers.max_ms' };
    expect(await errorOf(waiting)).toEqual({ kind: 'timed_out', ...limit });
    expect(api.cancels).toEqual(['resp_1']);
  });

  test.each([
    ['question', { kind: 'cancelled' }, ['resp_1']],
    ['handle', { kind: 'cancelled', isDetached: true }, []],
  ] as const)('and presses Ctrl-C ends only a search that began here (%s)', async (by, error, cancels) => {
    const { api, waiting } = await startWaiting(by, passing);
    waiting.leave();
    expect(await errorOf(waiting)).toEqual(error);
    await settled();
    expect(api.cancels).toEqual(cancels);
  });
});

test('at the exit, only what a client can find again is left running', async () => {
  const process = startProcess();
  await unfinishedHandle(process);
  void process.call({ args: { query: 'Another question?' } }).answer;
  await settled();
  await process.searches.close();
  expect(process.api.cancels).toEqual(['resp_2']);
  // The time for which each of both is kept.
  expect(process.clock.pendingSleeps).toBe(2);
});

test('at most 100 answers are kept, and none longer than configured', async () => {
  const { api, clock, call } = startProcess();
  for (let number = 1; number <= 101; number += 1) {
    const asked = call({ args: { query: `Question ${number}?` } });
    await settled();
    api.finish(`resp_${number}`);
    await answerOf(asked);
  }
  expect((await answerOf(call({ args: { query: 'Question 2?' } }))).report.state).toBe('kept');
  void call({ args: { query: 'Question 1?' } }).answer;
  await settled();
  expect(api.posts).toHaveLength(102);
  await clock.advance(LIMITS.keepMs);
  void call({ args: { query: 'Question 2?' } }).answer;
  await settled();
  expect(api.posts).toHaveLength(103);
});

test('other tools are asked as before', async () => {
  const { api, call } = startProcess();
  const asked = call({ tool: 'answer' });
  await settled();
  expect(api.posts.map(({ isLong }) => isLong)).toEqual([undefined]);
  api.finish('resp_1');
  expect((await answerOf(asked)).report.state).toBeUndefined();
});

const event = fc.constantFrom(
  ...(['ask', 'ask for a task', 'ask as a person', 'fetch elsewhere', 'fetch a task elsewhere'] as const),
  ...(['time out', 'disconnect', 'cancel', 'cancel the task', 'cancel the task elsewhere', 'look elsewhere'] as const),
  ...(['wait', 'wait until a hand-out', 'finish', 'fail', 'break the stream', 'break the looks', 'exit'] as const),
);

test('whatever happens, each search is one request, a process cancels it at most once, and every call is answered that is not left', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 12 }), async (events) => {
      const here = startProcess();
      const { api, clock, searches } = here;
      const elsewhere = startProcess(api);
      const calls: { readonly leave: (reason?: string) => void; isLeft: boolean; end?: string }[] = [];
      let handle: string | undefined;
      const ask = (process: typeof here, over: Partial<TestQuestion>) => {
        const { answer, leave } = process.call(over);
        const call: (typeof calls)[number] = { leave, isLeft: false };
        calls.push(call);
        void answer.then((answer) => {
          call.end = answer.isOk() ? 'answered' : answer.error.kind;
          if (answer.isOk()) handle ??= answer.value.report.handle;
        });
      };
      const leave = (reason?: string) => {
        const call = calls.findLast(({ isLeft, end }) => !isLeft && end === undefined);
        call?.leave(reason);
        if (call !== undefined) call.isLeft = true;
      };
      const fetch = (over: Partial<TestQuestion>) => handle && ask(elsewhere, { args: { query: handle }, ...over });
      const cancelIn = ({ application }: typeof here) => handle && application.tasks?.cancelTask(handle, USER);
      const look = async () => {
        const status = handle && (await elsewhere.application.tasks?.taskStatus(handle, USER, true));
        if (status && status.state === 'cancelled') expect(api.cancels).toContain(handle?.split('.')[2]);
      };
      const last = () => `resp_${api.posts.length}`;
      const error = { kind: 'server_error', attempts: 1, detail: 'overloaded' } as const;
      const run: Record<(typeof events)[number], () => unknown> = {
        ask: () => ask(here, {}),
        'ask for a task': () => ask(here, { takesTask: true }),
        'ask as a person': () => ask(here, { isUnlimited: true }),
        'fetch elsewhere': () => fetch({}),
        'fetch a task elsewhere': () => fetch({ takesTask: true }),
        'time out': () => leave(CLIENT_TIMED_OUT),
        disconnect: () => leave(DISCONNECTED),
        cancel: () => leave(),
        'cancel the task': () => cancelIn(here),
        'cancel the task elsewhere': () => cancelIn(elsewhere),
        'look elsewhere': look,
        wait: () => clock.advance(MINUTE_MS),
        'wait until a hand-out': () => clock.advance(TIMEOUT_MS),
        finish: () => api.posts.length > 0 && api.finish(last()),
        fail: () => api.posts.length > 0 && api.fail(last(), { kind: 'content_filtered' }),
        'break the stream': () => api.posts.length > 0 && api.fail(last(), { kind: 'interrupted' }),
        'break the looks': () => {
          api.lookError = api.lookError === undefined ? { kind: 'not_looked', error, isPassing: true } : undefined;
        },
        exit: () => void searches.close(),
      };
      for (const event of events) {
        await run[event]();
        await settled();
      }
      // No search is longer, and no call in another process.
      await clock.advance(LIMITS.maxMs);
      const ends = calls.filter(({ isLeft }) => !isLeft).map(({ end }) => end);
      expect(ends).not.toContain(undefined);
      expect(ends).not.toContain('cancelled');
      for (const id of new Set(api.cancels)) {
        const processes = events.includes('cancel the task elsewhere') ? 2 : 1;
        expect(api.cancels.filter((cancelled) => cancelled === id).length).toBeLessThanOrEqual(processes);
      }
      // What is asked while a search works joins it.
      expect(api.posts.length).toBeLessThanOrEqual(events.filter((event) => event.startsWith('ask')).length);
    }),
    { numRuns: runs(1000) },
  );
});

const USER = LOCAL;

describe('a task', () => {
  /** A call that has become a task, in a process that also looks at tasks. */
  async function startTask(process = startProcess()) {
    const asked = process.call({ takesTask: true });
    await settled();
    await process.clock.advance(LIMITS.taskAfterMs);
    const { report } = await answerOf(asked);
    if (report.handle === undefined) throw new Error('There is no task.');
    return { ...process, asked, taskId: report.handle };
  }
  const statusIn = ({ application }: ReturnType<typeof startProcess>, taskId: string, isReturned = true) =>
    application.tasks?.taskStatus(taskId, USER, isReturned);

  test('is handed out when the answer takes long, or as soon as its response is known', async () => {
    const process = startProcess();
    process.api.createsAtOnce = false;
    const asked = process.call({ takesTask: true });
    await settled();
    await process.clock.advance(TIMEOUT_MS - 1);
    process.api.create('resp_1');
    expect((await answerOf(asked)).report).toMatchObject({ state: 'unfinished' });
  });

  test.each([
    ['a call that takes one', { takesTask: true }, 0],
    ['a call that takes one, and waits for its response', { takesTask: true }, LIMITS.taskAfterMs],
    ['a person', { isUnlimited: true }, 0],
  ])(
    'cannot be handed out if the API rejects background mode: the call ends at its limit, as before (%s)',
    async (_, over, afterMs) => {
      const { api, clock, call } = startProcess();
      api.createsAtOnce = false;
      const asked = call(over);
      await settled();
      await clock.advance(afterMs);
      api.rejectBackground('resp_1');
      await clock.advance(TIMEOUT_MS - afterMs - 1);
      expect(api.cancels).toEqual([]);
      await clock.advance(1);
      expect(api.cancels).toEqual(['resp_1']);
      expect(await errorOf(asked)).toEqual({ kind: 'timed_out', timeoutMs: TIMEOUT_MS });
      expect(api.posts[0]?.deadlineMs()).toBe(TIMEOUT_MS);
    },
  );

  test('says what the search does, and then has the answer of the call, the same each time', async () => {
    const process = await startTask();
    process.api.progress('resp_1', { kind: 'thinking' });
    expect(await statusIn(process, process.taskId)).toMatchObject({ state: 'working', latest: { kind: 'thinking' } });
    process.api.finish('resp_1', { text: 'Found.' });
    await settled();
    const first = await statusIn(process, process.taskId);
    expect(first).toMatchObject({ state: 'ended', answer: { value: { report: { searches: 0 } } } });
    expect(await statusIn(process, process.taskId)).toEqual(first);
    expect(process.api.looks).toEqual([]);
  });

  test('is looked at in another process, at most once in two seconds, and never after its end', async () => {
    const first = await startTask();
    const other = startProcess(first.api);
    await Promise.all([statusIn(other, first.taskId), settled()]);
    expect(await statusIn(other, first.taskId)).toMatchObject({ state: 'working' });
    expect(first.api.looks).toHaveLength(1);
    first.api.finish('resp_1');
    await first.clock.advance(2000);
    for (let count = 0; count < 3; count += 1)
      expect(await statusIn(other, first.taskId)).toMatchObject({ state: 'ended' });
    expect(first.api.looks).toHaveLength(2);
  });

  test.each(['the same process', 'another process'])('is cancelled once, in %s', async (where) => {
    const process = await startTask();
    const canceller = where === 'the same process' ? process : startProcess(process.api);
    for (let count = 0; count < 2; count += 1)
      expect(await canceller.application.tasks?.cancelTask(process.taskId, USER)).toBe(true);
    await settled();
    expect(process.api.cancels).toEqual(['resp_1']);
    expect(await statusIn(canceller, process.taskId)).toMatchObject({ state: 'cancelled' });
  });

  test.each(['at its limit', 'cancelled', 'disconnected'])(
    'in a process that did not begin the search is not cancelled there by a call for it that ends %s',
    async (how) => {
      const first = await startTask();
      const other = startProcess(first.api);
      const left = other.call({ args: { query: first.taskId }, takesTask: true });
      await settled();
      if (how === 'at its limit') await first.clock.advance(LIMITS.taskAfterMs);
      else left.leave(how === 'cancelled' ? undefined : DISCONNECTED);
      await left.answer;
      await first.clock.advance(5000);
      expect(await statusIn(other, first.taskId)).toMatchObject({ state: 'working' });
      first.api.finish('resp_1');
      await first.clock.advance(5000);
      expect(await statusIn(other, first.taskId)).toMatchObject({ state: 'ended' });
      expect(first.api.cancels).toEqual([]);
    },
  );

  test.each(['the same process', 'another process'])(
    'that is cancelled in %s is a failure for the calls that wait, and for its handle',
    async (where) => {
      const process = await startTask();
      const canceller = where === 'the same process' ? process : startProcess(process.api);
      const asked = { args: { query: process.taskId } };
      const waiting = [canceller.call(asked), canceller.call({ ...asked, takesTask: true })];
      await settled();
      const cancel = () => canceller.application.tasks?.cancelTask(process.taskId, USER);
      expect(await Promise.all([cancel(), cancel()])).toEqual([true, true]);
      for (const call of [...waiting, canceller.call(asked)])
        expect(await errorOf(call)).toEqual({ kind: 'search_cancelled' });
      expect(process.api.cancels).toEqual(['resp_1']);
      const later = startProcess(process.api);
      expect(await errorOf(later.call(asked))).toEqual({ kind: 'search_cancelled' });
    },
  );

  test('that was cancelled elsewhere is cancelled for the process that runs the search, too', async () => {
    const process = await startTask();
    await process.api.cancel('resp_1');
    process.api.fail('resp_1', { kind: 'interrupted' });
    await settled();
    expect(await statusIn(process, process.taskId)).toMatchObject({ state: 'cancelled' });
    expect(process.searches.counts.long_answers_total).toMatchObject({ cancelled: 1, failed: 0 });
    expect(await errorOf(process.call({ args: { query: process.taskId } }))).toEqual({ kind: 'search_cancelled' });
  });

  test('that is cancelled in another process has the time at which the response was created', async () => {
    const process = await startTask();
    const other = startProcess(process.api);
    await process.clock.advance(MINUTE_MS);
    await other.application.tasks?.cancelTask(process.taskId, USER);
    for (let count = 0; count < 2; count += 1) {
      const createdAt = new Date('2026-01-05T03:00:00Z');
      expect(await statusIn(other, process.taskId)).toMatchObject({ state: 'cancelled', createdAt });
    }
    expect(process.api.looks).toHaveLength(1);
    const unseen = startProcess(process.api);
    process.api.lookError = { kind: 'unknown_response' };
    await unseen.application.tasks?.cancelTask(process.taskId, USER);
    expect(await statusIn(unseen, process.taskId)).toMatchObject({ state: 'cancelled' });
  });

  test('is unknown to another caller, who cannot cancel it', async () => {
    const { application, api, taskId } = await startTask();
    const alice = callerOf('alice');
    expect(await application.tasks?.taskStatus(taskId, alice, true)).toEqual({
      state: 'unknown',
    });
    expect(await application.tasks?.cancelTask(taskId, alice)).toBe(false);
    expect([api.cancels, api.looks]).toEqual([[], []]);
  });

  test('is counted once as handed out, and once as answered', async () => {
    const process = await startTask();
    expect(process.searches.counts.long_answers_detached_total).toMatchObject({ task: 1, unfinished: 0 });
    await statusIn(process, process.taskId);
    expect(process.searches.counts.long_answers_returned_total.task).toBe(0);
    process.api.finish('resp_1');
    await settled();
    const other = startProcess(process.api);
    for (const asking of [process, other]) await statusIn(asking, process.taskId, false);
    expect(process.searches.counts.long_answers_returned_total.task).toBe(0);
    expect(other.searches.counts.long_answers_returned_total.task).toBe(0);
    for (const asking of [process, process, other, other]) await statusIn(asking, process.taskId);
    expect(process.searches.counts.long_answers_returned_total).toMatchObject({ task: 1, handle: 0 });
    expect(other.searches.counts.long_answers_returned_total.task).toBe(1);
  });

  test('whose end was only looked at has not been delivered', async () => {
    const process = await startTask();
    process.api.finish('resp_1');
    await settled();
    await statusIn(process, process.taskId, false);
    await process.clock.advance(30 * MINUTE_MS);
    expect((await answerOf(process.call())).report.state).toBe('kept');
  });

  test('continues when another call for it is cancelled', async () => {
    const process = await startTask();
    const joined = process.call();
    await settled();
    joined.leave();
    await settled();
    expect(process.api.cancels).toEqual([]);
  });

  test.each([false, true])(
    'is cancelled when its client disconnects, unless it can be found: %s',
    async (canBeFound) => {
      const process = startProcess();
      const { api, clock, call } = process;
      if (canBeFound) await unfinishedHandle(process);
      const asked = call({ takesTask: true });
      await settled();
      asked.leave(DISCONNECTED);
      expect(await errorOf(asked)).toEqual({ kind: 'cancelled', ...(canBeFound && { isDetached: true }) });
      await clock.advance(30 * MINUTE_MS);
      expect(api.cancels).toEqual(canBeFound ? [] : ['resp_1']);
    },
  );
});

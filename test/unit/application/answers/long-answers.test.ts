import { describe, expect, test } from 'vitest';
import type { AnswerQueryInput } from '../../../../src/application/answers/answer-query.ts';
import { createApplication } from '../../../../src/application/answers/application.ts';
import { LongAnswers } from '../../../../src/application/answers/long-answers.ts';
import { CANCELLED, DISCONNECTED } from '../../../../src/application/async/deadline.ts';
import type { LookError, SearchProgress, SearchUse } from '../../../../src/application/ports/llm-search.ts';
import type { SearchError } from '../../../../src/domain/answers/answer-error.ts';
import { ask, coreConfig } from '../../../support/core.ts';
import { settled } from '../../../support/fake-clock.ts';
import { FakeHandleSigner } from '../../../support/fake-handle-signer.ts';
import { FakeLongApi } from '../../../support/fake-long-api.ts';
import { FakeTextReader } from '../../../support/fake-text-reader.ts';
import { callerOf, LOCAL } from '../../../support/origins.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';

const TIMEOUT_MS = 300_000;
const KEEP_MS = 3_600_000;
const SERVER_ERROR: SearchError = { kind: 'server_error', attempts: 1, detail: 'No.' };

/** A process that answers detailed questions in the long way, with the API that it uses. */
function startProcess(api = new FakeLongApi()) {
  const { clock } = api;
  const longAnswers = { tools: ['answer_detailed' as const], keepMs: KEEP_MS };
  const config = coreConfig({ longAnswers, request: { timeoutMs: TIMEOUT_MS } });
  const long = new LongAnswers({
    llmSearch: api,
    responses: api,
    signer: new FakeHandleSigner(),
    clock,
    keepMs: KEEP_MS,
  });
  const apiProbe = async () => Promise.reject(new Error('this test has no API to probe'));
  const logger = new RecordingLogger();
  const application = createApplication(
    { llmSearch: api, apiProbe, clock, logger, long, texts: new FakeTextReader() },
    config,
  );
  /** A call, which its client can leave for a reason. */
  const call = (over: Partial<AnswerQueryInput> = {}) => {
    const controller = new AbortController();
    const question = ask({ tool: 'answer_detailed', by: LOCAL, ...over });
    const answer = application.answerQuery.execute(question, controller.signal);
    return { answer, leave: (reason?: string) => controller.abort(reason) };
  };
  /** A call, as soon as it waits. */
  const begin = async (over?: Partial<AnswerQueryInput>) => {
    const begun = call(over);
    await settled();
    return begun;
  };
  const found = async (over?: Partial<AnswerQueryInput>) => (await call(over).answer)._unsafeUnwrap();
  return { api, clock, call, begin, found, long, application };
}

type Process = ReturnType<typeof startProcess>;

const answerOf = async ({ answer }: ReturnType<Process['call']>) => (await answer)._unsafeUnwrap();
const errorOf = async ({ answer }: ReturnType<Process['call']>) => (await answer)._unsafeUnwrapErr();

/** The handle of a call that is not finished in time. */
async function unfinishedHandle({ clock, begin }: Process, over?: Partial<AnswerQueryInput>): Promise<string> {
  const unfinished = await begin(over);
  await clock.advance(TIMEOUT_MS);
  const { report } = await answerOf(unfinished);
  return report.handle ?? '';
}

const TEXT = { text: 'Found.' };

describe('the same question again', () => {
  test('follows the request that was just sent, with its progress', async () => {
    const { api, begin } = startProcess();
    api.createsAtOnce = false;
    const first = await begin();
    first.leave(DISCONNECTED);
    expect(await errorOf(first)).toEqual({ kind: 'cancelled' });
    const seen: SearchProgress[] = [];
    const second = await begin({ observer: { onProgress: (progress) => seen.push(progress) } });
    api.create('resp_1');
    api.progress('resp_1', { kind: 'thinking' });
    api.finish('resp_1', TEXT);
    const { result, report } = await answerOf(second);
    expect(result.answer).toContain('Found.');
    expect(report).toMatchObject({ state: 'recovered', isShared: true, handle: expect.stringMatching(/^la1\.d\./) });
    expect(seen).toEqual([{ kind: 'asking' }, { kind: 'thinking' }]);
    expect([api.posts.length, api.looks, api.cancels]).toEqual([1, [], []]);
  });

  test('looks at the response after its reader has left, and gets its answer each time', async () => {
    const process = startProcess();
    const { api, found } = process;
    await unfinishedHandle(process);
    api.finish('resp_1', TEXT);
    for (const _ of [1, 2]) expect((await found()).result.answer).toContain('Found.');
    expect([api.posts.length, api.looks.length]).toEqual([1, 2]);
  });

  test.each<[string, (process: Process) => unknown]>([
    ['keep_ms', ({ clock }) => void clock.advance(KEEP_MS)],
    ['a failure', ({ api }) => api.fail('resp_1', SERVER_ERROR)],
    ['the API has forgotten it', ({ api }) => Object.assign(api, { lookError: { kind: 'unknown_response' } })],
  ])('is another search after %s', async (_name, change) => {
    const process = startProcess();
    const { api, begin } = process;
    await unfinishedHandle(process);
    change(process);
    await settled();
    // The first question that finds the API to have forgotten it fails.
    for (const _ of [1, 2]) {
      await begin();
    }
    expect(api.posts).toHaveLength(2);
  });

  test.each<[string, Partial<AnswerQueryInput>]>([
    ['another caller', { by: callerOf('bob') }],
    ['other hints', { args: { query: 'What does HTTP 404 mean?', recency_days: 1 } }],
  ])('of %s is another search', async (_name, over) => {
    const { api, call, begin } = startProcess();
    call();
    await begin(over);
    expect(api.posts).toHaveLength(2);
  });
});

describe('when the time of a call is over', () => {
  test('it gets what is known so far, with a handle', async () => {
    const { api, clock, begin } = startProcess();
    const unfinished = await begin();
    api.progress('resp_1', { kind: 'searching' });
    await clock.advance(TIMEOUT_MS);
    const { result, report } = await answerOf(unfinished);
    expect(result).toMatchObject({ used_search: false, citations: [], model: 'gpt-5.2' });
    expect(result.answer).toMatch(/not finished.*la1\.d\.resp_1\..*Time so far: 5 min\. Searches so far: 1\./s);
    expect(report).toMatchObject({ state: 'unfinished', searches: 1 });
    expect([api.posts[0]?.deadlineMs, api.cancels]).toEqual([TIMEOUT_MS, []]);
  });

  test('it has failed if the ID of the response is not known', async () => {
    const { api, clock, begin } = startProcess();
    api.createsAtOnce = false;
    const late = await begin();
    await clock.advance(TIMEOUT_MS);
    expect(await errorOf(late)).toEqual({ kind: 'timed_out', timeoutMs: TIMEOUT_MS });
  });

  test('also at the end of a drain', async () => {
    const { begin, application } = startProcess();
    expect(application.endWaits?.()).toBe(false);
    const waiting = await begin();
    expect(application.endWaits?.()).toBe(true);
    expect((await answerOf(waiting)).report.state).toBe('unfinished');
  });

  test('a person still waits', async () => {
    const { api, clock, begin } = startProcess();
    const waiting = await begin({ isUnlimited: true });
    await clock.advance(2 * KEEP_MS);
    api.finish('resp_1', TEXT);
    expect((await answerOf(waiting)).result.answer).toContain('Found.');
  });
});

describe('a call that is left', () => {
  test.each([
    ['a cancellation', CANCELLED, ['resp_1']],
    ['a disconnect', DISCONNECTED, []],
    ['a time-out of the client', undefined, []],
  ])('because of %s tells the API so, or not', async (_name, reason, cancels) => {
    const { api, begin, long } = startProcess();
    const left = await begin();
    left.leave(reason);
    expect(await errorOf(left)).toEqual({ kind: 'cancelled' });
    await long.close();
    expect(api.cancels).toEqual(cancels);
  });

  test('by a cancellation before the ID is known cancels when it is, and the next question is another search', async () => {
    const { api, begin, long } = startProcess();
    api.createsAtOnce = false;
    const left = await begin();
    left.leave(CANCELLED);
    await settled();
    await begin();
    const closed = long.close();
    api.create('resp_1');
    await closed;
    expect([api.posts.length, api.cancels]).toEqual([2, ['resp_1']]);
  });

  test('does not cancel a response that another call follows', async () => {
    const { api, call } = startProcess();
    const [first, second] = [call(), call()];
    await settled();
    first.leave(CANCELLED);
    api.finish('resp_1', TEXT);
    expect((await answerOf(second)).result.answer).toContain('Found.');
    expect(api.cancels).toEqual([]);
  });

  test.each<SearchProgress>([
    { kind: 'waiting', ahead: 3 },
    { kind: 'retrying', reason: 'server_error', waitMs: 500, attempt: 2 },
  ])('ends a search that was not sent: $kind', async (progress) => {
    const { api, begin } = startProcess();
    api.createsAtOnce = false;
    const left = await begin();
    api.progress('resp_1', progress);
    left.leave();
    await settled();
    await begin();
    expect(api.posts).toHaveLength(2);
  });

  test('waits for the ID for 10 seconds', async () => {
    const { api, clock, begin } = startProcess();
    api.createsAtOnce = false;
    const left = await begin();
    left.leave();
    await clock.advance(10_000);
    await begin();
    expect(api.posts).toHaveLength(2);
  });

  test('is an ordinary one if the API rejects background mode', async () => {
    const { api, clock, begin } = startProcess();
    const ordinary = await begin();
    api.rejectBackground('resp_1');
    await clock.advance(TIMEOUT_MS);
    expect(await errorOf(ordinary)).toEqual({ kind: 'timed_out', timeoutMs: TIMEOUT_MS });
    await begin();
    expect(api.posts).toHaveLength(2);
  });
});

describe('a stream that breaks', () => {
  const interrupted: SearchError = { kind: 'interrupted' };

  test('is followed by looks: every 5 seconds, and every 15 after a minute, also while the API is down', async () => {
    const { api, clock, begin } = startProcess();
    const seen: SearchProgress[] = [];
    const waiting = await begin({ observer: { onProgress: (progress) => seen.push(progress) } });
    api.fail('resp_1', interrupted);
    await settled();
    api.lookError = { kind: 'not_looked', error: SERVER_ERROR, isPassing: true };
    await clock.advance(30_000);
    api.lookError = undefined;
    await clock.advance(30_000);
    expect(api.looks).toHaveLength(13);
    await clock.advance(30_000);
    expect(api.looks).toHaveLength(15);
    api.finish('resp_1', TEXT);
    await clock.advance(15_000);
    const { report } = await answerOf(waiting);
    expect(report.state).toBeUndefined();
    expect(seen).toContainEqual({ kind: 'retrying', reason: 'server_error', waitMs: 5000, attempt: 3 });
  });

  test('is looked at once more just before the time limit of each call', async () => {
    const process = startProcess();
    const { api, clock, begin } = process;
    const first = await begin();
    api.fail('resp_1', interrupted);
    await clock.advance(TIMEOUT_MS - 10_000);
    const second = await begin();
    api.finish('resp_1', TEXT);
    await clock.advance(8000);
    for (const call of [first, second]) expect((await answerOf(call)).result.answer).toContain('Found.');
  });

  test('has an answer that came after the last regular look', async () => {
    const { api, clock, begin } = startProcess();
    const waiting = await begin();
    api.fail('resp_1', interrupted);
    await clock.advance(TIMEOUT_MS - 3000);
    api.finish('resp_1', TEXT);
    await clock.advance(1000);
    expect((await answerOf(waiting)).result.answer).toContain('Found.');
  });

  test.each<[string, LookError, object]>([
    [
      'forbidden',
      { kind: 'not_looked', error: { kind: 'forbidden', detail: 'No.' }, isPassing: false },
      {
        kind: 'interrupted',
        reason: { kind: 'forbidden' },
        handle: expect.stringMatching(/^la1\./),
      },
    ],
    ['unknown', { kind: 'unknown_response' }, { kind: 'failed', detail: 'the API no longer has the response' }],
  ])('fails if the response is %s', async (_name, lookError, expected) => {
    const { api, begin } = startProcess();
    const waiting = await begin();
    api.lookError = lookError;
    api.fail('resp_1', interrupted);
    expect(await errorOf(waiting)).toMatchObject(expected);
  });
});

describe('a handle', () => {
  // S48
  test('gets the answer in another process, through every tool, as often as wanted', async () => {
    const first = startProcess();
    const handle = await unfinishedHandle(first);
    first.api.finish('resp_1', TEXT);
    const { api, found } = startProcess(first.api);
    for (const tool of ['answer', 'answer_quick'] as const) {
      const { result, report } = await found({ tool, args: { query: ` "${handle}". ` } });
      expect(result.answer).toContain('Found.');
      expect(report).toMatchObject({ state: 'recovered', isShared: true, handle });
    }
    expect([api.posts.length, api.looks.length]).toEqual([1, 2]);
  });

  test.each<[string, Partial<AnswerQueryInput>, Partial<AnswerQueryInput>, boolean]>([
    ['stdio, HTTP without tokens', { by: LOCAL }, { by: callerOf('local') }, true],
    ['one token, another', { by: callerOf('alice') }, { by: callerOf('bob') }, false],
  ])('is valid for its owner: %s', async (_name, first, second, isOwn) => {
    const process = startProcess();
    const handle = await unfinishedHandle(process, first);
    process.api.finish('resp_1', TEXT);
    const answer = await process.call({ ...second, args: { query: handle } }).answer;
    expect(answer.mapErr(({ kind }) => kind).map(() => 'found')).toEqual(
      isOwn ? expect.objectContaining({ value: 'found' }) : expect.objectContaining({ error: 'unknown_answer' }),
    );
    expect(process.api.looks).toHaveLength(isOwn ? 1 : 0);
  });

  test.each(['la1.d.resp_1.AAAAAAAAAAAAAAAAAAAAAA', 'la1.d.x'])(
    'that is not valid is never sent: %s',
    async (query) => {
      const { api, call } = startProcess();
      expect(await errorOf(call({ args: { query } }))).toEqual({ kind: 'unknown_answer' });
      expect([api.posts, api.looks]).toEqual([[], []]);
    },
  );

  test('of a response that has expired is unknown', async () => {
    const process = startProcess();
    const handle = await unfinishedHandle(process);
    process.api.lookError = { kind: 'unknown_response' };
    expect(await errorOf(process.call({ args: { query: handle } }))).toEqual({ kind: 'unknown_answer' });
  });

  test('cancels nothing when the call is cancelled, and is not finished when its time is over', async () => {
    const process = startProcess();
    const handle = await unfinishedHandle(process);
    const waiting = await process.begin({ args: { query: handle } });
    waiting.leave(CANCELLED);
    expect(await errorOf(waiting)).toEqual({ kind: 'cancelled', isDetached: true });
    expect(process.api.cancels).toEqual([]);
    expect(await unfinishedHandle(process, { args: { query: handle } })).toBe(handle);
  });
});

test('what a response used counts once, for a call that got its answer', async () => {
  const process = startProcess();
  const { api } = process;
  const uses: SearchUse[] = [];
  const observer = { onProgress: () => {}, onUsed: (use: SearchUse) => void uses.push(use) };
  const handle = await unfinishedHandle(process, { observer });
  api.finish('resp_1', { report: { queries: [], searches: 2, attempts: 1 } });
  uses.length = 0;
  await process.found({ observer, args: { query: handle } });
  await process.found({ observer });
  await startProcess(api).found({ observer, args: { query: handle } });
  expect(uses).toEqual([{ searches: 2 }]);
});

test('other tools answer as without the key', async () => {
  const { api, begin } = startProcess();
  await begin({ tool: 'answer' });
  expect(api.posts.map(({ mode }) => mode)).toEqual(['web']);
});

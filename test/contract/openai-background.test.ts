import { describe, expect, test } from 'vitest';
import { apiId, responseBody } from '../support/api-response.ts';
import { responseEvents, toSse } from '../support/api-stream.ts';
import {
  answers,
  cutsStream,
  fails,
  failsInStream,
  resets,
  resetsMidStream,
  sendsBody,
  sendsJson,
  stallsMidStream,
  works,
} from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { deferred } from '../support/fake-llm-search.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { composeOn } from './composed.ts';
import {
  apiPerTest,
  errorOf,
  expectNoListener,
  never,
  type OpenAiSearchOptions,
  openAiSearch,
  ProgressLog,
  replyOf,
  searchRequest,
} from './search-kit.ts';

const api = apiPerTest();

/** The ID of the response to the first request. */
const FIRST_ID = apiId('resp', 1);
const POST = 'POST ';
const LOOK = `GET /${FIRST_ID}?include[]=web_search_call.action.sources`;
const CANCEL = `POST /${FIRST_ID}/cancel`;

const TEXT = 'An answer in twelve pieces, cut somewhere.';
const ANSWER = answers(TEXT, { chunks: 12, search: true });
const COMPLETED = sendsJson(responseBody(ANSWER.response, { body: {}, number: 1 }));

/** The methods and paths of the requests so far, without the path of all responses. */
const seenRequests = () =>
  api.requests.map(({ method, path }) => `${method} ${decodeURIComponent(path).replace('/v1/responses', '')}`);

describe('with request.background', () => {
  function start(options: OpenAiSearchOptions = {}, onSeen = () => {}) {
    const clock = FakeClock.instant();
    // No look takes too long.
    clock.after = () => () => {};
    const observer = new ProgressLog(onSeen);
    const request = { store: false, domainFilter: 'hint', background: true } as const;
    const search = openAiSearch(api.url, { clock, request, ...options });
    const ask = (signal = never()) => search.search(searchRequest(), observer, signal);
    return { clock, observer, ask };
  }

  test('a request says so, and no other does', async () => {
    api.reply(ANSWER, ANSWER);
    await (await composeOn(api, 'request: { background: true }'))();
    await (await composeOn(api))();
    expect(api.requests.map(({ body }) => body.background)).toEqual([true, undefined]);
  });

  test.each([
    ['a reset', resetsMidStream],
    ['its end', cutsStream],
  ])(
    'a stream that %s breaks is no new attempt: its response is looked at until it has ended',
    async (_name, breaks) => {
      api.reply(breaks(6, ANSWER));
      const { ask, clock, observer } = start();
      const asking = ask();
      await api.waitForRequests(3);
      api.endResponses();
      expect(replyOf(await asking)).toMatchObject({ text: TEXT, searched: true, report: { attempts: 1, searches: 1 } });
      expect(new Set(seenRequests())).toEqual(new Set([POST, LOOK]));
      expect(clock.slept).toContain(5000);
      expect(observer.seen.filter(({ kind }) => kind === 'retrying')).toEqual([]);
    },
  );

  test('a response is looked at although the API refuses it for a while, and is not recorded', async () => {
    api.reply(cutsStream(5, ANSWER));
    api.replyToLooks(fails({ status: 503 }), resets(), COMPLETED);
    const bodies: string[] = [];
    const { ask, observer } = start({ recorder: async (_, __, body) => void bodies.push(body) });
    expect(replyOf(await ask()).text).toBe(TEXT);
    expect(seenRequests()).toEqual([POST, LOOK, LOOK, LOOK]);
    expect(observer.seen.filter(({ kind }) => kind === 'retrying')).toHaveLength(2);
    // Only its beginning was received.
    expect(bodies).toEqual([]);
  });

  test.each([
    ['no longer has', 404, { kind: 'failed', detail: 'the API no longer has the response' }],
    ['does not show', 403, { kind: 'forbidden' }],
  ])('a response that the API %s is a failure, and is not sent again', async (_name, status, expected) => {
    api.reply(cutsStream(5, ANSWER));
    api.replyToLooks(fails({ status }));
    expect(errorOf(await start().ask())).toMatchObject(expected);
    expect(seenRequests()).toEqual([POST, LOOK]);
  });

  test('a refusal to continue without storage is a failure that says so', async () => {
    const message = 'Background mode requires store=true.';
    api.reply(fails({ status: 400, error: { message, param: 'background' } }));
    expect(errorOf(await start().ask())).toMatchObject({ kind: 'store_required', detail: message });
    expect(seenRequests()).toEqual([POST]);
  });

  test('a response that comes without a stream is looked at until it has ended', async () => {
    api.reply(sendsJson({ id: FIRST_ID, status: 'queued', output: [] }), ANSWER);
    api.replyToLooks(COMPLETED);
    expect(replyOf(await start().ask())).toMatchObject({ text: TEXT, report: { attempts: 1 } });
    expect(seenRequests()).toEqual([POST, LOOK]);
  });

  test('a response that fails is a failed attempt', async () => {
    api.reply(failsInStream({ code: 'server_error', message: 'Sorry.' }), ANSWER);
    expect(replyOf(await start().ask())).toMatchObject({ text: TEXT, report: { attempts: 2 } });
    expect(seenRequests()).toEqual([POST, POST]);
  });

  test.each([
    ['is posted', stallsMidStream(5, ANSWER), [POST, CANCEL]],
    ['is posted during a look, too', cutsStream(5, ANSWER), [POST, LOOK, CANCEL]],
    ['cannot be posted before the first event', stallsMidStream(0), [POST]],
  ])('a cancellation %s', async (_name, behaviour, lines) => {
    api.reply(behaviour);
    api.replyToLooks(stallsMidStream(0));
    const controller = new AbortController();
    const begun = deferred<void>();
    const outcome = start({ clock: new FakeClock() }, () => begun.settle()).ask(controller.signal);
    if (lines.length > 1) await begun.promise;
    await api.waitForRequests(Math.max(1, lines.length - 1));
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expectNoListener(controller.signal);
    await api.waitForRequests(lines.length);
    expect(seenRequests()).toEqual(lines);
  });
});

describe('an answer that may take minutes', () => {
  /** Asks in background mode. */
  function start(clock = FakeClock.instant()) {
    const ids: (string | undefined)[] = [];
    const observer = { onProgress: () => {}, onStarted: (id: string | undefined): void => void ids.push(id) };
    const logger = new RecordingLogger();
    const search = openAiSearch(api.url, { logger, clock });
    const ask = (signal = never(), model = 'gpt-5.2') =>
      search.search({ ...searchRequest({ profile: { model } }), mode: 'background' }, observer, signal);
    return { search, observer, ids, logger, ask };
  }

  test('has store as it is configured, and reports the ID of its response', async () => {
    api.reply(ANSWER);
    const { ids, ask } = start();
    expect(replyOf(await ask())).toMatchObject({ text: TEXT, report: { responseId: FIRST_ID, attempts: 1 } });
    expect(api.requests[0]?.body).toMatchObject({ background: true, stream: true, store: false });
    expect(ids).toEqual([FIRST_ID]);
  });

  test.each([
    ['that no handle can contain', (stream: string) => stream.replaceAll(FIRST_ID, 'resp/1')],
    ['that is too long', (stream: string) => stream.replaceAll(FIRST_ID, 'r'.repeat(91))],
    ['that is absent', (stream: string) => stream.replaceAll(`"id":"${FIRST_ID}",`, '')],
  ])('ends with its call if its response has an ID %s', async (_name, change) => {
    api.reply(sendsBody({ body: change(toSse(...responseEvents(ANSWER.response, { body: {}, number: 1 }))) }));
    const { ids, ask } = start();
    expect(replyOf(await ask()).text).toBe(TEXT);
    expect(ids).toEqual([undefined]);
  });

  test.each([
    ['interrupted, because others can follow it', 'queued', [FIRST_ID]],
    ['the answer if it is complete', 'completed', [undefined]],
  ])('without a stream is %s', async (_name, status, expected) => {
    api.reply(sendsJson({ ...responseBody(ANSWER.response, { body: {}, number: 1 }), status }));
    const { ids, ask } = start();
    const outcome = await ask();
    if (status === 'queued') expect(errorOf(outcome)).toEqual({ kind: 'interrupted' });
    else expect(replyOf(outcome).text).toBe(TEXT);
    expect(ids).toEqual(status === 'queued' ? expected : []);
  });

  test('is asked for again before its response was created', async () => {
    api.reply(fails({ status: 503 }), cutsStream(0), ANSWER);
    const { ids, ask } = start();
    expect(replyOf(await ask()).report.attempts).toBe(3);
    expect(ids).toEqual([apiId('resp', 3)]);
  });

  test.each([
    ['whose stream breaks is interrupted', cutsStream(5, ANSWER), { kind: 'interrupted' }],
    ['that fails', failsInStream({ code: 'server_error', message: 'Sorry.' }), { kind: 'server_error' }],
  ])('is not asked for again after a response %s', async (_name, behaviour, expected) => {
    api.reply(behaviour, ANSWER);
    expect(errorOf(await start().ask())).toMatchObject(expected);
    expect(seenRequests()).toEqual([POST]);
  });

  test('is a cancelled search if its response is cancelled elsewhere', async () => {
    api.reply(works(ANSWER));
    const outcome = start().ask();
    await api.waitForRequests(1);
    await fetch(`${api.url}/responses/${FIRST_ID}/cancel`, { method: 'POST' });
    expect(errorOf(await outcome)).toEqual({ kind: 'search_cancelled' });
  });

  test('has its connection closed by an abort, which cancels nothing', async () => {
    api.reply(works(ANSWER));
    // With it, the search waits at its end for a cancellation that is being sent.
    const { search, observer, ask } = start(new FakeClock());
    const controller = new AbortController();
    observer.onStarted = () => controller.abort();
    expect(errorOf(await ask(controller.signal))).toEqual({ kind: 'aborted' });
    expectNoListener(controller.signal);
    await api.waitForAbort(0);
    await search.close();
    expect(seenRequests()).toEqual([POST]);
  });

  test('is an ordinary request for a model that rejects background mode, with one notice', async () => {
    const rejected = fails({ status: 400, error: { message: "Unsupported: 'background'.", param: 'background' } });
    api.reply(rejected, ANSWER, ANSWER, ANSWER);
    const { ids, logger, ask } = start();
    expect(replyOf(await ask())).toMatchObject({ text: TEXT, report: { attempts: 2 } });
    await ask();
    await ask(never(), 'gpt-5.1');
    expect(api.requests.map(({ body }) => body.background)).toEqual([true, undefined, undefined, true]);
    expect(ids).toEqual([undefined, undefined, apiId('resp', 4)]);
    expect(logger.lines).toEqual(['warn openai(client): gpt-5.2 rejected background; it is omitted from now on']);
  });

  test.each([
    ['store', 'Background responses must be stored.'],
    ['background', "'background' needs storage of responses."],
    [null, 'Background mode requires store=true.'],
  ])('is an ordinary request if the API must store it, and the notice names the key (%s)', async (param, message) => {
    api.reply(fails({ status: 400, error: { message, param } }), ANSWER);
    const { ids, logger, ask } = start();
    expect(replyOf(await ask()).text).toBe(TEXT);
    expect(ids).toEqual([undefined]);
    expect(logger.lines).toEqual([
      'warn openai(client): gpt-5.2 rejected background without openai.store: true; it is omitted from now on',
    ]);
  });
});

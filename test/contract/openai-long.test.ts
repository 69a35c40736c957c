import { describe, expect, test } from 'vitest';
import { DETACHED } from '../../src/application/async/deadline.ts';
import type { StartedResponse } from '../../src/application/ports/llm-search.ts';
import { apiId } from '../support/api-response.ts';
import { answerEvents, toSse } from '../support/api-stream.ts';
import {
  answers,
  type Behaviour,
  cutsStream,
  fails,
  failsInStream,
  holds,
  sendsBody,
  stallsAfterHeaders,
  stallsMidStream,
  works,
} from '../support/behaviours.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import {
  apiPerTest,
  CANCELS,
  errorOf,
  expectNoListener,
  FIRST_ID,
  never,
  type OpenAiSearchOptions,
  openAiSearch,
  ProgressLog,
  replyOf,
  requestLines,
  resumes,
  searchRequest,
} from './search-kit.ts';

const api = apiPerTest();

const TEXT = 'An answer after minutes.';
const ANSWER = answers(TEXT, { search: true });
const CREATED_AT = new Date(1_768_775_269_000);

class LongLog extends ProgressLog {
  readonly created: StartedResponse[] = [];
  readonly ordinary: string[] = [];
  /** Resolves at the first. */
  readonly untilCreated: Promise<void>;
  #onFirst = () => {};

  constructor() {
    super();
    this.untilCreated = new Promise((resolve) => {
      this.#onFirst = resolve;
    });
  }

  onCreated(response: StartedResponse): void {
    this.created.push(response);
    this.#onFirst();
  }

  onOrdinary(reason: 'rejected' | 'unusable'): void {
    this.ordinary.push(reason);
  }
}

function start(options: OpenAiSearchOptions = {}) {
  const observer = new LongLog();
  const logger = new RecordingLogger();
  const search = openAiSearch(api.url, { logger, ...options });
  const request = { ...searchRequest(), isLong: true };
  const ask = (signal: AbortSignal = never()) => search.search(request, observer, signal);
  return { search, observer, logger, ask, request };
}

function rejects(param: string | null, message = 'Not supported.', status = 400): Behaviour {
  return fails({ status, error: { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' } });
}

const FAILS_503 = fails({ status: 503, error: { message: 'Later.', type: 'server_error', param: null, code: null } });
const seenRequests = () => requestLines(api);

/** The events of a stream, changed one by one. */
function streams(change: (event: string) => string): Behaviour {
  return sendsBody({ body: answerEvents(ANSWER, { body: {}, number: 1 }).map(toSse).map(change).join('') });
}

describe('a long request', () => {
  test('is sent in background mode, with store as it is configured', async () => {
    api.reply(ANSWER, ANSWER, ANSWER);
    const { search, observer, ask } = start();
    expect(replyOf(await ask()).text).toBe(TEXT);
    await start({ request: { store: true, domainFilter: 'hint' } }).ask();
    await search.search(searchRequest(), observer, never());
    expect(api.requests.map(({ body: { background, stream, store } }) => ({ background, stream, store }))).toEqual([
      { background: true, stream: true, store: false },
      { background: true, stream: true, store: true },
      { background: undefined, stream: true, store: false },
    ]);
  });

  test('reports its response once, while it works', async () => {
    const working = works(ANSWER);
    api.reply(working);
    const { observer, ask } = start();
    const outcome = ask();
    await observer.untilCreated;
    expect(observer.created).toEqual([{ id: FIRST_ID, createdAt: CREATED_AT }]);
    working.release();
    expect(replyOf(await outcome)).toMatchObject({ text: TEXT, report: { responseId: FIRST_ID, attempts: 1 } });
    expect(observer.created).toHaveLength(1);
    expect(seenRequests()).toEqual(['POST ']);
  });

  test('reports it once if it is created twice', async () => {
    api.reply(streams((event) => (event.startsWith('event: response.created') ? event + event : event)));
    const { observer, ask } = start();
    await ask();
    expect(observer.created).toHaveLength(1);
  });

  test('without the time of its creation was created now', async () => {
    api.reply(streams((event) => event.replace(/"created_at":\d+/, '"created_at":null')));
    const { observer, ask } = start({ clock: FakeClock.instant('2026-01-02T03:04:05Z') });
    await ask();
    expect(observer.created).toEqual([{ id: FIRST_ID, createdAt: new Date('2026-01-02T03:04:05Z') }]);
  });

  test.each([
    ['whose ID no handle can contain', (event: string) => event.replaceAll(FIRST_ID, 'resp/1')],
    ['whose ID is too long', (event: string) => event.replaceAll(FIRST_ID, 'r'.repeat(91))],
    ['without an ID', (event: string) => event.replaceAll(`"id":"${FIRST_ID}",`, '')],
    ['whose events have no numbers', (event: string) => event.replace(/,"sequence_number":\d+/, '')],
  ])('%s ends with its call, and is answered', async (_name, change) => {
    api.reply(streams(change));
    const { observer, ask } = start();
    expect(replyOf(await ask()).text).toBe(TEXT);
    expect([observer.created, observer.ordinary]).toEqual([[], ['unusable']]);
  });

  test('whose ID is as long as a handle allows reports it', async () => {
    api.reply(streams((event) => event.replaceAll(FIRST_ID, 'r'.repeat(90))));
    const { observer, ask } = start();
    await ask();
    expect(observer.created).toMatchObject([{ id: 'r'.repeat(90) }]);
  });
});

describe('a long request is repeated', () => {
  test('before its response was created', async () => {
    api.reply(FAILS_503, cutsStream(0), ANSWER);
    const { observer, ask } = start();
    expect(replyOf(await ask())).toMatchObject({ text: TEXT, report: { attempts: 3 } });
    expect(observer.created).toEqual([{ id: apiId('resp', 3), createdAt: CREATED_AT }]);
  });

  test('without numbers of events also afterwards, like an ordinary one', async () => {
    api.reply(
      sendsBody({ body: 'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n' }),
      ANSWER,
    );
    expect(replyOf(await start().ask()).report.attempts).toBe(2);
  });

  test('but not when its response failed', async () => {
    api.reply(failsInStream({ code: 'server_error', message: 'Sorry.' }), ANSWER);
    expect(errorOf(await start().ask())).toMatchObject({ kind: 'server_error', attempts: 1 });
    expect(seenRequests()).toEqual(['POST ']);
  });
});

describe('a stream that breaks', () => {
  test('is resumed', async () => {
    api.reply(cutsStream(5, ANSWER), cutsStream(0), sendsBody({ body: rest(5) }));
    const { observer, ask } = start();
    expect(replyOf(await ask())).toMatchObject({ text: TEXT, report: { attempts: 1 } });
    expect(seenRequests()).toEqual(['POST ', resumes(4), resumes(4)]);
    expect(observer.created).toHaveLength(1);
  });

  test.each<[string, readonly Behaviour[], number]>([
    ['breaks until no resumption is left', [cutsStream(0), cutsStream(0), cutsStream(0)], 4],
    ['is refused by the API for too long', [FAILS_503, FAILS_503, FAILS_503], 4],
    ['is refused by the API for good', [rejects('stream', 'No stream with store=false.')], 2],
    ['is unknown to the API', [rejects('id', 'Not found.', 404)], 2],
    ['gets something else', [sendsBody({ body: '<html>Welcome</html>', contentType: 'text/html' })], 2],
  ])('and %s is an interrupted search, and is not sent again', async (_name, replies, count) => {
    api.reply(cutsStream(5, ANSWER), ...replies, ANSWER);
    expect(errorOf(await start().ask())).toMatchObject({ kind: 'interrupted' });
    expect(seenRequests()).toEqual(['POST ', ...Array.from({ length: count - 1 }, () => resumes(4))]);
  });

  test('and a response that was cancelled elsewhere can be looked at, too', async () => {
    const working = works(ANSWER);
    api.reply(working);
    const { observer, ask } = start();
    const outcome = ask();
    await observer.untilCreated;
    await fetch(`${api.url}/responses/${FIRST_ID}/cancel`, { method: 'POST' });
    expect(errorOf(await outcome)).toEqual({ kind: 'interrupted' });
  });

  test('without max_retries is interrupted at once', async () => {
    api.reply(cutsStream(5, ANSWER), ANSWER);
    expect(errorOf(await start({ maxRetries: 0 }).ask())).toMatchObject({ kind: 'interrupted' });
    expect(seenRequests()).toEqual(['POST ']);
  });
});

/** What follows so many events. */
function rest(afterEvents: number): string {
  return answerEvents(ANSWER, { body: {}, number: 1 }).slice(afterEvents).map(toSse).join('');
}

describe('an abort', () => {
  /** Asks, and aborts when the response was created, or when the request has arrived. */
  async function aborted(
    behaviour: Behaviour,
    { reason, isCreated = true, ...options }: OpenAiSearchOptions & { reason?: string; isCreated?: boolean } = {},
  ) {
    api.reply(behaviour);
    const { observer, ask, ...started } = start(options);
    const controller = new AbortController();
    const outcome = ask(controller.signal);
    await (isCreated ? observer.untilCreated : api.waitForRequests(1));
    const seen = observer.seen.length;
    controller.abort(reason);
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expectNoListener(controller.signal);
    return { ...started, observer, seen };
  }

  test.each([0, 1, 2, 3])('before the request is sent leaves nothing open (after %i turns)', async (turns) => {
    api.reply(stallsAfterHeaders());
    const clock = new FakeClock();
    const { search, ask } = start({ clock });
    const controller = new AbortController();
    const outcome = ask(controller.signal);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    await search.close();
    expect(clock.pendingSleeps).toBe(0);
    expect(api.requests).toEqual([]);
  });

  test('cancels the response, once', async () => {
    const { search } = await aborted(works(ANSWER));
    await api.waitForRequests(2);
    await search.close();
    await api.waitForAbort(0);
    expect(seenRequests()).toEqual(['POST ', CANCELS]);
  });

  test('during a resumption cancels the response', async () => {
    api.reply(cutsStream(5, ANSWER), stallsAfterHeaders());
    const controller = new AbortController();
    const outcome = start().ask(controller.signal);
    await api.waitForRequests(2);
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    await api.waitForRequests(3);
    expect(seenRequests()).toEqual(['POST ', resumes(4), CANCELS]);
  });

  test('to detach cancels nothing, and closes the connection', async () => {
    const { search } = await aborted(works(ANSWER), { reason: DETACHED, clock: new FakeClock() });
    await api.waitForAbort(0);
    await search.close();
    expect(seenRequests()).toEqual(['POST ']);
  });

  test('before the ID is known keeps the connection until it is, then cancels', async () => {
    const held = holds();
    const clock = new FakeClock();
    const { search, observer, seen } = await aborted(held, { isCreated: false, clock });
    await clock.advance(9999);
    expect(api.requests[0]?.aborted).toBe(false);
    held.release(stallsMidStream(2, ANSWER));
    await api.waitForRequests(2);
    await api.waitForAbort(0);
    expect(seenRequests()).toEqual(['POST ', CANCELS]);
    await search.close();
    expect(clock.pendingSleeps).toBe(0);
    expect(observer.created).toEqual([]);
    expect(observer.seen).toHaveLength(seen);
  });

  test('before the ID is known keeps the connection for 10 s at most', async () => {
    const clock = new FakeClock();
    const { search } = await aborted(stallsAfterHeaders(), { isCreated: false, clock });
    await clock.advance(10_000);
    await api.waitForAbort(0);
    await search.close();
    expect(clock.pendingSleeps).toBe(0);
    expect(seenRequests()).toEqual(['POST ']);
  });

  test('to detach before the ID is known closes the connection at once', async () => {
    await aborted(stallsAfterHeaders(), { isCreated: false, clock: new FakeClock(), reason: DETACHED });
    await api.waitForAbort(0);
    expect(seenRequests()).toEqual(['POST ']);
  });

  test('is waited for when the adapter closes, for a second at most', async () => {
    const clock = new FakeClock();
    const { search } = await aborted(stallsAfterHeaders(), { isCreated: false, clock });
    let isClosed = false;
    const closed = search.close().then(() => {
      isClosed = true;
    });
    await clock.advance(999);
    await settled();
    expect(isClosed).toBe(false);
    await clock.advance(1);
    await closed;
  });
});

describe('an API that rejects background mode', () => {
  const REJECTS = rejects('background', "Unsupported parameter: 'background'.");

  test('gets ordinary requests for this model from then on', async () => {
    api.reply(REJECTS, ANSWER, ANSWER, ANSWER);
    const { search, observer, logger, ask, request } = start();
    expect(replyOf(await ask())).toMatchObject({ text: TEXT, report: { attempts: 2 } });
    expect(observer.ordinary).toEqual(['rejected']);
    expect(replyOf(await ask()).report.attempts).toBe(1);
    expect(observer.ordinary).toEqual(['rejected', 'rejected']);
    await search.search({ ...request, profile: { model: 'gpt-5-mini' } }, new LongLog(), never());
    expect(api.requests.map(({ body }) => body.background)).toEqual([true, undefined, undefined, true]);
    expect(observer.created).toEqual([]);
    expect(logger.lines).toEqual(['warn openai(client): gpt-5.2 rejected background; it is omitted from now on']);
  });

  test('gets no second request if the search is ended because of that', async () => {
    api.reply(REJECTS, ANSWER);
    const { observer, ask } = start();
    const controller = new AbortController();
    observer.onOrdinary = () => controller.abort();
    expect(errorOf(await ask(controller.signal))).toEqual({ kind: 'aborted' });
    expect(api.requests).toHaveLength(1);
  });

  test('gets no second request without max_retries', async () => {
    api.reply(REJECTS, ANSWER);
    expect(errorOf(await start({ maxRetries: 0 }).ask())).toMatchObject({ kind: 'bad_request' });
    expect(api.requests).toHaveLength(1);
  });

  test('for a request that is not long, fails it as before, also if that is known', async () => {
    api.reply(REJECTS, ANSWER, REJECTS);
    const { search, ask } = start({ request: { store: false, domainFilter: 'hint', background: true } });
    await ask();
    const outcome = await search.search(searchRequest(), new ProgressLog(), never());
    expect(errorOf(outcome)).toMatchObject({ kind: 'bad_request' });
    expect(api.requests.map(({ body }) => body.background)).toEqual([true, undefined, true]);
  });
});

describe('an API that rejects store', () => {
  test.each([
    ['store', 'Not supported.'],
    ['background', 'Background mode requires store=true.'],
    [null, 'Set `store` to true.'],
  ])('as %s: %s, fails the call without a second request', async (param, message) => {
    api.reply(rejects(param, message), ANSWER);
    expect(errorOf(await start().ask())).toEqual({ kind: 'store_rejected', detail: message });
    expect(api.requests).toHaveLength(1);
  });

  test('fails an ordinary request as before', async () => {
    api.reply(rejects('store'), rejects('background'), rejects('store'));
    const { search, ask } = start();
    const outcome = await search.search(searchRequest(), new ProgressLog(), never());
    expect(errorOf(outcome)).toMatchObject({ kind: 'bad_request' });
    expect(errorOf(await ask())).toMatchObject({ kind: 'bad_request' });
  });
});

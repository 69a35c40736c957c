import { describe, expect, test } from 'vitest';
import { toApiResponse } from '../support/api-response.ts';
import {
  answers,
  type Behaviour,
  cutsStream,
  fails,
  failsInStream,
  resetsBeforeHeaders,
  resetsMidStream,
  sendsJson,
  stallsAfterHeaders,
  stallsMidStream,
} from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { composeOn } from './composed.ts';
import {
  apiPerTest,
  CANCELS,
  errorOf,
  expectNoListener,
  LOOKS,
  never,
  type OpenAiSearchOptions,
  openAiSearch,
  ProgressLog,
  replyOf,
  requestLines,
  searchRequest,
} from './search-kit.ts';

const api = apiPerTest();

const TEXT = 'An answer in twelve pieces, cut somewhere.';
const ANSWER = answers(TEXT, { chunks: 12, search: true });

function fails5xx(status = 503): Behaviour {
  return fails({ status, error: { message: 'Later.', type: 'server_error', param: null, code: null } });
}

function start(options: OpenAiSearchOptions = {}) {
  // Waits end at once, and no look takes too long.
  const clock = Object.assign(FakeClock.instant(), { after: () => () => {} });
  const request = { store: false, domainFilter: 'hint', background: true } as const;
  const observer = new ProgressLog();
  const search = openAiSearch(api.url, { clock, request, ...options });
  return {
    clock,
    seen: observer.seen,
    ask: (signal: AbortSignal = never()) => search.search(searchRequest(), observer, signal),
  };
}

const seenRequests = () => requestLines(api);

test('is requested only if it is configured', async () => {
  api.reply(answers('A.'), answers('B.'));
  await (await composeOn(api, 'request: { background: true }'))();
  await (await composeOn(api))();
  expect(api.requests.map(({ body }) => body.background)).toEqual([true, undefined]);
});

describe('a stream that breaks after its first event', () => {
  test.each([
    ['by a reset', resetsMidStream],
    ['by its end', cutsStream],
  ])('%s is no new attempt: the response is looked at until it has ended', async (_name, breaks) => {
    api.reply(breaks(10, ANSWER));
    const { ask, clock, seen } = start();
    const asking = ask();
    await api.waitForRequests(3);
    api.endResponses();
    expect(replyOf(await asking)).toMatchObject({ text: TEXT, searched: true, report: { attempts: 1, searches: 1 } });
    expect(new Set(seenRequests())).toEqual(new Set(['POST ', LOOKS]));
    expect(clock.slept).toContain(5000);
    expect(seen.filter(({ kind }) => kind === 'retrying')).toEqual([]);
  });

  test('is looked at although the API refuses it for a while', async () => {
    api.reply(cutsStream(5, ANSWER));
    api.replyToLooks(fails5xx(), resetsBeforeHeaders(), sendsJson(toApiResponse(ANSWER, { body: {}, number: 1 })));
    const { ask, seen } = start();
    expect(replyOf(await ask()).text).toBe(TEXT);
    expect(seenRequests()).toEqual(['POST ', LOOKS, LOOKS, LOOKS]);
    expect(seen.filter(({ kind }) => kind === 'retrying')).toHaveLength(2);
  });

  test.each([
    ['no longer has', 404, { kind: 'failed', detail: 'the API no longer has the response' }],
    ['does not show', 403, { kind: 'forbidden' }],
  ])('and that the API %s is a failure, and is not sent again', async (_name, status, expected) => {
    api.reply(cutsStream(5, ANSWER));
    api.replyToLooks(fails({ status, error: { message: 'No.', type: 'x', param: null, code: null } }));
    expect(errorOf(await start().ask())).toMatchObject(expected);
    expect(seenRequests()).toEqual(['POST ', LOOKS]);
  });

  test('is not recorded, because only its beginning was received', async () => {
    api.reply(cutsStream(5, ANSWER));
    api.replyToLooks(sendsJson(toApiResponse(ANSWER, { body: {}, number: 1 })));
    const bodies: string[] = [];
    const recorder = async (_: unknown, _reply: unknown, body: string) => void bodies.push(body);
    expect(replyOf(await start({ recorder }).ask()).text).toBe(TEXT);
    expect(bodies).toEqual([]);
  });
});

test('a response that fails is a failed attempt, as without background mode', async () => {
  api.reply(failsInStream({ code: 'server_error', message: 'Sorry.' }), ANSWER);
  expect(replyOf(await start().ask())).toMatchObject({ text: TEXT, report: { attempts: 2 } });
  expect(seenRequests()).toEqual(['POST ', 'POST ']);
});

describe('a cancellation', () => {
  /** Cancels when something was received, or is being looked at. */
  async function cancelled(count: number, seenFirst: boolean, options: OpenAiSearchOptions = {}) {
    const controller = new AbortController();
    const request = { store: false, domainFilter: 'hint', background: true } as const;
    const clock = new FakeClock();
    const search = openAiSearch(api.url, { request, clock, ...options });
    let isSeen: () => void = () => {};
    const seen = new Promise<void>((resolve) => {
      isSeen = resolve;
    });
    const outcome = search.search(searchRequest(), new ProgressLog(() => isSeen()), controller.signal);
    await api.waitForRequests(count);
    if (seenFirst) await seen;
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expectNoListener(controller.signal);
  }

  test('is posted', async () => {
    api.reply(stallsMidStream(5, ANSWER));
    await cancelled(1, true);
    await api.waitForRequests(2);
    expect(seenRequests()).toEqual(['POST ', CANCELS]);
  });

  test('is posted during a look too', async () => {
    api.reply(cutsStream(5, ANSWER));
    api.replyToLooks(stallsAfterHeaders());
    await cancelled(2, true);
    await api.waitForRequests(3);
    expect(seenRequests()).toEqual(['POST ', LOOKS, CANCELS]);
  });

  test('cannot be posted before the first event', async () => {
    api.reply(stallsAfterHeaders());
    await cancelled(1, false);
    expect(seenRequests()).toEqual(['POST ']);
  });
});

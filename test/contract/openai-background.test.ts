import { describe, expect, test } from 'vitest';
import { answerEvents, toSse } from '../support/api-stream.ts';
import {
  answers,
  type Behaviour,
  cutsStream,
  emptyBody,
  fails,
  failsInStream,
  resetsBeforeHeaders,
  resetsMidStream,
  sendsBody,
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

const TEXT = 'An answer in twelve pieces, cut somewhere.';
const ANSWER = answers(TEXT, { chunks: 12, search: true });
/** As the first request gets them. */
const EVENTS = answerEvents(ANSWER, { body: {}, number: 1 });

/** The events after one, as a resumed stream; all of them, or so many. */
function continues(after: number, count = EVENTS.length): Behaviour {
  const events = EVENTS.slice(after + 1, after + 1 + count);
  return sendsBody({ body: events.map(toSse).join('') });
}

function fails5xx(status = 503): Behaviour {
  return fails({ status, error: { message: 'Later.', type: 'server_error', param: null, code: null } });
}

function start(options: OpenAiSearchOptions = {}) {
  const clock = FakeClock.instant();
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
  ])('%s continues after its last event', async (_name, breaks) => {
    api.reply(breaks(10, ANSWER), continues(9));
    const { ask, clock, seen } = start();
    const reply = replyOf(await ask());
    expect(reply).toMatchObject({ text: TEXT, searched: true, report: { attempts: 1, responseId: FIRST_ID } });
    expect(seenRequests()).toEqual(['POST ', resumes(9)]);
    expect(clock.slept).toEqual([]);
    expect(seen.filter(({ kind }) => kind === 'retrying')).toEqual([]);
    const written = seen.flatMap((progress) => (progress.kind === 'writing' ? [progress.characters] : []));
    expect(written).toHaveLength(12);
    expect(written.at(-1)).toBe(TEXT.length);
  });

  test('right after the first event continues too', async () => {
    api.reply(cutsStream(1, ANSWER), continues(0));
    expect(replyOf(await start().ask()).text).toBe(TEXT);
    expect(seenRequests()).toEqual(['POST ', resumes(0)]);
  });

  test('in the middle of an event continues after the event before', async () => {
    const body = EVENTS.slice(0, 12).map(toSse).join('');
    api.reply(sendsBody({ body: body.slice(0, -20) }), continues(10));
    const bodies: string[] = [];
    const recorder = async (_: unknown, _reply: unknown, body: string) => void bodies.push(body);
    expect(replyOf(await start({ recorder }).ask()).text).toBe(TEXT);
    expect(seenRequests()).toEqual(['POST ', resumes(10)]);
    // What is recorded can be read again.
    expect(bodies).toHaveLength(1);
    const complete = bodies[0]?.split('\n\n').filter((event) => event.includes('"response.completed"'));
    expect(complete).toHaveLength(1);
    expect(JSON.parse(complete?.[0]?.split('\ndata: ')[1] ?? '')).toMatchObject({ response: { id: FIRST_ID } });
  });

  test('that breaks again is resumed again, after a wait', async () => {
    api.reply(cutsStream(5, ANSWER), continues(4, 3), continues(7, 0), continues(7));
    const { ask, clock } = start();
    expect(replyOf(await ask())).toMatchObject({ text: TEXT, report: { attempts: 1 } });
    expect(seenRequests()).toEqual(['POST ', resumes(4), resumes(7), resumes(7)]);
    expect(clock.slept).toEqual([500, 1000]);
  });

  test('is resumed max_retries times at most, and is not sent again', async () => {
    api.reply(cutsStream(5, ANSWER), ...Array.from({ length: 6 }, () => continues(4, 0)));
    expect(errorOf(await start({ maxRetries: 2 }).ask())).toMatchObject({ kind: 'connection_failed', attempts: 1 });
    expect(seenRequests()).toEqual(['POST ', resumes(4), resumes(4)]);
  });

  test('with max_retries 0 is not resumed and not sent again', async () => {
    api.reply(cutsStream(5, ANSWER), ANSWER);
    expect(errorOf(await start({ maxRetries: 0 }).ask())).toMatchObject({ kind: 'connection_failed' });
    expect(seenRequests()).toEqual(['POST ']);
  });

  test('is resumed although the API refuses it for a while', async () => {
    api.reply(cutsStream(5, ANSWER), fails5xx(), resetsBeforeHeaders(), continues(4));
    expect(replyOf(await start().ask()).text).toBe(TEXT);
    expect(seenRequests()).toEqual(['POST ', resumes(4), resumes(4), resumes(4)]);
  });

  test('and that the API keeps refusing to resume is not sent again', async () => {
    api.reply(cutsStream(5, ANSWER), ...Array.from({ length: 9 }, () => fails5xx()));
    expect(errorOf(await start().ask())).toMatchObject({ kind: 'server_error' });
    expect(seenRequests()).toEqual(['POST ', ...Array.from({ length: 3 }, () => resumes(4))]);
  });

  test('and that the API no longer has is a failure', async () => {
    const error = { message: `Response with id '${FIRST_ID}' not found.`, type: 'x', param: null, code: null };
    api.reply(cutsStream(5, ANSWER), fails({ status: 404, error }), ANSWER);
    expect(errorOf(await start().ask())).toMatchObject({ kind: 'bad_request' });
    expect(seenRequests()).toEqual(['POST ', resumes(4)]);
  });

  test('and then reports that the response failed is a failed attempt, as without a break', async () => {
    api.reply(cutsStream(2, ANSWER), failsInStream({ code: 'server_error', message: 'Sorry.' }), ANSWER);
    expect(replyOf(await start().ask())).toMatchObject({ text: TEXT, report: { attempts: 2 } });
    expect(seenRequests()).toEqual(['POST ', resumes(1), 'POST ']);
  });
});

test.each([
  ['a reset', resetsBeforeHeaders()],
  ['an empty stream', emptyBody()],
])('%s before the first event is retried as usual', async (_name, behaviour) => {
  api.reply(behaviour, ANSWER);
  expect(replyOf(await start().ask())).toMatchObject({ text: TEXT, report: { attempts: 2 } });
  expect(seenRequests()).toEqual(['POST ', 'POST ']);
});

test('without background mode, a broken stream is retried as usual', async () => {
  api.reply(cutsStream(5, ANSWER), ANSWER);
  const { ask } = start({ request: { store: false, domainFilter: 'hint' } });
  expect(replyOf(await ask()).text).toBe(TEXT);
  expect(seenRequests()).toEqual(['POST ', 'POST ']);
});

describe('a cancellation', () => {
  /** Cancels when something was received, or is being resumed. */
  async function cancelled(count: number, seenFirst: boolean, options: OpenAiSearchOptions = {}) {
    const controller = new AbortController();
    const request = { store: false, domainFilter: 'hint', background: true } as const;
    const search = openAiSearch(api.url, { request, ...options });
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

  test('is posted during a resumption too', async () => {
    api.reply(cutsStream(5, ANSWER), stallsAfterHeaders());
    await cancelled(2, true);
    await api.waitForRequests(3);
    expect(seenRequests()).toEqual(['POST ', resumes(4), CANCELS]);
  });

  test('is posted if the server does not number its events', async () => {
    api.reply(stallsMidStream(5, ANSWER, false));
    await cancelled(1, true);
    await api.waitForRequests(2);
    expect(seenRequests()).toEqual(['POST ', CANCELS]);
  });

  test('cannot be posted before the first event', async () => {
    api.reply(stallsAfterHeaders());
    await cancelled(1, false);
    expect(seenRequests()).toEqual(['POST ']);
  });

  test('is not posted without background mode', async () => {
    api.reply(stallsMidStream(5, ANSWER));
    await cancelled(1, true, { request: { store: false, domainFilter: 'hint' } });
    await api.waitForAbort(0);
    expect(seenRequests()).toEqual(['POST ']);
  });
});

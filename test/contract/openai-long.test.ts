import { describe, expect, test } from 'vitest';
import { apiId } from '../support/api-response.ts';
import { answerEvents, toSse } from '../support/api-stream.ts';
import { answers, type Behaviour, cutsStream, fails, failsInStream, sendsBody, works } from '../support/behaviours.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import {
  apiPerTest,
  errorOf,
  expectNoListener,
  FIRST_ID,
  never,
  openAiSearch,
  ProgressLog,
  replyOf,
  requestLines,
  searchRequest,
} from './search-kit.ts';

const api = apiPerTest();

const TEXT = 'An answer after minutes.';
const ANSWER = answers(TEXT, { search: true });

class LongLog extends ProgressLog {
  readonly ids: (string | undefined)[] = [];

  onStarted(id: string | undefined): void {
    this.ids.push(id);
  }
}

/** Asks in background mode. */
function start() {
  const observer = new LongLog();
  const logger = new RecordingLogger();
  const search = openAiSearch(api.url, { logger });
  const ask = (signal = never(), model = 'gpt-5.2') =>
    search.search({ ...searchRequest({ profile: { model } }), mode: 'background' }, observer, signal);
  return { search, observer, logger, ask };
}

function rejects(param: string): Behaviour {
  const message = `Unsupported parameter: '${param}'.`;
  return fails({
    status: 400,
    error: { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' },
  });
}

const FAILS_503 = fails({ status: 503, error: { message: 'Later.', type: 'server_error', param: null, code: null } });

/** The events of a stream, changed one by one. */
function streams(change: (event: string) => string): Behaviour {
  return sendsBody({ body: answerEvents(ANSWER, { body: {}, number: 1 }).map(toSse).map(change).join('') });
}

describe('in background mode', () => {
  test('a request has store as it is configured, and reports the ID of its response', async () => {
    api.reply(ANSWER);
    const { observer, ask } = start();
    expect(replyOf(await ask())).toMatchObject({ text: TEXT, report: { responseId: FIRST_ID, attempts: 1 } });
    expect(api.requests[0]?.body).toMatchObject({ background: true, stream: true, store: false });
    expect(observer.ids).toEqual([FIRST_ID]);
  });

  test.each([
    ['that no handle can contain', (event: string) => event.replaceAll(FIRST_ID, 'resp/1')],
    ['that is too long', (event: string) => event.replaceAll(FIRST_ID, 'r'.repeat(91))],
    ['that is absent', (event: string) => event.replaceAll(`"id":"${FIRST_ID}",`, '')],
  ])('a response with an ID %s ends with its call, and is answered', async (_name, change) => {
    api.reply(streams(change));
    const { observer, ask } = start();
    expect(replyOf(await ask()).text).toBe(TEXT);
    expect(observer.ids).toEqual([undefined]);
  });

  test('a request is repeated before its response was created', async () => {
    api.reply(FAILS_503, cutsStream(0), ANSWER);
    const { observer, ask } = start();
    expect(replyOf(await ask()).report.attempts).toBe(3);
    expect(observer.ids).toEqual([apiId('resp', 3)]);
  });

  test.each<[string, Behaviour, object]>([
    ['whose stream breaks is interrupted', cutsStream(5, ANSWER), { kind: 'interrupted' }],
    ['that fails', failsInStream({ code: 'server_error', message: 'Sorry.' }), { kind: 'server_error' }],
  ])('a response %s, and is not asked for again', async (_name, behaviour, expected) => {
    api.reply(behaviour, ANSWER);
    expect(errorOf(await start().ask())).toMatchObject(expected);
    expect(requestLines(api)).toEqual(['POST ']);
  });

  test('a response that is cancelled elsewhere is a cancelled search', async () => {
    const working = works(ANSWER);
    api.reply(working);
    const outcome = start().ask();
    await api.waitForRequests(1);
    await fetch(`${api.url}/responses/${FIRST_ID}/cancel`, { method: 'POST' });
    expect(errorOf(await outcome)).toEqual({ kind: 'search_cancelled' });
  });

  test('an abort closes the connection, and cancels nothing', async () => {
    api.reply(works(ANSWER));
    const { search, observer, ask } = start();
    const controller = new AbortController();
    observer.onStarted = () => controller.abort();
    expect(errorOf(await ask(controller.signal))).toEqual({ kind: 'aborted' });
    expectNoListener(controller.signal);
    await api.waitForAbort(0);
    await search.close();
    expect(requestLines(api)).toEqual(['POST ']);
  });
});

test('an API that rejects background mode gets ordinary requests for this model, with one notice', async () => {
  api.reply(rejects('background'), ANSWER, ANSWER, ANSWER);
  const { observer, logger, ask } = start();
  expect(replyOf(await ask())).toMatchObject({ text: TEXT, report: { attempts: 2 } });
  await ask();
  await ask(never(), 'gpt-5-mini');
  expect(api.requests.map(({ body }) => body.background)).toEqual([true, undefined, undefined, true]);
  expect(observer.ids).toEqual([undefined, undefined, apiId('resp', 4)]);
  expect(logger.lines).toEqual(['warn openai(client): gpt-5.2 rejected background; it is omitted from now on']);
});

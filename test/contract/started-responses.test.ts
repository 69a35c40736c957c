import { describe, expect, test } from 'vitest';
import { networkCalls } from '../../src/adapters/outbound/openai/api-client.ts';
import { createApiFetch } from '../../src/adapters/outbound/openai/api-fetch.ts';
import { OpenAiStartedResponses } from '../../src/adapters/outbound/openai/openai-started-responses.ts';
import type { Clock } from '../../src/application/ports/clock.ts';
import { apiId } from '../support/api-response.ts';
import {
  answers,
  type Behaviour,
  fails,
  failsHtml,
  neverAnswers,
  resetsBeforeHeaders,
  sendsBody,
  sendsJson,
  works,
} from '../support/behaviours.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { FakeLongApi } from '../support/fake-long-api.ts';
import { redactorOf } from '../support/redactor.ts';
import { describeStartedResponses, type StartedKit } from './describe-started-responses.ts';
import {
  API_KEY,
  apiPerTest,
  errorOf,
  never,
  openAiSearch,
  ProgressLog,
  replyOf,
  searchRequest,
} from './search-kit.ts';

const PAGE = 'https://nodejs.org/en/blog';
const TEXT = `Node.js 24 is out ([Node.js](${PAGE})).`;
const ANSWER = answers(TEXT, { citations: [{ url: PAGE, title: 'Node.js' }], sources: [{ url: `${PAGE}/all` }] });

function openAiResponses(url: string, { apiKey = API_KEY, clock = new FakeClock() as Clock } = {}) {
  const { fetch } = createApiFetch();
  return new OpenAiStartedResponses({
    callFor: networkCalls({ apiKey, apiKeyVariable: 'OPENAI_API_KEY', baseUrl: url, fetch }),
    apiKeyVariable: 'OPENAI_API_KEY',
    route: new URL(url).host,
    clock,
    redactor: redactorOf(apiKey),
  });
}

function error(status: number, message = 'No.', code: string | null = null): Behaviour {
  return fails({ status, error: { message, type: 'invalid_request_error', param: null, code } });
}

/** What a look gets at an ID that the fake API itself does not serve. */
const LOOKS: Readonly<Record<string, Behaviour>> = {
  resp_unreachable: error(503),
  resp_forbidden: error(403),
  resp_hanging: neverAnswers(),
};

/** Begins a background response, and leaves it to the API. Returns its ID. */
async function begin(api: FakeApi, behaviour: Behaviour): Promise<string> {
  api.reply(behaviour);
  const begun = await fetch(`${api.url}/responses`, { method: 'POST', body: '{"background":true}' });
  await begun.body?.cancel();
  return apiId('resp', api.requests.length);
}

async function startOpenAi(): Promise<StartedKit> {
  const api = await startFakeApi();
  const failing = works();
  const ids = {
    working: await begin(api, works(ANSWER, 8)),
    completed: await begin(api, ANSWER),
    cancelled: await begin(api, works()),
    failed: await begin(api, failing),
    unknown: 'resp_unknown',
    unreachable: 'resp_unreachable',
    forbidden: 'resp_forbidden',
    hanging: 'resp_hanging',
  };
  failing.release({ code: 'other', message: 'Sorry.' });
  const responses = openAiResponses(api.url);
  await responses.cancel(ids.cancelled);
  const begun = api.requests.length;
  return {
    responses: {
      look: (id, ...asked) => {
        const behaviour = LOOKS[id];
        if (behaviour !== undefined) api.replyToLooks(behaviour);
        return responses.look(id, ...asked);
      },
      cancel: (id) => responses.cancel(id),
    },
    ids,
    text: TEXT,
    untilHanging: () => api.waitForRequests(begun + 1),
    stop: () => api.close(),
  };
}

async function startFake(): Promise<StartedKit> {
  const api = new FakeLongApi();
  const [working, completed, cancelled, failed] = ['resp_1', 'resp_2', 'resp_3', 'resp_4'] as const;
  for (const _ of [working, completed, cancelled, failed]) void api.search(searchRequest(), new ProgressLog(), never());
  await settled();
  api.progress(working, { kind: 'searching' });
  api.finish(completed, { text: TEXT, searched: true });
  await api.cancel(cancelled);
  api.fail(failed, { kind: 'failed', detail: 'Sorry.' });
  const lookErrors: Readonly<Record<string, FakeLongApi['lookError']>> = {
    unreachable: { kind: 'not_looked', error: { kind: 'server_error', attempts: 1, detail: 'No.' }, isPassing: true },
    forbidden: { kind: 'not_looked', error: { kind: 'forbidden', detail: 'No.' }, isPassing: false },
    hanging: 'hangs',
  };
  return {
    responses: {
      look: (id, ...asked) => {
        api.lookError = lookErrors[id];
        return api.look(id, ...asked);
      },
      cancel: (id) => api.cancel(id),
    },
    ids: {
      working,
      completed,
      cancelled,
      failed,
      unknown: 'unknown',
      unreachable: 'unreachable',
      forbidden: 'forbidden',
      hanging: 'hanging',
    },
    text: TEXT,
    untilHanging: settled,
  };
}

describeStartedResponses('OpenAiStartedResponses', startOpenAi);
describeStartedResponses('FakeLongApi', startFake);

describe('OpenAiStartedResponses', () => {
  const api = apiPerTest();

  const look = (id = 'resp_1', over: Parameters<typeof openAiResponses>[1] = {}) =>
    openAiResponses(api.url, over).look(id, searchRequest(), never());
  const json = (status: unknown, over: object = {}) =>
    sendsJson({ id: 'resp_1', created_at: 1_768_775_269, status, output: [], ...over });

  test('sends one request, which asks for the sources', async () => {
    api.replyToLooks(json('queued'));
    expect((await look('resp_a-b_C'))._unsafeUnwrap()).toEqual({ searches: 0 });
    const [{ method, path = '', headers, rawBody } = {}] = api.requests;
    expect([method, decodeURIComponent(path), rawBody]).toEqual([
      'GET',
      '/v1/responses/resp_a-b_C?include[]=web_search_call.action.sources',
      '',
    ]);
    expect(headers?.authorization).toBe(`Bearer ${API_KEY}`);
  });

  test('makes the reply of a completed response as from its stream, with the day of its creation', async () => {
    api.reply(ANSWER);
    const request = { ...searchRequest(), mode: 'background' as const };
    const streamed = replyOf(await openAiSearch(api.url).search(request, new ProgressLog(), never()));
    const looked = (await look(apiId('resp', 1)))._unsafeUnwrap();
    expect(looked.outcome?._unsafeUnwrap()).toEqual({ ...streamed, accessedOn: '2026-01-19' });
    expect(streamed.sources.consulted).toEqual([`${PAGE}/all`]);
  });

  test('shows an answer that was cut off as completed', async () => {
    const id = await begin(api, answers('An answer that is cut', { incomplete: 'max_output_tokens' }));
    const looked = (await look(id))._unsafeUnwrap();
    expect(looked.outcome?._unsafeUnwrap()).toMatchObject({ ending: { kind: 'incomplete' } });
  });

  test.each<[string, Behaviour, object]>([
    ['failed', json('failed', { error: { code: 'server_error', message: 'Sorry.' } }), { kind: 'server_error' }],
    [
      'filtered',
      json('incomplete', { incomplete_details: { reason: 'content_filter' } }),
      { kind: 'content_filtered' },
    ],
    ['of an unknown state', json('expired'), { kind: 'failed', detail: 'the API answered with status expired' }],
  ])('shows a response that is %s as failed', async (_name, behaviour, expected) => {
    api.replyToLooks(behaviour);
    expect((await look())._unsafeUnwrap().outcome?._unsafeUnwrapErr()).toMatchObject(expected);
  });

  test.each<[string, Behaviour, boolean]>([
    ['429', error(429, 'Slow down.', 'rate_limit_exceeded'), true],
    ['429 for an exhausted quota', error(429, 'You exceeded your quota.', 'insufficient_quota'), true],
    ['500', failsHtml(500), true],
    ['a reset', resetsBeforeHeaders(), true],
    ['400', error(400), false],
    ['401', error(401), false],
    ['409', error(409), false],
    ['no JSON', sendsBody({ body: '<html></html>', contentType: 'text/html' }), false],
  ])('%s is not tried again, and says whether a later look may succeed', async (_name, behaviour, isPassing) => {
    api.replyToLooks(behaviour, json('queued'));
    expect(errorOf(await look())).toMatchObject({ kind: 'not_looked', isPassing });
    expect(api.requests).toHaveLength(1);
  });

  test('that the API does not answer ends after 15 s, and a later one may succeed', async () => {
    api.replyToLooks(neverAnswers());
    const clock = new FakeClock();
    const looking = look('resp_1', { clock });
    await api.waitForRequests(1);
    await clock.advance(14_999);
    expect(api.requests[0]?.aborted).toBe(false);
    await clock.advance(1);
    const error = { kind: 'connection_failed', attempts: 1, detail: 'no response within 15 s' };
    expect(errorOf(await looking)).toMatchObject({ kind: 'not_looked', isPassing: true, error });
    await api.waitForAbort(0);
    expect(clock.pendingSleeps).toBe(0);
  });

  test('without a usable key, nothing is sent', async () => {
    const outcome = await look('resp_1', { apiKey: 'a key' });
    const error = { kind: 'malformed_api_key' };
    expect(errorOf(outcome)).toMatchObject({ kind: 'not_looked', error, isPassing: false });
    await openAiResponses(api.url, { apiKey: 'a key' }).cancel('resp_1');
    expect(api.requests).toEqual([]);
  });

  test('sends one cancellation, and waits for it', async () => {
    await openAiResponses(api.url).cancel('resp_1');
    expect(api.requests).toMatchObject([{ method: 'POST', path: '/v1/responses/resp_1/cancel', aborted: false }]);
    await expect(api.waitForAbort(0)).rejects.toThrow('answered in full');
  });

  test('waits for a cancellation for a second at most', async () => {
    const clock = new FakeClock();
    const { url } = api;
    await api.close();
    const hanging = new OpenAiStartedResponses({
      callFor: networkCalls({
        apiKey: API_KEY,
        apiKeyVariable: 'OPENAI_API_KEY',
        baseUrl: url,
        fetch: () => new Promise(() => {}),
      }),
      apiKeyVariable: 'OPENAI_API_KEY',
      route: 'api',
      clock,
      redactor: redactorOf(API_KEY),
    });
    let isCancelled = false;
    const cancelled = hanging.cancel('resp_1').then(() => {
      isCancelled = true;
    });
    await clock.advance(999);
    expect(isCancelled).toBe(false);
    await clock.advance(1);
    await cancelled;
  });
});

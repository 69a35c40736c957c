import { describe, expect, test } from 'vitest';
import { networkCalls } from '../../src/adapters/outbound/openai/api-client.ts';
import { createApiFetch } from '../../src/adapters/outbound/openai/api-fetch.ts';
import { OpenAiStartedResponses } from '../../src/adapters/outbound/openai/openai-started-responses.ts';
import { apiId } from '../support/api-response.ts';
import {
  answers,
  type Behaviour,
  fails,
  neverAnswers,
  resets,
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

function openAiResponses(
  url: string,
  { apiKey = API_KEY, clock = new FakeClock(), fetch = createApiFetch().fetch } = {},
) {
  return new OpenAiStartedResponses({
    callFor: networkCalls({ apiKey, apiKeyVariable: 'OPENAI_API_KEY', baseUrl: url, fetch }),
    apiKeyVariable: 'OPENAI_API_KEY',
    route: new URL(url).host,
    clock,
    redactor: redactorOf(apiKey),
  });
}

/** The IDs of responses that were not begun. */
const OTHER_IDS = {
  unknown: 'resp_unknown',
  unreachable: 'resp_unreachable',
  forbidden: 'resp_forbidden',
  hanging: 'resp_hanging',
};

/** What a look gets at an ID that the fake API itself does not serve. */
const LOOKS: Readonly<Record<string, Behaviour>> = {
  resp_unreachable: fails({ status: 503 }),
  resp_forbidden: fails({ status: 403 }),
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
    ...OTHER_IDS,
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
    resp_unreachable: {
      kind: 'not_looked',
      error: { kind: 'server_error', attempts: 1, detail: 'No.' },
      isPassing: true,
    },
    resp_forbidden: { kind: 'not_looked', error: { kind: 'forbidden', detail: 'No.' }, isPassing: false },
    resp_hanging: 'hangs',
  };
  return {
    responses: {
      look: (id, ...asked) => {
        api.lookError = lookErrors[id];
        return api.look(id, ...asked);
      },
      cancel: (id) => api.cancel(id),
    },
    ids: { working, completed, cancelled, failed, ...OTHER_IDS },
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
  const json = (status: string) => sendsJson({ id: 'resp_1', status, output: [] });

  test('a look sends one request, which asks for the sources', async () => {
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

  test('shows a response of an unknown state as failed', async () => {
    api.replyToLooks(json('expired'));
    const expected = { kind: 'failed', detail: 'the API answered with status expired' };
    expect((await look())._unsafeUnwrap().outcome?._unsafeUnwrapErr()).toEqual(expected);
  });

  test.each<[string, Behaviour, boolean]>([
    ['429 for an exhausted quota', fails({ status: 429, error: { code: 'insufficient_quota' } }), true],
    ['500', fails({ status: 500 }), true],
    ['a reset', resets(), true],
    ['401', fails({ status: 401 }), false],
    ['no JSON', sendsBody({ body: '<html></html>', contentType: 'text/html' }), false],
  ])('%s is not tried again, and says whether a later look may succeed', async (_name, behaviour, isPassing) => {
    api.replyToLooks(behaviour, json('queued'));
    expect(errorOf(await look())).toMatchObject({ kind: 'not_looked', isPassing });
    expect(api.requests).toHaveLength(1);
  });

  test('a look that the API does not answer ends after 15 s, and a later one may succeed', async () => {
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
    const hanging = openAiResponses(api.url, { clock, fetch: () => new Promise(() => {}) });
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

import { describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../src/adapters/outbound/openai/request-body.ts';
import type { SearchRequest } from '../../src/application/ports/llm-search.ts';
import { totalUse } from '../../src/application/tools/total-use.ts';
import {
  answers,
  type Behaviour,
  fails,
  failsInStream,
  neverAnswers,
  sendsJson,
  stallsAfterHeaders,
} from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import {
  type Asked,
  apiPerTest,
  ask,
  errorOf,
  expectNoListener,
  never,
  type OpenAiSearchOptions,
  openAiSearch,
  ProgressLog,
  replyOf,
  searchRequest,
} from './search-kit.ts';

const NOW = FakeClock.instant().now();

const api = apiPerTest();

/** Asks once; returns the outcome, the number of attempts, the waits and the progress. */
async function askOnce(behaviours: readonly Behaviour[], options: OpenAiSearchOptions = {}, asked: Asked = {}) {
  const clock = FakeClock.instant();
  const observer = new ProgressLog();
  api.reply(...behaviours);
  const outcome = await openAiSearch(api.url, { clock, ...options }).search(searchRequest(asked), observer, never());
  return { outcome, attempts: api.requests.length, slept: clock.slept, seen: observer.seen };
}

const OK = answers('Here it is.');
const ANSWER = { type: 'message', content: [{ type: 'output_text', text: 'Here it is.', annotations: [] }] };

function httpError(status: number, over: { code?: string; type?: string; message?: string } = {}, headers = {}) {
  const { code = null, type = 'some_error', message = `Something with ${status}.` } = over;
  return fails({ status, headers, error: { message, type, param: null, code } });
}

function tooMany(headers: Readonly<Record<string, string>> = {}): Behaviour {
  return httpError(429, { code: 'rate_limit_exceeded', type: 'tokens', message: 'Rate limit reached.' }, headers);
}

function times<T>(count: number, value: T): readonly T[] {
  return Array.from({ length: count }, () => value);
}

describe('the wait after a 429', () => {
  test.each([
    ['Retry-After in seconds', { 'retry-after': '2' }, 2000],
    ['Retry-After in fractions of a second', { 'retry-after': '0.25' }, 250],
    ['Retry-After as a date', { 'retry-after': new Date(NOW.getTime() + 7000).toUTCString() }, 7000],
    ['retry-after-ms', { 'retry-after-ms': '1234' }, 1234],
    ['retry-after-ms before Retry-After', { 'retry-after-ms': '1234', 'retry-after': '9' }, 1234],
    ['no header', {}, 500],
    ['an invalid Retry-After', { 'retry-after': 'soon' }, 500],
    ['Retry-After in the past', { 'retry-after': new Date(NOW.getTime() - 7000).toUTCString() }, 500],
  ])('%s', async (_name, headers, waitMs) => {
    const { outcome, attempts, slept } = await askOnce([tooMany(headers), OK]);
    expect(replyOf(outcome)).toMatchObject({ text: 'Here it is.', report: { attempts: 2 } });
    expect(attempts).toBe(2);
    expect(slept).toEqual([waitMs]);
  });

  test('doubles up to 8 seconds', async () => {
    const { attempts, slept } = await askOnce([...times(7, tooMany()), OK], { maxRetries: 7 });
    expect(attempts).toBe(8);
    expect(slept).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
  });

  test('varies by up to a quarter', async () => {
    const { slept } = await askOnce([...times(3, tooMany()), OK], { random: () => 0 });
    expect(slept).toEqual([375, 750, 1500]);
  });

  test('is reported to the observer, with its reason and length', async () => {
    const { seen } = await askOnce([tooMany({ 'retry-after': '2' }), httpError(500), OK]);
    expect(seen.filter(({ kind }) => kind === 'retrying')).toEqual([
      { kind: 'retrying', reason: 'rate_limited', waitMs: 2000, attempt: 2 },
      { kind: 'retrying', reason: 'server_error', waitMs: 1000, attempt: 3 },
    ]);
  });

  test('does not happen with max_retries 0', async () => {
    const { outcome, attempts, slept } = await askOnce([tooMany({ 'retry-after': '1' })], { maxRetries: 0 });
    expect(errorOf(outcome)).toMatchObject({ kind: 'rate_limited', attempts: 1, retryAfterMs: 1000 });
    expect(attempts).toBe(1);
    expect(slept).toEqual([]);
  });

  test('the wait that the message of a failure inside a stream states', async () => {
    const message = 'Rate limit reached for gpt-5.2. Please try again in 3.2s. Visit https://platform.openai.com/.';
    const { attempts, slept } = await askOnce([failsInStream({ code: 'rate_limit_exceeded', message }), OK]);
    expect(attempts).toBe(2);
    expect(slept).toEqual([3200]);
  });

  test('is followed by the same body', async () => {
    await askOnce([tooMany(), httpError(503), OK]);
    expect(new Set(api.requests.map(({ rawBody }) => rawBody)).size).toBe(1);
  });
});

describe('what an attempt used that failed', () => {
  const failed = (usage: object) =>
    sendsJson({ status: 'failed', error: { code: 'server_error', message: 'Sorry.' }, output: [], usage });

  test('is reported, and part of the report of the reply that follows', async () => {
    const used = { input_tokens: 70, output_tokens: 3 };
    api.reply(failed(used), sendsJson({ status: 'completed', output: [ANSWER], usage: used }));
    const observer = new ProgressLog();
    const reply = replyOf(await openAiSearch(api.url).search(searchRequest(), observer, never()));
    const usage = { inputTokens: 140, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
    expect(reply.report).toMatchObject({ usage, attempts: 2 });
    expect(totalUse(observer.uses)).toMatchObject({ usage });
  });

  test('is reported if no reply follows', async () => {
    api.reply(failed({ input_tokens: 70, output_tokens: 3 }));
    const observer = new ProgressLog();
    await openAiSearch(api.url, { maxRetries: 0 }).search(searchRequest(), observer, never());
    expect(observer.uses).toMatchObject([{ usage: { inputTokens: 70, outputTokens: 3 } }]);
  });

  test('is counted in integers from 0, whatever the API reports', async () => {
    const usage = { input_tokens: -5, output_tokens: 2.6, output_tokens_details: { reasoning_tokens: 1e308 } };
    api.reply(sendsJson({ output: [ANSWER], usage, tool_usage: { web_search: { num_requests: -1 } } }));
    const { report } = replyOf(await ask(openAiSearch(api.url)));
    const reasoningTokens = Number.MAX_SAFE_INTEGER;
    expect(report).toMatchObject({ usage: { inputTokens: 0, outputTokens: 3, reasoningTokens }, searches: 0 });
  });
});

describe('a wait beyond the deadline', () => {
  test('Retry-After: fails at once and states the length', async () => {
    const { outcome, attempts, slept } = await askOnce([tooMany({ 'retry-after': '600' })]);
    expect(errorOf(outcome)).toMatchObject({ kind: 'rate_limited', attempts: 1, retryAfterMs: 600_000 });
    expect(attempts).toBe(1);
    expect(slept).toEqual([]);
  });

  test('Retry-After that no longer fits, since earlier attempts took time', async () => {
    const { outcome, attempts, slept } = await askOnce(times(2, tooMany({ 'retry-after': '200' })));
    expect(errorOf(outcome)).toMatchObject({ kind: 'rate_limited', attempts: 2, retryAfterMs: 200_000 });
    expect(attempts).toBe(2);
    expect(slept).toEqual([200_000]);
  });

  test('the backoff of this program', async () => {
    const { outcome, attempts, slept } = await askOnce([httpError(500)], {}, { deadlineMs: 400 });
    expect(errorOf(outcome)).toMatchObject({ kind: 'server_error', attempts: 1 });
    expect(attempts).toBe(1);
    expect(slept).toEqual([]);
  });
});

// S44
describe('a parameter that the model rejects', () => {
  const FULL: Asked = {
    profile: {
      maxOutputTokens: 4096,
      maxToolCalls: 3,
      searchContextSize: 'low',
      serviceTier: 'priority',
      returnTokenBudget: 'unlimited',
    },
  };
  const REQUEST: RequestOptions = { store: false, domainFilter: 'hint', userLocation: { country: 'JP' } };

  function refuses(param: string, status = 400): Behaviour {
    const message = `Unsupported parameter: '${param}' is not supported with this model.`;
    return fails({ status, error: { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' } });
  }

  function start(options: OpenAiSearchOptions = {}) {
    const clock = FakeClock.instant();
    const logger = new RecordingLogger();
    const search = openAiSearch(api.url, { clock, logger, request: REQUEST, ...options });
    return { clock, logger, ask: (request: SearchRequest = searchRequest(FULL)) => ask(search, request) };
  }

  const bodies = () => api.requests.map(({ body }) => body);

  test.each([
    ['reasoning.effort', 'reasoning'],
    ['reasoning', 'reasoning'],
    ['text.verbosity', 'text'],
    ['text', 'text'],
    ['include', 'include'],
    ['include[0]', 'include'],
    ['max_tool_calls', 'max_tool_calls'],
    ['max_output_tokens', 'max_output_tokens'],
    ['service_tier', 'service_tier'],
  ])('%s is removed, and the request repeated at once', async (param, key) => {
    api.reply(refuses(param), OK);
    const { ask, clock, logger } = start();
    expect(replyOf(await ask())).toMatchObject({ text: 'Here it is.', report: { attempts: 2 } });
    const [first = {}, second = {}] = bodies();
    const { [key]: refused, ...rest } = first;
    expect(refused).toBeDefined();
    expect(second).toEqual(rest);
    expect(clock.slept).toEqual([]);
    expect(logger.lines).toEqual([expect.stringMatching(/^warn .*gpt-5\.2/)]);
    expect(logger.lines[0]).toContain(param);
  });

  test.each([
    ['tools[0].search_context_size', 'search_context_size'],
    ['tools[0].user_location', 'user_location'],
    ['tools[0].user_location.country', 'user_location'],
    ['tools[0].return_token_budget', 'return_token_budget'],
  ])('%s is removed from the tool', async (param, key) => {
    api.reply(refuses(param), OK);
    expect((await start().ask()).isOk()).toBe(true);
    const [first, second] = bodies();
    const [{ [key]: refused, ...tool } = {}] = (first?.tools ?? []) as Record<string, unknown>[];
    expect(refused).toBeDefined();
    expect(second).toEqual({ ...first, tools: [tool] });
  });

  test('is not sent to that model again, but to others', async () => {
    api.reply(refuses('reasoning.effort'), OK, OK, OK);
    const { ask, logger } = start();
    await ask();
    await ask();
    await ask(searchRequest({ profile: { model: 'gpt-5.1' } }));
    expect(bodies().map(({ model, reasoning }) => [model, reasoning !== undefined])).toEqual([
      ['gpt-5.2', true],
      ['gpt-5.2', false],
      ['gpt-5.2', false],
      ['gpt-5.1', true],
    ]);
    expect(logger.lines).toHaveLength(1);
  });

  test('is remembered in addition to another one', async () => {
    api.reply(refuses('reasoning.effort'), OK, refuses('text.verbosity'), OK, OK);
    const { ask } = start();
    for (const _ of times(3, 0)) expect((await ask()).isOk()).toBe(true);
    expect(bodies().at(-1)).not.toHaveProperty('reasoning');
    expect(bodies().at(-1)).not.toHaveProperty('text');
    expect(api.requests).toHaveLength(5);
  });

  test.each(['temperature', 'model', 'input', 'instructions', 'tools[0].type', 'stream', 'tools'])(
    '%s, which cannot be removed, is not retried',
    async (param) => {
      api.reply(refuses(param));
      const { ask, clock, logger } = start();
      expect(errorOf(await ask())).toMatchObject({ kind: 'bad_request' });
      expect(api.requests).toHaveLength(1);
      expect(clock.slept).toEqual([]);
      expect(logger.lines).toEqual([]);
    },
  );

  test('that was not sent is not retried', async () => {
    api.reply(refuses('max_tool_calls'));
    expect(errorOf(await start().ask(searchRequest()))).toMatchObject({ kind: 'bad_request' });
    expect(api.requests).toHaveLength(1);
  });

  test('is not removed twice', async () => {
    api.reply(refuses('reasoning.effort'), refuses('reasoning.effort'));
    expect(errorOf(await start().ask())).toMatchObject({ kind: 'bad_request' });
    expect(api.requests).toHaveLength(2);
  });

  test('is left out with max_retries 0, too', async () => {
    api.reply(refuses('reasoning.effort'), tooMany());
    const { ask, clock } = start({ maxRetries: 0 });
    expect(errorOf(await ask())).toMatchObject({ kind: 'rate_limited', attempts: 2 });
    expect(api.requests).toHaveLength(2);
    expect(clock.slept).toEqual([]);
  });

  test.each([401, 403, 404, 422])('is recognized in a 400 only, not in a %i', async (status) => {
    api.reply(refuses('reasoning.effort', status));
    expect((await start().ask()).isErr()).toBe(true);
    expect(api.requests).toHaveLength(1);
  });
});

describe('an abort', () => {
  test('ends the wait before the next attempt, which is not made', async () => {
    api.reply(tooMany({ 'retry-after': '100' }), OK);
    const clock = new FakeClock();
    const controller = new AbortController();
    const observer = new ProgressLog();
    const outcome = openAiSearch(api.url, { clock }).search(searchRequest(), observer, controller.signal);
    await clock.asleep;
    controller.abort('cancelled');
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expect(clock.slept).toEqual([100_000]);
    expect(api.requests).toHaveLength(1);
    expect(observer.seen.at(-1)).toMatchObject({ kind: 'retrying', waitMs: 100_000 });
    expectNoListener(controller.signal);
  });

  test('aborts the request upstream', async () => {
    const controller = new AbortController();
    api.replyWith(() => neverAnswers());
    const outcome = ask(openAiSearch(api.url), searchRequest(), controller.signal);
    await api.waitForRequests(1);
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    await api.waitForAbort(0);
    expect(api.requests).toHaveLength(1);
  });

  test('is not retried although it breaks the connection', async () => {
    api.reply(stallsAfterHeaders(), OK);
    const controller = new AbortController();
    const clock = FakeClock.instant();
    const outcome = ask(openAiSearch(api.url, { clock }), searchRequest(), controller.signal);
    await api.waitForRequests(1);
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expect(clock.slept).toEqual([]);
  });
});

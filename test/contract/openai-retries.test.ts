import { describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../src/adapters/outbound/openai/request-body.ts';
import type { SearchRequest } from '../../src/application/ports/llm-search.ts';
import { totalUse } from '../../src/application/tools/total-use.ts';
import type { JsonObject } from '../support/api-response.ts';
import {
  answers,
  type Behaviour,
  fails,
  failsInStream,
  neverAnswers,
  resetsMidStream,
  sendsBody,
  sendsJson,
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

const api = apiPerTest();

const OK = answers('Here it is.');

function tooMany(headers: Readonly<Record<string, string>> = {}): Behaviour {
  return fails({ status: 429, error: { code: 'rate_limit_exceeded' }, headers });
}

function times<T>(count: number, value: T): readonly T[] {
  return Array.from({ length: count }, () => value);
}

describe('the waits before the next attempts', () => {
  async function waitsFor(behaviours: readonly Behaviour[], options: OpenAiSearchOptions = {}) {
    const clock = FakeClock.instant();
    api.reply(...behaviours);
    const outcome = await ask(openAiSearch(api.url, { clock, ...options }));
    return { outcome, slept: clock.slept };
  }

  test('double up to 8 seconds', async () => {
    const { slept } = await waitsFor([...times(7, tooMany()), OK], { maxRetries: 7 });
    expect(slept).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
  });

  test('vary by up to a quarter', async () => {
    const { slept } = await waitsFor([...times(3, tooMany()), OK], { random: () => 0 });
    expect(slept).toEqual([375, 750, 1500]);
  });

  test('end before the deadline of the call, to which earlier waits count', async () => {
    const { outcome, slept } = await waitsFor(times(2, tooMany({ 'retry-after': '200' })));
    expect(errorOf(outcome)).toMatchObject({ kind: 'rate_limited', attempts: 2, retryAfterMs: 200_000 });
    expect(slept).toEqual([200_000]);
  });
});

test('different failures share one count, are reported with their waits, and are followed by the same bytes', async () => {
  api.reply(tooMany({ 'retry-after': '2' }), resetsMidStream(), fails({ status: 500 }), OK);
  const observer = new ProgressLog();
  const reply = replyOf(await openAiSearch(api.url).search(searchRequest(), observer, never()));
  expect(reply).toMatchObject({ text: 'Here it is.', report: { attempts: 4 } });
  expect(observer.seen.filter(({ kind }) => kind === 'retrying')).toEqual([
    { kind: 'retrying', reason: 'rate_limited', waitMs: 2000, attempt: 2 },
    { kind: 'retrying', reason: 'connection_failed', waitMs: 1000, attempt: 3 },
    { kind: 'retrying', reason: 'server_error', waitMs: 2000, attempt: 4 },
  ]);
  expect(new Set(api.requests.map(({ rawBody }) => rawBody)).size).toBe(1);
});

describe('what an attempt used', () => {
  const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Here it is.', annotations: [] }] }];

  test('is reported also if the attempt failed, and is part of the report of the reply that follows', async () => {
    const usage = { input_tokens: 70, output_tokens: 3 };
    const failed = { status: 'failed', error: { code: 'server_error', message: 'Sorry.' }, output: [], usage };
    api.reply(sendsJson(failed), sendsJson({ status: 'completed', output, usage }));
    const observer = new ProgressLog();
    const reply = replyOf(await openAiSearch(api.url).search(searchRequest(), observer, never()));
    const total = { inputTokens: 140, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
    expect(reply.report).toMatchObject({ usage: total, attempts: 2 });
    expect(totalUse(observer.uses)).toMatchObject({ usage: total });
  });

  test('is counted in integers from 0, whatever the API reports', async () => {
    const usage = { input_tokens: -5, output_tokens: 2.6, output_tokens_details: { reasoning_tokens: 1e308 } };
    api.reply(sendsJson({ output, usage, tool_usage: { web_search: { num_requests: -1 } } }));
    const { report } = replyOf(await ask(openAiSearch(api.url)));
    const reasoningTokens = Number.MAX_SAFE_INTEGER;
    expect(report).toMatchObject({ usage: { inputTokens: 0, outputTokens: 3, reasoningTokens }, searches: 0 });
  });

  test('includes the tokens that were written to the cache, if the API reports them', async () => {
    const usage = { input_tokens: 10, output_tokens: 2, input_tokens_details: { cache_write_tokens: 7 } };
    api.reply(sendsJson({ output, usage }));
    expect(replyOf(await ask(openAiSearch(api.url))).report.usage).toMatchObject({ cacheWriteTokens: 7 });
  });
});

// S44
describe('a parameter that the model rejects', () => {
  const FULL: Asked = {
    profile: {
      reasoningMode: 'pro',
      maxOutputTokens: 4096,
      maxToolCalls: 3,
      searchContextSize: 'low',
      serviceTier: 'priority',
      returnTokenBudget: 'unlimited',
    },
  };
  const REQUEST: RequestOptions = { store: false, domainFilter: 'hint', userLocation: { country: 'JP' } };

  function refuses(param: string, status = 400): Behaviour {
    return fails({ status, error: { message: `Unsupported parameter: '${param}'.`, param } });
  }

  function refusesInWords(message: string, param: string | null = null): Behaviour {
    return fails({ status: 400, error: { message, param } });
  }

  function start(options: OpenAiSearchOptions = {}) {
    const clock = FakeClock.instant();
    const logger = new RecordingLogger();
    const search = openAiSearch(api.url, { clock, logger, request: REQUEST, ...options });
    return { clock, logger, ask: (request: SearchRequest = searchRequest(FULL)) => ask(search, request) };
  }

  const bodies = () => api.requests.map(({ body }) => body);

  test.each<[string, readonly (string | number)[]]>([
    ['reasoning', ['reasoning']],
    ['reasoning.effort', ['reasoning', 'effort']],
    ['reasoning.mode', ['reasoning', 'mode']],
    ['text.verbosity', ['text']],
    ['include[0]', ['include']],
    ['max_tool_calls', ['max_tool_calls']],
    ['max_output_tokens', ['max_output_tokens']],
    ['service_tier', ['service_tier']],
    ['tools[0].search_context_size', ['tools', 0, 'search_context_size']],
    ['tools[0].user_location.country', ['tools', 0, 'user_location']],
    ['tools[0].return_token_budget', ['tools', 0, 'return_token_budget']],
  ])('%s is left out, and the request repeated at once', async (param, path) => {
    api.reply(refuses(param), OK);
    const { ask, clock, logger } = start();
    expect(replyOf(await ask())).toMatchObject({ text: 'Here it is.', report: { attempts: 2 } });
    const [first = {}, second] = bodies();
    const parent = path.slice(0, -1).reduce<JsonObject>((value, key) => value[key] as JsonObject, first);
    expect(parent).toHaveProperty(String(path.at(-1)));
    delete parent[String(path.at(-1))];
    expect(second).toEqual(first);
    expect(clock.slept).toEqual([]);
    expect(logger.lines).toEqual([`warn openai(client): gpt-5.2 rejected ${param}; it is omitted from now on`]);
  });

  test.each<[what: string, leftOut: string, behaviour: Behaviour]>([
    ['its name in quotation marks', 'text', refusesInWords("Unsupported parameter: 'text.verbosity'.")],
    ['a word of English in quotation marks', 'include', refusesInWords('json: unknown field "include"')],
    [
      'a word of English after "supplied"',
      'reasoning',
      refusesInWords('Unrecognized request argument supplied: reasoning'),
    ],
    [
      'a name in a list',
      'service_tier',
      refusesInWords("x does not support parameters: ['service_tier'], for model=x"),
    ],
    [
      'the spelling of another API',
      'reasoning',
      refusesInWords('Argument not supported on this model: reasoningEffort'),
    ],
    [
      'the two words of its name',
      'reasoning',
      refusesInWords('web_search is not available with reasoning effort minimal', 'tools'),
    ],
    ['its value alone', 'service_tier', refusesInWords("'priority' is not available to this project.")],
    ['the first of two names', 'max_tool_calls', refusesInWords("'max_tool_calls' is not supported; use 'include'.")],
    [
      'a list of FastAPI',
      'max_output_tokens',
      sendsJson(
        {
          detail: [
            { loc: ['body', 'max_output_tokens'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' },
          ],
        },
        422,
      ),
    ],
    [
      'an object of FastAPI',
      'reasoning',
      sendsJson({ detail: [{ loc: ['body', 'reasoning', 'effort'], msg: 'Input should be low or high' }] }, 422),
    ],
    ['a name before a colon', 'include', refusesInWords('include: Extra inputs are not permitted')],
    ['a name alone on its line', 'include', refusesInWords('1 validation error for Request\ninclude\n  Not permitted')],
    ['a name in square brackets', 'include', refusesInWords('#: extraneous key [include] is not permitted')],
    ['a name in the quotation marks of another language', 'include', refusesInWords('「include」は使えません。')],
    ['a form of fields', 'include', sendsJson({ title: 'Invalid', errors: { Include: ['Not known.'] } }, 400)],
    [
      'a code that can also mean a filter',
      'reasoning',
      sendsJson(
        { error: { code: 'invalid_prompt', message: 'Invalid request: unknown parameter reasoning.effort' } },
        400,
      ),
    ],
    [
      'an event of a stream with a list of FastAPI',
      'include',
      sendsBody({
        body: `data: ${JSON.stringify({ detail: [{ loc: ['body', 'include'], msg: 'x', type: 'extra_forbidden' }] })}\n\n`,
      }),
    ],
    [
      'an error as a text',
      'include',
      sendsJson({ code: 'Client specified an invalid argument', error: 'Argument not supported: include' }, 400),
    ],
    [
      'the body of a provider',
      'text',
      sendsJson(
        {
          error: {
            message: 'Provider returned error',
            code: 400,
            metadata: { raw: JSON.stringify({ error: { message: 'Bad.', param: 'text.verbosity' } }) },
          },
        },
        400,
      ),
    ],
    [
      'a text with JSON',
      'reasoning',
      sendsJson(
        {
          error: {
            message:
              'OpenAIException - {"error": {"message": "No.", "param": "reasoning.effort"}}. Received Model Group=x {}',
            code: '400',
          },
        },
        400,
      ),
    ],
    [
      'a server error of a proxy',
      'service_tier',
      sendsJson(
        { error: { message: 'BadRequestError: Unknown', type: 'BadRequestError', param: 'service_tier' } },
        500,
      ),
    ],
    [
      'a path with the kind of a tool',
      'tools',
      sendsJson({ detail: [{ loc: ['body', 'tools', 0, 'web_search', 'search_context_size'], msg: 'x' }] }, 422),
    ],
    [
      'the path of a JSON schema',
      'reasoning',
      sendsJson({ errors: [{ instancePath: '/reasoning/effort', message: 'must be equal to a constant' }] }, 400),
    ],
    [
      'what is too much for a JSON schema',
      'tools',
      sendsJson(
        { errors: [{ instancePath: '/tools/0', message: 'x', params: { additionalProperty: 'user_location' } }] },
        400,
      ),
    ],
    [
      'a pointer to its source',
      'text',
      sendsJson({ errors: [{ status: '422', title: 'Invalid', source: { pointer: '/text/verbosity' } }] }, 422),
    ],
    [
      'errors of fields',
      'service_tier',
      sendsJson({ error: { message: 'Invalid', details: { fieldErrors: { service_tier: ['Not known.'] } } } }, 400),
    ],
    [
      'a path in a type of a back end',
      'text',
      refusesInWords('json: cannot unmarshal object into Go struct field ResponsesRequest.text of type string'),
    ],
    [
      'its value, and values that are accepted',
      'include',
      refusesInWords('unknown variant `web_search_call.action.sources`, expected `reasoning.encrypted_content`'),
    ],
    ['the name of another API', 'max_output_tokens', refusesInWords('max_tokens must be at most 4096')],
    ['a word for what it does', 'reasoning', refusesInWords('"llama3.2" does not support thinking')],
    ['a word of English before a verb', 'reasoning', refusesInWords('Reasoning is not supported for this model.')],
    ['the words of its name', 'service_tier', refusesInWords('Service tier priority is not available.')],
    ['the words for a stream', 'stream', refusesInWords('Server-sent events are disabled.')],
    ['what is not implemented', 'stream', fails({ status: 501, error: { message: 'stream is not implemented' } })],
    [
      'an event of a stream',
      'max_tool_calls',
      failsInStream({ code: 'unsupported_parameter', message: "'max_tool_calls' is unknown." }),
    ],
  ])('is understood by %s', async (_, leftOut, behaviour) => {
    api.reply(behaviour, OK);
    replyOf(await start().ask());
    const [first = {}, second = {}] = bodies();
    expect(second[leftOut]).not.toEqual(first[leftOut]);
    expect({ ...second, [leftOut]: first[leftOut] }).toEqual(first);
  });

  test('is left out if it is the stream, which the progress says', async () => {
    api.replyWith(({ body }) =>
      body.stream === true
        ? refusesInWords('Your organization must be verified to stream this model.')
        : sendsJson({
            status: 'completed',
            output: [{ type: 'message', content: [{ type: 'output_text', text: 'Here it is.' }] }],
          }),
    );
    const observer = new ProgressLog();
    const reply = replyOf(await openAiSearch(api.url).search(searchRequest(), observer, never()));
    expect(reply).toMatchObject({ text: 'Here it is.', report: { attempts: 2 } });
    expect(observer.seen).toEqual([{ kind: 'unstreamed' }]);
  });

  test('is not sent to that model again, but to others', async () => {
    api.reply(refuses('reasoning.effort'), OK, OK, OK);
    const { ask, logger } = start();
    for (const model of ['gpt-5.2', 'gpt-5.2', 'gpt-5.1']) await ask(searchRequest({ profile: { model } }));
    expect(bodies().map(({ model, reasoning }) => [model, reasoning !== undefined])).toEqual([
      ['gpt-5.2', true],
      ['gpt-5.2', false],
      ['gpt-5.2', false],
      ['gpt-5.1', true],
    ]);
    expect(logger.lines).toHaveLength(1);
  });

  test('causes one warning if concurrent requests have it', async () => {
    api.replyWith(({ body }) => (body.reasoning === undefined ? OK : refuses('reasoning.effort')));
    const { ask, logger } = start();
    const request = searchRequest();
    for (const outcome of await Promise.all([ask(request), ask(request)])) expect(outcome.isOk()).toBe(true);
    expect(logger.lines).toHaveLength(1);
  });

  test.each<[string, Behaviour]>([
    ['that cannot be left out', refuses('tools[0].type')],
    ['with another status than 400 or 422', refuses('reasoning.effort', 413)],
    [
      'if the message names a parameter that is needed first',
      refusesInWords("Unsupported parameter: 'store' (see 'include')"),
    ],
    ['if a parameter that is needed is refused', refusesInWords("Do not use 'include'.", 'input[0].content')],
  ])('%s is not retried', async (_name, behaviour) => {
    api.reply(behaviour);
    const { ask, logger } = start();
    expect(errorOf(await ask())).toMatchObject({ kind: 'bad_request' });
    expect(api.requests).toHaveLength(1);
    expect(logger.lines).toEqual([]);
  });

  test('is not left out twice', async () => {
    api.reply(...times(2, refuses('include')));
    expect(errorOf(await start().ask())).toMatchObject({ kind: 'bad_request' });
    expect(api.requests).toHaveLength(2);
  });

  test('is left out with max_retries 0, too', async () => {
    api.reply(refuses('reasoning.effort'), tooMany());
    const { ask, clock } = start({ maxRetries: 0 });
    expect(errorOf(await ask())).toMatchObject({ kind: 'rate_limited', attempts: 2 });
    expect(clock.slept).toEqual([]);
  });
});

describe('an abort', () => {
  test('ends the wait before the next attempt, which is not made', async () => {
    api.reply(tooMany({ 'retry-after': '100' }), OK);
    const clock = new FakeClock();
    const controller = new AbortController();
    const outcome = ask(openAiSearch(api.url, { clock }), searchRequest(), controller.signal);
    await clock.asleep;
    controller.abort('cancelled');
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    expect(api.requests).toHaveLength(1);
    expectNoListener(controller.signal);
  });

  test('aborts the request upstream, and is not followed by another', async () => {
    const controller = new AbortController();
    api.replyAlways(neverAnswers());
    const outcome = ask(openAiSearch(api.url), searchRequest(), controller.signal);
    await api.waitForRequests(1);
    controller.abort();
    expect(errorOf(await outcome)).toEqual({ kind: 'aborted' });
    await api.waitForAbort(0);
    expect(api.requests).toHaveLength(1);
  });
});

import { describe, expect, test } from 'vitest';
import { messageFor } from '../../src/adapters/inbound/words/error-messages.ts';
import type { RequestOptions } from '../../src/adapters/outbound/openai/request-body.ts';
import type { ModelProfile } from '../../src/domain/answers/model-profile.ts';
import { answers, type Behaviour, fails, sendsJson } from '../support/behaviours.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { composeOn } from './composed.ts';
import { apiPerTest, ask, errorOf, openAiSearch, replyOf, searchRequest } from './search-kit.ts';

const api = apiPerTest();

const OK = answers('Here it is.');
const bodies = () => api.requests.map(({ body }) => body);
const toolOf = (index: number) => (bodies()[index]?.tools as readonly object[] | undefined)?.[0];

function rejects(param: string | null, code: string, message = `Rejected: '${param}'.`): Behaviour {
  return fails({ status: 400, error: { message, type: 'invalid_request_error', param, code } });
}

/** The adapter with options of the configuration; asks with a profile. */
function start(request: Partial<RequestOptions> = {}) {
  const clock = FakeClock.instant();
  const logger = new RecordingLogger();
  const search = openAiSearch(api.url, {
    clock,
    logger,
    request: { store: false, domainFilter: 'hint', ...request },
  });
  return { clock, logger, ask: (profile: Partial<ModelProfile> = {}) => ask(search, searchRequest({ profile })) };
}

// S34
describe('the location', () => {
  test('is always sent, at least as approximate', async () => {
    api.reply(OK);
    await start().ask();
    expect(toolOf(0)).toEqual({ type: 'web_search', user_location: { type: 'approximate' } });
  });
});

describe('blocked domains', () => {
  const BLOCKED = 'search: { blocked_domains: [spam.example, 例え.jp, reddit.com.] }';
  const cites = (...urls: readonly string[]) => ({ citations: urls.map((url) => ({ url, title: '' })) });

  test('are sent with either domain filter, in ASCII', async () => {
    api.reply(OK, OK);
    const args = { query: 'Hello?', domains: ['jma.go.jp'] };
    await (await composeOn(api, BLOCKED))({ args });
    await (await composeOn(api, 'search: { blocked_domains: [spam.example], domain_filter: strict }'))({ args });
    expect([toolOf(0), toolOf(1)]).toMatchObject([
      { filters: { blocked_domains: ['spam.example', 'xn--r8jz45g.jp', 'reddit.com'] } },
      { filters: { allowed_domains: ['jma.go.jp'], blocked_domains: ['spam.example'] } },
    ]);
    expect(toolOf(0)).not.toHaveProperty('filters.allowed_domains');
  });

  test('their pages and those of their subdomains are neither cited nor listed', async () => {
    const listed = [
      'https://www.spam.example/a (2026-11-21)',
      'SPAM.example/page (2026-11-21)',
      '[Forum](https://old.reddit.com/r/x) (2026-11-21)',
      'https://xn--r8jz45g.jp/ (2026-11-21)',
      'https://notspam.example/ (2026-11-21)',
      'https://good.example/?via=spam.example (2026-11-21)',
    ];
    const text = `Sunny.\n\nSources:\n${listed.map((line) => `- ${line}`).join('\n')}`;
    const urls = [
      'https://spam.example/',
      'https://a.b.spam.example./x',
      'https://user@old.reddit.com:8443/r/x',
      'http://例え.jp/x',
      'https://xn--r8jz45g.jp/y',
      'https://good.example/',
      'https://notspam.example/',
    ];
    api.reply(answers(text, cites(...urls)));
    const outcome = await (await composeOn(api, `${BLOCKED}\npolicy: { max_citations: 10 }`))();
    const { result } = outcome._unsafeUnwrap();
    expect(result.citations.map(({ url }) => url)).toEqual(['https://good.example/', 'https://notspam.example/']);
    expect(result.answer.split('\n').slice(2)).toEqual([
      'Sources:',
      expect.stringMatching(/^- https:\/\/good\.example\/ \(\d{4}-\d\d-\d\d\)$/),
      '- https://notspam.example/ (2026-11-21)',
      '- https://good.example/?via=spam.example (2026-11-21)',
    ]);
  });

  test('without any, no filter is sent', async () => {
    api.reply(OK);
    await (await composeOn(api))();
    expect(toolOf(0)).not.toHaveProperty('filters');
  });
});

describe('a search of the cached index only', () => {
  test('search.live: false is sent as external_web_access: false, and true is not sent', async () => {
    api.reply(OK, OK);
    await (await composeOn(api, 'search: { live: false }'))();
    await (await composeOn(api, 'search: { live: true }'))();
    expect(toolOf(0)).toMatchObject({ external_web_access: false });
    expect(toolOf(1)).not.toHaveProperty('external_web_access');
  });

  test.each([
    ['tools[0].external_web_access', 'unknown_parameter', 'Unknown parameter.'],
    ['tools[0]', 'invalid_value', 'Invalid tool: external_web_access is not supported.'],
    [null, 'unknown_parameter', "Unknown parameter: 'tools[0].external_web_access'."],
  ])('if the API rejects it as %s, the call fails and says so', async (param, code, message) => {
    api.reply(rejects(param, code, message));
    const error = errorOf(await start({ live: false }).ask());
    expect(error).toMatchObject({ kind: 'cached_search_rejected', detail: message });
    if (error.kind !== 'aborted') expect(messageFor(error)).toMatch(/cached index only.*search\.live/);
    expect(api.requests).toHaveLength(1);
  });

  test('another rejection is still about something else', async () => {
    api.reply(rejects('input', 'invalid_value', 'The input is too long.'));
    expect(errorOf(await start({ live: false }).ask())).toMatchObject({ kind: 'bad_request' });
  });

  test('the rejection of another parameter keeps it', async () => {
    api.reply(rejects('reasoning.effort', 'unsupported_parameter'), OK);
    expect((await start({ live: false }).ask()).isOk()).toBe(true);
    expect(toolOf(1)).toMatchObject({ external_web_access: false });
  });
});

// S34
describe('a required search', () => {
  const REQUIRED = { search: 'required' } as const;
  const choices = () => bodies().map((body) => body.tool_choice);

  test('forces the search tool, and auto forces nothing', async () => {
    api.reply(OK, OK, OK);
    const { ask } = start();
    for (const search of ['required', 'auto', undefined] as const) await ask(search && { search });
    expect(choices()).toEqual([{ type: 'web_search' }, undefined, undefined]);
  });

  test('a rejection of that value is followed by "required", also in later requests to that model', async () => {
    api.reply(rejects('tool_choice', 'invalid_value'), OK, OK, OK);
    const { ask, clock } = start();
    expect((await ask(REQUIRED)).isOk()).toBe(true);
    await ask(REQUIRED);
    await ask({ ...REQUIRED, model: 'gpt-5.1' });
    expect(choices()).toEqual([{ type: 'web_search' }, 'required', 'required', { type: 'web_search' }]);
    expect(clock.slept).toEqual([]);
  });

  test('a rejection of "required" too is a failure: it is never omitted', async () => {
    api.reply(rejects('tool_choice', 'invalid_value'), rejects('tool_choice', 'invalid_value'));
    expect(errorOf(await start().ask(REQUIRED))).toMatchObject({ kind: 'bad_request' });
    expect(choices()).toEqual([{ type: 'web_search' }, 'required']);
  });

  test('an answer without a search fails; one with a search or with citations does not', async () => {
    api.reply(OK, answers('Here.', { search: true }), answers('Here.', CITED_ONLY));
    const ask = await composeOn(api, 'model_profiles: { answer: { search: required } }');
    expect((await ask())._unsafeUnwrapErr()).toEqual({ kind: 'not_searched' });
    expect((await ask()).isOk()).toBe(true);
    expect((await ask()).isOk()).toBe(true);
  });

  test('a tool without its own value inherits that of answer', async () => {
    api.reply(answers('Here.', { search: true }), OK);
    const ask = await composeOn(
      api,
      'model_profiles: { answer: { search: required }, answer_quick: { search: auto } }',
    );
    await ask({ tool: 'answer_detailed' });
    expect((await ask({ tool: 'answer_quick' })).isOk()).toBe(true);
    expect(choices()).toEqual([{ type: 'web_search' }, undefined]);
  });
});

const CITED_ONLY = { search: false, citations: [{ url: 'https://a.example/', title: 'A' }] };

describe('options of a profile', () => {
  test('are passed through', async () => {
    api.reply(OK);
    const profile = 'service_tier: priority, reasoning_mode: pro, return_token_budget: unlimited';
    await (await composeOn(api, `model_profiles: { answer: { ${profile} } }`))();
    expect(bodies()[0]).toMatchObject({ service_tier: 'priority', reasoning: { effort: 'medium', mode: 'pro' } });
    expect(toolOf(0)).toMatchObject({ return_token_budget: 'unlimited' });
  });

  test('are not sent unless they are configured', async () => {
    api.reply(OK);
    await (await composeOn(api))();
    expect(bodies()[0]).not.toHaveProperty('service_tier');
    expect(bodies()[0]?.reasoning).toEqual({ effort: 'medium' });
    expect(toolOf(0)).not.toHaveProperty('return_token_budget');
  });

  test.each([
    ['reasoning.mode', { effort: 'medium' }],
    ['reasoning.effort', { mode: 'pro' }],
  ])('%s, if it is rejected, is left out alone', async (param, left) => {
    api.reply(rejects(param, 'unknown_parameter'), OK);
    await start().ask({ reasoningMode: 'pro' });
    expect(bodies().map(({ reasoning }) => reasoning)).toEqual([{ effort: 'medium', mode: 'pro' }, left]);
  });

  test('the tier that was used is reported', async () => {
    api.reply(OK);
    const outcome = await start().ask({ serviceTier: 'priority' });
    expect(replyOf(outcome).report.serviceTier).toBe('default');
  });
});

describe('effort and verbosity', () => {
  const EXTRAS = 'reasoning_effort: low, verbosity: high';
  const profile = (model: string, extras = EXTRAS) => `model_profiles: { answer: { model: ${model}, ${extras} } }`;
  const [effort, verbosity] = [{ reasoning: { effort: 'low' } }, { text: { verbosity: 'high' } }];

  test.each<[string, string, Readonly<Record<string, string>>, object]>([
    ['are sent if they are configured', profile('prod-mini'), {}, { ...effort, ...verbosity }],
    [
      'are sent if the tool has them',
      profile('grok-4').replace('answer:', 'answer_quick:'),
      {},
      { ...effort, ...verbosity },
    ],
    [
      'are sent if variables have them',
      '',
      { MODEL_ANSWER: 'openai/gpt-5.2', ANSWER_EFFORT: 'low', ANSWER_VERBOSITY: 'high' },
      { ...effort, ...verbosity },
    ],
    [
      'are sent if the preset has them',
      'model_profiles: { preset: tuned, answer: { model: prod-mini } }',
      {},
      { ...effort, text: { verbosity: 'low' } },
    ],
    ['are not sent to an unknown model if they are defaults', profile('prod-mini', ''), {}, {}],
    ['are sent one by one', profile('prod-mini', 'reasoning_effort: low'), {}, effort],
  ])('%s', async (_, yaml, environment, expected) => {
    api.reply(OK);
    await (await composeOn(api, yaml, environment))({ tool: 'answer_quick' });
    const { reasoning, text } = bodies()[0] ?? {};
    expect({ reasoning, text }).toEqual(expected);
  });
});

describe('the search tool', () => {
  test('has the configured name, which is also the one that is forced', async () => {
    api.reply(OK);
    const yaml = 'search: { tool: "openrouter:web_search" }\nmodel_profiles: { answer: { search: required } }';
    await (await composeOn(api, yaml))();
    expect(toolOf(0)).toMatchObject({ type: 'openrouter:web_search' });
    expect(bodies()[0]?.tool_choice).toEqual({ type: 'openrouter:web_search' });
  });
});

describe('tokens written to the cache', () => {
  const usage = (details: object) => ({
    input_tokens: 10,
    input_tokens_details: details,
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 1 },
  });
  const response = (details: object) => ({
    status: 'completed',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Here.', annotations: [] }] }],
    usage: usage(details),
  });

  test('are reported if the API reports them', async () => {
    api.reply(
      sendsJson(response({ cached_tokens: 3, cache_write_tokens: 7 })),
      sendsJson(response({ cached_tokens: 3 })),
    );
    const { ask } = start();
    expect(replyOf(await ask()).report.usage?.cacheWriteTokens).toBe(7);
    expect(replyOf(await ask()).report.usage).not.toHaveProperty('cacheWriteTokens');
  });
});

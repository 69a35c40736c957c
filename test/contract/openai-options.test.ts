import { describe, expect, test } from 'vitest';
import type { ModelProfile } from '../../src/domain/answers/model-profile.ts';
import { answers, type Behaviour, fails } from '../support/behaviours.ts';
import { composeOn } from './composed.ts';
import { API_KEY, apiPerTest, ask, errorOf, openAiSearch, searchRequest } from './search-kit.ts';

const api = apiPerTest();

const OK = answers('Here it is.');
const bodies = () => api.requests.map(({ body }) => body);
const toolOf = (index: number) => (bodies()[index]?.tools as readonly object[] | undefined)?.[0];

function rejects(param: string | null, message = `Rejected: '${param}'.`): Behaviour {
  return fails({ status: 400, error: { message, param } });
}

/** Asks the complete program once. */
async function askComposed(
  yaml: string,
  environment = {},
  over: Parameters<Awaited<ReturnType<typeof composeOn>>>[0] = {},
) {
  api.reply(OK);
  return (await composeOn(api, yaml, environment))(over);
}

describe('the request of the complete program', () => {
  test('has the defaults of the contract', async () => {
    await askComposed('');
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${API_KEY}`);
    expect(bodies()[0]).toMatchObject({
      model: 'gpt-5.2',
      input: expect.stringMatching(/^Hello\?\n\n\[Search hints\] recency_days=60; max_results=5\n/),
      reasoning: { effort: 'medium' },
      text: { verbosity: 'medium' },
      store: false,
      stream: true,
    });
  });

  test('has what is configured', async () => {
    const profile = [
      'max_output_tokens: 4096, max_tool_calls: 3, search_context_size: low',
      'service_tier: priority, reasoning_mode: pro, return_token_budget: unlimited',
    ];
    const { report } = (
      await askComposed(`
openai: { store: true, organization: org-abc, project: proj_def }
search: { user_location: { country: JP, city: Minato }, live: false }
model_profiles: { answer: { ${profile.join(', ')} } }`)
    )._unsafeUnwrap();
    expect(api.requests[0]?.headers).toMatchObject({ 'openai-organization': 'org-abc', 'openai-project': 'proj_def' });
    expect(bodies()[0]).toMatchObject({
      reasoning: { effort: 'medium', mode: 'pro' },
      max_output_tokens: 4096,
      max_tool_calls: 3,
      service_tier: 'priority',
      store: true,
    });
    expect(toolOf(0)).toEqual({
      type: 'web_search',
      search_context_size: 'low',
      user_location: { type: 'approximate', country: 'JP', city: 'Minato' },
      external_web_access: false,
      return_token_budget: 'unlimited',
    });
    // The API may use another tier than the one that was asked for.
    expect(report.serviceTier).toBe('default');
  });

  test.each([
    ['', '/responses'],
    ['/openai/v1/', '/openai/v1/responses'],
  ])('is sent to the base URL with the path "%s"', async (basePath, path) => {
    await askComposed('', { OPENAI_BASE_URL: `${new URL(api.url).origin}${basePath}`, OPENAI_MAX_RETRIES: '0' });
    expect(api.requests).toMatchObject([{ method: 'POST', path }]);
  });

  const EXTRAS = 'reasoning_effort: low, verbosity: high';
  const profile = (model: string, extras = EXTRAS) => `model_profiles: { answer: { model: ${model}, ${extras} } }`;
  const [effort, verbosity] = [{ reasoning: { effort: 'low' } }, { text: { verbosity: 'high' } }];
  const variables = { MODEL_ANSWER: 'openai/gpt-5.2', ANSWER_EFFORT: 'low', ANSWER_VERBOSITY: 'high' };
  const preset = 'model_profiles: { preset: tuned, answer: { model: prod-mini } }';

  test.each<[string, string, Readonly<Record<string, string>>, object]>([
    ['the effort, if the model accepts only that', profile('o3'), {}, effort],
    ['neither, if the model accepts neither', profile('gpt-4.1'), {}, {}],
    ['neither, if they are defaults and the model is unknown', profile('prod-mini', ''), {}, {}],
    ['the one that is configured for an unknown model', profile('prod-mini', 'reasoning_effort: low'), {}, effort],
    ['both, if variables have them', '', variables, { ...effort, ...verbosity }],
    ['both, if the preset has them', preset, {}, { ...effort, text: { verbosity: 'low' } }],
  ])('has of effort and verbosity %s', async (_, yaml, environment, expected) => {
    await askComposed(yaml, environment, { tool: 'answer_quick' });
    const { reasoning, text } = bodies()[0] ?? {};
    expect({ reasoning, text }).toEqual(expected);
  });
});

describe('domains', () => {
  const BLOCKED = 'blocked_domains: [spam.example, 例え.jp, reddit.com.]';

  test('are sent as filters in ASCII: blocked ones always, those of the question if the filter is strict', async () => {
    const args = { query: 'Hello?', domains: ['jma.go.jp', 'bücher.example'] };
    await askComposed(`search: { ${BLOCKED} }`, {}, { args });
    await askComposed('search: { domain_filter: strict }', {}, { args });
    await askComposed('search: { domain_filter: strict }');
    expect([0, 1, 2].map((index) => toolOf(index))).toEqual([
      expect.objectContaining({ filters: { blocked_domains: ['spam.example', 'xn--r8jz45g.jp', 'reddit.com'] } }),
      expect.objectContaining({ filters: { allowed_domains: ['jma.go.jp', 'xn--bcher-kva.example'] } }),
      { type: 'web_search', user_location: { type: 'approximate' } },
    ]);
    expect(bodies()[1]?.input).toContain('domains=jma.go.jp, bücher.example');
  });

  test('that are blocked are neither cited nor listed, nor are their subdomains', async () => {
    const listed = [
      'https://www.spam.example/a (2026-11-21)',
      'SPAM.example/page (2026-11-21)',
      '[Forum](https://old.reddit.com/r/x) (2026-11-21)',
      'https://notspam.example/ (2026-11-21)',
      'https://good.example/?via=spam.example (2026-11-21)',
    ];
    const urls = [
      'https://a.b.spam.example./x',
      'https://user@old.reddit.com:8443/r/x',
      'http://例え.jp/x',
      'https://good.example/',
      'https://notspam.example/',
    ];
    const citations = urls.map((url) => ({ url, title: '' }));
    api.reply(answers(`Sunny.\n\nSources:\n${listed.map((line) => `- ${line}`).join('\n')}`, { citations }));
    const outcome = await (await composeOn(api, `search: { ${BLOCKED} }`))();
    const { result } = outcome._unsafeUnwrap();
    expect(result.citations.map(({ url }) => url)).toEqual(['https://good.example/', 'https://notspam.example/']);
    expect(result.answer.split('\n').slice(2)).toEqual([
      'Sources:',
      expect.stringMatching(/^- https:\/\/good\.example\/ \(\d{4}-\d\d-\d\d\)$/),
      '- https://notspam.example/ (2026-11-21)',
      '- https://good.example/?via=spam.example (2026-11-21)',
    ]);
  });
});

describe('a search of the cached index only', () => {
  const askCached = () => {
    const request = { store: false, domainFilter: 'hint', live: false } as const;
    return ask(openAiSearch(api.url, { request }));
  };

  test.each([
    ['tools[0].external_web_access', 'Unknown parameter.'],
    [null, "Unknown parameter: 'tools[0].external_web_access'."],
  ])('fails and says so if the API rejects it as %s', async (param, message) => {
    api.reply(rejects(param, message));
    expect(errorOf(await askCached())).toMatchObject({ kind: 'cached_search_rejected', detail: message });
    expect(api.requests).toHaveLength(1);
  });

  test('is kept if the API rejects something else', async () => {
    api.reply(rejects('reasoning.effort'), rejects('input'));
    expect(errorOf(await askCached())).toMatchObject({ kind: 'bad_request' });
    expect(toolOf(1)).toMatchObject({ external_web_access: false });
  });
});

// S34
describe('a required search', () => {
  const choices = () => bodies().map((body) => body.tool_choice);

  function start() {
    const search = openAiSearch(api.url);
    return (profile: Partial<ModelProfile> = {}) =>
      ask(search, searchRequest({ profile: { search: 'required', ...profile } }));
  }

  test('that the API does not know is sent as "required", also in later requests to that model', async () => {
    api.reply(rejects('tool_choice'), OK, OK, OK);
    const ask = start();
    expect((await ask()).isOk()).toBe(true);
    await ask();
    await ask({ model: 'gpt-5.1' });
    expect(choices()).toEqual([{ type: 'web_search' }, 'required', 'required', { type: 'web_search' }]);
  });

  test('is never omitted: a rejection of "required" too is a failure', async () => {
    api.reply(rejects('tool_choice'), rejects('tool_choice'));
    expect(errorOf(await start()())).toMatchObject({ kind: 'bad_request' });
    expect(choices()).toEqual([{ type: 'web_search' }, 'required']);
  });

  test('makes an answer without a search a failure, but none with citations, and is inherited by other tools', async () => {
    const citations = [{ url: 'https://a.example/', title: 'A' }];
    api.reply(OK, answers('Here.', { search: true }), answers('Here.', { search: false, citations }), OK);
    const yaml = `
search: { tool: "openrouter:web_search" }
model_profiles: { answer: { search: required }, answer_quick: { search: auto } }`;
    const ask = await composeOn(api, yaml);
    expect((await ask({ tool: 'answer_detailed' }))._unsafeUnwrapErr()).toEqual({ kind: 'not_searched' });
    for (const tool of ['answer', 'answer', 'answer_quick'] as const) expect((await ask({ tool })).isOk()).toBe(true);
    const forced = { type: 'openrouter:web_search' };
    expect(choices()).toEqual([forced, forced, forced, undefined]);
    expect(toolOf(0)).toMatchObject(forced);
  });
});

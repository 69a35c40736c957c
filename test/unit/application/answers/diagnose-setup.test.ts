import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import type { Grounding } from '../../../../src/application/answers/application.ts';
import type { Check } from '../../../../src/application/answers/diagnose-setup.ts';
import { LongAnswers } from '../../../../src/application/answers/long-answers.ts';
import type { SearchReply } from '../../../../src/application/ports/llm-search.ts';
import type { SearchError } from '../../../../src/domain/answers/answer-error.ts';
import type { GatewayTool } from '../../../../src/domain/gateway/gateway-tool.ts';
import type { GroundingPolicy } from '../../../../src/domain/grounded/grounding.ts';
import { createRedactor } from '../../../../src/domain/values/redaction.ts';
import { expectNoListener } from '../../../contract/search-kit.ts';
import { type CoreOptions, never, startCore } from '../../../support/core.ts';
import { FakeAnswerGateway } from '../../../support/fake-answer-gateway.ts';
import { FakeApiProbe } from '../../../support/fake-api-probe.ts';
import { FakeCitedPages } from '../../../support/fake-cited-pages.ts';
import { FakeClock, settled } from '../../../support/fake-clock.ts';
import { FakeHandleSigner } from '../../../support/fake-handle-signer.ts';
import { type ConfiguredRound, FakeLlmSearch, replies, starts } from '../../../support/fake-llm-search.ts';
import { FakeLongApi } from '../../../support/fake-long-api.ts';
import { policyOf, tool } from '../../../support/grounding.ts';

interface Setup extends Omit<CoreOptions, 'long' | 'apiProbe'> {
  readonly probe?: FakeApiProbe;
  readonly keyProblem?: string;
  readonly signal?: AbortSignal;
}

const SEARCHED = {
  searched: true,
  sources: { cited: [{ url: 'https://a.com' }, { url: 'https://b.com' }], consulted: [], opened: [] },
};

async function diagnose({
  probe = new FakeApiProbe(),
  llmSearch = new FakeLlmSearch(replies(SEARCHED)),
  clock = new FakeClock(),
  keyProblem,
  signal = never(),
  ...options
}: Setup = {}): Promise<Check[]> {
  const keepMs = options.config?.longAnswers?.keepMs;
  const [responses, signer] = [new FakeLongApi(), new FakeHandleSigner()];
  const long = keepMs === undefined ? undefined : new LongAnswers({ llmSearch, responses, signer, clock, keepMs });
  const { application } = startCore({ ...options, llmSearch, clock, long, apiProbe: async () => probe });
  const checks: Check[] = [];
  for await (const check of application.diagnoseSetup(keyProblem, signal)) {
    if (check.verdict !== 'running') checks.push(check);
  }
  return checks;
}

test('if everything works: the connection, the model with its tools, a search with its sources', async () => {
  expect(await diagnose()).toEqual([
    { name: 'connection', verdict: 'ok', detail: 'api.test can be reached' },
    { name: 'model gpt-5.2', verdict: 'ok', detail: 'for answer, answer_detailed, answer_quick' },
    { name: 'web search', verdict: 'ok', detail: expect.stringMatching(/2 sources in 0\.0 s/) },
  ]);
});

describe('with citations.check, after the search', () => {
  const config = { citations: { resolveDates: false, check: 'links' } } as const;
  const ok = { state: 'ok', status: 200 } as const;
  const missing = { state: 'dead', status: 404 } as const;
  const noHost = { state: 'dead', reason: 'no_such_host' } as const;

  test.each([
    ['ok if a page could be read', { 'https://a.com': ok }, 'ok', '1 of 2 cited pages could be read'],
    [
      'a warning with the reasons if none could',
      { 'https://a.com': missing, 'https://b.com': noHost },
      'warning',
      'no cited page could be read: http_404, no_such_host',
    ],
  ])('%s', async (_name, pages, verdict, detail) => {
    const checks = await diagnose({ config, citedPages: new FakeCitedPages(pages) });
    expect(checks.slice(2)).toEqual([
      expect.objectContaining({ name: 'web search' }),
      { name: 'citation checks', verdict, detail },
    ]);
  });

  test.each<[string, Partial<Setup>]>([
    ['cites no page', { llmSearch: new FakeLlmSearch(replies({ searched: true })) }],
    ['is skipped', { keyProblem: 'the key is missing' }],
  ])('skipped if the search %s', async (_name, setup) => {
    const checks = await diagnose({ config, citedPages: new FakeCitedPages(), ...setup });
    expect(checks.slice(2)).toMatchObject([{ name: 'web search' }, { name: 'citation checks', verdict: 'skipped' }]);
  });
});

test('each model is looked up once, with the tools that use it', async () => {
  const probe = new FakeApiProbe();
  const profiles = {
    answer: { model: 'gpt-5.2' },
    answer_detailed: { model: 'o3' },
    answer_quick: { verbosity: 'low' },
  } as const;
  const checks = await diagnose({ probe, config: { profiles } });
  expect(probe.models).toEqual(['gpt-5.2', 'o3']);
  expect(checks.slice(1, 3)).toEqual([
    { name: 'model gpt-5.2', verdict: 'ok', detail: 'for answer, answer_quick' },
    { name: 'model o3', verdict: 'ok', detail: 'for answer_detailed' },
  ]);
});

describe('with grounded answers', () => {
  /** Answers at once, as the model does that needs no tool. */
  async function questions(
    web: GroundingPolicy['web'],
    reply: Partial<SearchReply>,
    tools: readonly GatewayTool[] = [tool('jira/search')],
  ) {
    const answer: ConfiguredRound = (observer, signal, { mode }) =>
      replies(mode === 'web' ? SEARCHED : reply)(observer, signal);
    const grounding: Grounding = {
      policy: policyOf({ web }),
      startGateway: async () => new FakeAnswerGateway({ tools }),
      messageFor: ({ kind }) => kind,
      redactor: createRedactor(),
    };
    return (await diagnose({ llmSearch: new FakeLlmSearch(answer, answer), grounding })).slice(-2);
  }

  const WEB_SEARCH = { name: 'web search', verdict: 'ok', detail: 'answered with 2 sources in 0.0 s' };

  test('the web search stays, and another question is a grounded one', async () => {
    expect(await questions('before', { searched: false })).toEqual([
      WEB_SEARCH,
      { name: 'grounded question', verdict: 'ok', detail: 'answered with own tools offered in 0.0 s' },
    ]);
  });

  test('warns if no tool could be offered', async () => {
    expect(await questions('before', SEARCHED, [])).toEqual([
      WEB_SEARCH,
      { name: 'grounded question', verdict: 'warning', detail: 'answered, but no own tool could be offered' },
    ]);
  });

  test('says if the web is never searched; the search is checked nevertheless', async () => {
    expect(await questions('never', { searched: false })).toEqual([
      WEB_SEARCH,
      { name: 'grounded question', verdict: 'ok', detail: expect.stringContaining('never searched (grounding.web)') },
    ]);
  });
});

describe('with answers that take minutes', () => {
  const config = { longAnswers: { tools: ['answer', 'answer_detailed'] as const, keepMs: 1 } };

  async function check(outcome: ConfiguredRound) {
    const llmSearch = new FakeLlmSearch(outcome);
    const checks = await diagnose({ llmSearch, config });
    return { checks: checks.slice(2), llmSearch };
  }

  test('the web search is asked in the background, and the tools are named', async () => {
    const { checks, llmSearch } = await check(starts('resp_1', replies(SEARCHED)));
    expect(llmSearch.requests).toMatchObject([{ mode: 'background', question: { tool: 'answer_quick' } }]);
    expect(checks).toMatchObject([
      { name: 'web search', verdict: 'ok' },
      { name: 'long answers', verdict: 'ok', detail: 'for answer, answer_detailed' },
    ]);
  });

  test('warns if the API does not accept background', async () => {
    const detail =
      'the API does not accept background, or only with openai.store: true, so these questions end with their calls (long_answers.tools)';
    const { checks } = await check(starts(undefined, replies(SEARCHED)));
    expect(checks[1]).toEqual({ name: 'long answers', verdict: 'warning', detail });
  });
});

describe('a problem is reported with its reason', () => {
  test('the API cannot be reached, and nothing else is tried', async () => {
    const failure: SearchError = { kind: 'connection_failed', attempts: 1, host: 'api.test', detail: 'ENOTFOUND' };
    const probe = new FakeApiProbe({ reach: err(failure) });
    expect(await diagnose({ probe, llmSearch: new FakeLlmSearch() })).toEqual([
      { name: 'connection', verdict: 'failed', detail: 'connection_failed', error: failure },
      { name: 'models', verdict: 'skipped', detail: 'the API cannot be reached' },
      { name: 'web search', verdict: 'skipped', detail: 'the API cannot be reached' },
    ]);
    expect(probe.models).toEqual([]);
  });

  test('there is no usable key: only the connection is tried', async () => {
    const probe = new FakeApiProbe();
    expect(await diagnose({ probe, keyProblem: 'the key is malformed', llmSearch: new FakeLlmSearch() })).toEqual([
      { name: 'connection', verdict: 'ok', detail: 'api.test can be reached' },
      { name: 'models', verdict: 'skipped', detail: 'the key is malformed' },
      { name: 'web search', verdict: 'skipped', detail: 'the key is malformed' },
    ]);
    expect(probe.models).toEqual([]);
  });

  test('a model does not exist; the others and the search are still tried', async () => {
    const failure: SearchError = { kind: 'model_not_found', model: 'gpt-9', detail: 'No.' };
    const probe = new FakeApiProbe({ findModel: (model) => (model === 'gpt-9' ? err(failure) : ok('found')) });
    const checks = await diagnose({
      probe,
      config: { profiles: { answer: { model: 'gpt-9' }, answer_quick: { model: 'gpt-5.2' } } },
    });
    expect(checks.map(({ name, verdict }) => `${name}: ${verdict}`)).toEqual([
      'connection: ok',
      'model gpt-9: failed',
      'model gpt-5.2: ok',
      'web search: ok',
    ]);
    expect(checks[1]).toMatchObject({ error: failure });
  });

  test.each<SearchError>([
    { kind: 'forbidden', detail: 'No.' },
    { kind: 'missing_permission', variable: 'OPENAI_API_KEY', detail: 'Missing scopes: api.model.read' },
  ])('the key may not look up models ($kind): a warning, and the search is tried', async (failure) => {
    const checks = await diagnose({ probe: new FakeApiProbe({ findModel: () => err(failure) }) });
    expect(checks[1]).toMatchObject({ name: 'model gpt-5.2', verdict: 'warning', error: failure });
    expect(checks[2]).toMatchObject({ name: 'web search', verdict: 'ok' });
  });

  test('the server has no list of models', async () => {
    const checks = await diagnose({ probe: new FakeApiProbe({ findModel: () => ok('unknown') }) });
    expect(checks[1]).toMatchObject({ name: 'model gpt-5.2', verdict: 'skipped' });
    expect(checks[2]).toMatchObject({ verdict: 'ok' });
  });

  test('the model answers without a search: a warning', async () => {
    const checks = await diagnose({ llmSearch: new FakeLlmSearch(replies({ searched: false })) });
    expect(checks.at(-1)).toMatchObject({
      name: 'web search',
      verdict: 'warning',
      detail: expect.stringMatching(/^this server did not search: .*search\.tool/),
    });
  });

  test('no tool has a model', async () => {
    const checks = await diagnose({ config: { profiles: {} }, llmSearch: new FakeLlmSearch() });
    expect(checks.at(-1)).toMatchObject({ verdict: 'failed', error: { kind: 'no_profile' } });
  });
});

test('a server that does not respond is abandoned after 15 seconds', async () => {
  const clock = new FakeClock();
  const probe = new FakeApiProbe({ reach: 'hangs' });
  const checks = diagnose({ clock, probe, llmSearch: new FakeLlmSearch() });
  await clock.advance(14_999);
  expect(probe.signals.map(({ aborted }) => aborted)).toEqual([false]);
  await clock.advance(1);
  expect((await checks)[0]).toMatchObject({
    name: 'connection',
    verdict: 'failed',
    error: { kind: 'connection_failed', detail: 'no response within 15 s' },
  });
  expect(probe.signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(clock.pendingSleeps).toBe(0);
});

test('an abort during the connection ends the checks, and leaves nothing', async () => {
  const controller = new AbortController();
  const clock = new FakeClock();
  const probe = new FakeApiProbe({ reach: 'hangs' });
  const checks = diagnose({ clock, probe, signal: controller.signal, llmSearch: new FakeLlmSearch() });
  await settled();
  controller.abort();
  expect((await checks)[0]).toMatchObject({ verdict: 'failed', error: { kind: 'cancelled' } });
  expectNoListener(controller.signal);
  expect(clock.pendingSleeps).toBe(0);
});

describe('a model with a shutdown date', () => {
  const config = { profiles: { answer: { model: 'gpt-5' } } };
  const ending = () => new FakeApiProbe({ findModel: () => ok({ shutsDownOn: '2026-12-11' }) });
  const modelCheck = async (today: string) =>
    (await diagnose({ config, probe: ending(), clock: new FakeClock(`${today}T03:00:00Z`) }))[1];

  test('is reported from 90 days before, with the date', async () => {
    const detail = 'for answer, answer_detailed, answer_quick';
    expect(await modelCheck('2026-09-11')).toEqual({ name: 'model gpt-5', verdict: 'ok', detail });
    expect(await modelCheck('2026-09-12')).toEqual({
      name: 'model gpt-5',
      verdict: 'warning',
      detail: `${detail}; shuts down on 2026-12-11: use another model`,
    });
  });
});

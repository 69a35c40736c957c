import { ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { type AskOptions, ask } from '../../../../../src/adapters/inbound/cli/ask.ts';
import type { SearchProgress } from '../../../../../src/application/ports/llm-search.ts';
import { rightsBy } from '../../../../../src/domain/gateway/access.ts';
import { answersOf, catalogueOf } from '../../../../support/catalogue.ts';
import { commandContext } from '../../../../support/command-context.ts';
import { never } from '../../../../support/core.ts';
import {
  ANSWER,
  answers,
  type ConfiguredAnswer,
  FakeApplication,
  failsWith,
  hangs,
} from '../../../../support/fake-application.ts';
import { settled } from '../../../../support/fake-clock.ts';
import { LOCAL } from '../../../../support/origins.ts';

const CLEAR = '\r\u001B[2K';

async function run(
  over: Partial<AskOptions> & {
    readonly application?: FakeApplication;
    readonly isTTY?: boolean;
    readonly signal?: AbortSignal;
  } = {},
) {
  const { isTTY = false, signal = never(), application = new FakeApplication(answers()), ...options } = over;
  const { context, printed } = commandContext({ isTTY });
  const catalogue = catalogueOf([answersOf(application)]);
  const asked = { tool: 'answer', question: 'HTTP 404?', json: false, verbose: false } as const;
  return printed(ask({ ...context, catalogue, by: LOCAL, ...asked, ...options }, signal));
}

const reports =
  (...steps: readonly SearchProgress[]): ConfiguredAnswer =>
  async (input) => {
    for (const step of steps) input.observer.onProgress(step);
    return ok(ANSWER);
  };

test('prints the answer, and nothing else', async () => {
  expect(await run()).toEqual({ exitCode: 0, out: 'Not Found.\n', err: '' });
});

test('prints the answer on a terminal as a person reads it, and JSON as it is', async () => {
  const result = { ...ANSWER.result, answer: 'It means **Not Found**.' };
  const terminal = { columns: 11, hasStyles: true };
  const application = () => new FakeApplication(answers({ ...ANSWER, result }));
  expect((await run({ application: application(), terminal })).out).toBe('It means\n\u001B[1mNot Found\u001B[22m.\n');
  expect((await run({ application: application(), terminal, json: true })).out).toContain('"It means **Not Found**."');
  expect((await run({ application: application() })).out).toBe('It means **Not Found**.\n');
});

test('prints the JSON of the contract and the report', async () => {
  const { out, err } = await run({ json: true, verbose: true });
  expect(JSON.parse(out)).toEqual({
    answer: 'Not Found.',
    used_search: false,
    citations: [],
    model: 'gpt-5.2',
    report: { searches: { count: 0, queries: [] }, attempts: 1, seconds: 1.235 },
  });
  expect(err).toBe('');
});

test('says on standard error which servers require a login', async () => {
  const report = { ...ANSWER.report, unavailableServers: ['notes', 'wiki'], loginRequired: ['notes', 'wiki'] };
  const application = () => new FakeApplication(answers({ ...ANSWER, report }));
  const err = expect.stringMatching(/ login notes\n.* login wiki\n$/);
  expect(await run({ application: application() })).toEqual({ exitCode: 0, out: 'Not Found.\n', err });
  const json = await run({ application: application(), json: true });
  expect(JSON.parse(json.out)).toMatchObject({ report: { login_required: ['notes', 'wiki'] } });
  expect(json.err).toEqual(err);
});

test('prints the report on standard error if requested', async () => {
  const usage = { inputTokens: 900, cachedTokens: 400, outputTokens: 70, reasoningTokens: 20 };
  const took = { model: 'gpt-5.2\u001B[31m', usage, searches: 1, attempts: 2, rounds: 2, toolCalls: [] };
  const application = new FakeApplication(answers({ ...ANSWER, report: { ...ANSWER.report, ...took } }));
  expect(await run({ application, verbose: true })).toEqual({
    exitCode: 0,
    out: 'Not Found.\n',
    err: '1.2 s · gpt-5.2 · 1 search · 900 tokens in (400 cached), 70 out · 2 requests · 2 rounds, 0 tool calls\n',
  });
});

test.each([
  [0, ''],
  [31_200, ' · about $0.0312'],
])('a cost of %i micro-dollars is reported if there is one', async (microUsd, shown) => {
  const report = { ...ANSWER.report, cost: { microUsd, pricesOf: '2026-11-17' } };
  const { err } = await run({ application: new FakeApplication(answers({ ...ANSWER, report })), verbose: true });
  expect(err).toMatch(new RegExp(`searches${shown.replace('$', '\\$')}\n`));
});

describe('a failure', () => {
  test.each([
    [{ kind: 'content_filtered' } as const, {}],
    [{ kind: 'interrupted', reason: { kind: 'content_filtered' }, handle: 'la1.d' } as const, { handle: 'la1.d' }],
  ])('is printed on standard error, and as JSON on standard output if requested: %j', async (error, more) => {
    const { exitCode, out, err } = await run({ application: new FakeApplication(failsWith(error)), json: true });
    expect(exitCode).toBe(1);
    expect(err).toContain('content filter');
    const details = { outcome: error.kind, ...more };
    const expected = { code: 'TOOL_EXECUTION_ERROR', message: err.trimEnd(), details };
    expect(JSON.parse(out)).toEqual({ success: false, error: expected });
  });

  test('by Ctrl-C has exit code 130', async () => {
    const interrupted = new AbortController();
    const ended = run({ application: new FakeApplication(hangs), signal: interrupted.signal });
    await settled();
    interrupted.abort();
    expect(await ended).toEqual({ exitCode: 130, out: '', err: 'The question was cancelled.\n' });
  });
});

test('a limit of time names the quick tool as it is chosen in the terminal', async () => {
  const failed = failsWith({ kind: 'timed_out', timeoutMs: 1000 });
  expect((await run({ application: new FakeApplication(failed) })).err).toContain(
    ' use --tool=answer_quick, or raise ',
  );
});

test('no key is shown in a failure', async () => {
  const failed = failsWith({ kind: 'forbidden', detail: 'Key sk-proj-abcdef is wrong.' });
  expect((await run({ application: new FakeApplication(failed) })).err).toContain('Key [redacted] is wrong.');
});

describe('progress', () => {
  test('is shown on a terminal in the language of the question, and cleared before the answer', async () => {
    const application = new FakeApplication(reports({ kind: 'thinking' }, { kind: 'searching' }));
    expect(await run({ application, isTTY: true, question: '天気は？' })).toEqual({
      exitCode: 0,
      out: 'Not Found.\n',
      err: `${CLEAR}0 s  考えています${CLEAR}0 s  検索しています${CLEAR}`,
    });
  });

  test('shows each call of an own tool, and its end also during the next round', async () => {
    const call = { server: 'notes', tool: 'search' };
    const application = new FakeApplication(
      reports(
        { kind: 'calling', ...call },
        { kind: 'called', ...call, ms: 40, characters: 159, reason: undefined },
        { kind: 'called', ...call, ms: 900, characters: 30, reason: 'tool_error' },
        { kind: 'asking', round: 2 },
        { kind: 'asking', round: 3 },
      ),
    );
    const { err } = await run({ application, isTTY: true });
    expect(err.split(CLEAR)).toEqual([
      '',
      '0 s  Calling notes/search',
      '0 s  notes/search: 159 characters, 40 ms',
      '0 s  notes/search: failed (tool error), 0.9 s',
      // The width of the terminal limits the line.
      '0 s  Asking the model (round 2) · notes/search: 159 characters, 40 ms · notes/s',
      '0 s  Asking the model (round 3)',
      '',
    ]);
  });
});

describe('findings', () => {
  const [a, b, c] = ['https://a.example/', 'https://b.example/', 'https://c.example/'];
  const citations = [
    { url: a, published_at: '2026-01-05', evidence: { missing: ['42 %', '1,226'], quote: 'A passage.' } },
    { url: b, published_at: '2026-01-05', evidence: { unrelated: true as const } },
    { url: c, published_at: '2026-01-05' },
  ];
  const unreadable = { url: c, state: 'unreadable', reason: 'http_403', status: 403 } as const;
  const checks = [{ url: a, state: 'ok' as const }, { url: b, state: 'ok' as const }, unreadable];
  const checked = { result: { ...ANSWER.result, citations }, report: { ...ANSWER.report, checks } };
  const shown = async (over: object) =>
    (await run({ application: new FakeApplication(answers(checked)), ...over })).out;

  test('follow the answer, one line each', async () => {
    expect((await shown({})).split('\n')).toEqual([
      'Not Found.',
      '',
      'Findings:',
      `- [1] ${a}: "42 %", "1,226" not on the page`,
      `- [2] ${b}: no similar passage on the page`,
      'Checked 3 pages: 1 not readable',
      '',
    ]);
  });

  test('are more with --verbose: quotes, and pages that could not be read', async () => {
    const english = await shown({ verbose: true });
    expect(english).toContain(`page\n- [1] ${a}: "A passage."\n- [2]`);
    expect(english).toContain(`\n- [3] ${c}: could not be read (HTTP 403)\nChecked`);
    expect((await shown({ verbose: true, question: '何ですか' })).split('\n').slice(2)).toEqual([
      '確認結果:',
      `- [1] ${a}: 「42 %」「1,226」はページにありません`,
      `- [1] ${a}: 「A passage.」`,
      `- [2] ${b}: ページに似た箇所がありません`,
      `- [3] ${c}: 読めませんでした（HTTP 403）`,
      '確認したページ: 3（読めないページ 1）',
      '',
    ]);
  });

  test('are in the JSON, which is printed alone', async () => {
    const json = JSON.parse(await shown({ json: true, verbose: true }));
    expect(json.report.checks[2]).toEqual(unreadable);
    expect(json.citations[1]).toMatchObject({ url: b, evidence: { unrelated: true } });
  });
});

test('a tool that the person may not use does not exist', async () => {
  const rights = rightsBy({ local: { answers: ['answer_quick'] } })({ caller: 'local' });
  const application = new FakeApplication(answers());
  const by = { ...LOCAL, rights };
  const message = 'There is no tool "answer". Did you mean answer_quick?\n';
  expect(await run({ by })).toEqual({ exitCode: 1, out: '', err: message });
  const { out } = await run({ by, json: true });
  const { error } = JSON.parse(out);
  expect(error).toMatchObject({
    code: 'TOOL_NOT_FOUND',
    message: message.trim(),
    details: { outcome: 'unknown_tool' },
  });
  await run({ by, tool: 'answer_quick', application });
  expect(application.asked).toMatchObject([{ tool: 'answer_quick', args: { query: 'HTTP 404?' } }]);
});

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apiId } from '../support/api-response.ts';
import { unknownResponse } from '../support/background-responses.ts';
import { type Behaviour, fails, failsHtml, sendsJson } from '../support/behaviours.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { startLiveApi } from '../support/live-api.ts';
import { newLiveFolder, readChecks, runLive } from '../support/live-run.ts';
import { startPageServer } from '../support/page-server.ts';

/** What a run without options cannot find out. */
const OPEN = ['stored', 'readable-pages', 'alarms', 'kept'];

describe('with an API that is as assumed', () => {
  test('every other assumption is confirmed, and no file has the key, a header or an instruction', async () => {
    const { code, checks, folder, printed } = await runLive(await startLiveApi(), ['--yes']);
    const others = [...checks.values()].filter(({ verdict }) => verdict !== 'confirmed');
    expect(others.map(({ name, verdict }) => [name, verdict])).toEqual(OPEN.map((name) => [name, 'unknown']));
    expect(code).toBe(0);
    expect(printed).toContain('\nEstimate: 27 requests, 20 searches, 285 thousand tokens. Verdicts: live-report.md\n');
    expect(printed).toContain('\n4/28 answer: confirmed\n');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
    expect(files.toSorted()).toEqual([
      'live-loops/grounded-closed/01-request.json',
      'live-loops/grounded-closed/01-response.sse',
      'live-loops/grounded-closed/02-request.json',
      'live-loops/grounded-closed/02-response.sse',
      'live-loops/grounded/01-request.json',
      'live-loops/grounded/01-response.sse',
      'live-loops/grounded/02-request.json',
      'live-loops/grounded/02-response.sse',
      'live-report.json',
      'live-report.md',
    ]);
    const texts = files.map((name) => readFileSync(path.join(folder, name), 'utf8')).join('\n');
    expect(texts).not.toMatch(/sk-live|Bearer|authorization|You answer questions/i);
  });
});

/** What the report shows if an assumption is wrong. */
const WRONG: readonly (readonly [name: string, seen: RegExp])[] = [
  ['wrong-key', /HTTP 403: \{"error":\{"message":"This key is not valid\."/],
  ['unknown-model', /^The API rejected the request: Bad request\..*\nHTTP 400: \{"error"/],
  ['too-long', /^there was no failure$/],
  ['answer', /^the answer has no citation$/],
  ['answer_detailed', /^HTTP 400: .*"param":"max_tool_calls"/],
  ['answer_quick', /^HTTP 400: .*"param":"reasoning\.effort"/],
  ['citations', /"type":"page_citation"/],
  ['ranges', /"end":1,"kind":"neither"/],
  ['sources', /"sources":\[\]/],
  ['live-search', /"external_web_access":false/],
  ['cached-search', /^\{.*"open_page"/],
  ['user-location', /"city":null/],
  ['search-required', /^the model did not search$/],
  ['blocked-domains', /https:\/\/nodejs\.org\/en\/about/],
  ['tier-flex', /"used":"default"/],
  ['tier-priority', /"used":"default"/],
  ['parameters', /^HTTP 400: .*"param":"reasoning\.mode"/],
  ['background-mode', /^HTTP 400: .*"param":"background"/],
  ['get-running', /^HTTP 404: .*not found/],
  ['resume', /^\{"type":"response\.created"/],
  ['cancel', /"status":"in_progress"/],
  ['stored', /^HTTP 404: .*not found/],
  ['grounded', /^The API did not accept the conversation.*\nHTTP 400: .*"param":"input\[1\]"/],
  ['grounded-closed', /^HTTP 400: .*"param":"tools\[0\]\.external_web_access"/],
  ['shapes', /^response\.future\.hint\nresponse\.future\.type\nweb_search\.external_web_access$/],
];

describe('an assumption that is wrong is contradicted, and the report shows it', () => {
  test.for(WRONG)('%s', async ([name, seen]) => {
    const { code, checks, folder, printed } = await runLive(await startLiveApi(name), ['--yes', '--only', name]);
    expect(checks.get(name)).toMatchObject({ verdict: 'contradicted', seen: expect.stringMatching(seen) });
    expect(code).toBe(1);
    expect(printed).toContain(`${name}: contradicted: ${checks.get(name)?.seen}`);
    const text = readFileSync(path.join(folder, 'live-report.md'), 'utf8');
    expect(text).toMatch(/^## contradicted: /);
    expect(text).not.toMatch(/You answer questions/);
  });
});

describe('a finished response', () => {
  const gone = unknownResponse('/v1/responses/resp_1');
  const there = sendsJson({ id: apiId('resp', 1), object: 'response', status: 'completed', output: [] });
  const another = sendsJson({ id: apiId('resp', 9), object: 'response', status: 'completed', output: [] });

  test.for([
    ['confirmed', [there, there, there, gone, gone]],
    ['contradicted', [there, there, gone, gone, gone]],
    ['contradicted', [there, there, there, there, there]],
    [
      'unknown',
      [there, fails({ status: 500, error: { message: '', type: '', param: null, code: null } }), gone, gone, gone],
    ],
  ] as const)('with --long: %s by looks after 0, 1, 5, 11 and 30 minutes', async ([verdict, looks]) => {
    expect(await lookAtKept(looks)).toMatchObject({
      verdict,
      seen: expect.stringMatching(
        /^0\.0 min .*; 1\.0 min .*; 5\.0 min .*; 11\.0 min .*; 30\.0 min after its end: HTTP \d+$/,
      ),
    });
  });

  test('of another ID is not the one that was looked for', async () => {
    expect((await lookAtKept([there, there, another, gone, gone])).verdict).toBe('unknown');
  });

  test('that is looked at late shows nothing, whatever the looks show', async () => {
    const { verdict, seen } = await lookAtKept([there, there, there, gone, gone], 3);
    expect(verdict).toBe('unknown');
    expect(seen).toContain('; 33.0 min after its end: HTTP 404');
  });

  test('of another server, which has no JSON, is not gone', async () => {
    const { verdict } = await lookAtKept([there, there, there, failsHtml(404), failsHtml(404)]);
    expect(verdict).toBe('unknown');
  });

  test('that a person stops looking at keeps what was seen', async () => {
    const controller = new AbortController();
    const stop = (waits: number) => waits === 4 && controller.abort();
    const options = { signal: controller.signal, stop };
    const { verdict, seen, printed } = await lookAtKept([there, there, there], 0, options);
    expect(printed).toContain('\n1/1 kept: 0.0 min; 1.0 min; 5.0 min; unknown: ');
    expect(verdict).toBe('unknown');
    expect(seen).toMatch(/; 5\.0 min after its end: HTTP 200\ninterrupted$/);
  });

  test('costs nothing without --long', async () => {
    const api = await startLiveApi();
    const { code, checks, printed } = await runLive(api, ['--yes', '--only', 'kept']);
    expect(printed).toContain('Estimate: 0 requests');
    expect({ code, requests: api.requests.length }).toEqual({ code: 1, requests: 0 });
    expect(checks.get('kept')?.seen).toContain('--long');
    expect((await runLive(api, ['--list', '--only', 'kept', '--long'])).printed).toContain('Estimate: 6 requests');
  });
});

/** Runs `kept` with a clock of its own. Each wait takes longer than it should by `lateMinutes`. */
async function lookAtKept(
  looks: readonly Behaviour[],
  lateMinutes = 0,
  { signal = new AbortController().signal, stop = (_: number): unknown => undefined } = {},
) {
  const api = await startLiveApi();
  api.replyToLooks(...looks);
  let [now, waits] = [Date.parse('2026-11-23T00:00:00Z'), 0];
  const sleep = async (ms: number) => {
    now += Math.max(0, ms) + (waits > 0 ? lateMinutes * 60_000 : 0);
    waits += 1;
    stop(waits);
  };
  const over = { sleep, now: () => now, signal };
  const { checks, printed } = await runLive(api, ['--yes', '--only', 'kept', '--long'], over);
  return { verdict: 'none', seen: '', ...checks.get('kept'), printed };
}

describe('citations', () => {
  /** A web with one page, which says nothing of what the API answers with. */
  async function web(status: number) {
    const pages = await startPageServer();
    onTestFinished(() => pages.close());
    const text = 'Node.js has been a project of many people for years. '.repeat(10);
    pages.serve(
      '/article',
      (_, response) => void response.writeHead(status, { 'content-type': 'text/html' }).end(`<p>${text}</p>`),
    );
    const proxy = await startForwardProxy(pages.port);
    onTestFinished(() => proxy.close());
    return { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
  }

  test('with --evidence, alarms are in a table, of which --score computes the shares that a person found right', async () => {
    const api = await startLiveApi();
    const args = ['--yes', '--only', 'evidence', '--evidence', '2'];
    const { checks, folder, printed } = await runLive(api, args, { environment: await web(200) });
    expect(printed).toContain('\n1/2 readable-pages: 1 2 confirmed\n');
    expect(checks.get('readable-pages')).toMatchObject({ verdict: 'confirmed' });
    expect(checks.get('readable-pages')?.seen).toMatch(
      /^2 cited pages: ok 2; alarms are in live-evidence-[\w-]+\.tsv$/,
    );
    expect(api.requests.map(({ body }) => /[ぁ-ん]/.test(String(body.input)))).toEqual([false, true]);
    const file = path.join(folder, readdirSync(folder).find((name) => name.endsWith('.tsv')) ?? '');
    const [heading, ...rows] = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t'));
    expect(heading).toEqual(['right (y or n)', 'alarm', 'figures', 'claim', 'quote', 'page', 'question']);
    expect(rows).toHaveLength(2);
    expect(rows[0]?.slice(0, 4)).toEqual(['', 'missing', '24, 2025-10-28', 'Node.js 24 is LTS since 2025-10-28']);

    expect(await scoreOf(file, heading, rows[0], ['y', 'n', ''])).toEqual({
      code: 1,
      verdict: 'unknown',
      seen: 'missing: 1 of 2 are right; unrelated: 0 of 0 are right; 1 not filled in; at least 10 are needed',
    });
    const nine = [...'yyyyyyyyyn'];
    expect(await scoreOf(file, heading, rows[0], nine)).toMatchObject({ code: 0, verdict: 'confirmed' });
    expect(await scoreOf(file, heading, rows[0], [...nine, 'n'])).toMatchObject({ code: 1, verdict: 'contradicted' });
    await expect(scoreOf(file, heading, rows[0], [])).rejects.toThrow(/\.tsv has no alarms/);
  });

  async function scoreOf(file: string, heading: unknown, row: readonly string[] = [], marks: readonly string[]) {
    const filled = [heading, ...marks.map((mark) => [mark, ...row.slice(1)])] as string[][];
    writeFileSync(file, filled.map((cells) => cells.join('\t')).join('\n'));
    const { code, checks } = await runLive(await startLiveApi(), ['--score', file]);
    return { code, verdict: checks.get('alarms')?.verdict, seen: checks.get('alarms')?.seen };
  }

  test('if most pages cannot be read, this is contradicted', async () => {
    const args = ['--yes', '--only', 'readable-pages', '--evidence', '1'];
    const { checks } = await runLive(await startLiveApi(), args, { environment: await web(403) });
    expect(checks.get('readable-pages')).toMatchObject({ verdict: 'contradicted' });
    expect(checks.get('readable-pages')?.seen).toMatch(/^1 cited pages: http_403 1; /);
  });
});

describe('before it begins', () => {
  test('a person is asked, and nothing is sent without a yes', async () => {
    const api = await startLiveApi();
    const questions: string[] = [];
    const confirm = async (question: string) => questions.push(question) > 1;
    const { code, folder } = await runLive(api, ['--only', 'answer'], { confirm });
    expect({ code, files: readdirSync(folder), requests: api.requests.length }).toEqual({
      code: 0,
      files: [],
      requests: 0,
    });
    expect(questions).toEqual([`Begin, at ${api.url}? [y/N] `]);
    expect((await runLive(api, ['--only', 'answer'], { confirm })).checks.get('answer')?.verdict).toBe('confirmed');
  });

  test.for([
    [['--only', 'answer'], {}, /--yes/],
    [['--yes'], { OPENAI_API_KEY: '' }, /OPENAI_API_KEY/],
    [['--yes'], { OPENAI_API_KEY: 'sk-...' }, /placeholder/],
    [['--yes', '--only', 'answr'], {}, /no check answr/],
    [['--evidence', 'many'], {}, /--evidence/],
    [['--ever'], {}, /--ever/],
  ] as const)('%j %j is a problem', async ([args, environment, problem]) => {
    const api = await startLiveApi();
    await expect(runLive(api, args, { environment })).rejects.toThrow(problem);
    expect(api.requests).toEqual([]);
  });

  test('--list prints each check and sends nothing', async () => {
    const api = await startLiveApi();
    const { code, printed, folder } = await runLive(api, ['--list']);
    expect({ code, files: readdirSync(folder), requests: api.requests.length }).toEqual({
      code: 0,
      files: [],
      requests: 0,
    });
    expect(printed).toMatch(/^wrong-key +errors .*\n/);
    expect(printed.trimEnd().split('\n')).toHaveLength(30);
  });
});

describe('a run that ends early', () => {
  test('leaves a report of what was found so far, when it is interrupted', async () => {
    const api = await startLiveApi();
    const controller = new AbortController();
    const out = (text: string) => /^3\/28 /.test(text) && controller.abort();
    const { code, checks } = await runLive(api, ['--yes'], { out, signal: controller.signal });
    expect(code).toBe(130);
    expect([...checks.values()].slice(0, 4).map(({ verdict, seen }) => [verdict, seen])).toEqual([
      ['confirmed', expect.stringContaining('HTTP 401')],
      ['confirmed', expect.stringContaining('HTTP 400')],
      ['unknown', 'The question was cancelled.\ninterrupted'],
      ['unknown', 'not run'],
    ]);
    expect(checks.size).toBe(28);
  });

  test('stops at a key that the API rejects', async () => {
    const api = await startLiveApi();
    const environment = { OPENAI_API_KEY: 'sk-of-another-account' };
    const { code, checks, printed } = await runLive(api, ['--yes'], { environment });
    expect(code).toBe(1);
    expect(checks.get('wrong-key')?.verdict).toBe('confirmed');
    expect(checks.get('unknown-model')).toMatchObject({
      verdict: 'unknown',
      seen: expect.stringContaining('OPENAI_API_KEY'),
    });
    expect(api.requests).toHaveLength(2);
    expect(printed).not.toContain('another-account');
  });

  test('a failure that passes says nothing about an assumption', async () => {
    const api = await startLiveApi();
    const error = { message: 'Slow down.', type: 'requests', param: null, code: 'rate_limit_exceeded' };
    api.reply(fails({ status: 429, error, headers: { 'retry-after-ms': '1' } }));
    const { checks: later, printed } = await runLive(api, ['--yes', '--only', 'answer']);
    expect(later.get('answer')?.verdict).toBe('confirmed');
    expect(printed).toMatch(/\n1\/1 answer: Rate limited; retrying in .*; confirmed\n$/);
    api.replyAlways(fails({ status: 429, error, headers: { 'retry-after': '10000' } }));
    const { code, checks } = await runLive(api, ['--yes', '--only', 'answer']);
    expect(checks.get('answer')).toMatchObject({ verdict: 'unknown', seen: expect.stringContaining('Slow down.') });
    expect(code).toBe(1);
  });
});

test('what another API has shown does not remain, if this one shows nothing', async () => {
  const folder = newLiveFolder();
  const args = ['--yes', '--only', 'answer_quick', '--only', 'shapes'];
  await runLive(await startLiveApi('shapes'), args, { folder });
  const { checks: others } = await runLive(await startLiveApi(), args, { folder });
  expect(others.get('shapes')?.seen).not.toContain('response.future');
  const api = await startLiveApi();
  api.replyAlways(failsHtml(500));
  const { checks } = await runLive(api, args, { folder });
  expect([checks.get('answer_quick')?.verdict, checks.get('shapes')?.verdict]).toEqual(['unknown', 'unknown']);
});

test('a type or field that an earlier run has listed remains listed, until a reply of the repository has it', async () => {
  const folder = newLiveFolder();
  const args = ['--yes', '--only', 'shapes'];
  const api = await startLiveApi();
  const found = 'web_search.external_web_access';
  await runLive(api, args, { folder });
  const file = path.join(folder, 'live-report.json');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(`"seen": "${found}`, `"seen": "response.future.hint\\nurl_citation.url\\n${found}`));
  const { checks } = await runLive(api, args, { folder });
  expect(checks.get('shapes')?.seen).toBe(`response.future.hint\n${found}`);
});

test('of the settings in the environment, only the models apply', async () => {
  const api = await startLiveApi();
  const environment = {
    MODEL_ANSWER: 'gpt-5.1',
    LONG_ANSWERS: 'answer',
    ANSWER_EFFORT: 'low',
    OPENAI_MAX_RETRIES: 'x',
  };
  await runLive(api, ['--yes', '--only', 'answer'], { environment });
  expect(api.requests.map(({ body }) => [body.model, body.background, body.reasoning])).toEqual([
    ['gpt-5.1', undefined, { effort: 'medium' }],
  ]);
});

test('--only runs a check with those that it reads, and keeps the other verdicts of the report', async () => {
  const api = await startLiveApi();
  const folder = newLiveFolder();
  await runLive(api, ['--yes', '--only', 'errors'], { folder });
  const { printed } = await runLive(api, ['--yes', '--only', 'ranges'], { folder });
  expect(printed).toContain('\n1/2 answer: confirmed\n2/2 ranges: confirmed\n');
  const expected = ['wrong-key', 'unknown-model', 'too-long', 'answer', 'ranges'];
  const confirmed = () => [...readChecks(folder).values()].filter(({ verdict }) => verdict === 'confirmed');
  expect(confirmed().map(({ name }) => name)).toEqual(expected);
  api.replyAlways(failsHtml(500));
  const { printed: later } = await runLive(api, ['--yes', '--only', 'answer'], { folder });
  expect(later).toContain(' unknown: ');
  expect(confirmed().map(({ name }) => name)).toEqual(expected);
});

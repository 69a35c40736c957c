import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { apiId } from '../support/api-response.ts';
import {
  type Behaviour,
  fails,
  failsHtml,
  neverAnswers,
  resetsBeforeHeaders,
  sendsBody,
  sendsJson,
} from '../support/behaviours.ts';
import { startFakeApi } from '../support/fake-api.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { LIVE_KEY, startLiveApi, startLiveApiWith } from '../support/live-api.ts';
import { newLiveFolder, runLive } from '../support/live-run.ts';
import { startPageServer } from '../support/page-server.ts';
import { readLoops } from '../support/recorded-loops.ts';

const failure = (status: number, message: string, param: string | null = null, code: string | null = null) =>
  fails({ status, error: { message, type: 'error', param, code }, headers: { 'retry-after-ms': '1' } });
const page: Behaviour = sendsBody({ body: '<p>Log in, then use tools.</p>', contentType: 'text/html' });

describe('trouble with the account or the network contradicts nothing', () => {
  test.for<readonly [trouble: string, requests: number, behaviour: Behaviour]>([
    ['a page', 4, page],
    ['a page with 403', 4, failsHtml(403)],
    ['a page with 413', 4, failsHtml(413)],
    ['a model that is missing', 4, failure(404, 'The model `x` does not exist.', 'model', 'model_not_found')],
    [
      'an organization that is not verified',
      4,
      failure(400, 'Your organization must be verified to stream this model.', 'stream'),
    ],
    ['a rate limit in three checks', 3, failure(429, 'Slow down.')],
    ['an error of the server in three checks', 3, failure(500, 'Not now.')],
    ['a quota that is exhausted', 2, failure(429, 'You exceeded your current quota.', null, 'insufficient_quota')],
    ['a connection that is reset', 2, resetsBeforeHeaders()],
  ])('%s ends the run', async ([, requests, behaviour]) => {
    const api = await startFakeApi({ always: behaviour });
    const { code, checks, printed } = await runLive(api, ['--yes']);
    expect(printed).toMatch(/\nStopped: every other check would fail the same way\.\n$/);
    expect([...checks.values()].filter(({ verdict }) => verdict === 'contradicted')).toEqual([]);
    expect({ code, requests: api.requests.length }).toEqual({ code: 1, requests });
  });

  test.for([429, 500])('status %i is asked again twice, but not where an error is looked for', async (status) => {
    const api = await startFakeApi({ always: failure(status, 'Try again.') });
    const { code, printed, checks } = await runLive(api, ['--yes', '--only', 'answer', '--only', 'wrong-key']);
    expect([...checks.values()].filter(({ verdict }) => verdict !== 'unknown')).toEqual([]);
    expect({ code, requests: api.requests.length }).toEqual({ code: 1, requests: 4 });
    expect(printed).toMatch(/\nNothing was found out\.\n$/);
  });

  test.for([
    ['answer', failure(403, 'Your project may not use tools.', 'tools')],
    ['readable-pages', failure(400, 'Not supported.', 'tools')],
    ['citations', failure(400, 'Not supported.', 'tools')],
    ['user-location', failure(400, 'Unsupported value.', 'metadata')],
    ['unknown-model', failure(401, 'You have no access to gpt-0-no-model.')],
    ['unknown-model', failure(403, 'You have no access to gpt-0-no-model.')],
    ['wrong-key', failure(403, 'This author may not.')],
    ['too-long', failure(400, 'The length of the header is wrong.')],
  ] as const)('%s: an error that does not name what is under test, or is about rights', async ([name, behaviour]) => {
    const api = await startFakeApi({ always: behaviour });
    const { checks } = await runLive(api, ['--yes', '--only', name, '--evidence', '1']);
    expect(checks.get(name)?.verdict).toBe('unknown');
  });

  test('in the last check leaves nothing to stop', async () => {
    const api = await startFakeApi({ always: failure(401, 'No.', null, 'invalid_api_key') });
    const { code, printed } = await runLive(api, ['--yes', '--only', 'wrong-key', '--only', 'unknown-model']);
    expect({ code, printed }).toEqual({ code: 0, printed: expect.not.stringContaining('Stopped') });
  });

  test('a model in the environment does not hide one that is missing', async () => {
    const environment = { MODEL_ANSWER: 'gpt-5.1' };
    const { checks } = await runLive(await startLiveApi(), ['--yes', '--only', 'unknown-model'], { environment });
    expect(checks.get('unknown-model')?.verdict).toBe('confirmed');
  });

  test('a part of a key of any form, which the API repeats, is shown nowhere', async () => {
    const always = failure(401, 'Incorrect API key provided: abcd01*****wxyz.', null, 'invalid_api_key');
    const environment = { OPENAI_API_KEY: 'abcd0123456789wxyz' };
    const { folder, printed } = await runLive(await startFakeApi({ always }), ['--yes'], { environment });
    const texts = [printed, ...readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'))].join();
    expect(texts).toContain('Incorrect API key provided: ');
    expect(texts).not.toMatch(/abcd|wxyz/);
  });

  test('what was refused is shown without instructions, names of accounts, controls, and more than 4,000 characters', async () => {
    const body = JSON.stringify({
      error: { message: 'No: org-Ab12, proj_Cd34 \u001b[2J', param: 'tools' },
      request: { instructions: 'SECRET' },
    });
    const api = await startFakeApi({ always: sendsBody({ status: 400, contentType: 'application/json', body }) });
    const { checks, folder, printed } = await runLive(api, ['--yes', '--only', 'answer']);
    expect(checks.get('answer')).toMatchObject({
      verdict: 'contradicted',
      seen: expect.stringContaining('org-..., proj_...'),
    });
    const texts = [printed, ...readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'))].join();
    expect(texts).not.toMatch(/SECRET|Ab12|Cd34|\u001b/);
    api.replyAlways(sendsBody({ status: 400, contentType: 'text/plain', body: `\u001b[2J${'x'.repeat(9000)}` }));
    const { checks: long } = await runLive(api, ['--yes', '--only', 'user-location']);
    expect(long.get('user-location')?.seen).toMatch(/^[\n -~…]{4000}$/);
  });
});

describe('where there is nothing to look at, the verdict is unknown', () => {
  test.for([
    ['no tools', 'user-location'],
    ['no tools', 'live-search'],
    ['no sources', 'blocked-domains'],
    ['no search', 'blocked-domains'],
    ['no search', 'citations'],
    ['no search', 'ranges'],
    ['no search', 'sources'],
    ['no search', 'cached-search'],
    ['no tools', 'cached-search'],
    ['no emoji', 'ranges'],
    ['no background', 'background-mode'],
    ['not stored', 'stored'],
  ] as const)('%s: %s', async ([wrong, name]) => {
    const { checks } = await runLive(await startLiveApi(wrong), ['--yes', '--only', name]);
    expect(checks.get(name)).toMatchObject({ verdict: 'unknown', seen: expect.stringContaining('nothing to look at') });
  });

  test.for([
    ['no tier', 'tier-flex'],
    ['no tier', 'tier-priority'],
  ] as const)('%s: %s', async ([wrong, name]) => {
    const { checks } = await runLive(await startLiveApi(wrong), ['--yes', '--only', name]);
    expect(checks.get(name)).toMatchObject({ verdict: 'unknown', seen: expect.stringContaining('names none') });
  });

  test('a final response without output is read by its items', async () => {
    const api = await startLiveApi('no output');
    const { checks } = await runLive(api, ['--yes', '--only', 'citations', '--only', 'search-required']);
    expect(['answer', 'citations', 'search-required'].map((name) => checks.get(name)?.verdict)).toEqual(
      Array(3).fill('confirmed'),
    );
  });

  test.for([
    ['text that is a number', 'ranges', /"kind":"neither"/],
    ['UTF-16 ranges', 'ranges', /"kind":"units"/],
    ['no numbers', 'background-mode', /"response\.created"/],
    ['no ID', 'background-mode', /^\{.*"background":true/],
    ['search in a closed round', 'grounded-closed', /"type":"web_search_call"/],
    ['always stored', 'background-mode', /"store":true/],
    ['not in background', 'background-mode', /"background":false/],
    ['always live', 'cached-search', /"external_web_access":true/],
    ['verbosity', 'parameters', /"param":"text\.verbosity"/],
    ['location', 'parameters', /"param":"tools\[0\]\.user_location"/],
  ] as const)('but is contradicted by: %s', async ([wrong, name, seen]) => {
    const { checks } = await runLive(await startLiveApi(wrong), ['--yes', '--only', name]);
    expect(checks.get(name)).toMatchObject({ verdict: 'contradicted', seen: expect.stringMatching(seen) });
  });

  test('each parameter that is rejected is shown', async () => {
    const wrong = ['parameters', 'verbosity', 'location', 'answer_quick'];
    const { checks } = await runLive(await startLiveApi(...wrong), ['--yes', '--only', 'parameters']);
    const params = [...(checks.get('parameters')?.seen ?? '').matchAll(/"param":"([^"]*)"/g)].map(([, param]) => param);
    expect(params).toEqual(['reasoning.effort', 'reasoning.mode', 'text.verbosity', 'tools[0].user_location']);
  });

  const ended = sendsJson({ object: 'response', status: 'completed', output: [] });
  test.for<readonly [verdict: string, cancels: Behaviour, look?: Behaviour]>([
    ['contradicted', failure(404, 'Response not found.', 'id')],
    ['contradicted', failure(400, 'Not possible.', 'id')],
    ['unknown', failure(400, 'Not possible.', 'id'), ended],
    ['unknown', failure(400, 'Cannot cancel a completed response.', 'id'), failure(500, 'Not now.')],
    ['unknown', failure(500, 'Not now.')],
    ['unknown', failure(429, 'Not now.')],
    ['unknown', neverAnswers()],
  ])('a cancellation: %s by %j', async ([verdict, cancels, look]) => {
    const api = await startLiveApiWith({ cancels });
    if (look !== undefined) api.replyToLooks(look);
    const limitMs = cancels.kind === neverAnswers().kind ? 200 : 60_000;
    const run = runLive(api, ['--yes', '--only', 'cancel'], { limitMs });
    await api.until(() => api.requests.some(({ path: one }) => one.includes('include')));
    api.endResponses();
    expect((await run).checks.get('cancel')).toMatchObject({ verdict });
  });

  test('of capacity for a tier, which is not waited for', async () => {
    const api = await startFakeApi({ always: failure(429, 'Resource Unavailable', null, 'resource_unavailable') });
    const { checks } = await runLive(api, ['--yes', '--only', 'tier-flex']);
    expect(checks.get('tier-flex')).toMatchObject({
      verdict: 'unknown',
      seen: expect.stringMatching(/^Rate limit reached.*\nHTTP 429: .*Resource Unavailable/),
    });
    expect(api.requests).toHaveLength(1);
  });
});

describe('a stored response', () => {
  const start = Date.parse('2026-11-23T00:00:00Z');
  const DAY = 86_400_000;

  test.for([
    [10, 200, 'unknown'],
    [10, 404, 'contradicted'],
    [29.5, 200, 'confirmed'],
    [40, 404, 'unknown'],
    [10, 500, 'unknown'],
  ] as const)('after %i days, with status %i: %s, without another question', async ([days, status, verdict]) => {
    const api = await startLiveApi();
    const folder = newLiveFolder();
    const args = ['--yes', '--only', 'stored'];
    const first = await runLive(api, args, { folder, now: () => start });
    expect(first.checks.get('stored')).toMatchObject({ verdict: 'unknown', note: { at: '2026-11-23T00:00:00.000Z' } });
    const asked = api.requests.filter(({ method }) => method === 'POST').length;
    api.replyToLooks(
      status === 200
        ? sendsJson({ id: apiId('resp', 1), object: 'response', status: 'completed' })
        : failure(status, 'Response not found.', 'id'),
    );
    const { checks } = await runLive(api, args, { folder, now: () => start + days * DAY });
    expect(checks.get('stored')?.verdict).toBe(verdict);
    expect(api.requests.filter(({ method }) => method === 'POST')).toHaveLength(asked);
  });
});

describe('the ID of a response', () => {
  test.for(['stored', 'get-running', 'resume'])('%s: is found after a failure that passes', async (name) => {
    const api = await startLiveApi();
    api.reply(failure(500, 'Not now.'));
    const { checks } = await runLive(api, ['--yes', '--only', name]);
    if (name === 'stored') expect(checks.get(name)?.seen).toMatch(/^there: resp_\w+ of /);
    expect(checks.get(name)?.verdict).toBe(name === 'stored' ? 'unknown' : 'confirmed');
  });

  test('that the API does not send leaves nothing to look at', async () => {
    const { checks } = await runLive(await startLiveApi('no ID'), ['--yes', '--only', 'stored']);
    expect(checks.get('stored')).toMatchObject({ verdict: 'unknown', seen: expect.stringContaining('"id"') });
  });

  test('of a response that the API ran in the foreground is not looked at', async () => {
    const api = await startLiveApi('background-mode');
    const { checks } = await runLive(api, ['--yes', '--only', 'kept', '--long']);
    expect(checks.get('kept')).toMatchObject({
      verdict: 'unknown',
      seen: expect.stringContaining('"background":true'),
    });
  });

  test('in a note without a time is asked for again', async () => {
    const [api, folder] = [await startLiveApi(), newLiveFolder()];
    await runLive(api, ['--yes', '--only', 'stored'], { folder });
    const file = path.join(folder, 'live-report.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/("note": \{[^}]*?"at": )"[^"]*"/, '$1"soon"'));
    expect(readFileSync(file, 'utf8')).toContain('"soon"');
    const { checks } = await runLive(api, ['--yes', '--only', 'stored'], { folder });
    expect(checks.get('stored')).toMatchObject({ verdict: 'unknown', note: { at: expect.stringMatching(/^20/) } });
  });
});

describe('recorded conversations', () => {
  test('with the only search after the call do not show that a search is accepted again', async () => {
    const { checks, folder } = await runLive(await startLiveApi('notes first'), ['--yes', '--only', 'grounded']);
    expect(checks.get('grounded')).toMatchObject({ verdict: 'unknown', seen: 'no search came before a call' });
    expect(readdirSync(path.join(folder, 'live-loops', 'grounded.part'))).toHaveLength(4);
  });

  test('are read as those of LOOPS_DIR', async () => {
    const { checks, folder } = await runLive(await startLiveApi(), ['--yes', '--only', 'grounded']);
    expect(checks.get('grounded')?.verdict).toBe('confirmed');
    const [loop, ...others] = readLoops(path.join(folder, 'live-loops'), 'grounded');
    expect(others).toEqual([]);
    expect(loop?.responses.map(({ items }) => items.at(-1)?.type)).toEqual(['function_call', 'message']);
    expect([...(loop?.outputs.keys() ?? [])]).toEqual(['call_notes']);
    expect(loop?.tools.map(({ name }) => name)).toContain('notes__search_notes');
  });

  test('are replaced only by others that are complete', async () => {
    const folder = newLiveFolder();
    await runLive(await startLiveApi(), ['--yes', '--only', 'grounded'], { folder });
    const { checks } = await runLive(await startLiveApi('grounded'), ['--yes', '--only', 'grounded'], { folder });
    expect(checks.get('grounded')?.verdict).toBe('contradicted');
    expect(readdirSync(path.join(folder, 'live-loops', 'grounded'))).toHaveLength(4);
    expect(readdirSync(path.join(folder, 'live-loops', 'grounded.part'))).toHaveLength(2);
  });
});

describe('the report', () => {
  test('that is damaged is named, but not needed for --list', async () => {
    const api = await startLiveApi();
    const folder = newLiveFolder();
    writeFileSync(path.join(folder, 'live-report.json'), '{"checks":');
    await expect(runLive(api, ['--yes'], { folder })).rejects.toThrow(/live-report\.json is damaged: delete it/);
    writeFileSync(path.join(folder, 'live-report.json'), '{"checks":[]}');
    expect((await runLive(api, ['--list'], { folder })).code).toBe(0);
  });

  test('that cannot be written is found before anything is sent', async () => {
    const api = await startLiveApi();
    const folder = newLiveFolder();
    mkdirSync(path.join(folder, 'live-report.json.part'));
    await expect(runLive(api, ['--yes'], { folder })).rejects.toThrow(/live-report\.json\.part/);
    expect(api.requests).toEqual([]);
  });
});

describe('cited pages', () => {
  /** A page whose connection ends: a matter of the network, not of the page. */
  const BROKEN = 0;
  const sentence = 'Node.js has been a project of many people for years. ';

  /** A web with one page, of which each request gets the next status; then the last one. */
  async function web(statuses: readonly number[], text = sentence.repeat(10)) {
    const pages = await startPageServer();
    onTestFinished(() => pages.close());
    const left = [...statuses];
    pages.serve('/article', (_, response) => {
      const status = (left.length > 1 ? left.shift() : left[0]) ?? 200;
      if (status === BROKEN) return void response.destroy();
      response.writeHead(status, { 'content-type': 'text/html' }).end(`<p>${text}</p>`);
    });
    const proxy = await startForwardProxy(pages.port);
    onTestFinished(() => proxy.close());
    return { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
  }

  test.for([
    [[200, 403], 'contradicted'],
    [[200, 200, 403], 'confirmed'],
    [[200, BROKEN, BROKEN], 'confirmed'],
    [[403, BROKEN, BROKEN], 'contradicted'],
    [[BROKEN, BROKEN], 'unknown'],
  ] as const)('%j: %s', async ([statuses, verdict]) => {
    const args = ['--yes', '--only', 'readable-pages', '--evidence', String(statuses.length)];
    const { checks } = await runLive(await startLiveApi(), args, { environment: await web(statuses) });
    expect(checks.get('readable-pages')).toMatchObject({ verdict });
  });

  test('that say nothing similar are in the table', async () => {
    const environment = await web(
      [200],
      `<meta name="description" content="24">${'The cat sat on the mat and slept all day in the warm sun. '.repeat(9)}`,
    );
    const { folder } = await runLive(
      await startLiveApi('one figure'),
      ['--yes', '--only', 'readable-pages', '--evidence', '1'],
      {
        environment,
      },
    );
    const file = readdirSync(folder).find((name) => name.endsWith('.tsv')) ?? '';
    expect(readFileSync(path.join(folder, file), 'utf8')).toMatch(/\n\tunrelated\t/);
  });

  test('and conversations with the key in them are written without it', async () => {
    const environment = await web([200]);
    const only = ['grounded', 'answer', 'readable-pages'].flatMap((name) => ['--only', name]);
    const api = await startLiveApi('key in answers');
    const { folder } = await runLive(api, ['--yes', ...only, '--evidence', '1'], { environment });
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('.'));
    const texts = names.map((name) => readFileSync(path.join(folder, name), 'utf8'));
    const masked = names.filter((_, index) => texts[index]?.includes('[redacted]'));
    expect(masked).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^live-evidence-.*\.tsv$/),
        path.join('live-loops', 'grounded', '01-response.sse'),
        path.join('live-loops', 'grounded', '02-request.json'),
      ]),
    );
    expect(texts.join()).not.toContain(LIVE_KEY);
  });

  test('are not asked about after a final failure, and not more often than there are questions', async () => {
    const api = await startFakeApi({ always: failure(401, 'No.', null, 'invalid_api_key') });
    const { code, checks, printed } = await runLive(api, ['--yes', '--only', 'readable-pages', '--evidence', '9999']);
    expect({ code, requests: api.requests.length }).toEqual({ code: 1, requests: 1 });
    expect(checks.get('readable-pages')).toMatchObject({
      verdict: 'unknown',
      seen: expect.stringContaining('OPENAI_API_KEY'),
    });
    expect(printed).toContain('\nEstimate: 44 requests,');
  });
});

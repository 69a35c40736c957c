import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { err, ok } from 'neverthrow';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LongAnswers } from '../../src/application/answers/long-answers.ts';
import { rightsBy } from '../../src/domain/gateway/access.ts';
import { type ServeGatewayOptions, serveGateway } from '../http/serve-gateway.ts';
import { answers } from '../support/behaviours.ts';
import { launchBrowser, openPage, type PageOptions } from '../support/browser.ts';
import { FakeHandleSigner } from '../support/fake-handle-signer.ts';
import { FakeLlmSearch, fails, hangs, repliesLate, says, searchReply } from '../support/fake-llm-search.ts';
import { FakeLongApi } from '../support/fake-long-api.ts';
import { FakeServerLogin } from '../support/fake-server-login.ts';
import { FakeTokenVerifier } from '../support/fake-token-verifier.ts';
import { findBrowser } from '../support/find-browser.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { send } from '../support/http-client.ts';
import { type HttpProcess, launchHttpProcess, startHttpProcess } from '../support/http-process.ts';
import { startPageServer } from '../support/page-server.ts';
import { STDIO_SERVER } from '../support/process-tree.ts';
import { echoes, ScriptedToolServer } from '../support/scripted-tool-server.ts';
import { newFile } from './files.ts';
import { apiEnv, fakeApi, ROOT } from './serve.ts';

const HOSTILE =
  '<img src="https://evil.example/x" onerror="globalThis.isTaken = true"><script>globalThis.isTaken = true</script>';
const TOOLS = {
  name: 'tools',
  command: process.execPath,
  args: [STDIO_SERVER, '--tools=page'],
  envs: { HOSTILE },
};
const MISSING = { name: 'missing', command: '/no/such/program', restart: 'never' };
const PAGE = `${ROOT}build/page`;

const executable = findBrowser();
const NO_BROWSER = 'there is no Chromium or Chrome on the PATH: install chromium, or name a browser in CHROME';
if (executable === undefined) process.stderr.write(`The tests of the page are skipped: ${NO_BROWSER}.\n`);

/** The built program with this configuration. JSON is YAML. */
function serve(config: object, env = {}) {
  const file = newFile('config.yaml', JSON.stringify(config));
  return startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', file], env });
}

/** With the tools of the tests and recorded answers, for several tests. */
function launchTools() {
  const folder = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-page-'));
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify({ servers: [TOOLS, MISSING] }));
  const { started, end } = launchHttpProcess({ args: ['--http=127.0.0.1:0', '--offline', '--config', file] });
  return { started, end: () => end().finally(() => rmSync(folder, { recursive: true })) };
}

const FILES = ['index.html', 'login.js', 'page.css', 'page.js'];

test('the pages consist of four files, which have at most 105 kB when they are sent', () => {
  expect(readdirSync(PAGE).toSorted()).toEqual(FILES);
  const sizes = FILES.map((name) => statSync(`${PAGE}/${name}`).size);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(105_000);
});

test('no part of the page is served with http.page: false', async () => {
  const { url, stderr } = await serve({ http: { page: false } });
  expect(stderr()).not.toContain('page:');
  for (const path of ['/', '/page.css', '/page.js']) {
    expect((await send(new URL(path, url).href, { method: 'GET' })).status).toBe(404);
  }
});

test('the page is served without a token, allows only its own files, and names the path of the endpoint', async () => {
  const { url, stderr } = await serve({ http: { path: '/a/b', token_env: 'T' } }, { T: 'token-of-the-page' });
  await expect.poll(() => stderr()).toContain(`\npage: ${new URL('/', url).href}\n`);
  const { status, headers, text } = await send(new URL('/', url).href, { method: 'GET' });
  expect(status).toBe(200);
  expect(await send(new URL('/', url).href, { method: 'HEAD' })).toMatchObject({ status, text: '' });
  expect(text).toContain('<meta name="mcp-path" content="/a/b">');
  // Who may ask is not known yet.
  expect(text).toMatch(/<section id="ask"[^>]* hidden>/);
  expect(text).not.toMatch(/<style|style=|<script>|\son\w+=|https?:\/\//);
  expect(headers['content-security-policy']).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; media-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  );
});

describe('in a browser', () => {
  let browser: Browser;
  let tools: HttpProcess;
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    if (executable === undefined) return;
    const { started, end } = launchTools();
    ends.push(end);
    browser = await launchBrowser(executable);
    ends.push(() => browser.close());
    tools = await started;
  });
  afterAll(() => Promise.all(ends.map((end) => end())));
  beforeEach(({ skip }) => skip(executable === undefined, NO_BROWSER));

  /** The page of a process. */
  const open = ({ url }: { readonly url: string }, options?: PageOptions) =>
    openPage(browser, new URL('/', url).href, options);

  /** The page of an endpoint in this process, on fakes. */
  async function openOn(
    servers: Readonly<Record<string, ScriptedToolServer>>,
    { speed = 1, ...options }: ServeGatewayOptions & PageOptions = {},
  ) {
    const served = await serveGateway(servers, { ...options, http: { pageFolder: PAGE, ...options.http } });
    return { served, ...(await open(served, { speed })) };
  }

  const cards = "[...document.querySelectorAll('.server')].map((card) => card.ariaLabel)";
  const areShown = (...selectors: readonly string[]) =>
    `${JSON.stringify(selectors)}.map((one) => document.querySelector(one).checkVisibility())`;

  test('shows servers with their states, the one that needs attention first, and filters tools', async () => {
    const { enter, problems, text, value, untilText } = await open(tools);
    await untilText('#summary', '1 of 2 servers available');
    await expect.poll(() => value(cards)).toEqual(['missing', 'tools', 'openai-responses-mcp']);
    expect(await text('[aria-label="tools"]')).toMatch(/available.*since .*0 restarts.*stdio.*pid \d+.*\d+ tools/s);
    expect(await text('[aria-label="missing"]')).toMatch(/failed.*Last error: cannot start \/no\/such\/program/s);
    expect(await text('[aria-label="openai-responses-mcp"]')).toContain('answer_detailed');

    await enter('#filter', 'crash');
    expect(await value(cards)).toEqual(['tools']);
    expect(await text('.server summary')).toMatch(/^1 of \d+ tools$/);
    await enter('#filter', 'xyz');
    expect(await value(cards)).toEqual([]);
    expect(await value(areShown('#no-match'))).toEqual([true]);
    expect(problems).toEqual([]);
  });

  test('makes a form of every kind of input, fills in defaults and skeletons, and sends what was entered', async () => {
    const { page, enter, problems, value, text, untilText, choose, call } = await open(tools);
    await choose('form');
    const control = async (name: string): Promise<string> =>
      `#${await value(`[...document.querySelectorAll('#tool label')].find((label) => label.textContent.startsWith(${JSON.stringify(name)})).htmlFor`)}`;
    // Without the required text, the browser does not submit the form.
    await page.click('#tool [type="submit"]');
    expect(await value(`document.querySelector('${await control('title')}').matches(':focus:invalid')`)).toBe(true);

    await enter(await control('title'), "It's a title");
    await enter(await control('count'), '3');
    await page.select(await control('color'), '1');
    await page.select(await control('isMaybe'), '1');
    const [tags, point] = [await control('tags'), await control('point')];
    await enter(tags, '["a"');
    await page.click('#tool [type="submit"]');
    expect(await value(`document.querySelector('${tags}').validationMessage`)).toMatch(/^This is not valid JSON: /);
    await enter(tags, ']');
    await page.click(`.field:has(${point}) button`);
    await call('Success');
    const input = {
      title: "It's a title",
      message: 'one\ntwo',
      count: 3,
      color: 'green',
      kind: 'fixed',
      isOn: true,
      isMaybe: false,
      tags: ['a'],
      point: { x: 0 },
    };
    expect(JSON.parse(await text('#tool .result pre'))).toEqual(input);

    await page.locator('#tool form button ::-p-text(Copy as curl)').click();
    await untilText('#tool form pre', 'curl');
    const command = promisify(execFile)('sh', ['-c', await text('#tool form pre')]);
    expect(JSON.parse((await command).stdout)).toEqual(input);

    // A schema without a list of properties has a skeleton.
    await choose('union');
    const json = '#tool [aria-label="Input as JSON"]';
    expect(await value(`JSON.parse(document.querySelector('${json}').value)`)).toEqual({
      orders: [{ id: 1, note: '' }],
    });
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result pre', '"id": 1');
    expect(problems).toEqual([]);
  });

  test('shows images, links to web pages only, and everything else as text', async () => {
    const { page, value, text, until, choose, call } = await open(tools);
    await choose('media');
    await call('Two links');
    await until("document.querySelector('#tool .result img').naturalWidth === 2");
    const all = (selector: string, member: string) =>
      value(`[...document.querySelectorAll('#tool .result ${selector}')].map((element) => element.${member})`);
    expect(await all('img', 'src.slice(0, 22)')).toEqual(['data:image/png;base64,']);
    expect(await all('a', 'href')).toEqual(['https://example.com/doc', 'https://example.com/user']);
    expect(await all('a', 'rel')).toEqual(['noopener noreferrer', 'noopener noreferrer']);
    expect(await all('a', 'target')).toEqual(['_blank', '_blank']);
    expect(await all('audio', 'controls')).toEqual([true]);
    const shown = await text('#tool .result');
    expect(shown).not.toMatch(/secret|bank/);
    for (const part of [
      'postgres://db.example/data',
      'javascript:globalThis',
      'image/svg+xml',
      '"onerror=x',
      'The text of a resource',
    ]) {
      expect(shown.replaceAll('\\"', '"')).toContain(part);
    }

    await choose('long');
    await call('Show all 60000 characters');
    expect((await text('#tool .result pre')).length).toBe(50_000);
    await page.click('#tool .result button');
    expect((await text('#tool .result pre')).length).toBe(60_000);
  });

  test('shows an error with its code, message, details and request ID', async () => {
    const { text, choose, call } = await open(tools);
    await choose('fails');
    await call('No such city');
    expect(await text('#tool .result')).toMatch(/^Error.*HTTP 200request [\w-]{36}TOOL_EXECUTION_ERROR/);

    await choose('refuses');
    await call('Not today');
    expect(await text('#tool .result')).toMatch(/HTTP 500request [\w-]{36}TOOL_EXECUTION_ERROR.*Come back.*-32050/s);
  });

  test('shows names, descriptions, schemas and results of a hostile tool as text', async () => {
    const { problems, value, text, choose, call } = await open(tools);
    await choose(HOSTILE);
    expect(await text('#tool h2')).toBe(HOSTILE);
    expect(await value("document.querySelector('#tool input').value")).toBe(HOSTILE);
    await call('Success');
    expect(await text('#tool .result')).toContain(HOSTILE);
    await choose('broken_form');
    await call('called');
    expect(await value("document.querySelectorAll('main img, main script, main svg, header script').length")).toBe(0);
    expect(await value('globalThis.isTaken')).toBe(undefined);
    expect(problems).toEqual([]);
  });

  test('shows the crash of a server at once, and restarts it on request', async () => {
    const files = new ScriptedToolServer({
      crashes: async () => {
        files.crash();
        return err({ kind: 'crashed', reason: 'killed by SIGKILL' });
      },
    });
    const definitions = { files: { restart: 'never' as const } };
    // Nothing is refreshed at intervals.
    const { page, text, untilText, choose, call } = await openOn({ files }, { definitions, speed: 0.001 });
    await choose('crashes');
    await call('SERVER_CRASHED');
    await untilText('.server .state', 'failed');
    expect(await text('.server p.bad')).toBe('Last error: killed by SIGKILL');
    await page.click('[aria-label="Restart files"]');
    await expect
      .poll(async () => {
        await page.click('#refresh');
        return text('.server .state');
      })
      .toBe('available');
    expect(await text('.server .facts')).toContain('1 restart');
    expect(await text('#announcer')).toBe('Restarting files');
    // The error is over.
    expect(await text('.server .hint')).toMatch(/^Last error, before \d.*: killed by SIGKILL$/);
    expect(await text('.server .bad')).toBe('');
    await page.click('[aria-label="Restart files"]');
    await untilText('.server [role="alert"]', 'The server files was restarted a moment ago. Try again in');
  });

  test('shows since when it knows the tools of an idle server, which it starts on request', async () => {
    const files = new ScriptedToolServer({ read: echoes });
    const definitions = { files: { idleMs: 1000 } };
    const { served, page, text, untilText } = await openOn({ files }, { definitions, speed: 100 });
    await served.clock.advance(1000);
    await untilText('.server .state', 'idle');
    expect(await text('.server .hint')).toMatch(
      /^This server starts with its next call\. Its tools are those that it listed at .*\d.* Choose Start to list them again\.$/,
    );
    await page.click('[aria-label="Start files"]');
    await untilText('#announcer', 'Starting files');
    await untilText('.server .facts', '1 restart');
  });

  test('names tools that are not approved', async () => {
    const files = new ScriptedToolServer({ read: echoes });
    const { untilText } = await openOn({ files }, { approved: { servers: {} } });
    await untilText('.server .warn', '1 tool is not approved: read (see: openai-responses-mcp tools --diff)');
  });

  test('shows the command that signs in to a server, first, until that has been done', async () => {
    const [notes, files] = [new ScriptedToolServer({ read: echoes }), new ScriptedToolServer({ read: echoes })];
    const login = new FakeServerLogin('notes');
    notes.login = login;
    const { page, problems, value, text, untilText } = await openOn({ files, notes });
    await untilText('#summary', '1 of 2 servers available');
    expect(await value("document.querySelector('.server').ariaLabel")).toBe('notes');
    expect(await text('.server .state')).toBe('login required');
    expect(await text('.server p code')).toBe('openai-responses-mcp login notes');
    expect(await text('.server .bad')).toBe('');
    expect(await value("document.querySelectorAll('.server')[0].querySelectorAll('button').length")).toBe(1);
    login.signIn();
    await page.click('#refresh');
    await untilText('#summary', '2 of 2 servers available');
    expect(await text('.server p code')).toBe('');
    expect(problems).toEqual([]);
  });

  test('refreshes by itself, and downloads the list of tools only if it has changed', async () => {
    const { requests, problems } = await open(tools, { speed: 100 });
    await expect.poll(() => requests.filter((line) => line === 'GET /mcp/tools 304').length).toBeGreaterThan(2);
    expect(requests.filter((line) => line === 'GET /mcp/tools 200').length).toBeLessThanOrEqual(2);
    expect(requests.filter((line) => line === 'GET /mcp/servers 200').length).toBeGreaterThan(2);
    expect(problems).toEqual([]);
  });

  test('says what an answer costs', async () => {
    const api = await fakeApi();
    api.replyAlways(answers('It scatters.'));
    const prices = { 'gpt-5.2': { input: 1000, output: 1000 } };
    const { page, enter, text, untilText } = await open(await serve({ prices }, apiEnv(api)));
    await enter('#question', 'Why is the sky blue?');
    await page.click('#ask-submit');
    await untilText('#ask-result', 'It scatters.');
    expect(await text('#ask-result .hint')).toMatch(/, by gpt-5\.2, for about \$\d+\.\d{4}$/);
  });

  test('asks a question with live progress, and links to the sources', async () => {
    const held = repliesLate();
    const llmSearch = new FakeLlmSearch((observer, signal) => {
      observer.onProgress({ kind: 'searching', query: 'why blue' });
      return held.configured(observer, signal);
    });
    const { served, page, enter, problems, value, text, untilText } = await openOn({}, { llmSearch });
    await enter('#question', 'Why is the sky blue?');
    await page.select('#ask-tool', 'answer_quick');
    await page.click('#ask-submit');
    // Progress is sent at most once per second.
    await untilText('#ask-progress', 'Asking the model');
    expect(await text('#announcer')).toMatch(/^Asking the model/);
    await served.clock.advance(1000);
    await untilText('#ask-progress', 'Searched: why blue');
    await untilText('#ask-time', ' s');
    expect(await text('#ask-result')).toBe('');

    const body = `It **scatters** ${HOSTILE}. ([example.com](https://example.com/sky)) [bank.example](https://other.example/)`;
    const cited = [{ url: 'https://example.com/sky', title: 'The sky' }];
    const consulted = ['javascript:globalThis.isTaken=true', 'oai-weather'];
    held.settle(ok(searchReply({ text: body, searched: true, sources: { cited, consulted, opened: [] } })));
    await untilText('#ask-result', 'Sources');
    expect(await text('#ask-result .hint')).toMatch(/^Answered in \d.* s, with web search, by gpt-5/);
    expect(await text('#ask-result .answer')).toBe(
      `It scatters ${HOSTILE}. (example.com) bank.example (https://other.example/)`,
    );
    expect(await text('#ask-result .sources')).toMatch(/^The sky \(example.com, [\d-]+\)oai-weather/);
    expect(await value("[...document.querySelectorAll('#ask-result a')].map((link) => link.href)")).toEqual([
      'https://example.com/sky',
      'https://other.example/',
      'https://example.com/sky',
    ]);
    const isSafe = "(link) => link.rel === 'noopener noreferrer' && link.target === '_blank'";
    expect(await value(`[...document.querySelectorAll('#ask-result a')].every(${isSafe})`)).toBe(true);
    expect(await value('globalThis.isTaken')).toBe(undefined);
    expect(problems).toEqual([]);
  });

  test.each([
    ['some', { answers: ['answer_quick', 'answer_detailed'] }, true, ['#ask-form']],
    ['none', { answers: false }, true, []],
    ['all, without a key', { answers: true }, false, ['#no-key']],
  ])('shows what a caller can ask who may use these answer tools: %s', async (_, entry, canAnswer, shown) => {
    const http = { rightsOf: rightsBy({ local: entry }), canAnswer };
    const { value, until } = await openOn({}, { http });
    await until("document.querySelector('#summary').textContent !== ''");
    const parts = ['#ask-form', '#no-key', '#check'];
    await expect.poll(() => value(areShown(...parts))).toEqual(parts.map((part) => shown.includes(part)));
    await expect.poll(() => value(cards)).toEqual(entry.answers === false ? [] : ['openai-responses-mcp']);
    if (shown.includes('#ask-form'))
      expect(await value("document.querySelector('#ask-tool').value")).toBe('answer_quick');
  });

  test('asks again for an answer that is not finished, with its handle', async () => {
    const api = new FakeLongApi();
    const { clock } = api;
    const keepMs = 3_600_000;
    const config = { request: { timeoutMs: 3000 }, longAnswers: { tools: ['answer_detailed' as const], keepMs } };
    const long = new LongAnswers({ llmSearch: api, responses: api, signer: new FakeHandleSigner(), clock, keepMs });
    const { page, enter, value, text, problems, untilText } = await openOn({}, { clock, long, config });
    const untilUnfinished = async (requests: number) => {
      await expect.poll(() => api.posts.length + api.looks.length).toBe(requests);
      await clock.advance(3000);
      await untilText('#ask-result', 'Not finished after');
    };
    await enter('#question', 'Why is the sky blue?');
    await page.select('#ask-tool', 'answer_detailed');
    await page.click('#ask-submit');
    await untilUnfinished(1);
    expect(await text('#ask-result .answer')).toContain('la1.d.');
    await page.click('#ask-result button');
    await untilUnfinished(2);
    expect(await value('document.activeElement.id')).toBe('ask-submit');
    api.finish('resp_1', { text: 'It scatters.' });
    await page.click('#ask-result button');
    await untilText('#ask-result', 'It scatters.');
    expect(await value("document.querySelector('#ask-result button')")).toBe(null);
    expect(await value("document.querySelector('#question').value")).toBe('Why is the sky blue?');
    expect(api.posts).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  test('cancels a question, and shows an error in words', async () => {
    const llmSearch = new FakeLlmSearch(hangs, fails({ kind: 'content_filtered' }));
    const { page, enter, untilText, ask } = await openOn({}, { llmSearch });
    await enter('#question', 'Q');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await untilText('#ask-progress', 'Asking the model');
    await page.click('#ask-cancel');
    await untilText('#ask-result', 'Cancelled after');
    await expect.poll(() => llmSearch.signals[0]?.aborted).toBe(true);
    await ask('No answer after');
    await untilText('#ask-result', "The API's content filter stopped the answer.");
  });

  test('checks the sources of a text, with links that open the passages', async () => {
    const pages = await startPageServer();
    onTestFinished(() => pages.close());
    pages.serve('/tower', `<p>The tower has 42 steps.</p><p>${'It is a page about the tower. '.repeat(10)}</p>`);
    const proxy = await startForwardProxy(pages.port);
    onTestFinished(() => proxy.close());
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
    const server = await serve({ citations: { rest: true }, servers: [TOOLS] }, env);
    const { page, enter, problems, text, value, untilText } = await open(server);
    const tower = 'http://page.test/tower';
    await enter('#check-text', `The tower has 43 steps (${tower}). ${HOSTILE} More: http://page.test/gone`);
    await page.click('#check-submit');
    await untilText('#check-result', '1 not found');
    expect(await text('#check-result ul')).toBe(
      `The tower has 43 steps.1:1 ${tower}: "43" not on the pageNearest passage: The tower has 42 steps.1:169 http://page.test/gone: not found (HTTP 404)`,
    );
    expect(await text('#check-result > p')).toBe(
      '2 links: 1 read, 1 not found; 1 claim with figures: 1 compared; 1 has figures that are not on the page; 1 URL skipped: 1 of images',
    );
    expect(await value("[...document.querySelectorAll('#check-result a')].map((link) => link.href)")).toEqual([
      `${tower}#:~:text=The%20tower%20has%2042%20steps.`,
      'http://page.test/gone',
    ]);

    // Each of these pages takes the time of a page, so that the check is not over before it is cancelled.
    const silent = Array.from({ length: 90 }, (_, at) => `/silent/${at}`);
    const closed = new Promise((resolve) => {
      for (const path of silent) pages.serve(path, ({ socket }) => void socket.on('close', resolve));
    });
    await page.locator('#check-text').fill(silent.map((path) => `http://page.test${path}`).join('\n'));
    await page.click('#check-submit');
    await pages.waitForRequests(3);
    await page.click('#check-cancel');
    await untilText('#check-result', 'Cancelled after');
    await closed;
    expect(problems).toEqual([]);
  });

  test('asks for the token, and again only on request; keeps it in memory only, and lets it be changed', async () => {
    const tokens = ['alice', 'bob'].map((caller) => ({ caller, token: `token-of-${caller}` }));
    const files = new ScriptedToolServer({ read: echoes });
    const llmSearch = new FakeLlmSearch(says('Yes.'), says('Yes.'));
    const opened = await openOn({ files }, { http: { tokens }, llmSearch, speed: 100 });
    const { served, page, requests, enter, value, until, untilText, ask } = opened;
    const enterToken = async (token: string) => {
      await enter('#token', token);
      await page.keyboard.press('Enter');
    };
    const isAsked = "document.querySelector('dialog').open";
    await until(isAsked);
    await page.keyboard.press('Escape');
    await untilText('#trouble', 'This server requires a token.');
    const before = requests.length;
    await expect.poll(() => requests.length).toBeGreaterThan(before + 4);
    expect(await value(isAsked)).toBe(false);
    await page.click('#refresh');
    await until(isAsked);

    await enterToken('wrong');
    await untilText('#token-problem', 'The server does not accept this token.');
    await enterToken('token-of-alice');
    await until(`!${isAsked}`);
    await untilText('#summary', '1 of 1 server available');
    await enter('#question', 'Is it?');
    await ask('Yes.');
    const stored = '[localStorage.length, sessionStorage.length, document.cookie, location.search]';
    expect(await value(stored)).toEqual([0, 0, '', '']);
    expect(await value("document.querySelector('#token').value")).toBe('');

    await page.click('#change-token');
    await enterToken('token-of-bob');
    await until(`!${isAsked}`);
    await page.click('#ask-submit');
    await expect
      .poll(() => served.accessLines)
      .toContainEqual(expect.objectContaining({ caller: 'bob', tool: 'answer' }));
  });

  test('says where to sign in if people do, and asks for a token only on request', async () => {
    const issuer = 'https://auth.example.com/realms/mcp';
    const verifier = new FakeTokenVerifier({ good: { caller: 'oauth:alice' } });
    const http = { oauth: { issuer, resource: 'https://mcp.example.com/mcp', scopes: [], verifier } };
    const files = new ScriptedToolServer({ read: echoes });
    const { page, enter, value, text, until, untilText } = await openOn({ files }, { http });
    await until("document.querySelector('#sign-in').checkVisibility()");
    expect(await text('#sign-in p')).toContain(`sign-in at ${issuer}`);
    expect(await text('#sign-in p')).toContain('Add https://mcp.example.com/mcp to an MCP client');
    expect(await value(areShown('dialog', '#columns', '#trouble'))).toEqual([false, false, false]);
    await page.click('#change-token');
    await enter('#token', 'good');
    await page.keyboard.press('Enter');
    await untilText('#summary', '1 of 1 server available');
    expect(await value(areShown('#sign-in'))).toEqual([false]);
  });

  test('is used with the keyboard alone', async () => {
    const { page, value, text, until, untilText } = await open(tools, { speed: 20 });
    await until("document.querySelectorAll('.tools button').length > 5");
    const isFocused = (selector: string) => value(`document.activeElement.matches(${JSON.stringify(selector)})`);
    const tabTo = async (selector: string) => {
      for (let count = 0; count < 30 && !(await isFocused(selector)); count += 1) await page.keyboard.press('Tab');
      expect(await isFocused(selector), `${selector} has the focus`).toBe(true);
      // The focus is visible.
      expect(await value('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
    };
    await tabTo('.skip');
    await page.keyboard.press('Enter');
    await tabTo('[data-key="tools/form"]');
    await page.keyboard.press('Enter');
    expect(await isFocused('#tool h2')).toBe(true);
    await tabTo('#tool input[type="text"]');
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await untilText('#tool .result', '"title": "By keyboard"');

    // A refresh that changes the list keeps the focus.
    await page.focus('[aria-label="Restart tools"]');
    await page.keyboard.press('Enter');
    await untilText('[aria-label="tools"] .facts', '1 restart');
    expect(await isFocused('[aria-label="Restart tools"]')).toBe(true);

    await page.focus('#question');
    await page.keyboard.type('What does HTTP 404 mean?');
    await tabTo('#ask-submit');
    await page.keyboard.press('Enter');
    await untilText('#ask-result', 'Not Found');
    // A recorded answer has no price.
    expect(await text('#ask-result .hint')).toMatch(/, by gpt-[\d.]+$/);
    expect(await isFocused('#ask-submit')).toBe(true);
    // Everything that can be used has a name.
    const unnamed = `[...document.querySelectorAll('input, select, textarea, button')].filter((control) =>
      !control.labels?.length && !control.ariaLabel && control.textContent.trim() === '').length`;
    expect(await value(unnamed)).toBe(0);
    await untilText('[aria-current="true"] code', 'form');
  });

  test('opens the first hit of the filter with Enter, and sends a text area with Ctrl+Enter', async () => {
    const note = { type: 'object', properties: { note: { type: 'string', maxLength: 1000 } } };
    const files = new ScriptedToolServer({ read: echoes, write: { script: echoes, inputSchema: note } });
    const { page, enter, value, untilText, until } = await openOn({ files });
    await until("document.querySelectorAll('.tools button').length > 1");
    await enter('#filter', 'write');
    await page.keyboard.press('Enter');
    expect(await value("document.activeElement.matches('#tool h2')")).toBe(true);
    const pressInArea = async () => {
      await page.keyboard.down('Control');
      await page.keyboard.press('Enter');
      await page.keyboard.up('Control');
    };
    await enter('#tool textarea', 'By keyboard');
    await pressInArea();
    await untilText('#tool .result', '"note": "By keyboard"');
  });

  test('says how a client connects, what is wrong with the configuration, and without servers which tools there are', async () => {
    const warnings = [`grounding: ${HOSTILE}`, 'mcpServers.a: it is left out'];
    const { page, text, value, untilText } = await openOn({}, { http: { warnings: () => warnings } });
    await untilText('#summary', '3 tools');
    expect(await text('#summary')).toBe('3 tools');
    const shown = "[...document.querySelectorAll('#warnings li')].map((item) => item.textContent)";
    expect(await value(shown)).toEqual(warnings);
    const { origin } = new URL(page.url());
    expect(await text('#mcp-url')).toBe(`${origin}/mcp`);
    expect(await text('#mcp-command')).toBe(`claude mcp add --scope user --transport http gateway ${origin}/mcp`);
  });

  test('does not scroll horizontally on a phone', async () => {
    const { enter, value, untilText, choose } = await open(tools, { width: 360 });
    const expectNoScrolling = async () => expect(await value('document.documentElement.scrollWidth')).toBe(360);
    for (const tool of ['form', 'media', 'long', HOSTILE]) {
      await choose(tool);
      await expectNoScrolling();
      if (tool === 'form') await enter('#tool input', 'T');
      await value("document.querySelector('#tool [type=submit]').click()");
      await untilText('#tool .result', 'Success');
      await expectNoScrolling();
    }
    await enter('#question', 'Compare HTTP/2 and HTTP/3');
    await value("document.querySelector('#ask-submit').click()");
    await untilText('#ask-result', 'Sources');
    await expectNoScrolling();
  });
});

import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { findBrowser } from '../../scripts/lib/find-browser.js';
import { serveGateway } from '../http/serve-gateway.ts';
import { answers, holds, neverAnswers, works } from '../support/behaviours.ts';
import { launchBrowser, openPage, type PageOptions } from '../support/browser.ts';
import { FakeServerLogin } from '../support/fake-server-login.ts';
import { send } from '../support/http-client.ts';
import { type HttpProcess, launchHttpProcess, startHttpProcess } from '../support/http-process.ts';
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
const EVERYTHING = {
  name: 'everything',
  command: process.execPath,
  args: [`${ROOT}node_modules/@modelcontextprotocol/server-everything/dist/index.js`],
};
const MISSING = { name: 'missing', command: '/no/such/program', restart: 'never' };

const executable = findBrowser();
const NO_BROWSER = 'there is no Chromium or Chrome on the PATH: install chromium, or name a browser in CHROME';
if (executable === undefined) process.stderr.write(`The tests of the page are skipped: ${NO_BROWSER}.\n`);

/** The built program with this configuration. JSON is YAML. */
function serve(config: object, { args = [] as string[], env = {} } = {}) {
  const file = newFile('config.yaml', JSON.stringify(config));
  return startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', file, ...args], env });
}

/** With the tools of the tests and recorded answers, for several tests. */
function launchTools() {
  const folder = mkdtempSync(path.join(tmpdir(), 'openai-responses-mcp-page-'));
  const file = path.join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify({ servers: [TOOLS, MISSING] }));
  const { started, end } = launchHttpProcess({ args: ['--http=127.0.0.1:0', '--offline', '--config', file] });
  return { started, end: () => end().finally(() => rmSync(folder, { recursive: true })) };
}

const FILES = ['index.html', 'page.css', 'page.js'];

test('the page consists of three files, which have at most 30 kB when they are sent', () => {
  expect(readdirSync(`${ROOT}build/page`).toSorted()).toEqual(FILES);
  const sizes = FILES.map((name) => statSync(`${ROOT}build/page/${name}`).size);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(30_000);
});

test('no part of the page is served with http.page: false', async () => {
  const { url, stderr } = await serve({ http: { page: false } });
  expect(stderr()).not.toContain('page:');
  for (const path of ['/', '/page.css', '/page.js']) {
    expect((await send(new URL(path, url).href, { method: 'GET' })).status).toBe(404);
  }
});

test('the start names the address of the page', async () => {
  const { url, stderr } = await serve({});
  await vi.waitFor(() => expect(stderr()).toContain(`\npage: ${new URL('/', url).href}\n`));
});

test('the page is served without a token, allows only its own files, and names the path of the endpoint', async () => {
  const { url } = await serve({ http: { path: '/a/b', token_env: 'T' } }, { env: { T: 'token-of-the-page' } });
  const { status, headers, text } = await send(new URL('/', url).href, { method: 'GET' });
  expect(status).toBe(200);
  expect(text).toContain('<meta name="mcp-path" content="/a/b">');
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

  test('shows servers with their states, and the tools of server-everything; calls one and shows its image', async () => {
    const server = await serve({ servers: [EVERYTHING, MISSING] });
    const { page, problems, text, value, until, untilText, choose } = await open(server);
    await untilText('#summary', '1 of 2 servers available, 13 tools');
    // The server that needs attention is first.
    const names = "[...document.querySelectorAll('.server')].map((card) => card.ariaLabel)";
    expect(await value(names)).toEqual(['missing', 'everything', 'openai-responses-mcp']);
    expect(await value("document.querySelector('#no-key').hidden")).toBe(false);
    expect(await text('#no-key')).toMatch(/^There is no usable API key/);
    expect(await text('[aria-label="everything"]')).toMatch(/available.*since .*0 restarts.*stdio.*pid \d+.*13 tools/s);
    expect(await text('[aria-label="missing"]')).toMatch(/failed.*Last error: cannot start \/no\/such\/program/s);
    expect(await text('[aria-label="openai-responses-mcp"]')).toContain('answer_detailed');

    await choose('get-annotated-message');
    expect(await text('#tool')).toContain('Demonstrates how annotations can be used');
    await page.select('#tool select', '0');
    await page.click('#tool [type="checkbox"]');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'Error: Operation failed');
    expect(await text('#tool .facts strong')).toBe('Success');
    expect(await text('#tool .result .facts')).toMatch(/^Success\d+\.\d\d sHTTP 200request [\w-]{36}$/);
    await until("document.querySelector('#tool .result img').naturalWidth > 0");
    expect(await value("document.querySelector('#tool .result img').alt")).toContain('image/png');
    expect(problems).toEqual([]);
  });

  test('makes a form of every kind of input, fills in defaults, and sends what was entered', async () => {
    const { page, enter, problems, value, text, untilText, choose } = await open(tools);
    await choose('form');
    const control = async (name: string): Promise<string> =>
      `#${await value(`[...document.querySelectorAll('#tool label')].find((label) => label.textContent.startsWith(${JSON.stringify(name)})).htmlFor`)}`;
    expect(await value(`document.querySelector('${await control('message')}').value`)).toBe('one\ntwo');
    // Without the required text, the browser does not submit the form.
    await page.click('#tool [type="submit"]');
    expect(await value(`document.querySelector('${await control('title')}').matches(':focus:invalid')`)).toBe(true);

    await enter(await control('title'), 'A title');
    await enter(await control('count'), '3');
    await enter(await control('ratio'), '0.5');
    await page.select(await control('color'), '1');
    await page.select(await control('size'), '1');
    await page.select(await control('isMaybe'), '1');
    await enter(await control('tags'), '["a"]');
    await enter(await control('point'), '{"x": 1}');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'Success');
    expect(JSON.parse(await text('#tool .result pre'))).toEqual({
      title: 'A title',
      message: 'one\ntwo',
      count: 3,
      ratio: 0.5,
      color: 'green',
      size: 2,
      kind: 'fixed',
      isOn: true,
      isMaybe: false,
      tags: ['a'],
      point: { x: 1 },
    });
    expect(problems).toEqual([]);
  });

  test('edits the same input as JSON and as a form, and keeps members without a field', async () => {
    const { page, enter, value, text, untilText, choose } = await open(tools);
    await choose('form');
    const [form, json, toggle] = ['#tool form', '#tool textarea[aria-label]', '#tool form .row button:last-of-type'];
    await enter(`${form} input[type="text"]`, 'T');
    await page.click(toggle);
    expect(JSON.parse(String(await value(`document.querySelector('${json}').value`)))).toEqual({
      title: 'T',
      message: 'one\ntwo',
      kind: 'fixed',
      isOn: true,
    });

    const enterJson = async (text: string) => {
      await value(`document.querySelector('${json}').value = ''`);
      await enter(json, text);
    };
    for (const invalid of ['{"title": ', '[]']) {
      await enterJson(invalid);
      await page.click(toggle);
      expect(await value(`document.querySelector('${json}').matches(':invalid')`)).toBe(true);
      expect(await text(toggle)).toBe('Edit as form');
    }
    await enterJson('{"title": "T", "kind": "fixed", "isOn": "yes"}');
    await page.click(toggle);
    expect(await text('#tool form [role="status"]')).toBe('The form cannot show the value of isOn.');

    await enterJson('{"title": "U", "kind": "fixed", "isOn": false, "other": 1}');
    await page.click(toggle);
    expect(await text('#tool form [role="status"]')).toBe('Also sent: other');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'Success');
    expect(JSON.parse(await text('#tool .result pre'))).toEqual({ title: 'U', kind: 'fixed', isOn: false, other: 1 });
  });

  test('shows images, links to web pages only, and everything else as text', async () => {
    const { page, value, text, until, untilText, choose } = await open(tools);
    await choose('media');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'Two links');
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
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'Show all 60000 characters');
    expect((await text('#tool .result pre')).length).toBe(50_000);
    await page.click('#tool .result button');
    expect((await text('#tool .result pre')).length).toBe(60_000);
  });

  test('shows an error with its code, message, details and request ID, and cancels a call', async () => {
    const { page, text, untilText, choose } = await open(tools);
    await choose('fails');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'No such city');
    expect(await text('#tool .result')).toMatch(/^Error.*HTTP 200request [\w-]{36}TOOL_EXECUTION_ERROR/);

    await choose('refuses');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'Not today');
    expect(await text('#tool .result')).toMatch(/HTTP 500request [\w-]{36}TOOL_EXECUTION_ERROR.*Come back.*-32050/s);

    await choose('waits');
    await page.click('#tool [type="submit"]');
    await page.locator('#tool form button ::-p-text(Cancel)').click();
    await untilText('#tool .result', 'Cancelled after');
    await vi.waitFor(() => expect(tools.stderr()).toContain('"status":499'), { interval: 10 });
  });

  test('shows a crash, and restarts the server on request', async () => {
    const server = await serve({ servers: [{ ...TOOLS, restart: 'never' }] });
    const { page, text, untilText, choose } = await open(server, { speed: 20 });
    await choose('crashes');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'SERVER_CRASHED');
    await page.click('#refresh');
    await untilText('.server .state', 'failed');
    expect(await text('.server .bad')).toMatch(/^failed$|Last error: .*code 7/);
    await page.click('[aria-label="Restart tools"]');
    await untilText('.server .state', 'available');
    expect(await text('.server .facts')).toContain('1 restart');
    expect(await text('#announcer')).toBe('Restarting tools');
    // The error is over.
    expect(await text('.server .hint')).toMatch(/^Last error, before \d.*: .*code 7/);
    expect(await text('.server .bad')).toBe('');
    await page.click('[aria-label="Restart tools"]');
    await untilText('.server [role="alert"]', 'The server tools was restarted by request a moment ago. Try again in');
  });

  test('shows the command that signs in to a server, first, until that has been done', async () => {
    const [notes, files] = [new ScriptedToolServer({ read: echoes }), new ScriptedToolServer({ read: echoes })];
    const login = new FakeServerLogin('notes');
    notes.login = login;
    const { at } = await serveGateway({ files, notes }, { rest: { pageFolder: `${ROOT}build/page` } });
    const { page, problems, value, text, untilText } = await open({ url: at('/') });
    await untilText('#summary', '1 of 2 servers available');
    expect(await value("document.querySelector('.server').ariaLabel")).toBe('notes');
    expect(await text('.server .state')).toBe('login_required');
    expect(await text('.server p code')).toBe('openai-responses-mcp login notes');
    expect(await value("document.querySelectorAll('.server')[0].querySelectorAll('button').length")).toBe(1);
    login.signIn();
    await page.click('#refresh');
    await untilText('#summary', '2 of 2 servers available');
    expect(await text('.server p code')).toBe('');
    expect(problems).toEqual([]);
  });

  test('shows the state of the server after a call that failed', async () => {
    const server = await serve({ servers: [{ ...TOOLS, restart: 'never' }] });
    // Nothing is refreshed at intervals.
    const { page, untilText, choose } = await open(server, { speed: 0.001 });
    await choose('crashes');
    await page.click('#refresh');
    await untilText('.server .state', 'available');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'SERVER_CRASHED');
    await untilText('.server .state', 'failed');
    await untilText('#summary', '0 of 1 servers available, 0 tools');
  });

  test('refreshes by itself, and downloads the list of tools only if it has changed', async () => {
    const { requests, problems } = await open(tools, { speed: 100 });
    await vi.waitFor(() => expect(requests.filter((line) => line === 'GET /mcp/tools 304').length).toBeGreaterThan(2));
    expect(requests.filter((line) => line === 'GET /mcp/tools 200').length).toBeLessThanOrEqual(2);
    expect(requests.filter((line) => line === 'GET /mcp/servers 200').length).toBeGreaterThan(2);
    expect(problems).toEqual([]);
  });

  test('asks a question with live progress, and links to the sources', async () => {
    const api = await fakeApi();
    const held = holds();
    api.reply(held);
    const server = await serve({ http: { path: '/questions' } }, { env: apiEnv(api) });
    const { page, enter, problems, value, text, untilText } = await open(server);
    await enter('#question', 'Why is the sky blue?');
    await page.select('#ask-tool', 'answer_quick');
    await page.click('#ask-submit');
    await untilText('#ask-progress', 'Asking the model');
    await untilText('#ask-time', ' s');
    expect(await text('#announcer')).toMatch(/^Asking the model/);
    expect(await text('#ask-result')).toBe('');

    const body = `It **scatters** ${HOSTILE}. ([example.com](https://example.com/sky)) [bank.example](https://other.example/)`;
    held.release(
      answers(body, {
        citations: [{ url: 'https://example.com/sky', title: 'The sky' }],
        sources: [{ name: 'javascript:globalThis.isTaken=true' }, { name: 'oai-weather' }],
        search: 'why blue',
      }),
    );
    await untilText('#ask-result', 'Sources');
    expect(await text('#ask-progress')).toContain('Searched: why blue');
    expect(await text('#ask-result .hint')).toMatch(/^Answered in \d.* s, with web search, by gpt-5/);
    expect(await text('#ask-result .answer')).toBe(
      `It scatters ${HOSTILE}. (example.com) bank.example (https://other.example/)`,
    );
    expect(await text('#ask-result .sources')).toMatch(/^The sky \(example.com, [\d-]+\)oai-weather/);
    expect(await value("[...document.querySelectorAll('#ask-result a')].map((link) => link.href)")).toEqual([
      'https://evil.example/x',
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
    [['answer_quick', 'answer_detailed'], { isAsked: true, cards: ['openai-responses-mcp'], tool: 'answer_quick' }],
    [false, { isAsked: false, cards: [], tool: 'answer' }],
  ])('offers only the answer tools that the caller may use: %j', async (allowed, expected) => {
    const { value, untilText } = await open(await serve({ access: { local: { answers: allowed } } }));
    await untilText('#summary', '0 of 0 servers available, 0 tools');
    const shown = () =>
      value(`({
        isAsked: !document.querySelector('#ask').hidden,
        cards: [...document.querySelectorAll('.server')].map((card) => card.ariaLabel),
        tool: document.querySelector('#ask-tool').value,
      })`);
    await expect.poll(shown).toEqual(expected);
  });

  test('shows the Markdown of an answer: headings, lists, code, bold words and links', async () => {
    const api = await fakeApi();
    const lines = [
      '## A **title**',
      'A paragraph',
      'of two lines with `code <b>` and a lone ` backtick.',
      '',
      '- one `x`',
      '  continued',
      '  - inner',
      '- two [a page](https://example.com/a)',
      '',
      '3. three',
      '4. four [a.example](https://a.example/b_(c))',
      'after https://a.example/b_(c).',
      '```js',
      '- **not** a list',
      '```',
      'The end: 5 * 6 - 7.',
    ];
    api.reply(answers(lines.join('\n'), {}));
    const { page, enter, value, problems, untilText } = await open(await serve({}, { env: apiEnv(api) }));
    await enter('#question', 'Q');
    await page.click('#ask-submit');
    await untilText('#ask-result', 'The end');
    const html = String(await value("document.querySelector('#ask-result .answer').innerHTML"));
    expect(html.replace(/ (?:class|target|rel)="[^"]*"/g, '')).toBe(
      [
        '<h3>A <strong>title</strong></h3>',
        '<p>A paragraph\nof two lines with <code>code &lt;b&gt;</code> and a lone ` backtick.</p>',
        '<ul><li>one <code>x</code>\n  continued<ul><li>inner</li></ul></li>',
        '<li>two a page (<a href="https://example.com/a">https://example.com/a</a>)</li></ul>',
        '<ol start="3"><li>three</li><li>four <a href="https://a.example/b_(c)">a.example</a>\nafter <a href="https://a.example/b_(c)">https://a.example/b_(c)</a>.</li></ol>',
        '<pre tabindex="0">- **not** a list</pre><p>The end: 5 * 6 - 7.</p>',
      ].join(''),
    );
    expect(problems).toEqual([]);
  });

  test('shows what was found about each source, and its quote as text in a closed part', async () => {
    const { page, enter, value, text, problems, untilText } = await open(tools);
    const urls = ['https://a.example/', 'https://a.example/b', 'https://c.example/d_(e)'];
    const lines = ['', ' [not found: HTTP 404]', ' [見つかりません: ホスト名がありません]'];
    const evidence = [{ quote: HOSTILE, missing: ['42 %', '1,226'] }, { unrelated: true }, undefined];
    const structuredContent = {
      answer: `Text.\n\nSources:\n${urls.map((url, index) => `- ${url} (2026-01-05)${lines[index]}`).join('\n')}`,
      used_search: true,
      citations: urls.map((url, index) => ({ url, published_at: '2026-01-05', evidence: evidence[index] })),
      model: 'm',
    };
    const reply = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { structuredContent } });
    const init = JSON.stringify({ headers: { 'Content-Type': 'application/json' } });
    await page.evaluate(`const real = fetch; window.fetch = async (url, init) =>
      init?.method === 'POST' ? new Response(${JSON.stringify(reply)}, ${init}) : real(url, init);`);
    await enter('#question', 'Q');
    await page.click('#ask-submit');
    await untilText('#ask-result', 'Sources');
    expect(await text('#ask-result .answer')).toBe('Text.');
    const source = (at: number, what: string) => text(`#ask-result .sources > li:nth-child(${at}) ${what}`);
    expect(await source(1, '.hint')).toBe('"42 %", "1,226" not on the page');
    expect(await source(1, 'details p')).toBe(HOSTILE);
    expect(await value("document.querySelector('#ask-result details').open")).toBe(false);
    const hints =
      "[...document.querySelectorAll('#ask-result .sources .hint')].slice(1).map((hint) => hint.textContent)";
    expect(await value(hints)).toEqual([
      'not found: HTTP 404',
      'no similar passage on the page',
      'not found: no such host',
    ]);
    expect(await value('globalThis.isTaken')).toBe(undefined);
    expect(problems).toEqual([]);
  });

  test('asks again for an answer that is not finished, with its handle', async () => {
    const api = await fakeApi();
    api.reply(works(answers('It scatters.')));
    const env = { ...apiEnv(api), LONG_ANSWERS: 'answer_detailed', OPENAI_API_TIMEOUT: '300' };
    const { page, enter, value, text, problems, untilText } = await open(await serve({}, { env }));
    await enter('#question', 'Why is the sky blue?');
    await page.select('#ask-tool', 'answer_detailed');
    await page.click('#ask-submit');
    await untilText('#ask-result', 'Not finished after');
    expect(await text('#ask-result .answer')).toContain('la1.d.');
    await page.click('#ask-result button');
    await untilText('#ask-result', 'Not finished after');
    expect(await value('document.activeElement.id')).toBe('ask-submit');
    api.endResponses();
    await page.click('#ask-result button');
    await untilText('#ask-result', 'It scatters.');
    expect(await value("document.querySelector('#ask-result button')")).toBe(null);
    expect(await value("document.querySelector('#question').value")).toBe('Why is the sky blue?');
    expect(api.requests.map(({ method }) => method)).toEqual(['POST']);
    expect(problems).toEqual([]);
  });

  test('cancels a question, and shows an error in words', async () => {
    const api = await fakeApi();
    api.reply(neverAnswers());
    const { page, enter, untilText } = await open(await serve({}, { env: apiEnv(api) }));
    await enter('#question', 'Q');
    await page.keyboard.down('Control');
    await page.keyboard.press('Enter');
    await page.keyboard.up('Control');
    await api.waitForRequests(1);
    await page.click('#ask-cancel');
    await untilText('#ask-result', 'Cancelled after');
    await api.waitForAbort(0);
    const error = { message: 'Incorrect API key', type: 'invalid_request_error', param: null, code: 'invalid_api_key' };
    api.reply({ kind: 'fails', status: 401, error });
    await page.click('#ask-submit');
    await untilText('#ask-result', 'No answer after');
    await untilText('#ask-result', 'OPENAI_API_KEY');
  });

  test('asks for the token, reports a wrong one, keeps the right one in memory only, and lets it be changed', async () => {
    const config = { http: { token_env: { alice: 'A', bob: 'B' } }, servers: [TOOLS] };
    const server = await serve(config, { args: ['--offline'], env: { A: 'token-of-alice', B: 'token-of-bob' } });
    const { page, enter, value, until, untilText } = await open(server);
    const enterToken = async (token: string) => {
      await enter('#token', token);
      await page.keyboard.press('Enter');
    };
    await until("document.querySelector('dialog').open");
    await enterToken('wrong');
    await untilText('#token-problem', 'The server does not accept this token.');
    await enterToken('token-of-alice');
    await until("!document.querySelector('dialog').open");
    await untilText('#summary', '1 of 1 servers available');
    await enter('#question', 'What does HTTP 404 mean?');
    await page.click('#ask-submit');
    await untilText('#ask-result', 'Not Found');
    expect(await value('[localStorage.length, sessionStorage.length, document.cookie, location.search]')).toEqual([
      0,
      0,
      '',
      '',
    ]);
    expect(await value("document.querySelector('#token').value")).toBe('');

    await page.click('#change-token');
    await enterToken('token-of-bob');
    await until("!document.querySelector('dialog').open");
    await page.click('#ask-submit');
    await vi.waitFor(() => expect(server.stderr()).toMatch(/"caller":"bob","verb":"POST".*"tool":"answer"/));
  });

  test('does not ask again for a token that a person did not enter, until they want something', async () => {
    const server = await serve({ http: { token_env: 'T' }, servers: [TOOLS] }, { env: { T: 'token-of-the-page' } });
    const { page, requests, value, until, untilText } = await open(server, { speed: 100 });
    await until("document.querySelector('dialog').open");
    await page.keyboard.press('Escape');
    await untilText('#trouble', 'The server asks for a token.');
    const before = requests.length;
    await vi.waitFor(() => expect(requests.length).toBeGreaterThan(before + 4));
    expect(await value("document.querySelector('dialog').open")).toBe(false);
    await page.click('#refresh');
    await until("document.querySelector('dialog').open");
  });

  test('shows names, descriptions, schemas and results of a hostile tool as text', async () => {
    const { page, problems, value, text, untilText, choose } = await open(tools);
    await choose(HOSTILE);
    expect(await text('#tool h2')).toBe(HOSTILE);
    expect(await value("document.querySelector('#tool input').value")).toBe(HOSTILE);
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'Success');
    expect(await text('#tool .result')).toContain(HOSTILE);
    await choose('broken_form');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'called');
    expect(await value("document.querySelectorAll('main img, main script, main svg, header script').length")).toBe(0);
    expect(await value('globalThis.isTaken')).toBe(undefined);
    expect(problems).toEqual([]);
  });

  test('is used with the keyboard alone', async () => {
    const server = await serve({ servers: [TOOLS] }, { args: ['--offline'] });
    const { page, value, until, untilText } = await open(server, { speed: 20 });
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
    await untilText('.server .facts', '1 restart');
    expect(await isFocused('[aria-label="Restart tools"]')).toBe(true);

    await page.focus('#question');
    await page.keyboard.type('What does HTTP 404 mean?');
    await tabTo('#ask-submit');
    await page.keyboard.press('Enter');
    await untilText('#ask-result', 'Not Found');
    expect(await isFocused('#ask-submit')).toBe(true);
    // Everything that can be used has a name.
    const unnamed = `[...document.querySelectorAll('input, select, textarea, button')].filter((control) =>
      !control.labels?.length && !control.ariaLabel && control.textContent.trim() === '').length`;
    expect(await value(unnamed)).toBe(0);
    await untilText('[aria-current="true"] code', 'form');
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

  test('is dark if the system is', async () => {
    const colors = '[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]';
    const light = await (await open(tools)).value(colors);
    const dark = await (await open(tools, { colorScheme: 'dark' })).value(colors);
    expect(light).toEqual(['rgb(243, 245, 248)', 'rgb(27, 32, 38)']);
    expect(dark).toEqual(['rgb(13, 18, 23)', 'rgb(228, 232, 236)']);
  });

  test('works under a name of http.allowed_hosts', async () => {
    const { url } = await serve(
      { http: { allowed_hosts: ['gateway.example'] }, servers: [TOOLS] },
      { args: ['--offline'] },
    );
    const named = url.replace('127.0.0.1', 'gateway.example');
    const { page, enter, problems, text, untilText, choose } = await open({ url: named });
    await choose('long');
    await page.click('#tool [type="submit"]');
    await untilText('#tool .result', 'Success');
    await enter('#question', 'What does HTTP 404 mean?');
    await page.click('#ask-submit');
    await untilText('#ask-result', 'Not Found');
    expect(await text('#trouble')).toBe('');
    expect(problems).toEqual([]);
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { startPageServer } from '../support/page-server.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { serve } from './serve.ts';

/** Names that end in `.test` are this machine for the proxy, which is the web here. */
const PAGE = 'http://page.test/tower';
const TEXT = `The tower has 43 steps (${PAGE}).`;
const REPORT = `Findings:
- ${PAGE}: "43" not on the page
  claim: The tower has 43 steps.
  nearest passage: The tower of the town has 42 steps.

1 link: 1 read; 1 of 1 claim has figures that are not on the page`;

/** A web with one page, and the program's arguments and variables for it. No server has a key. */
async function web(config: object) {
  const pages = await startPageServer();
  onTestFinished(() => pages.close());
  pages.serve(
    '/tower',
    `<p>The tower of the town has 42 steps.</p><p>${'It is a page about the tower. '.repeat(10)}</p>`,
  );
  const proxy = await startForwardProxy(pages.port);
  onTestFinished(() => proxy.close());
  const env = { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1', TOKEN_A: 'a'.repeat(20), TOKEN_B: 'b'.repeat(20) };
  const option = `--config=${newFile('config.yaml', JSON.stringify(config))}`;
  return { pages, env, option };
}

async function served(config: object) {
  const { env, option, pages } = await web(config);
  const server = serve({ args: ['--stdio', option], env });
  await server.initialize();
  return { server, pages };
}

const textOf = (result: unknown): string => Object(result).content[0].text;
const namesIn = (response: object) => JSON.stringify(response).match(/"name":"[a-z_]+"/g);

describe('the tool check_sources', () => {
  test('is offered with citations.tool, and only reads', async () => {
    const { server } = await served({ citations: { tool: true } });
    const { result } = await server.request('tools/list');
    expect(Object(result).tools.at(-1)).toMatchObject({
      name: 'check_sources',
      inputSchema: { required: ['text'] },
      annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
    });
  });

  test.each([{}, { citations: { rest: true } }])('is not offered with %j', async (config) => {
    const { server } = await served(config);
    expect(namesIn(await server.request('tools/list'))).not.toContain('"name":"check_sources"');
  });

  test('returns a text for models and everything for programs, with progress', async () => {
    const { server } = await served({ citations: { tool: true } });
    const { result } = await server.callTool('check_sources', { text: TEXT }, { progressToken: 7 });
    expect(result?.content).toEqual([{ type: 'text', text: REPORT }]);
    expect(result?.structuredContent).toMatchObject({
      findings: 1,
      links: [{ url: PAGE, state: 'ok', status: 200 }],
      claims: [{ url: PAGE, missing: ['43'] }],
    });
    const progress = server.notifications.map(({ params }) => params);
    expect(progress).toEqual([
      { progressToken: 7, progress: 0, total: 1, message: '0 of 1 link' },
      { progressToken: 7, progress: 1, total: 1, message: '1 of 1 link' },
    ]);
  });

  test('says in at most 2,000 characters what was found, with the line that sums up', async () => {
    const { server } = await served({ citations: { tool: true } });
    const text = Array.from({ length: 90 }, (_, at) => `http://page.test/gone/${at}`).join('\n');
    const { result } = await server.callTool('check_sources', { text });
    const shown = textOf(result);
    expect(shown.length).toBeLessThanOrEqual(2000);
    expect(shown).toMatch(
      /^- http:\/\/page.test\/gone\/\d+: not found \(HTTP 404\)\n- and \d+ more\n\n90 links: 0 read, 90 not found$/m,
    );
  });

  test.each([{}, { text: 7 }, { text: 'x'.repeat(200_001) }])('refuses other arguments', async (args) => {
    const { server } = await served({ citations: { tool: true } });
    const { result } = await server.callTool('check_sources', args);
    expect(result?.isError).toBe(true);
    expect(JSON.stringify(result?.content)).toMatch(/VALIDATION_ERROR: .*\/text must/);
  });

  test('ends its requests when the call is cancelled', async () => {
    const { server, pages } = await served({ citations: { tool: true } });
    const closed = new Promise((resolve) => {
      pages.serve('/silent', ({ socket }) => void socket.on('close', resolve));
    });
    void server.callTool('check_sources', { text: 'http://page.test/silent' }, {}, 7);
    await pages.waitForRequests(1);
    server.notify('notifications/cancelled', { requestId: 7 });
    await closed;
    await server.request('ping');
    expect(server.messages.some(({ id }) => id === 7)).toBe(false);
  });

  test('cannot be offered to the model', async () => {
    const grounding = { tools: { 'openai-responses-mcp': ['check_sources'] } };
    const { env, option } = await web({ citations: { tool: true }, grounding, servers: [{ name: 'a', command: 'a' }] });
    const { code, stderr } = await runCli(['--show-config', option], { env });
    expect(code).toBe(1);
    expect(stderr).toContain('expected the name of a server; the servers are a');
  });
});

describe('over HTTP', () => {
  const tokens = { http: { token_env: { alice: 'TOKEN_A', bob: 'TOKEN_B' } } };
  const ofAlice = { Authorization: `Bearer ${'a'.repeat(20)}` };
  const ofBob = { Authorization: `Bearer ${'b'.repeat(20)}` };

  async function start(config: object) {
    const { env, option } = await web(config);
    const { url, stderr } = await startHttpProcess({ args: ['--http=127.0.0.1:0', option], env });
    const post = (path: string, headers = {}, body: object = { text: TEXT }) =>
      send(new URL(path, url).href, { body, headers });
    const get = (path: string, headers = {}) => send(new URL(path, url).href, { method: 'GET', headers });
    return { post, get, stderr };
  }

  test('POST /mcp/check has the report, without the tool in the list', async () => {
    const { post, get, stderr } = await start({ citations: { rest: true } });
    const { status, text } = await post('/mcp/check');
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ findings: 1, claims: [{ missing: ['43'] }] });
    expect((await get('/mcp/tools')).text).not.toContain('check_sources');
    const { paths } = JSON.parse((await get('/openapi.json')).text) as { readonly paths: object };
    expect(Object.keys(paths)).toContain('/mcp/check');
    expect((await post('/mcp/tools/openai-responses-mcp/check_sources')).status).toBe(404);
    expect((await post('/mcp/check', {}, { text: 7 })).status).toBe(400);
    await expect.poll(stderr).toMatch(/"tool":"check_sources"/);
    expect((await get('/metrics')).text).toMatch(/_calls_total\{tool="check_sources",outcome="answered"\} 1\n/);
  });

  test('the tool is one of openai-responses-mcp, and POST /mcp/check needs citations.rest', async () => {
    const { post, get } = await start({ citations: { tool: true } });
    expect((await get('/mcp/tools')).text).toContain('"name":"check_sources"');
    expect((await post('/mcp/tools/openai-responses-mcp/check_sources')).text).toContain('"findings":1');
    expect((await post('/mcp/check')).status).toBe(404);
    expect((await get('/openapi.json')).text).not.toContain('/mcp/check');
  });

  test('access allows it by answers: true, or by its name', async () => {
    const access = { alice: { answers: ['check_sources'] }, bob: { answers: ['answer'] } };
    const { post, get } = await start({ ...tokens, access, citations: { rest: true, tool: true } });
    expect((await post('/mcp/check')).status).toBe(401);
    expect((await post('/mcp/check', ofAlice)).status).toBe(200);
    expect((await post('/mcp/check', ofBob)).status).toBe(404);
    // The page has its field for those who may use it.
    const canCheck = async (caller: object) => JSON.parse((await get('/mcp/servers', caller)).text).canCheck;
    expect([await canCheck(ofAlice), await canCheck(ofBob)]).toEqual([true, undefined]);
    expect(namesIn(JSON.parse((await get('/mcp/tools', ofAlice)).text))).toEqual(['"name":"check_sources"']);
  });

  test('a check counts against the quota, and has a line in the audit', async () => {
    const file = join(newFolder(), 'audit.jsonl');
    const config = {
      http: { ...tokens.http, quota: { calls_per_day: 1 } },
      audit: { file },
      citations: { rest: true },
    };
    const { post } = await start(config);
    expect((await post('/mcp/check', ofAlice)).status).toBe(200);
    expect((await post('/mcp/check', ofAlice)).status).toBe(429);
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { caller: 'alice', door: 'rest', server: 'openai-responses-mcp', tool: 'check_sources', outcome: 'answered' },
    ]);
  });

  test('without a key but with servers, it is still offered', async () => {
    const { post, get } = await start({
      citations: { rest: true, tool: true },
      servers: [{ name: 'a', command: 'nothing' }],
    });
    expect((await post('/mcp/check')).status).toBe(200);
    expect(namesIn(JSON.parse((await get('/mcp/tools?server=openai-responses-mcp')).text))).toEqual([
      '"name":"check_sources"',
    ]);
  });

  test('other machines need a token', async () => {
    const { env, option } = await web({ citations: { rest: true } });
    const { code, stderr } = await runCli(['--http=0.0.0.0:0', option], { env });
    expect(code).toBe(1);
    expect(stderr).toContain('other machines can reach this address, so a token is required');
  });
});

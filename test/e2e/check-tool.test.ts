import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { startPageServer } from '../support/page-server.ts';
import { newFile, newFolder } from './files.ts';
import { serve } from './serve.ts';

/** Names that end in `.test` are this machine for the proxy, which is the web here. */
const PAGE = 'http://page.test/tower';
const TEXT = `The tower has 43 steps (${PAGE}).`;
const REPORT = `Findings:
- 1:1: ${PAGE}: "43" not on the page
  claim: The tower has 43 steps.
  nearest passage: The tower of the town has 42 steps.

1 link: 1 read; 1 claim with figures: 1 compared; 1 has figures that are not on the page`;

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

async function serveHttp(config: object) {
  const { env, option } = await web(config);
  const { url, stderr } = await startHttpProcess({ args: ['--http=127.0.0.1:0', option], env });
  const post = (path: string, headers = {}, body: object = { text: TEXT }) =>
    send(new URL(path, url).href, { body, headers });
  const get = (path: string, headers = {}) => send(new URL(path, url).href, { method: 'GET', headers });
  return { post, get, stderr };
}

const namesIn = (response: object) => JSON.stringify(response).match(/"name":"[a-z_]+"/g);

test('over stdio, check_sources reports with progress, refuses other arguments, and can be cancelled', async () => {
  const { env, option, pages } = await web({ citations: { tool: true } });
  const server = serve({ args: ['--stdio', option], env });
  await server.initialize();
  const listed = (await server.request('tools/list')).result;
  expect(Object(listed).tools.at(-1)).toMatchObject({
    name: 'check_sources',
    inputSchema: { required: ['text'] },
    annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: true },
  });

  const { result } = await server.callTool('check_sources', { text: TEXT }, { progressToken: 7 });
  expect(result?.content).toEqual([{ type: 'text', text: REPORT }]);
  expect(result?.structuredContent).toMatchObject({
    findings: 1,
    links: [{ url: PAGE, state: 'ok', status: 200 }],
    claims: [{ url: PAGE, missing: ['43'] }],
  });
  expect(server.notifications.map(({ params }) => params)).toEqual([
    { progressToken: 7, progress: 0, total: 1, message: '0 of 1 link' },
    { progressToken: 7, progress: 1, total: 1, message: '1 of 1 link' },
  ]);

  for (const args of [{ text: 7 }, { text: 'x'.repeat(200_001) }]) {
    const { result } = await server.callTool('check_sources', args);
    expect(result?.isError).toBe(true);
    expect(JSON.stringify(result?.content)).toMatch(/VALIDATION_ERROR: .*\/text must/);
  }

  const closed = new Promise((resolve) => {
    pages.serve('/silent', ({ socket }) => void socket.on('close', resolve));
  });
  void server.callTool('check_sources', { text: 'http://page.test/silent' }, {}, 'cancelled');
  await pages.waitForRequests(2);
  server.notify('notifications/cancelled', { requestId: 'cancelled' });
  await closed;
  await server.request('ping');
  expect(server.messages.some(({ id }) => id === 'cancelled')).toBe(false);
});

test('over HTTP, POST /mcp/check has the report, without the tool in the list', async () => {
  const { post, get, stderr } = await serveHttp({ citations: { rest: true } });
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

test('over HTTP, a check is a call with access, quota and audit, and needs no key', async () => {
  const file = join(newFolder(), 'audit.jsonl');
  const { post, get } = await serveHttp({
    http: { token_env: { alice: 'TOKEN_A', bob: 'TOKEN_B' }, quota: { calls_per_day: 2 } },
    access: { alice: { answers: ['check_sources'] }, bob: { answers: ['answer'] } },
    audit: { file },
    citations: { rest: true, tool: true },
    servers: [{ name: 'a', command: 'nothing' }],
  });
  const [ofAlice, ofBob] = ['a', 'b'].map((letter) => ({ Authorization: `Bearer ${letter.repeat(20)}` }));
  expect((await post('/mcp/check')).status).toBe(401);
  expect((await post('/mcp/check', ofBob)).status).toBe(404);
  // The page has its field for those who may use it.
  const canCheck = async (caller = {}) => JSON.parse((await get('/mcp/servers', caller)).text).canCheck;
  expect([await canCheck(ofAlice), await canCheck(ofBob)]).toEqual([true, undefined]);
  expect(namesIn(JSON.parse((await get('/mcp/tools', ofAlice)).text))).toEqual(['"name":"check_sources"']);
  expect((await post('/mcp/check', ofAlice)).status).toBe(200);
  const asTool = await post('/mcp/tools/openai-responses-mcp/check_sources', ofAlice);
  expect(asTool.text).toContain('"findings":1');
  expect((await post('/mcp/check', ofAlice)).status).toBe(429);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const line = { door: 'rest', server: 'openai-responses-mcp', tool: 'check_sources' };
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { caller: 'bob', ...line, outcome: 'denied' },
    { caller: 'alice', ...line, outcome: 'answered' },
    { caller: 'alice', ...line, outcome: 'answered' },
  ]);
});

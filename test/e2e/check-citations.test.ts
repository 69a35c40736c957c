import { expect, onTestFinished, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { legacy, send } from '../support/http-client.ts';
import { startHttpProcess } from '../support/http-process.ts';
import { startPageServer } from '../support/page-server.ts';
import { runCli } from '../support/run-cli.ts';
import { answerOf, apiEnv, fakeApi, serve } from './serve.ts';

/** Names that end in `.test` are this machine for the proxy, which is the web here. */
const PAGE = 'http://page.test/article';
const GONE = 'http://page.test/gone';

/** A web with two pages, an API that cites them, and the variables that lead to both. */
async function web(cited = [PAGE, GONE]) {
  const api = await fakeApi();
  api.replyAlways(answers('Sunny.', { citations: cited.map((url) => ({ url, title: 'A' })) }));
  const pages = await startPageServer();
  onTestFinished(() => pages.close());
  pages.serve('/article', `<p>${'A text. '.repeat(30)}</p>`);
  const proxy = await startForwardProxy(pages.port);
  onTestFinished(() => proxy.close());
  const env = { ...apiEnv(api), HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' };
  return { pages, api, env };
}

const MARKED = / \(\d{4}-\d\d-\d\d\) \[not found: HTTP 404\]$/;

test('over stdio: evidence is declared, a dead link is marked, and a cancellation ends requests for pages', async () => {
  const { env, api, pages } = await web();
  const server = serve({ env: { ...env, CHECK_CITATIONS: 'evidence' } });
  await server.initialize();
  const listed = JSON.stringify((await server.request('tools/list')).result);
  expect(listed).toContain('"evidence":{"type":"object"');
  expect(Buffer.byteLength(listed)).toBeLessThan(6000);
  const response = await server.callTool('answer', { query: 'Weather?' });
  expect(answerOf(response).answer).toMatch(MARKED);
  expect(JSON.stringify(response.result?._meta)).toContain(
    `"checks":[{"url":"${PAGE}","state":"ok","status":200},{"url":"${GONE}","state":"dead","status":404}]`,
  );

  const closed = new Promise((resolve) => {
    pages.serve('/silent', ({ socket }) => void socket.on('close', resolve));
  });
  api.replyAlways(answers('Sunny.', { citations: [{ url: 'http://page.test/silent', title: 'A' }] }));
  void server.callTool('answer', { query: 'Weather there?' }, {}, 'cancelled');
  await pages.waitForRequests(3);
  server.notify('notifications/cancelled', { requestId: 'cancelled' });
  await closed;
});

test('over HTTP: marks without a report, the metric of states, and evidence in the document', async () => {
  const { env } = await web();
  const { url } = await startHttpProcess({ env: { ...env, CHECK_CITATIONS: 'evidence' } });
  const at = (path: string) => new URL(path, url).href;
  const rest = await send(at('/mcp/tools/openai-responses-mcp/answer'), { body: { query: 'Weather?' } });
  const { answer, ...others } = JSON.parse(rest.text) as { readonly answer: string };
  expect(answer).toMatch(MARKED);
  expect(Object.keys(others)).toEqual(['used_search', 'citations', 'model']);
  await send(url, { body: legacy('tools/call', { name: 'answer', arguments: { query: 'Again?' } }) });
  const metrics = (await send(at('/metrics'), { method: 'GET' })).text;
  for (const [state, count] of Object.entries({ ok: 2, dead: 2, unreadable: 0 }))
    expect(metrics).toContain(`\nopenai_responses_mcp_citation_checks_total{state="${state}"} ${count}\n`);
  expect((await send(at('/openapi.json'), { method: 'GET' })).text).toContain('figures that are not on the page');
});

test('ask --check --verbose names pages that could not be read', async () => {
  const { env } = await web([PAGE, 'http://10.0.0.1/']);
  const { code, stdout } = await runCli(['ask', '--check', '--verbose', 'q'], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /\n\nFindings:\n- \[2\] http:\/\/10\.0\.0\.1\/: could not be read \(not a public address\)\nChecked 2 pages: 1 not readable\n$/,
  );
});

test('ask --check with --offline checks nothing, and says so', async () => {
  const args = ['ask', '--offline', '--check', '--json', 'What does HTTP 404 mean?'];
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '--check: with --offline, nothing is checked.\n' });
  expect(JSON.parse(stdout).report).not.toHaveProperty('checks');
});

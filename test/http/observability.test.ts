import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { FakeLlmSearch, fails, replies, repliesLate, searchReply } from '../support/fake-llm-search.ts';
import { legacy, send } from '../support/http-client.ts';
import { failsWith, hangs, returns, ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { serveGateway } from './serve-gateway.ts';
import { serveHttp } from './serve-http.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const SECRET = 'where is the hidden treasure';
const question = (query: string) => ({ name: 'answer', arguments: { query } });

/** The samples of the program, none of which contains the secret. */
async function metricsOf(at: (path: string) => string): Promise<Record<string, number>> {
  const { text } = await send(at('/metrics'), { method: 'GET' });
  expect(text).not.toContain('treasure');
  const samples = text.matchAll(/^openai_responses_mcp_(\S+) (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, name, value]) => [name, Number(value)]));
}

// S29
test('writes one line per request, with its costs and none of its text', async () => {
  const usage = { inputTokens: 100, cachedTokens: 40, outputTokens: 20, reasoningTokens: 5 };
  const report = { queries: [SECRET], searches: 2, attempts: 1, usage };
  const llmSearch = new FakeLlmSearch(replies({ text: SECRET, searched: true, report }));
  const { post, accessLines, untilLogged, logger } = await serveHttp({ llmSearch });
  await post(legacy('tools/call', question(SECRET)), { Traceparent: TRACE });
  await untilLogged(1);
  expect(accessLines).toEqual([
    {
      time: '2026-01-05T03:00:00.000Z',
      caller: 'local',
      verb: 'POST',
      method: 'tools/call',
      tool: 'answer',
      status: 200,
      outcome: 'answered',
      ms: 0,
      searches: 2,
      tokens: 120,
      traceparent: TRACE,
    },
  ]);
  expect(logger.lines).toEqual([]);
});

test.each([
  ['a method that contains text', legacy(SECRET), { method: 'other', status: 200, outcome: 'served' }],
  ['a tool that contains text', legacy('tools/call', { name: SECRET }), { method: 'tools/call', status: 200 }],
  ['a failed call', legacy('tools/call', question('q')), { outcome: 'content_filtered', status: 200 }],
])('logs %s', async (_, message, expected) => {
  const { post, accessLines, untilLogged } = await serveHttp({
    llmSearch: new FakeLlmSearch(fails({ kind: 'content_filtered' })),
  });
  await post(message);
  await untilLogged(1);
  expect(accessLines).toMatchObject([expected]);
  expect(JSON.stringify(accessLines)).not.toContain(SECRET);
});

test('counts calls, outcomes, seconds, searches and tokens', async () => {
  const usage = { inputTokens: 100, cachedTokens: 40, outputTokens: 20, reasoningTokens: 5 };
  const llmSearch = new FakeLlmSearch(
    replies({ report: { queries: [SECRET], searches: 3, attempts: 1, usage } }),
    fails({ kind: 'content_filtered' }),
  );
  const { post, at } = await serveHttp({ llmSearch });
  await post(legacy('tools/call', question(SECRET)));
  await post(legacy('tools/call', question('two')));
  await post({ jsonrpc: '1.0', method: SECRET });
  const seen = await metricsOf(at);
  expect(seen).toMatchObject({
    'calls_total{tool="answer",outcome="answered"}': 1,
    'calls_total{tool="answer",outcome="content_filtered"}': 1,
    'call_seconds_count{tool="answer",outcome="answered"}': 1,
    'call_seconds_count{tool="answer",outcome="content_filtered"}': 1,
    'build_info{version="1.2.3"}': 1,
    'searches_total{tool="answer"}': 3,
    'tokens_total{tool="answer",kind="input"}': 100,
    'tokens_total{tool="answer",kind="cached"}': 40,
    'tokens_total{tool="answer",kind="output"}': 20,
    'tokens_total{tool="answer",kind="reasoning"}': 5,
    'http_requests_total{status="200"}': 2,
    'http_requests_total{status="400"}': 1,
    calls_in_flight: 0,
    calls_waiting: 0,
  });
});

test('metrics are a text with those of the process, and can only be read', async () => {
  const { at } = await serveHttp();
  const { text, headers } = await send(at('/metrics'), { method: 'GET' });
  expect(headers['content-type']).toContain('text/plain');
  expect(text).toContain('process_resident_memory_bytes');
  expect((await send(at('/metrics'), { method: 'POST' })).status).toBe(405);
});

test('counts the rounds of grounded answers and the calls of own tools, without the names of the tools', async () => {
  const toolCalls = [true, true, false].map((ok) => ({ server: 'notes', tool: SECRET, ms: 5, ok }));
  const report = { queries: [], searches: 0, attempts: 4, rounds: 3, toolCalls };
  const llmSearch = new FakeLlmSearch(replies({ report }), replies());
  const { post, at } = await serveHttp({ llmSearch });
  for (const query of ['one', 'two']) await post(legacy('tools/call', question(query)));
  expect(await metricsOf(at)).toMatchObject({
    'calls_total{tool="answer",outcome="answered"}': 2,
    'grounded_rounds_total{tool="answer"}': 3,
    'own_tool_calls_total{tool="answer",server="notes",outcome="answered"}': 2,
    'own_tool_calls_total{tool="answer",server="notes",outcome="failed"}': 1,
  });
});

test('shows how many calls run and how many wait', async () => {
  const [waiting, running] = [repliesLate(), repliesLate()];
  const llmSearch = new FakeLlmSearch(
    (observer, signal) => {
      observer.onProgress({ kind: 'waiting', ahead: 3 });
      return waiting.configured(observer, signal);
    },
    (observer, signal) => {
      observer.onProgress({ kind: 'waiting', ahead: 1 });
      observer.onProgress({ kind: 'thinking' });
      return running.configured(observer, signal);
    },
  );
  const { begin, at } = await serveHttp({ llmSearch });
  const calls = ['one', 'two'].map((query) =>
    begin(legacy('tools/call', { ...question(query), _meta: { progressToken: query } })),
  );
  await Promise.all(calls.map((call) => call.until('progress')));
  await metricsOf(at);
  expect(await metricsOf(at)).toMatchObject({ calls_in_flight: 2, calls_waiting: 1 });
  for (const search of [waiting, running]) search.settle(ok(searchReply()));
  await Promise.all(calls.map((call) => call.reply));
  expect(await metricsOf(at)).toMatchObject({ calls_in_flight: 0, calls_waiting: 0 });
});

const scripted = () =>
  new ScriptedToolServer({
    read: says(SECRET),
    refuse: returns({ content: [{ type: 'text', text: SECRET }], isError: true }),
    fail: failsWith({ kind: 'json_rpc', code: -32000, message: SECRET }),
    wait: hangs,
  });

test.each([
  [
    'an answered call',
    { server: 'files', toolName: 'read' },
    { server: 'files', tool: 'read', status: 200, outcome: 'answered' },
  ],
  [
    'an error of the server',
    { server: 'files', toolName: 'fail' },
    { server: 'files', tool: 'fail', status: 500, outcome: 'json_rpc' },
  ],
  [
    'a tool that does not exist',
    { server: 'files', toolName: SECRET },
    { server: 'files', status: 404, outcome: 'unknown_tool' },
  ],
  [
    'a server that does not exist',
    { server: SECRET, toolName: SECRET },
    { status: 404, outcome: 'refused', path: '/mcp/call', reason: 'no such server' },
  ],
])('logs %s in one line, with none of its text', async (_, body, expected) => {
  const { call, accessLines, untilLogged, logger } = await serveGateway({ files: scripted() });
  await call({ input: { text: SECRET }, ...body });
  await untilLogged(1);
  const always = { time: '2026-01-05T03:00:00.000Z', caller: 'local', verb: 'POST', ms: 0 };
  expect(accessLines).toEqual([{ ...always, ...expected }]);
  expect(logger.lines).toEqual([]);
});

test('logs a call over MCP with its server and tool', async () => {
  const { post, accessLines, untilLogged } = await serveGateway({ files: scripted() });
  await post(legacy('tools/call', { name: 'files__read', arguments: { text: SECRET } }));
  await post(legacy('tools/call', { name: `files__${SECRET}` }));
  await untilLogged(2);
  expect(accessLines).toMatchObject([
    { method: 'tools/call', server: 'files', tool: 'read', status: 200, outcome: 'answered' },
    { method: 'tools/call', server: 'files', status: 200, outcome: 'unknown_tool' },
  ]);
  expect(JSON.stringify(accessLines)).not.toContain('treasure');
});

test('counts calls by server and outcome, over REST and MCP, with names of the configuration only', async () => {
  const web = new ScriptedToolServer({}, SECRET);
  const served = await serveGateway({ files: scripted(), web }, { definitions: { web: { restart: 'never' } } });
  const { call, post, at, beginCall, clock } = served;
  await call({ server: 'files', toolName: 'read' });
  await post(legacy('tools/call', { name: 'files__read' }));
  await call({ server: 'files', toolName: 'refuse' });
  await call({ server: 'files', toolName: SECRET });
  await call({ server: SECRET, toolName: SECRET });
  await call({ server: 'web', toolName: SECRET });
  const slow = beginCall({ server: 'files', toolName: 'wait', timeout: 700 });
  await until(() => clock.pendingSleeps === 1);
  await clock.advance(700);
  await slow.reply;

  const seen = await metricsOf(at);
  const calls = Object.entries(seen).filter(([name]) => name.startsWith('server_calls_total'));
  expect(Object.fromEntries(calls)).toEqual({
    'server_calls_total{server="files",outcome="answered"}': 2,
    'server_calls_total{server="files",outcome="tool_error"}': 1,
    'server_calls_total{server="files",outcome="unknown_tool"}': 1,
    'server_calls_total{server="files",outcome="timed_out"}': 1,
    'server_calls_total{server="web",outcome="not_available"}': 1,
  });
  expect(seen).toMatchObject({
    'server_call_seconds_count{server="files",outcome="answered"}': 2,
    'server_call_seconds_sum{server="files",outcome="timed_out"}': 0.7,
    'server_up{server="files",state="available"}': 1,
    'server_up{server="web",state="failed"}': 0,
    'server_restarts{server="files"}': 0,
  });
});

test('shows the state and the restarts of a server as they are', async () => {
  const files = scripted();
  const { at, gateway, clock } = await serveGateway({ files });
  await until(() => gateway.servers[0]?.state === 'available');
  files.crash();
  expect(await metricsOf(at)).toMatchObject({ 'server_up{server="files",state="unavailable"}': 0 });
  await clock.advance(1000);
  const seen = await metricsOf(at);
  expect(seen).toMatchObject({
    'server_up{server="files",state="available"}': 1,
    'server_restarts{server="files"}': 1,
  });
  expect(seen).not.toHaveProperty('server_up{server="files",state="unavailable"}');
});

import { expect, test } from 'vitest';
import { FakeLlmSearch, replies } from '../support/fake-llm-search.ts';
import { legacy, send } from '../support/http-client.ts';
import { failsWith, hangs, returns, ScriptedToolServer, says } from '../support/scripted-tool-server.ts';
import { until } from '../support/until.ts';
import { serveGateway } from './serve-gateway.ts';

const SECRET = 'where is the hidden treasure';

const scripted = () =>
  new ScriptedToolServer({
    read: says(SECRET),
    refuse: returns({ content: [{ type: 'text', text: SECRET }], isError: true }),
    fail: failsWith({ kind: 'json_rpc', code: -32000, message: SECRET }),
    wait: hangs,
    strict: { script: says('a'), inputSchema: { type: 'object', required: ['a'] } },
  });

async function metricsOf(at: (path: string) => string): Promise<Record<string, number>> {
  const { text } = await send(at('/metrics'), { method: 'GET' });
  const samples = text.matchAll(/^openai_responses_mcp_(\S+) (\S+)$/gm);
  return Object.fromEntries([...samples].map(([, name, value]) => [name, Number(value)]));
}

test.each([
  ['an answered call', { toolName: 'read' }, { server: 'files', tool: 'read', status: 200, outcome: 'answered' }],
  [
    'an error of the tool',
    { toolName: 'refuse' },
    { server: 'files', tool: 'refuse', status: 200, outcome: 'tool_error' },
  ],
  ['an error of the server', { toolName: 'fail' }, { server: 'files', tool: 'fail', status: 500, outcome: 'json_rpc' }],
  ['a wrong input', { toolName: 'strict' }, { server: 'files', tool: 'strict', status: 400, outcome: 'invalid_input' }],
  ['a tool that does not exist', { toolName: SECRET }, { server: 'files', status: 404, outcome: 'unknown_tool' }],
  [
    'a server that does not exist',
    { server: SECRET, toolName: SECRET },
    { status: 404, outcome: 'refused', path: '/mcp/call', reason: 'no such server' },
  ],
  [
    'a body that is wrong',
    { [SECRET]: 1 },
    { status: 400, outcome: 'refused', path: '/mcp/call', reason: 'malformed message' },
  ],
])('logs %s in one line, with none of its text', async (_, body, expected) => {
  const { call, accessLines, untilLogged, logger } = await serveGateway({ files: scripted() });
  await call({ server: 'files', input: { text: SECRET }, ...body });
  await untilLogged(1);
  const always = { time: '2026-01-05T03:00:00.000Z', caller: 'local', verb: 'POST', ms: 0 };
  expect(accessLines).toEqual([{ ...always, ...expected }]);
  expect(logger.lines).toEqual([]);
});

test('logs a call of an answer tool as over MCP', async () => {
  const llmSearch = new FakeLlmSearch(replies({ text: SECRET }));
  const { call, accessLines, untilLogged } = await serveGateway({}, { llmSearch });
  await call({ server: 'openai-responses-mcp', toolName: 'answer', input: { query: SECRET } });
  await untilLogged(1);
  expect(accessLines).toMatchObject([{ verb: 'POST', tool: 'answer', status: 200, outcome: 'answered', searches: 0 }]);
  expect(JSON.stringify(accessLines)).not.toContain('treasure');
});

test('logs a call over MCP with its server and tool', async () => {
  const { post, accessLines, untilLogged, gateway } = await serveGateway({ files: scripted() });
  await until(() => gateway.tools.length > 0);
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
    'server_call_seconds_count{server="files"}': 5,
    'server_call_seconds_sum{server="files"}': 0.7,
    'server_up{server="files",state="available"}': 1,
    'server_up{server="web",state="failed"}': 0,
    'server_restarts{server="files"}': 0,
  });
  expect((await send(at('/metrics'), { method: 'GET' })).text).not.toContain('treasure');
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

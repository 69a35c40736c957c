import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { calls, says, searches } from '../../support/conversation-items.ts';
import { permitsSearch } from '../../support/fake-conversation-api.ts';
import { legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { runCli } from '../../support/run-cli.ts';
import { scriptedServer } from '../../support/scripted-mcp.ts';
import { earlierServer } from '../../support/servers/asking-servers.ts';
import { newFile, newFolder } from '../files.ts';
import { answerOf, apiEnv, tokyoToday } from '../serve.ts';
import { CONVERSATION, configFile, conversationApi, reportOf, SEARCH_NOTES, serveGrounded } from './kit.ts';

const QUESTION = { query: 'When do we deploy next week, and is that a holiday?' };
const ANSWER = expect.stringMatching(
  /^We deploy on Tuesday\. \(\[Deploy notes\]\(https:\/\/notes\.example\/deploy\)\) It is no holiday\.\n\nSources:\n- https:\/\/notes\.example\/deploy \([\d-]{10}\)\n- https:\/\/holidays\.example\/ \([\d-]{10}\)$/,
);

const toolsOf = ({ tools }: { tools?: unknown }) =>
  (tools as readonly { type: string; name?: string; external_web_access?: boolean }[]).map(
    ({ type, name, external_web_access: access }) => name ?? (access === false ? `${type} (closed)` : type),
  );

test('an answer over stdio cites the web and the own system, and the web is closed after the call', async () => {
  const { api, notes, server } = await serveGrounded();
  api.script(CONVERSATION);
  expect((await server.request('tools/list')).result?.tools).toHaveLength(3);
  expect(notes.events()).toEqual([]);

  const response = await server.callTool('answer', QUESTION, { progressToken: 'p' });
  expect(answerOf(response)).toEqual({
    answer: ANSWER,
    used_search: true,
    citations: [
      { url: 'https://notes.example/deploy', title: 'Deploy notes', published_at: '2026-03-04' },
      { url: 'https://holidays.example/', title: 'Holidays', published_at: tokyoToday() },
    ],
    model: 'gpt-5.2',
  });
  expect(reportOf(response)).toMatchObject({
    usage: { input_tokens: 2000, cached_tokens: 800, output_tokens: 100, reasoning_tokens: 40 },
    searches: { count: 1, queries: ['holidays next week'] },
    // Both rounds by the list prices of gpt-5.2, and the search. S84
    cost: { usd: 0.01364, prices_of: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    attempts: 2,
    rounds: 2,
    tool_calls: [{ server: 'notes', tool: 'search_notes', ms: expect.any(Number), ok: true }],
  });
  expect(api.requests.map(({ body }) => toolsOf(body))).toEqual([
    ['web_search', 'notes__search_notes'],
    ['web_search (closed)', 'notes__search_notes'],
  ]);
  expect(api.refusals).toEqual([]);
  expect(notes.calls()).toEqual(['search_notes {"word":"deploy"}']);

  const progress = server.notifications.map(({ params }) => String(params?.message)).join('\n');
  expect(progress).toMatch(/notes\/search_notes: \d+ characters, /);
  expect(progress).not.toMatch(/deploy"|Tuesdays/);

  server.closeStdin();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(notes.running()).toEqual([]);
  expect(server.stderr()).toBe('');
});

test('the tool that checks sources is none of an answer, so that no page is requested after a private output', async () => {
  const { api, server } = await serveGrounded({ more: { citations: { tool: true } } });
  const text = 'We deploy on Tuesday: https://stranger.example/';
  api.script([
    [calls('1', 'notes__search_notes', { word: 'deploy' })],
    [calls('2', 'openai-responses-mcp__check_sources', { text }), calls('3', 'check_sources', { text })],
    [says('3', 'We deploy on Tuesday.', { phase: 'final_answer' })],
  ]);
  const response = await server.callTool('answer', QUESTION);
  expect(answerOf(response).answer).toMatch(/^We deploy on Tuesday\./);
  expect(JSON.stringify(api.requests.map(({ body }) => toolsOf(body)))).not.toContain('check_sources');
  expect(reportOf(response).tool_calls).toMatchObject([{ tool: 'search_notes', ok: true }]);
});

test('over HTTP, only named callers use own tools, and a private tool closes the web', async () => {
  const api = await conversationApi();
  api.script([[says('plain', 'Only the web was asked.')]], 'bob');
  api.script(CONVERSATION, 'alice');
  const notes = scriptedServer([SEARCH_NOTES]);
  const config = configFile({
    notes,
    grounding: { tools: { notes: 'all' }, callers: ['alice'] },
    more: { http: { token_env: { alice: 'TOKEN_A', bob: 'TOKEN_B' } } },
  });
  const env = { ...apiEnv(api), TOKEN_A: 'token-of-alice-0123', TOKEN_B: 'token-of-bob-0123' };
  const http = await startHttpProcess({ args: ['--http=127.0.0.1:0', '--config', config], env });
  const ask = async (caller: string) => {
    const { message } = await send(http.url, {
      headers: { Authorization: `Bearer token-of-${caller}-0123` },
      body: legacy('tools/call', { name: 'answer', arguments: { query: `The question of ${caller}` } }),
    });
    return message;
  };
  expect(answerOf(await ask('alice')).answer).toEqual(ANSWER);
  expect(api.requests.map(({ body }) => permitsSearch(body))).toEqual([true, false]);

  const bob = await ask('bob');
  expect(answerOf(bob)).toMatchObject({ answer: 'Only the web was asked.', citations: [] });
  expect(reportOf(bob)).not.toHaveProperty('rounds');
  expect(toolsOf(api.requests[2]?.body ?? {})).toEqual(['web_search']);
  expect(notes.calls()).toHaveLength(1);
});

test('the model reads that nobody can be asked what a server wants to know', async () => {
  const api = await conversationApi();
  api.script([[calls('1', 'files__delete', {})], [says('2', 'I could not delete it.', { phase: 'final_answer' })]]);
  const yaml = { servers: [earlierServer('files')], grounding: { tools: { files: ['delete'] } } };
  const config = newFile('config.yaml', JSON.stringify(yaml));
  const { code } = await runCli(['ask', '--config', config, QUESTION.query], { env: apiEnv(api) });
  expect(code).toBe(0);
  expect(JSON.stringify(api.requests[1]?.body)).toContain('files asks: Delete 3 files? Nobody can be asked here.');
});

test('ask records a grounded answer with llm.record_private; offline the tools run, and the answer is the same', async () => {
  const api = await conversationApi();
  api.script(CONVERSATION);
  const notes = scriptedServer([SEARCH_NOTES]);
  const folder = path.join(newFolder(), 'recorded');
  const config = configFile({ notes, more: { llm: { record_private: true } } });
  const ask = async (option: string) => {
    const { code, stdout, stderr } = await runCli(
      ['ask', '--json', '--config', config, `${option}=${folder}`, QUESTION.query],
      { env: apiEnv(api) },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      answer: ANSWER,
      used_search: true,
      report: { rounds: 2, tool_calls: [{ server: 'notes', tool: 'search_notes', ok: true }] },
    });
  };
  await ask('--record');
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^answer-.*\.sse$/)]);
  await ask('--offline');
  expect(api.requests).toHaveLength(2);
  expect(notes.calls()).toEqual(['search_notes {"word":"deploy"}', 'search_notes {"word":"deploy"}']);
  expect(notes.running()).toEqual([]);
});

test('doctor shows what is offered, and tries a web search and a grounded question', async () => {
  const api = await conversationApi();
  api.script([[searches('1', 'node', ['https://nodejs.org/']), says('1', 'Node.js 24.')]]);
  const notes = scriptedServer([SEARCH_NOTES]);
  const config = configFile({ notes, grounding: { tools: { notes: ['search_notes', 'find'] } } });
  const { stdout, stderr } = await runCli(['doctor', '--config', config], { env: apiEnv(api) });
  const lines = stdout.split('\n').filter((line) => /^\w+ +(?:server |ground|web search)/.test(line));
  expect(lines).toEqual([
    'ok    server notes: 1 tool (stdio)',
    'WARN  grounding: offers 1 tool to the model: notes/search_notes; there is no tool notes/find (grounding.tools)',
    'ok    grounding.web: before: the model may search the web until a private tool has answered',
    'note  grounding.callers: over HTTP, no caller gets the tools of grounding.tools in answers: set grounding.callers, such as [local]',
    expect.stringMatching(/^ok {4}web search: answered with 1 source in \d+\.\d s$/),
    expect.stringMatching(/^ok {4}grounded question: answered with own tools offered in \d+\.\d s$/),
  ]);
  expect(stderr).toMatch(/^\S+ \S+ WARN grounding: there is no tool notes\/find \(grounding\.tools\)\n$/);
  expect(notes.running()).toEqual([]);
});

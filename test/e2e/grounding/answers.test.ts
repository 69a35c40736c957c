import { describe, expect, test } from 'vitest';
import { calls, reasons, says } from '../../support/conversation-items.ts';
import { legacy, send } from '../../support/http-client.ts';
import { startHttpProcess } from '../../support/http-process.ts';
import { posixTest } from '../../support/platform.ts';
import { runCli } from '../../support/run-cli.ts';
import { scriptedServer } from '../../support/scripted-mcp.ts';
import { answerOf, apiEnv, failureOf, tokyoToday } from '../serve.ts';
import {
  CONVERSATION,
  configFile,
  conversationApi,
  PATIENTLY,
  reportOf,
  SEARCH_NOTES,
  serveGrounded,
  WRITE_NOTE,
} from './kit.ts';

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

test('ask answers the same, shows what it took, and leaves no process', async () => {
  const api = await conversationApi();
  api.script(CONVERSATION);
  const notes = scriptedServer([SEARCH_NOTES]);
  const config = configFile({ notes });
  const { code, stdout, stderr } = await runCli(['ask', '--config', config, '--json', QUESTION.query], {
    env: apiEnv(api),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    answer: ANSWER,
    report: { rounds: 2, tool_calls: [{ server: 'notes', tool: 'search_notes', ok: true }] },
  });
  expect(notes.calls()).toHaveLength(1);
  expect(notes.running()).toEqual([]);
});

posixTest('signals')('over HTTP, only callers that are named in the configuration use own tools', async () => {
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
  const ask = (caller: string) =>
    send(http.url, {
      headers: { Authorization: `Bearer token-of-${caller}-0123` },
      body: legacy('tools/call', { name: 'answer', arguments: { query: `The question of ${caller}` } }),
    });

  const [alice, bob] = await Promise.all([ask('alice'), ask('bob')]);
  expect(answerOf(alice.message).answer).toEqual(ANSWER);
  expect(answerOf(bob.message)).toMatchObject({ answer: 'Only the web was asked.', citations: [] });
  expect(reportOf(bob.message)).not.toHaveProperty('rounds');
  const ofBob = api.requests.filter(({ rawBody }) => rawBody.includes('The question of bob'));
  expect(ofBob.map(({ body }) => [toolsOf(body), body.include])).toEqual([
    [['web_search'], ['web_search_call.action.sources']],
  ]);
  expect(ofBob[0]?.rawBody).not.toContain('Own tools');
  expect(notes.calls()).toHaveLength(1);

  const metrics = await send(new URL('/metrics', http.url).href, {
    method: 'GET',
    headers: { Authorization: 'Bearer token-of-alice-0123' },
  });
  expect(metrics.text).not.toMatch(/deploy|Tuesday/);
  http.kill();
  expect(await http.exited).toEqual({ code: 0, signal: null });
  expect(notes.running()).toEqual([]);
});

describe('what the configuration offers', () => {
  const hintsOf = async (server: Awaited<ReturnType<typeof serveGrounded>>['server']) => {
    const { result = {} } = await server.request('tools/list');
    const tools = result.tools as readonly { annotations: { readOnlyHint: boolean } }[];
    return tools.map(({ annotations }) => annotations.readOnlyHint);
  };

  test('all: only tools that declare to read, so that answer stays read-only', async () => {
    const { api, server } = await serveGrounded();
    api.script(CONVERSATION);
    expect(await hintsOf(server)).toEqual([true, true, true]);
    await server.callTool('answer', QUESTION);
    expect(await hintsOf(server)).toEqual([true, true, true]);
    expect(api.requests[0]?.rawBody).not.toContain('write_note');
  });

  test('a listed tool with effects: answer is not read-only, and the tool runs', async () => {
    const { api, notes, server } = await serveGrounded({ grounding: { tools: { notes: ['write_note'] } } });
    api.script([[calls('1', 'notes__write_note')], [says('1', 'It is written.')]]);
    expect(await hintsOf(server)).toEqual([false, false, false]);
    expect(answerOf(await server.callTool('answer_quick', QUESTION)).answer).toMatch(/^It is written\./);
    expect(await hintsOf(server)).toEqual([false, false, false]);
    expect(notes.calls()).toEqual(['write_note {}']);
  });

  test('a listed tool that only reads: not read-only until that is known', async () => {
    const { api, server } = await serveGrounded({ grounding: { tools: { notes: ['search_notes'] } } });
    api.script(CONVERSATION);
    expect(await hintsOf(server)).toEqual([false, false, false]);
    await server.callTool('answer', QUESTION);
    expect(await hintsOf(server)).toEqual([true, true, true]);
  });

  test('an unknown tool is one warning, and the others are offered', async () => {
    const { api, server } = await serveGrounded({ grounding: { tools: { notes: ['search_notes', 'find'] } } });
    api.script([[says('1', 'Yes.')]]);
    for (const query of ['One?', 'Two?']) answerOf(await server.callTool('answer', { query }));
    expect(api.requests.map(({ body }) => toolsOf(body))).toEqual([
      ['web_search', 'notes__search_notes'],
      ['web_search', 'notes__search_notes'],
    ]);
    expect(server.stderr()).toMatch(
      /^\[openai-responses-mcp\] \S+ WARN grounding: there is no tool notes\/find \(grounding\.tools\)\n$/,
    );
  });

  test('an unknown server is a problem at the start, and so are too many tools', async () => {
    const notes = scriptedServer([]);
    const names = Array.from({ length: 128 }, (_, index) => `tool_${index}`);
    const cases = [
      [{ tools: { jira: 'all' } }, 'grounding.tools: got "jira", expected the name of a server; the servers are notes'],
      [{ tools: { notes: names } }, 'grounding.tools: got "128", expected at most 127 tools'],
    ] as const;
    for (const [grounding, words] of cases) {
      const { code, stdout, stderr } = await runCli(['--stdio', '--config', configFile({ notes, grounding })]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(words);
    }
    expect(notes.events()).toEqual([]);
  });

  test('more tools than the API accepts, which only the server knows, is a failure that names the count', async () => {
    const many = Array.from({ length: 128 }, (_, index) => ({ ...SEARCH_NOTES, name: `tool_${index}` }));
    const { api, server } = await serveGrounded({ tools: many });
    expect(failureOf(await server.callTool('answer', QUESTION))).toMatch(/offers 128 tools .* accepts 127\./);
    expect(api.requests).toEqual([]);
  });

  test('a server that does not start: the answer comes from the web, and the report says so', async () => {
    const api = await conversationApi();
    api.script([[says('1', 'From the web.')]]);
    const notes = { ...scriptedServer([]), args: ['-e', 'process.exit(1)'] };
    const { stdout } = await runCli(['ask', '--json', '--config', configFile({ notes }), 'Anything?'], {
      env: apiEnv(api),
    });
    expect(JSON.parse(stdout)).toMatchObject({ answer: 'From the web.', report: { unavailable_servers: ['notes'] } });
    expect(api.requests.map(({ body }) => toolsOf(body))).toEqual([['web_search']]);
  });

  test('tools marks what is offered', async () => {
    const notes = scriptedServer([SEARCH_NOTES, WRITE_NOTE]);
    const { code, stdout } = await runCli(['tools', '--config', configFile({ notes })]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      'notes: available (stdio)\n  * search_notes: The tool search_notes.\n    write_note: The tool write_note.\n' +
        '* offered to the model in answers (grounding.tools)\n',
    );
  });
});

test('a place in request.max_concurrency is free while a tool runs', async () => {
  const slow = { ...SEARCH_NOTES, reactions: [{ does: 'hang' as const }] };
  const { api, notes, server } = await serveGrounded({ tools: [slow], more: { request: { max_concurrency: 1 } } });
  api.script([[reasons('1'), calls('1', 'notes__search_notes', { word: 'x' })]], 'slow');
  api.script([[says('2', 'Done.')]], 'quick');
  void server.callTool('answer', { query: 'The slow question' });
  await expect.poll(() => notes.calls(), PATIENTLY).toHaveLength(1);
  expect(answerOf(await server.callTool('answer', { query: 'The quick question' })).answer).toBe('Done.');
});

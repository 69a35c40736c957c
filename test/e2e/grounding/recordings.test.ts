import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { says, searches } from '../../support/conversation-items.ts';
import { runCli } from '../../support/run-cli.ts';
import { scriptedServer } from '../../support/scripted-mcp.ts';
import { newFolder } from '../files.ts';
import { answerOf, apiEnv, serve } from '../serve.ts';
import { CONVERSATION, configFile, conversationApi, reportOf, SEARCH_NOTES } from './kit.ts';

const QUESTION = 'When do we deploy next week, and is that a holiday?';

test('--record does not record a grounded answer, with one warning', async () => {
  const api = await conversationApi();
  api.script(CONVERSATION);
  const folder = path.join(newFolder(), 'recorded');
  const config = configFile({ notes: scriptedServer([SEARCH_NOTES]) });
  const server = serve({ args: ['--stdio', '--config', config, `--record=${folder}`], env: apiEnv(api) });
  await server.initialize();
  for (const query of [QUESTION, 'And the week after?']) {
    expect(answerOf(await server.callTool('answer', { query })).answer).toMatch(/^We deploy on Tuesday/);
  }
  expect(server.stderr()).toMatch(
    /^\[openai-responses-mcp\] \S+ WARN grounding: answers that use own tools are not recorded, [^\n]*\(llm\.record_private\)\n$/,
  );
  expect(() => readdirSync(folder)).toThrow('ENOENT');
});

test('with llm.record_private it is one recording; offline the tools run, and the answer is the same', async () => {
  const api = await conversationApi();
  api.script(CONVERSATION);
  const notes = scriptedServer([SEARCH_NOTES]);
  const folder = path.join(newFolder(), 'recorded');
  const config = configFile({ notes, more: { llm: { record_private: true } } });
  const ask = (...options: readonly string[]) =>
    runCli(['ask', '--json', '--config', config, ...options, QUESTION], { env: apiEnv(api) });
  const online = await ask(`--record=${folder}`);
  expect(online).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^answer-.*\.sse$/)]);
  expect(notes.calls()).toHaveLength(1);

  const offline = await ask(`--offline=${folder}`);
  expect(offline).toMatchObject({ code: 0, stderr: '' });
  expect(api.requests).toHaveLength(2);
  expect(notes.calls()).toEqual(['search_notes {"word":"deploy"}', 'search_notes {"word":"deploy"}']);
  expect(notes.running()).toEqual([]);

  const essence = ({ stdout }: { stdout: string }) => {
    const { answer, citations, used_search, report } = JSON.parse(stdout) as Record<string, unknown> & {
      readonly citations: readonly { readonly url: string; readonly title: string }[];
      readonly report: Readonly<Record<string, unknown>>;
    };
    const undated = String(answer).replace(/\d{4}-\d{2}-\d{2}/g, 'day');
    const { rounds, searches } = report;
    return { undated, pages: citations.map(({ url, title }) => [url, title]), used_search, rounds, searches };
  };
  expect(essence(offline)).toEqual(essence(online));
  expect(essence(offline)).toMatchObject({
    undated: expect.stringContaining('We deploy on Tuesday. ([Deploy notes](https://notes.example/deploy))'),
    rounds: 2,
  });
});

test('offline, a tool that fails now does not fail the recorded answer; its source is not named', async () => {
  const api = await conversationApi();
  api.script(CONVERSATION);
  const folder = newFolder();
  const record = configFile({ notes: scriptedServer([SEARCH_NOTES]), more: { llm: { record_private: true } } });
  await runCli(['ask', '--config', record, `--record=${folder}`, QUESTION], { env: apiEnv(api) });

  const failing = scriptedServer([{ ...SEARCH_NOTES, reactions: [{ error: { code: -32000, message: 'down' } }] }]);
  const server = serve({ args: ['--stdio', '--config', configFile({ notes: failing }), `--offline=${folder}`] });
  await server.initialize();
  const response = await server.callTool('answer', { query: QUESTION });
  expect(answerOf(response).answer).toMatch(/^We deploy on Tuesday\. It is no holiday\./);
  expect(answerOf(response).answer).not.toMatch(/[\uE200-\uE202]/);
  expect(reportOf(response)).toMatchObject({ tool_calls: [{ tool: 'search_notes', ok: false }] });
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
    expect.stringMatching(/^ok {4}web search: answered with 1 source in \d+\.\d s$/),
    expect.stringMatching(/^ok {4}grounded question: answered with own tools offered in \d+\.\d s$/),
  ]);
  expect(stderr).toMatch(/^\S+ \S+ WARN grounding: there is no tool notes\/find \(grounding\.tools\)\n$/);
  const tools = api.requests
    .filter(({ method }) => method === 'POST')
    .map(({ body }) => (body.tools as unknown[]).length);
  expect(tools).toEqual([1, 2]);
  expect(notes.running()).toEqual([]);
});

test('doctor warns if the web is always open', async () => {
  const config = configFile({
    notes: scriptedServer([SEARCH_NOTES]),
    grounding: { tools: { notes: 'all' }, web: 'always' },
  });
  const { code, stdout } = await runCli(['doctor', '--offline', '--config', config]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^WARN {2}grounding\.web: always: what a private tool returned can leave this machine/m);
});

test('--show-config shows the section', async () => {
  const config = configFile({ notes: scriptedServer([]), grounding: { tools: { notes: 'all' }, max_rounds: 3 } });
  const { stderr } = await runCli(['--show-config', '--config', config]);
  expect(JSON.parse(stderr)).toMatchObject({
    effective: {
      grounding: { tools: { notes: 'all' }, web: 'before', max_rounds: 3, max_calls: 20, callers: [] },
      llm: { record_private: false },
    },
  });
});

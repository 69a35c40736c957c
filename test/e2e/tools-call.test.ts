import { expect, test } from 'vitest';
import { answers, answersJson, inSlices } from '../support/behaviours.ts';
import { answerOf, serveWithApi, shareServer, textOf, tokyoToday } from './serve.ts';

const JMA = { url: 'https://www.jma.go.jp/bosai/forecast/', title: '気象庁｜天気予報' };
const CITED = `東京は晴れです。([jma.go.jp](${JMA.url}?utm_source=openai))`;
const cited = () => answers(CITED, { citations: [{ ...JMA, url: `${JMA.url}?utm_source=openai` }] });

const shared = shareServer();
const offline = shareServer({ args: ['--stdio', '--offline'] });

test('returns the contract: answer, used_search, citations, model, and nothing else', async () => {
  const { api, server } = shared();
  api.reply(cited());
  const before = tokyoToday();
  const response = await server.callTool('answer', { query: '本日の東京の天気は？' });
  const answer = answerOf(response);
  const today = [before, tokyoToday()].find((day) => day === answer.citations[0]?.published_at);

  expect(Object.keys(answer)).toEqual(['answer', 'used_search', 'citations', 'model']);
  expect(answer).toEqual({
    answer: `東京は晴れです。([jma.go.jp](${JMA.url}))\n\nSources:\n- ${JMA.url} (${today})`,
    used_search: true,
    citations: [{ ...JMA, published_at: today }],
    model: 'gpt-5.2',
  });
  expect(response.result?.content).toEqual([{ type: 'text', text: JSON.stringify(answer) }]);
  expect(response.result?.isError).toBeUndefined();
});

test('returns in _meta the report and the model that the API names', async () => {
  const { api, server } = shared();
  api.reply(answers('Canberra.', { model: 'gpt-5.2-2025-12-11' }));
  const { result } = await server.callTool('answer_quick', { query: 'What is the capital of Australia?' });
  const meta = result?._meta as Record<string, Record<string, unknown>>;
  expect(Object.values(meta)[0]).toMatchObject({ model: 'gpt-5.2-2025-12-11', attempts: 1, searches: { count: 0 } });
  expect(Object.keys(meta)[0]).toMatch(/^[a-z.]+\/\w+$|^[\w.-]+\/[\w.-]+$/);
});

test('an answer without a search has neither sources nor citations', async () => {
  const { api, server } = shared();
  api.reply(answers('It means Not Found.'));
  expect(answerOf(await server.callTool('answer', { query: 'What is 404?' }))).toEqual({
    answer: 'It means Not Found.',
    used_search: false,
    citations: [],
    model: 'gpt-5.2',
  });
});

test.for([
  ['answer', 'HTTP 404 の意味は？'],
  ['answer', 'What does HTTP 404 mean?'],
] as const)('spec 10, offline: %s %s needs no search', async ([tool, query]) => {
  const { server } = offline();
  const answer = answerOf(await server.callTool(tool, { query }));
  expect(answer).toMatchObject({ used_search: false, citations: [] });
  expect(answer.answer).not.toMatch(/^Sources:/m);
});

test.for([['本日 2026-11-20 の東京の天気は？'], ['What is the weather in Tokyo today, 2026-11-20?']])(
  'spec 10, offline: %s is answered with sources and dates',
  async ([query]) => {
    const { server } = offline();
    const answer = answerOf(await server.callTool('answer', { query }));
    expect(answer.used_search).toBe(true);
    expect(answer.citations.length).toBeGreaterThanOrEqual(1);
    const sources = answer.answer.split('\n\nSources:\n')[1]?.split('\n') ?? [];
    expect(sources.length).toBeGreaterThanOrEqual(1);
    for (const line of sources) expect(line).toMatch(/^- \S+ .*\(\d{4}-\d{2}-\d{2}\)$|^- \S+ \(\d{4}-\d{2}-\d{2}\)$/);
  },
);

test('asks as in the contract: hints and day in input, search allowed, sources included, streamed, not stored', async () => {
  const { api, server } = shared();
  api.replyAlways(answers('Yes.'));
  const today = tokyoToday();
  await server.callTool('answer', { query: 'q?', recency_days: '7', max_results: 3, domains: 'https://jma.go.jp/' });
  const [request] = api.requests;
  expect(request?.body).toMatchObject({
    model: 'gpt-5.2',
    tools: [{ type: 'web_search', user_location: { type: 'approximate' } }],
    include: ['web_search_call.action.sources'],
    text: { verbosity: 'medium' },
    reasoning: { effort: 'medium' },
    stream: true,
    store: false,
  });
  expect(request?.body.instructions).toEqual(expect.stringMatching(/\S/));
  const input = String(request?.body.input);
  expect(input.startsWith('q?\n')).toBe(true);
  for (const hint of ['recency_days=7', 'max_results=3', 'domains=jma.go.jp', today]) expect(input).toContain(hint);
  expect(request?.headers.authorization).toMatch(/^Bearer sk-/);

  await server.callTool('answer', { query: 'q?' });
  expect(String(api.requests[1]?.body.input)).toMatch(/recency_days=60.*max_results=5/);
  expect(String(api.requests[1]?.body.input)).not.toContain('domains=');
});

test('each tool uses its profile', async () => {
  const { api, server } = await serveWithApi({ env: { MODEL_ANSWER: 'gpt-5.1', ANSWER_EFFORT: 'low' } });
  api.replyAlways(answers('Yes.'));
  for (const tool of ['answer', 'answer_detailed', 'answer_quick']) await server.callTool(tool, { query: 'q' });
  expect(api.requests.map(({ body }) => [body.model, body.reasoning])).toEqual([
    ['gpt-5.1', { effort: 'low' }],
    ['gpt-5.1', { effort: 'low' }],
    ['gpt-5.1', { effort: 'low' }],
  ]);
});

test.for([
  [{}, /^query: required; pass a non-empty string/],
  [{ query: '' }, /^query: got "", expected /],
  [{ query: ' \u3000\n' }, /^query: /],
  [{ query: 7 }, /^query: got 7, /],
  [{ query: null }, /^query: /],
  [{ query: 'q', recency_days: -1 }, /^recency_days: got -1, /],
  [{ query: 'q', recency_days: 1.5 }, /^recency_days: got 1\.5, /],
  [{ query: 'q', max_results: 0 }, /^max_results: got 0, /],
  [{ query: 'q', max_results: 'many' }, /^max_results: got "many", /],
  [{ query: 'q', domains: ['not a host'] }, /^domains.*: got /],
  [{ query: 'q', domains: 5 }, /^domains: got 5, /],
] as const)('rejects the arguments %j without asking the API', async ([args, words]) => {
  const { api, server } = shared();
  const { error } = await server.callTool('answer', args);
  expect(error).toMatchObject({ code: -32602, data: { message: expect.stringMatching(words) } });
  expect(api.requests).toEqual([]);
});

test('accepts arguments leniently, and ignores unknown ones', async () => {
  const { api, server } = shared();
  api.replyAlways(answers('Yes.'));
  const lenient = {
    query: 'q',
    recency_days: null,
    max_results: '7',
    domains: [],
    verbosity: 'high',
    future: { a: 1 },
  };
  expect((await server.callTool('answer', lenient)).error).toBeUndefined();
  expect((await server.callTool('answer_quick', { query: 'q', recency_days: -1, domains: 5 })).error).toBeUndefined();
  expect(String(api.requests[0]?.body.input)).toMatch(/recency_days=60.*max_results=7/);
});

test('reads a reply in chunks of any size, and one that is not a stream', async () => {
  const { api, server } = shared();
  api.reply(inSlices(cited(), 1), answersJson(CITED, { citations: [JMA] }));
  const sliced = answerOf(await server.callTool('answer', { query: 'q' }));
  const complete = answerOf(await server.callTool('answer', { query: 'q' }));
  expect(sliced).toEqual(complete);
  expect(sliced.answer).toContain('東京は晴れです。');
});

test('an incomplete answer says so before its sources', async () => {
  const { server } = offline();
  const { answer } = answerOf(await server.callTool('answer', { query: 'Write a long history of the World Wide Web' }));
  const [text, sources] = answer.split('\n\nSources:\n');
  expect(text?.split('\n\n').at(-1)).toMatch(/max_output_tokens|cut/i);
  expect(sources ?? '').not.toMatch(/max_output_tokens/);
});

test('a refusal is the answer', async () => {
  const { api, server } = shared();
  api.reply(answers('', { refusal: 'I cannot help with that.' }));
  expect(answerOf(await server.callTool('answer', { query: 'q' }))).toMatchObject({
    answer: 'I cannot help with that.',
    used_search: false,
  });
});

test('a search without any source names web_search', async () => {
  const { api, server } = shared();
  api.reply(answers('Nothing was found.', { search: true }));
  const answer = answerOf(await server.callTool('answer', { query: 'q' }));
  expect(answer.answer).toMatch(/^Nothing was found\.\n\nSources:\n- web_search \(\d{4}-\d{2}-\d{2}\)$/);
  expect(answer).toMatchObject({ used_search: true, citations: [] });
});

test('MAX_CITATIONS limits citations, and source ids keep their place', async () => {
  const { api, server } = await serveWithApi({ env: { MAX_CITATIONS: '2' } });
  const urls = ['https://a.example/', 'https://b.example/', 'https://c.example/'];
  const citations = urls.map((url) => ({ url, title: url }));
  api.reply(answers(urls.join(' '), { citations, sources: [{ name: 'oai-weather' }] }));
  const answer = answerOf(await server.callTool('answer', { query: 'q' }));
  expect(answer.citations.map(({ url }) => url)).toEqual(['https://a.example/', 'oai-weather']);
});

test('writes only MCP to stdout and nothing to stderr in normal operation', async () => {
  const { api, server } = await serveWithApi({
    env: { OPENAI_LOG: 'debug', NODE_ENV: 'development', DEBUG: 'express:*' },
  });
  api.replyAlways(answers('Yes.'));
  await server.initialize();
  await server.request('tools/list');
  expect(textOf(await server.callTool('answer', { query: 'q' }))).toContain('Yes.');
  server.closeStdin();
  await server.exited;
  expect(server.junk).toEqual([]);
  expect(server.messages).toHaveLength(3);
  expect(server.stderr()).toBe('');
});

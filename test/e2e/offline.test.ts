import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answers, fails } from '../support/behaviours.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { API_KEY, answerOf, apiEnv, fakeApi, ROOT, serve } from './serve.ts';

const RECORDINGS = path.join(ROOT, 'build', 'recordings');
const REPLIES = path.join(ROOT, 'test', 'fixtures', 'replies');

const recorded = readdirSync(RECORDINGS).map((name) => {
  const text = readFileSync(path.join(RECORDINGS, name), 'utf8');
  const comment = (key: string) => new RegExp(`^: ${key}: (.*)$`, 'm').exec(text)?.[1] ?? '';
  return [name, comment('tool'), comment('question')] as const;
});

test('every shipped recording is answered by its tool', async () => {
  const server = serve({ args: ['--stdio', '--offline'] });
  const texts = recorded.map(async ([, tool, query]) => answerOf(await server.callTool(tool, { query })).answer);
  expect(recorded.length).toBeGreaterThan(5);
  for (const text of await Promise.all(texts)) expect(text).toMatch(/\S/);
});

test('every tool has a recording with a search, and one question has none', () => {
  expect(new Set(recorded.map(([, tool]) => tool))).toEqual(new Set(['answer', 'answer_detailed', 'answer_quick']));
});

test('questions match in a different spelling', async () => {
  for (const question of [
    '  what does  http 404 MEAN',
    'ＨＴＴＰ　４０４ の意味は',
    '本日 2031-01-01 の東京の天気は？',
  ]) {
    expect(await runCli(['ask', '--offline', question])).toMatchObject({ code: 0 });
  }
});

test.for([
  ['--offline', ['--offline'], {}],
  ['LLM_ADAPTER=offline', [], { LLM_ADAPTER: 'offline' }],
  ['LLM_ADAPTER and LLM_RECORDINGS', [], { LLM_ADAPTER: 'offline', LLM_RECORDINGS: RECORDINGS }],
  ['--offline=folder', [`--offline=${RECORDINGS}`], {}],
] as const)('%s answers from recordings', async ([, options, env]) => {
  const result = await runCli(['ask', ...options, 'What does HTTP 404 mean?'], { env });
  expect(result).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^HTTP 404 means/) });
});

test('YAML answers from recordings, and a relative folder is resolved against the file', async () => {
  const adapter = newFile('config.yaml', 'llm: {adapter: offline}\n');
  expect(await runCli(['ask', '--config', adapter, 'What does HTTP 404 mean?'])).toMatchObject({ code: 0 });

  const file = newFile('config.yaml', 'llm: {adapter: offline, recordings: reply.json}\n');
  const reply = readFileSync(path.join(REPLIES, 'no-search.json'), 'utf8');
  writeFileSync(path.join(path.dirname(file), 'reply.json'), reply);
  expect(await runCli(['ask', '--config', file, 'Whatever'])).toMatchObject({ code: 0 });
});

test('the environment overrides YAML, and the command line the environment', async () => {
  const api = await fakeApi();
  api.replyAlways(answers('From the API.'));
  const config = newFile('config.yaml', 'llm: {adapter: offline}\n');
  const online = await runCli(['ask', '--config', config, 'q'], { env: { ...apiEnv(api), LLM_ADAPTER: 'openai' } });
  expect(online.stdout).toBe('From the API.\n');
  const offline = await runCli(['ask', '--offline', 'What does HTTP 404 mean?'], {
    env: { ...apiEnv(api), LLM_ADAPTER: 'openai' },
  });
  expect(offline.stdout).toMatch(/^HTTP 404 means/);
  expect(api.requests).toHaveLength(1);
});

test.for([
  ['search-with-citations.json', 0],
  ['stream-with-citations.sse', 0],
  ['incomplete-with-text.json', 0],
  ['refusal.json', 0],
  ['error-401-invalid-api-key.json', 1],
  ['status-failed.json', 1],
  ['stream-cut-mid-text.sse', 1],
  ['empty-object.json', 1],
] as const)('--offline=%s answers every question with that reply (exit code %d)', async ([name, exitCode]) => {
  const { code, stdout, stderr } = await runCli(['ask', `--offline=${path.join(REPLIES, name)}`, 'Anything at all?']);
  expect(code).toBe(exitCode);
  expect(exitCode === 0 ? stdout : stderr).toMatch(/\S/);
  expect(exitCode === 0 ? stderr : stdout).toBe('');
});

test.for([['/nowhere'], ['/nowhere/reply.json'], [path.join(ROOT, 'package-lock.txt')]])(
  '--offline=%s, which does not exist, is a problem of the configuration',
  async ([where]) => {
    const { code, stdout, stderr } = await runCli(['ask', `--offline=${where}`, 'q']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/recordings.*ENOENT/);
  },
);

test('--record=folder writes the replies of the API, and --offline=folder answers the same', async () => {
  const api = await fakeApi();
  const folder = path.join(newFolder(), 'new', 'folder');
  const url = 'https://example.com/日本語';
  api.reply(answers(`A cited answer [1](${url}) 🌤`, { citations: [{ url, title: 'Example' }] }));
  const asked = await runCli(['ask', `--record=${folder}`, '--json', '東京の天気は？'], { env: apiEnv(api) });
  expect(asked).toMatchObject({ code: 0, stderr: '' });

  const [name, ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  const recording = readFileSync(path.join(folder, name ?? ''), 'utf8');
  expect(recording).toContain('東京の天気は？');
  expect(recording).not.toContain(API_KEY);
  expect(recording).not.toMatch(/authorization|x-request-id/i);

  const replayed = await runCli(['ask', `--offline=${folder}`, '--json', '東京の天気は'], {});
  const withoutReport = (stdout: string) => {
    const { citations, answer, ...rest } = JSON.parse(stdout) as Record<string, unknown> & { citations: object[] };
    // Offline, the access date is that of the recording.
    const undated = String(answer).replace(/\d{4}-\d{2}-\d{2}/g, 'day');
    return { answer: undated, citations: citations.map((one) => ({ ...one, published_at: 'day' })), model: rest.model };
  };
  expect(withoutReport(replayed.stdout)).toEqual(withoutReport(asked.stdout));
  expect(api.requests).toHaveLength(1);
});

test('a failed reply is not recorded', async () => {
  const api = await fakeApi();
  const folder = newFolder();
  api.reply(fails({ status: 403, error: { message: 'No.', type: 'x', param: null, code: null } }));
  expect(await runCli(['ask', `--record=${folder}`, 'q'], { env: apiEnv(api) })).toMatchObject({ code: 1 });
  expect(readdirSync(folder)).toEqual([]);
});

test('--record and --offline cannot be combined', async () => {
  const { code, stderr } = await runCli(['ask', '--offline', `--record=${newFolder()}`, 'q']);
  expect(code).toBe(1);
  expect(stderr).toContain('llm.record');
});

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
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

// S47
test('every shipped recording is answered by its tool', async () => {
  const server = serve({ args: ['--stdio', '--offline'] });
  const texts = recorded.map(async ([, tool, query]) => answerOf(await server.callTool(tool, { query })).answer);
  expect(recorded.length).toBeGreaterThan(5);
  for (const text of await Promise.all(texts)) expect(text).toMatch(/\S/);
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
  ['error-401-invalid-api-key.json', 1],
] as const)('--offline=%s answers every question with that reply (exit code %d)', async ([name, exitCode]) => {
  const { code, stdout, stderr } = await runCli(['ask', `--offline=${path.join(REPLIES, name)}`, 'Anything at all?']);
  expect(code).toBe(exitCode);
  expect(exitCode === 0 ? stdout : stderr).toMatch(/\S/);
  expect(exitCode === 0 ? stderr : stdout).toBe('');
});

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

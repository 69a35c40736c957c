import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answers } from '../support/behaviours.ts';
import { runCli } from '../support/run-cli.ts';
import { newFolder } from './files.ts';
import { API_KEY, answerOf, apiEnv, fakeApi, ROOT, serve } from './serve.ts';

const RECORDINGS = path.join(ROOT, 'build', 'recordings');

const recorded = readdirSync(RECORDINGS).map((name) => {
  const text = readFileSync(path.join(RECORDINGS, name), 'utf8');
  return ['tool', 'question'].map((key) => new RegExp(`^: ${key}: (.*)$`, 'm').exec(text)?.[1] ?? '');
});

// S47
test('every shipped recording is answered by its tool', async () => {
  const server = serve({ args: ['--stdio', '--offline'] });
  const texts = recorded.map(async ([tool = '', query]) => answerOf(await server.callTool(tool, { query })).answer);
  expect(recorded.length).toBeGreaterThan(5);
  for (const text of await Promise.all(texts)) expect(text).toMatch(/\S/);
});

test('variables choose the folder of the recordings', async () => {
  const env = { LLM_ADAPTER: 'offline', LLM_RECORDINGS: RECORDINGS };
  const result = await runCli(['ask', 'What does HTTP 404 mean?'], { env });
  expect(result).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^HTTP 404 means/) });
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

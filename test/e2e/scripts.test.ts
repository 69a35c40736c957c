import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { answers, stallsMidStream } from '../support/behaviours.ts';
import { runCli } from '../support/run-cli.ts';
import { API_KEY, apiEnv, fakeApi, ROOT } from './serve.ts';

/** Runs a script of this project in an environment without keys. */
const runScript = (name: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  runCli(args, { program: path.join(ROOT, 'scripts', name), env });

test('demo prints answers with sources of every tool', async () => {
  const { code, stdout, stderr } = await runScript('demo.js');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const tool of ['answer,', 'answer_detailed,', 'answer_quick,']) expect(stdout).toContain(`\n${tool} gpt-5`);
  expect(stdout).toContain('本日 2026-11-20 の東京の天気は？');
  expect(stdout).not.toContain('Citations');
  expect(stdout).toMatch(/\nSources:\n- https:\/\/\S+ \(\d{4}-\d{2}-\d{2}\)\n/);
});

test('demo --grounded prints an answer from the web and from the notes of the example server', async () => {
  const { code, stdout, stderr } = await runScript('demo.js', ['--grounded']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/\n\.\.\. Searched: public holidays .*\n/);
  expect(stdout).toMatch(/\n\.\.\. notes\/search_notes: \d+ characters, [\d.]+ m?s\n/);
  expect(stdout).toContain('\n2 rounds, 1 search of the web, calls of own tools: notes/search_notes\n');
  expect(stdout).toContain('deploy on Tuesdays, which is 2026-11-24 next week. [notes/search_notes]\n');
  const [, sources] = /\nSources:\n((?:- .*\n)+)/.exec(stdout) ?? [];
  expect(sources).toBe(
    '- notes/search_notes (2026-11-20)\n- https://www8.cao.go.jp/chosei/shukujitsu/gaiyou.html (2026-11-20)\n',
  );
  // Markers of sources are private-use characters.
  expect(stdout).not.toMatch(/[\uE200-\uE202]/);
});

test('fake-api prints the address of an API that does what the question says', async () => {
  const child = spawn(process.execPath, [path.join(ROOT, 'scripts', 'fake-api.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const [url = ''] = (await once(createInterface(child.stdout), 'line')) as string[];
  const env = { OPENAI_API_KEY: API_KEY, OPENAI_BASE_URL: url, LONG_ANSWERS: 'answer' };
  const { code, stdout } = await runCli(['ask', 'Which way is up?'], { env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('You asked: Which way is up?') });
});

test('demo with an unknown option is bad usage', async () => {
  const { code, stdout, stderr } = await runScript('demo.js', ['--lvie']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toBe('Usage: npm run demo [-- --live | --grounded]\n');
});

test('demo --live without a key reports what is missing', async () => {
  const { code, stdout, stderr } = await runScript('demo.js', ['--live']);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^FAILED: [^\n]*OPENAI_API_KEY[^\n]*\n$/);
});

test('demo --live asks the API', async () => {
  const api = await fakeApi();
  api.replyAlways(answers('A live answer.'));
  const { code, stdout, stderr } = await runScript('demo.js', ['--live'], apiEnv(api));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('A live answer.');
  expect(api.requests.length).toBeGreaterThanOrEqual(3);
  expect(stdout).not.toContain(API_KEY);
});

test.for([[], ['--lines']])('mcp-smoke %j gets every response', async (args) => {
  const { code, stdout, stderr } = await runScript('mcp-smoke.js', args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect([...stdout.matchAll(/^--- (.*)\n\{"jsonrpc":"2\.0","id":\d,"result":/gm)].map(([, title]) => title)).toEqual([
    'initialize',
    'tools/list',
    'tools/call answer',
    'tools/call answer_detailed',
    'tools/call answer_quick',
  ]);
});

test('mcp-smoke --live asks the API, and fails if the API does', async () => {
  const api = await fakeApi();
  api.replyAlways(answers('Yes.'));
  expect(await runScript('mcp-smoke.js', ['--live'], apiEnv(api))).toMatchObject({ code: 0, stderr: '' });
  api.replyAlways(answers(''));
  const failed = await runScript('mcp-smoke.js', ['--live'], apiEnv(api));
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/^FAILED: tools\/call answer: /) });
});

test('mcp-smoke --live skips without a key', async () => {
  const result = await runScript('mcp-smoke.js', ['--live']);
  expect(result).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^Skipped: .*OPENAI_API_KEY/) });
});

test.for([
  ['test-tools-list.js', 'OK: tools/list names answer, answer_detailed, answer_quick (line).'],
  ['test-cancel-noinflight.js', 'OK: cancellations of requests that are not in flight are ignored.'],
  ['test-cancel-during-call.js', 'Skipped: OPENAI_API_KEY is not set, and this script asks the OpenAI API.'],
])('%s passes without a key', async ([name = '', expected]) => {
  const { code, stdout, stderr } = await runScript(name);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`${expected}\n`);
});

// S18
test('test-cancel-during-call passes if a cancelled call gets no response', async () => {
  const api = await fakeApi();
  api.replyAlways(stallsMidStream());
  const passed = await runScript('test-cancel-during-call.js', [], apiEnv(api));
  expect(passed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^OK: the cancelled call/) });
  expect(api.requests).toMatchObject([{ aborted: true }]);
});

test('test-cancel-during-call fails if the call ends before it is cancelled', async () => {
  const api = await fakeApi();
  api.replyAlways(answers('Too fast.'));
  const failed = await runScript('test-cancel-during-call.js', [], apiEnv(api));
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^FAILED: answered before/) });
});

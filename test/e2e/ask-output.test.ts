import { expect, test } from 'vitest';
import { answers, fails } from '../support/behaviours.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile } from './files.ts';
import { apiEnv, fakeApi } from './serve.ts';

const LONG = `${'A long answer. '.repeat(4000)}End.`;

test('the answer of ask is complete, whatever server.max_answer_chars is', async () => {
  const api = await fakeApi();
  api.replyAlways(answers(LONG));
  const config = newFile('config.yaml', 'server: { max_answer_chars: 1000 }\n');
  const { code, stdout } = await runCli(['ask', 'q', '--config', config], { env: apiEnv(api) });
  expect(code).toBe(0);
  expect(stdout).toBe(`${LONG}\n`);
  const json = await runCli(['ask', 'q', '--json', '--config', config], { env: apiEnv(api) });
  expect(JSON.parse(json.stdout)).toMatchObject({ answer: LONG });
});

test('--json prints JSON for a failure, too', async () => {
  const api = await fakeApi();
  const error = { message: 'No.', type: 'x', param: null, code: 'misalignment_policy_violation' };
  api.reply(fails({ status: 403, error }));
  const { code, stdout, stderr } = await runCli(['ask', 'q', '--json'], { env: apiEnv(api) });
  expect(code).toBe(1);
  const printed = JSON.parse(stdout) as { readonly error: { readonly message: string } };
  expect(printed).toEqual({
    error: { kind: 'policy_violation', message: expect.stringMatching(/^OpenAI blocked .* No\./) },
  });
  expect(stderr).toBe(`${printed.error.message}\n`);
});

test('--json prints JSON for a configuration that cannot be used, and for a missing key', async () => {
  const { code, stdout } = await runCli(['ask', 'q', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { kind: 'no_api_key' } });
  const invalid = await runCli(['ask', 'q', '--json'], { env: { TIME_ZONE: 'Mars/Base' } });
  expect(invalid.code).toBe(1);
  const { error } = JSON.parse(invalid.stdout) as { readonly error: { readonly message: string } };
  expect(error).toEqual({ kind: 'configuration', message: expect.stringContaining('TIME_ZONE: got "Mars/Base"') });
  expect(invalid.stderr).toBe(`${error.message}\n`);
});

test('--verbose prints a line for people', async () => {
  const api = await fakeApi();
  api.reply(answers('Sunny.', { citations: [{ url: 'https://a.example/', title: 'A' }] }));
  const { stdout, stderr } = await runCli(['ask', 'q', '--verbose'], { env: apiEnv(api) });
  expect(stdout).toMatch(/^Sunny\./);
  expect(stderr).toMatch(/^\d+\.\d s · gpt-5\.2 · 1 search · 1200 tokens in \(0 cached\), \d+ out\n$/);
});

test.each([
  ['help', /^openai-responses-mcp: /],
  ['version', /^\d+\.\d+\.\d+\n$/],
])('%s is a command', async (command, output) => {
  const { code, stdout, stderr } = await runCli([command]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(output);
  expect((await runCli([`--${command}`])).stdout).toBe(stdout);
});

test('a mistyped command is bad usage, with a suggestion', async () => {
  const { code, stdout, stderr } = await runCli(['docter']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^unknown command "docter"; did you mean doctor\? .*\nTry openai-responses-mcp --help\n$/);
});

import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { answers, fails, neverAnswers } from '../support/behaviours.ts';
import { startCleanProcess } from '../support/clean-process.ts';
import { posixTest } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile } from './files.ts';
import { API_KEY, apiEnv, fakeApi } from './serve.ts';

test('prints only the answer to a pipe, complete, whatever server.max_answer_chars is', async () => {
  const api = await fakeApi();
  const answer = `Canberra. ${'It is the capital. '.repeat(200)}End.`;
  api.reply(answers(answer));
  const config = newFile('config.yaml', 'server: { max_answer_chars: 1000 }\n');
  const args = ['ask', '--config', config, 'What is the capital', 'of Australia?'];
  expect(await runCli(args, { env: apiEnv(api) })).toEqual({
    code: 0,
    signal: null,
    stdout: `${answer}\n`,
    stderr: '',
  });
  expect(String(api.requests[0]?.body.input)).toMatch(/^What is the capital of Australia\?\n/);
});

test.each(['\n', '\uFEFF\r\n '])('reads the question from a pipe, after %j', async (before) => {
  const api = await fakeApi();
  api.reply(answers('Canberra.'));
  const stdin = `${before}What is the capital\nof Australia?\n`;
  expect(await runCli(['ask', '-'], { env: apiEnv(api), stdin })).toMatchObject({ code: 0, stdout: 'Canberra.\n' });
  expect(String(api.requests[0]?.body.input)).toMatch(/^What is the capital\nof Australia\?\n\n\[Search hints\]/);
});

test('a failure is one line on stderr and exit code 1', async () => {
  const api = await fakeApi();
  const message = `Incorrect API key provided: ${API_KEY}.`;
  api.reply(
    fails({ status: 401, error: { message, type: 'invalid_request_error', param: null, code: 'invalid_api_key' } }),
  );
  const { code, stdout, stderr } = await runCli(['ask', 'q'], { env: apiEnv(api) });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^The API rejected the key in OPENAI_API_KEY \(401\)\.[^\n]*\n$/);
  expect(stderr).not.toContain(API_KEY);
});

/**
 * Colors, an eight-bit control sequence, a change of direction, a tag character, and a sequence that sets the
 * terminal's title.
 */
const HOSTILE = 'a\u001B[31mb\u009B7mc\u202Ed\u{E0041}e\u001B]0;f\u0007';
const HARMLESS = /^[\n·\u0020-\u007E]*$/;

const HOSTILE_ANSWER = {
  object: 'response',
  id: HOSTILE,
  status: 'incomplete',
  incomplete_details: { reason: HOSTILE },
  model: HOSTILE,
  output: [
    { type: 'web_search_call', status: 'completed', action: { type: 'search', query: HOSTILE, queries: [HOSTILE] } },
    { type: 'web_search_call', status: 'completed', action: { type: 'open_page', url: `https://a.com/${HOSTILE}` } },
    {
      type: 'message',
      content: [
        {
          type: 'output_text',
          text: HOSTILE,
          annotations: [{ type: 'url_citation', url: `https://a.com/${HOSTILE}`, title: HOSTILE }],
        },
      ],
    },
  ],
};
const HOSTILE_ERROR = { error: { message: HOSTILE, type: HOSTILE, code: HOSTILE, param: HOSTILE } };

test.for([
  ['an answer', HOSTILE_ANSWER, ['--verbose', '--debug']],
  ['an error', HOSTILE_ERROR, ['--json']],
] as const)('%s cannot control the terminal', async ([, reply, options]) => {
  const file = newFile('reply.json', JSON.stringify(reply));
  const { stdout, stderr } = await runCli(['ask', `--offline=${file}`, ...options, 'q']);
  expect(stdout + stderr).toContain('ab');
  expect(stdout + stderr).toMatch(HARMLESS);
});

test('--json prints JSON also for a configuration that cannot be used', async () => {
  const { code, stdout, stderr } = await runCli(['ask', 'q', '--json'], { env: { TIME_ZONE: 'Mars/Base' } });
  expect(code).toBe(1);
  const { error } = JSON.parse(stdout) as { readonly error: { readonly message: string } };
  expect(error).toMatchObject({
    code: 'CONFIGURATION_ERROR',
    message: expect.stringContaining('TIME_ZONE: got "Mars/Base"'),
  });
  expect(stderr).toBe(`${error.message}\n`);
});

posixTest('signals')('SIGTERM aborts the request upstream and has exit code 130', async () => {
  const api = await fakeApi();
  api.replyAlways(neverAnswers());
  const { child, exited, removeHome } = startCleanProcess(['ask', 'q'], { env: apiEnv(api), timeoutMs: 150_000 });
  onTestFinished(removeHome);
  await api.waitForRequests(1);
  child.kill('SIGTERM');
  await api.waitForAbort(0);
  expect(await exited).toEqual({ code: 130, signal: null });
  expect(await text(child.stdout)).toBe('');
  expect(await text(child.stderr)).not.toMatch(/^\s+at /m);
});

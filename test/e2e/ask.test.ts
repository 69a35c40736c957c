import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { answers, fails, neverAnswers } from '../support/behaviours.ts';
import { startCleanProcess } from '../support/clean-process.ts';
import { posixTest } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { API_KEY, apiEnv, BUILT_PROGRAM, fakeApi } from './serve.ts';

test('prints only the answer to a pipe', async () => {
  const api = await fakeApi();
  api.reply(answers('Canberra.'));
  const result = await runCli(['ask', 'What is the capital', 'of Australia?'], { env: apiEnv(api) });
  expect(result).toEqual({ code: 0, signal: null, stdout: 'Canberra.\n', stderr: '' });
  expect(String(api.requests[0]?.body.input)).toMatch(/^What is the capital of Australia\?\n/);
});

test('loads neither HTTP/2 nor the undici of Node.js, which take longer than the rest, nor the table of widths', async () => {
  const api = await fakeApi();
  api.reply(answers('Canberra.'));
  const list =
    "process.on('exit', () => console.error([...process.moduleLoadList, ...Object.keys(require.cache)].join('\\n')))";
  const file = newFile('list.cjs', list);
  const { code, stderr } = await runCli(['ask', 'q'], { env: { ...apiEnv(api), NODE_OPTIONS: `--require=${file}` } });
  expect(code).toBe(0);
  expect(stderr).toMatch(/NativeModule net\n[\s\S]*undici-parts/);
  expect(stderr).not.toMatch(/deps\/undici|http2|terminal-cells/);
});

test.for([
  ['ask -', ['ask', '-']],
  ['ask without a question', ['ask']],
  ['ask with only options', ['ask', '--tool', 'answer']],
] as const)('%s reads the question from a pipe', async ([, args]) => {
  const api = await fakeApi();
  api.reply(answers('Canberra.'));
  const stdin = '\nWhat is the capital\nof Australia?\n';
  expect(await runCli(args, { env: apiEnv(api), stdin })).toMatchObject({ code: 0, stdout: 'Canberra.\n', stderr: '' });
  expect(String(api.requests[0]?.body.input)).toMatch(/^What is the capital\nof Australia\?\n\n\[Search hints\]/);
});

test.for([
  ['an empty input', ''],
  ['an input of spaces', ' \n'],
] as const)('%s instead of a question is bad usage', async ([, stdin]) => {
  const api = await fakeApi();
  for (const args of [['ask'], ['ask', '-']]) {
    const { code, stdout, stderr } = await runCli(args, { env: apiEnv(api), stdin });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^ask needs a question: .*"your question"\nTry openai-responses-mcp --help\n$/);
  }
  expect(api.requests).toEqual([]);
});

posixTest('signals')('Ctrl-C ends a question that is not complete yet', async () => {
  const { child, exited, removeHome } = startCleanProcess(['ask', '--offline', '-'], { timeoutMs: 30_000 });
  onTestFinished(removeHome);
  // More than the buffers on the way: it drains when the program reads it.
  child.stdin.write('What does '.repeat(200_000));
  await once(child.stdin, 'drain');
  child.kill('SIGINT');
  expect(await exited).toMatchObject({ code: 130 });
});

test('a question in the place of the folder of --record is bad usage', async () => {
  const { code, stdout, stderr } = await runCli(['ask', '--record', 'What is the capital of Australia?']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^--record needs a folder: --record=<folder>\n/);
});

posixTest('shell')('a slow reader gets all of a long answer', () => {
  const length = 600_000;
  const reply = newFile('long.json', JSON.stringify(responseWith('x'.repeat(length))));
  const config = newFile('config.yaml', 'server: { max_answer_chars: 2000000 }\n');
  // Far longer than the program waits for the readers of other output.
  const script =
    '{ "$0" "$1" ask "--offline=$2" --config "$3" "Write a long text."; echo "exit $?" >&2; } | { sleep 1.5; wc -c; }';
  const { stdout, stderr } = spawnSync('sh', ['-c', script, process.execPath, BUILT_PROGRAM, reply, config], {
    env: { PATH: process.env.PATH, HOME: newFolder() },
    encoding: 'utf8',
  });
  expect({ bytes: Number(stdout), stderr }).toEqual({ bytes: length + '\n'.length, stderr: 'exit 0\n' });
});

/** A complete response of the API, not streamed. */
function responseWith(text: string): object {
  const content = [{ type: 'output_text', text, annotations: [] }];
  return { object: 'response', status: 'completed', output: [{ type: 'message', role: 'assistant', content }] };
}

test('uses the named tool', async () => {
  const api = await fakeApi();
  api.replyAlways(answers('Canberra.'));
  const config = { MODEL_ANSWER: 'gpt-5.1' };
  const { code } = await runCli(['ask', '--tool', 'answer_quick', 'q'], { env: { ...apiEnv(api), ...config } });
  expect(code).toBe(0);
  expect(api.requests[0]?.body.model).toBe('gpt-5.1');
});

test('--json prints the output contract', async () => {
  const { code, stdout, stderr } = await runCli(['ask', '--offline', '--json', 'What does HTTP 404 mean?']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    answer: expect.stringContaining('Not Found'),
    used_search: false,
    citations: [],
    model: 'gpt-5.2',
  });
});

test('--verbose prints the report on stderr', async () => {
  const { stdout, stderr } = await runCli(['ask', '--offline', '--verbose', 'What does HTTP 404 mean?']);
  expect(stdout).toMatch(/^HTTP 404/);
  expect(stderr).toMatch(/^\d+\.\d s · /);
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
  ['an answer', HOSTILE_ANSWER],
  ['a failed response', { ...HOSTILE_ANSWER, status: 'failed', error: { code: HOSTILE, message: HOSTILE } }],
  ['an unknown status', { ...HOSTILE_ANSWER, status: HOSTILE, incomplete_details: null }],
  ['an error', HOSTILE_ERROR],
  ['no answer', HOSTILE],
] as const)('%s cannot control the terminal', async ([, reply]) => {
  const file = newFile('reply.json', typeof reply === 'string' ? reply : JSON.stringify(reply));
  for (const args of [['--json'], ['--verbose', '--debug']]) {
    const { stdout, stderr } = await runCli(['ask', `--offline=${file}`, ...args, 'q']);
    expect(stdout + stderr).toContain('ab');
    expect(stdout + stderr).toMatch(HARMLESS);
  }
});

test('a missing key is a failure, and so is a question that is not recorded', async () => {
  expect(await runCli(['ask', 'q'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^No API key/),
  });
  const offline = await runCli(['ask', '--offline', 'What is love?']);
  expect(offline).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^No recording matches this question[\s\S]*What does HTTP 404 mean\?/),
  });
});

test('an invalid configuration has exit code 1 as well', async () => {
  const { code, stdout, stderr } = await runCli(['ask', 'q'], { env: { MAX_CITATIONS: '0' } });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('MAX_CITATIONS: got "0"');
});

posixTest('signals').for([['SIGINT'], ['SIGTERM']] as const)(
  '%s aborts the request upstream and has exit code 130',
  async ([signal]) => {
    const api = await fakeApi();
    api.replyAlways(neverAnswers());
    const { child, exited, removeHome } = startCleanProcess(['ask', 'q'], { env: apiEnv(api), timeoutMs: 30_000 });
    onTestFinished(removeHome);
    await api.waitForRequests(1);
    child.kill(signal);
    await api.waitForAbort(0);
    expect(await exited).toEqual({ code: 130, signal: null });
    expect(await text(child.stdout)).toBe('');
    expect(await text(child.stderr)).not.toMatch(/^\s+at /m);
  },
);

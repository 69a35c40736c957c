import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { HOME_VARIABLE, posixTest } from '../support/platform.ts';
import { runCli } from '../support/run-cli.ts';
import { newFile, newFolder } from './files.ts';
import { API_KEY, answerOf, BUILT_PROGRAM, ROOT, serve } from './serve.ts';

const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
const PONG = '{"jsonrpc":"2.0","id":1,"result":{}}\n';

test('--version prints the version of the package', async () => {
  expect(await runCli(['--version'])).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' });
});

test.for([
  [['docter'], '--help'],
  [['ask'], 'ask --help'],
] as const)('%j is bad usage: exit code 2, one line, and how to get help: %s', async ([args, help]) => {
  const { code, stdout, stderr } = await runCli(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  const [problem, ...rest] = stderr.split('\n');
  expect(problem).toMatch(/^\S/);
  expect(rest).toEqual([`Try node ${BUILT_PROGRAM} ${help}`, '']);
});

// S1
test('without a mode, it serves its standard input, until that ends', async () => {
  expect(await runCli([], { stdin: PING })).toEqual({ code: 0, signal: null, stdout: PONG, stderr: '' });
});

test('--show-config prints only JSON, on stderr, without the key', async () => {
  const config = newFile('config.yaml', 'policy: {max_citations: 5}\nsearch: {defaults: {domains: [jma.go.jp]}}\n');
  const { code, stdout, stderr } = await runCli(['--show-config', '--config', config], {
    env: {
      OPENAI_API_KEY: API_KEY,
      MODEL_ANSWER: 'gpt-5.1',
      MAX_CITATIONS: '7',
      ANSWER_EFFORT: '',
      MCP_TOOL_ERROR: 'x',
    },
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  const shown = JSON.parse(stderr) as { sources: { env: string[] }; effective: unknown };
  expect(shown).toMatchObject({
    version,
    sources: { ts_defaults: true, yaml: config, cli: ['--config'] },
    effective: {
      request: { timeout_ms: 300_000, max_retries: 3 },
      model_profiles: { answer: { model: 'gpt-5.1', reasoning_effort: 'medium', verbosity: 'medium' } },
      policy: { max_citations: 7 },
      search: { defaults: { recency_days: 60, max_results: 5, domains: ['jma.go.jp'] } },
    },
  });
  expect(shown.sources.env.toSorted()).toEqual(['MAX_CITATIONS', 'MODEL_ANSWER', 'OPENAI_API_KEY']);
  expect(stderr).not.toContain(API_KEY.slice(0, 12));
});

test.for([
  ['--show-config', '', ['--show-config']],
  ['server.show_config_on_start', 'server: {show_config_on_start: true}\n', []],
] as const)('%s with --stdio prints and serves', async ([, yaml, options]) => {
  const config = newFile('config.yaml', yaml);
  const { code, stdout, stderr } = await runCli(['--stdio', '--config', config, ...options], { stdin: PING });
  expect({ code, stdout }).toEqual({ code: 0, stdout: PONG });
  expect(JSON.parse(stderr)).toMatchObject({ version });
});

test('all problems of the configuration are reported together, with exit code 1 and no stack trace', async () => {
  const yaml = 'policy: {max_citations: 11}\nopenai: {api_key: sk-proj-InTheWrongPlace123}\n';
  const config = newFile('config.yaml', yaml);
  const env = { MAX_CITATIONS: 'many' };
  const { code, stdout, stderr } = await runCli(['--stdio', '--config', config], { env, stdin: PING });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.trimEnd().split('\n').toSorted()).toEqual([
    expect.stringMatching(/^ {2}MAX_CITATIONS: got "many"/),
    expect.stringMatching(/^ {2}openai\.api_key: .*no API key.* \(in .*config\.yaml\)$/),
    expect.stringMatching(/^ {2}policy\.max_citations: got "11", expected an integer from 1 to 10 /),
    'The configuration has 3 problems:',
  ]);
  expect(stderr).not.toContain('InTheWrongPlace');
});

test('reads the default path, if the file exists', async () => {
  const home = newFolder();
  const folder = path.join(home, '.config', 'openai-responses-mcp');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'config.yaml'), 'llm: {adapter: offline}\n');
  const server = serve({ env: { [HOME_VARIABLE]: home } });
  expect(answerOf(await server.callTool('answer', { query: 'HTTP 404 の意味は？' })).used_search).toBe(false);
});

test('without a home folder it starts, and lists its tools', ({ skip }) => {
  skip(process.getuid?.() !== 0, 'only root can start a process of another user, such as one without a home folder');
  const unknownUser = 12_345;
  const { status, stdout, stderr } = spawnSync(process.execPath, [BUILT_PROGRAM, '--stdio'], {
    uid: unknownUser,
    gid: unknownUser,
    cwd: '/',
    env: { PATH: process.env.PATH },
    input: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(stdout).result.tools).toHaveLength(3);
});

const FULL_DISK = '/dev/full';

test('a command fails with a message if its output cannot be written', async ({ skip }) => {
  skip(!existsSync(FULL_DISK), `this system has no ${FULL_DISK}`);
  const script = `"$0" "$1" ask --offline "What does HTTP 404 mean?" >${FULL_DISK}`;
  const env = { PATH: process.env.PATH, [HOME_VARIABLE]: newFolder() };
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, BUILT_PROGRAM], { env });
  expect({ status, stderr: String(stderr) }).toEqual({
    status: 1,
    stderr: 'Cannot write to standard output (ENOSPC); the output is lost. Redirect it elsewhere.\n',
  });
});

posixTest('shell')('a reader that stops early is not a failure', () => {
  const script = '{ "$0" "$1" --help; echo "exit $?" >&2; } | true';
  const { stderr } = spawnSync('sh', ['-c', script, process.execPath, BUILT_PROGRAM]);
  expect(String(stderr)).toBe('exit 0\n');
});

test('--record without a folder, and --port, say what is written instead', async () => {
  const noFolder = await runCli(['ask', '--record', 'a question']);
  expect(noFolder.code).toBe(2);
  expect(noFolder.stderr).toMatch(/^--record needs a folder before the question: .*ask --record=<folder> "question"\n/);
  const port = await runCli(['--port', '4000']);
  expect(port.stderr).toMatch(/^unknown option --port; give the address to --http, such as --http=127\.0\.0\.1:4000\n/);
});

test.each([
  ['json', 'use it with --servers '],
  ['yaml', 'write its servers as JSON for --servers, or as a list under servers here'],
])('--config with servers of another client in .%s says how they are used', async (ending, advice) => {
  const file = newFile(`servers.${ending}`, JSON.stringify({ mcpServers: { a: { command: 'a' } } }));
  const { stderr } = await runCli(['--http', '--config', file]);
  expect(stderr).toContain(`it is a file of another client; ${advice}`);
});

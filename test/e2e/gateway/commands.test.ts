import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli, startServer } from '../../support/mcp-process.ts';
import { posixTest } from '../../support/platform.ts';
import { isRunning } from '../../support/process-tree.ts';
import { newFile, newFolder } from '../files.ts';
import { configure } from './servers.ts';

describe('tools', () => {
  test('lists servers, states and tools, and leaves no process', async () => {
    const broken = { name: 'broken', command: 'no-such-command-a1b2' };
    const { config, started } = configure(['one', 'two']);
    const file = newFile('more.json', JSON.stringify({ mcpServers: { broken } }));
    const { code, stdout, stderr } = await runCli(['tools', '--config', config, '--servers', file]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines.slice(0, 3)).toEqual(['one: available (stdio)', '  echo: Says it again.', '  sum']);
    expect(lines[12]).toBe('two: available (stdio)');
    expect(lines[24]).toMatch(/^broken: failed \(stdio\): .*no-such-command-a1b2/);
    expect(started()).toHaveLength(2);
    expect(started().filter(isRunning)).toEqual([]);
  });

  test('--json prints them as JSON', async () => {
    const { config } = configure(['one']);
    const { code, stdout, stderr } = await runCli(['tools', '--json', '--config', config]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ name: 'one', state: 'available', tools: 11, serverInfo: { name: 'stdio-server' } }],
      tools: [{ server: 'one', name: 'echo', title: 'Echo' }, ...Array.from({ length: 10 }, () => ({ server: 'one' }))],
    });
  });
});

describe('call', () => {
  const INPUT = '{"message": "日本語"}';

  test.each([
    ['argument', () => INPUT, ''],
    ['file', () => `@${newFile('input.json', `\uFEFF${INPUT}`)}`, ''],
    ['standard input', () => '-', INPUT],
  ])('takes the input from the %s, and starts only its server', async (_, toWord, stdin) => {
    const { config, started } = configure(['one', 'two']);
    const word = toWord();
    expect(await runCli(['call', 'one', 'echo', word, '--config', config], { stdin })).toEqual({
      code: 0,
      signal: null,
      stdout: '日本語\n',
      stderr: '',
    });
    expect(started()).toHaveLength(1);
    expect(started().filter(isRunning)).toEqual([]);
  });

  test('prints only the result: no progress without a terminal', async () => {
    const { config } = configure(['one']);
    const { stdout, stderr } = await runCli(['call', 'one', 'steps', '--config', config]);
    expect({ stdout, stderr }).toEqual({ stdout: 'Done.\n', stderr: '' });
    const sum = await runCli(['call', 'one', 'sum', '{"a":1,"b":2}', '--config', config]);
    expect(JSON.parse(sum.stdout)).toEqual({ sum: 3 });
  });

  test.each<readonly [string, readonly string[], number, RegExp]>([
    ['an error of the tool', ['one', 'fail'], 1, /^It did not work\.\n$/],
    ['an error of the server', ['one', 'refuse'], 1, /^Not today\n$/],
    [
      'a crash',
      ['one', 'exit'],
      1,
      /^The server was lost during the call \(It was asked to exit\. \(exited with code 3\)\)\./,
    ],
    ['an unknown tool', ['one', 'none'], 1, /^The server one has no tool "none"\. Its tools are echo, /],
    [
      'a wrong input',
      ['one', 'echo', '{}'],
      1,
      /^The input does not match the tool's schema: \/message is required\.\n$/,
    ],
    [
      'a server that cannot start',
      ['broken', 'echo'],
      1,
      /^The server broken is not available: .*no-such-command-a1b2/,
    ],
  ])('fails on %s', async (_, words, code, message) => {
    const { config, started } = configure(['one', 'broken'], { last: { command: 'no-such-command-a1b2' } });
    const ended = await runCli(['call', ...words, '--config', config]);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: '' });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(started().filter(isRunning)).toEqual([]);
  });

  test.each<readonly [string, readonly string[], RegExp]>([
    ['an unknown server', ['files', 'echo'], /^There is no server "files"\. The servers are one\.\n$/],
    ['a mistyped server', ['oen', 'echo'], /^There is no server "oen"\. Did you mean one\?\n$/],
    [
      'a file that does not exist',
      ['one', 'echo', '@none.json'],
      /^The file none\.json cannot be read \(ENOENT\)\.\n$/,
    ],
    ['an input that is not JSON', ['one', 'echo', 'hello'], /^The input must be a JSON object, such as /],
    ['an input that is not an object', ['one', 'echo', '[1]'], /^The input must be a JSON object, such as /],
    ['nothing on standard input', ['one', 'echo', '-'], /^The input must be a JSON object, such as /],
  ])('refuses %s, and starts nothing', async (_, words, message) => {
    const { config, started } = configure(['one']);
    const { code, stdout, stderr } = await runCli(['call', ...words, '--config', config]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(started()).toEqual([]);
  });

  posixTest('signals')('ends with 130 and leaves no process after Ctrl-C', async () => {
    const { config, started } = configure(['one']);
    const running = startServer({ args: ['call', 'one', 'wait', '--debug', '--config', config] });
    await expect.poll(() => running.stderr(), { timeout: 15_000 }).toContain('started');
    running.kill('SIGINT');
    expect(await running.exited).toEqual({ code: 130, signal: null });
    expect(started()).toHaveLength(1);
    expect(started().filter(isRunning)).toEqual([]);
    await running.dispose();
  });
});

test('with debug the commands log what happens to servers', async () => {
  const { config } = configure(['one'], { over: { command: 'no-such-command-a1b2' } });
  const { stderr } = await runCli(['tools', '--debug', '--config', config]);
  expect(stderr).toMatch(/DEBUG gateway: one failed and is not started again: .*no-such-command-a1b2/);
  expect(stderr).not.toContain('WARN');
});

test('doctor checks the servers', async () => {
  const { config, started } = configure(['one', 'broken'], { last: { command: 'no-such-command-a1b2' } });
  const { code, stdout, stderr } = await runCli(['doctor', '--offline', '--config', config]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(
    /^ok {4}server one: 11 tools \(stdio\)\nFAIL {2}server broken: failed: .*no-such-command-a1b2/m,
  );
  expect(started().filter(isRunning)).toEqual([]);
});

describe('the configuration', () => {
  test('is shown without the values of envs and headers', async () => {
    const { config } = configure(['one'], { over: { envs: { TOKEN: 'hunter2secret' } } });
    const folder = newFolder();
    writeFileSync(
      path.join(folder, 'servers.json'),
      '{"mcpServers": {"web": {"url": "https://a.example", "headers": {"X-Key": "hunter2secret"}}}}',
    );
    const { code, stderr } = await runCli(['--show-config', '--config', config, '--servers', 'servers.json'], {
      cwd: folder,
    });
    expect(code).toBe(0);
    const { effective, sources } = JSON.parse(stderr) as Record<string, Record<string, unknown>>;
    expect(effective?.servers).toMatchObject([
      { name: 'one', command: process.execPath, envs: { TOKEN: '[redacted]' } },
      { name: 'web', url: 'https://a.example', headers: { 'X-Key': '[redacted]' } },
    ]);
    expect(sources?.cli).toEqual(['--config', '--servers']);
    expect(stderr).not.toContain('hunter2secret');
  });

  test('with problems ends the program with all of them', async () => {
    const config = newFile(
      'config.yaml',
      `servers: [{name: a b, command: x}, {name: web, url: "http://a.example", headers: {A: "\${NONE}"}}]\n`,
    );
    const { code, stdout, stderr } = await runCli(['--http', '--config', config]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      'The configuration has 3 problems:',
      expect.stringMatching(/^ {2}servers\[0\]\.name: got "a b", expected a name .* \(in .*config\.yaml\)$/),
      expect.stringMatching(/^ {2}servers\[1\]\.url: got "http:\/\/a\.example", expected https:\/\//),
      expect.stringMatching(/^ {2}servers\[1\]\.headers\.A: the environment variable NONE is not set/),
      '',
    ]);
  });
});

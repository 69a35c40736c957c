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
});

test('tools <server> <tool> shows the parameters of a tool, and starts only its server', async () => {
  const { config, started } = configure(['one', 'two']);
  const { code, stdout, stderr } = await runCli(['tools', 'two', 'echo', '--config', config]);
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: 'two/echo: Says it again.\n  message (any, required)\n',
    stderr: '',
  });
  expect(started()).toHaveLength(1);
  const unknown = await runCli(['tools', 'tow', '--config', config]);
  expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: 'There is no server "tow". Did you mean two?\n' });
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
    const json = await runCli(['call', 'one', 'fail', '--json', '--config', config]);
    expect(json).toMatchObject({ code: 1, stderr: 'It did not work.\n' });
    expect(JSON.parse(json.stdout)).toMatchObject({
      error: { code: 'TOOL_EXECUTION_ERROR', message: 'It did not work.' },
    });
  });

  test.each<readonly [string, readonly string[], number, RegExp]>([
    ['an error of the tool', ['one', 'fail'], 1, /^It did not work\.\n$/],
    [
      'a crash',
      ['one', 'exit'],
      1,
      /^The server was lost during the call \(exited with code 3: It was asked to exit\.\)\./,
    ],
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

  posixTest('signals')('ends with 130 and leaves no process after Ctrl-C', async () => {
    const { config, started } = configure(['one']);
    const running = startServer({ args: ['call', 'one', 'wait', '--debug', '--config', config] });
    await expect.poll(() => running.stderr()).toContain('started');
    running.kill('SIGINT');
    expect(await running.exited).toEqual({ code: 130, signal: null });
    expect(started()).toHaveLength(1);
    expect(started().filter(isRunning)).toEqual([]);
    await running.dispose();
  });
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
});

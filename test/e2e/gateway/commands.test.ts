import { expect, test } from 'vitest';
import { runCli, startServer } from '../../support/mcp-process.ts';
import { posixTest } from '../../support/platform.ts';
import { isRunning } from '../../support/process-tree.ts';
import { newFile } from '../files.ts';
import { BUILT_PROGRAM } from '../serve.ts';
import { configure } from './servers.ts';

test('tools lists servers, states and tools, and leaves no process', async () => {
  const broken = { command: 'no-such-command-a1b2' };
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

test('tools <server> <tool> shows the parameters of a tool, and starts only its server', async () => {
  const { config, started } = configure(['one', 'two']);
  const { code, stdout, stderr } = await runCli(['tools', 'two', 'echo', '--config', config]);
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: `two/echo: Says it again.
  message (string, required): What to say
It declares that it only reads.
Call it with: node ${BUILT_PROGRAM} call two echo '{"message":""}' --config ${config}
`,
    stderr: '',
  });
  expect(started()).toHaveLength(1);
});

const INPUT = '{"message": "日本語"}';

test.each([
  ['argument', () => INPUT, ''],
  ['file', () => `@${newFile('input.json', `\uFEFF${INPUT}`)}`, ''],
  ['standard input', () => '-', INPUT],
  ['standard input after a byte order mark', () => '-', `\uFEFF\r\n ${INPUT}\r\n`],
])('call takes the input from the %s, and starts only its server', async (_, toWord, stdin) => {
  const { config, started } = configure(['one', 'two']);
  expect(await runCli(['call', 'one', 'echo', toWord(), '--config', config], { stdin })).toEqual({
    code: 0,
    signal: null,
    stdout: '日本語\n',
    stderr: '',
  });
  expect(started()).toHaveLength(1);
  expect(started().filter(isRunning)).toEqual([]);
});

test('call fails with one line', async () => {
  const { config, started } = configure(['one']);
  const failed = await runCli(['call', 'one', 'fail', '--config', config]);
  expect(failed).toMatchObject({ code: 1, stdout: '', stderr: 'It did not work.\n' });
  expect(started().filter(isRunning)).toEqual([]);
});

posixTest('signals')('after Ctrl-C, call ends with 130 and leaves no process', async () => {
  const { config, started } = configure(['one']);
  const running = startServer({ args: ['call', 'one', 'wait', '--debug', '--config', config] });
  await expect.poll(() => running.stderr()).toContain('started');
  running.kill('SIGINT');
  expect(await running.exited).toEqual({ code: 130, signal: null });
  expect(started()).toHaveLength(1);
  expect(started().filter(isRunning)).toEqual([]);
  await running.dispose();
});

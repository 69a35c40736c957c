import { describe, expect, test } from 'vitest';
import { helpTopic, parseCommandLine } from '../../../../../src/adapters/inbound/cli/command-line.ts';
import { COMMAND_NAMES, COMMANDS } from '../../../../../src/adapters/inbound/cli/command-table.ts';
import { usage, usageOf } from '../../../../../src/adapters/inbound/cli/usage.ts';

const NAMED = [
  ...[
    '--stdio',
    '--http',
    'ask',
    'check',
    'doctor',
    'tools',
    'call',
    'login',
    'logins',
    'logout',
    'token',
    'help,',
    '--show-config',
  ],
  ...['--config', '--offline', '--record', '--servers', '--expose', '--debug', '--json', '--tool', '--fresh', '--lock'],
  ...[
    '--diff',
    '--strict',
    '--ignore',
    '--private',
    '--timeout',
    '--save',
    '--url',
    '--token-env',
    '--no-input',
    '--verbose',
    '--no-browser',
    '--caller',
    '--check',
    'openai-responses-mcp',
  ],
];

const USAGE = usage();

describe('help', () => {
  test('lists every mode, command and option once', () => {
    const names = [...USAGE.matchAll(/^ {2}(\S[^\s[=]*)/gm)].map(([, name]) => name);
    expect(names.filter((name, at) => name !== names[at - 1])).toEqual(NAMED);
  });

  test('fits in 80 columns', () => {
    expect(USAGE.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('has examples that can be parsed, and the exit codes', () => {
    const examples = /\nExamples:\n((?: {2}.*\n)+)/.exec(USAGE)?.[1]?.trimEnd().split('\n') ?? [];
    expect(examples.length).toBeGreaterThan(1);
    for (const example of examples) {
      const argv = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
      expect(argv[0]).toBe('openai-responses-mcp');
      expect(parseCommandLine(argv.slice(1), false).kind).not.toBe('bad-usage');
    }
    expect(USAGE).toMatch(/\nExit codes: 0 .*, 1 .*, 2 .*, 3 .*,\n130 /);
  });
});

describe.each(COMMAND_NAMES)('the help of %s', (command) => {
  const lines = usageOf(command).split('\n');

  test('has at most 25 lines of 80 columns, its usage first, and every option that it takes', () => {
    expect(lines.length).toBeLessThanOrEqual(25);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines[0]).toMatch(new RegExp(`^Usage: openai-responses-mcp ${command}\\b`));
    const names = [...usageOf(command).matchAll(/^ {2}--([\w-]+)/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual([...COMMANDS[command].options].sort());
  });

  test('has an example that can be parsed', () => {
    const [, example = ''] = /^Example: openai-responses-mcp (.*)$/m.exec(usageOf(command)) ?? [];
    const argv = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
    expect(parseCommandLine(argv, false)).toMatchObject({ kind: command });
  });

  test('is what --help and help print', () => {
    for (const argv of [
      [command, '--help'],
      ['help', command],
      ['-h', command],
    ])
      expect(helpTopic(argv)).toBe(command);
  });
});

test('an option that means different things with two commands has the help of the one that is asked for', () => {
  expect(usageOf('call')).toMatch(/--timeout=<seconds> +time limit, in place of that of the server\n/);
  expect(usageOf('check')).toMatch(/--timeout=<seconds> +time limit of each page, in place of 10\n/);
});

test('help without a command is the help of the program', () => {
  for (const argv of [['--help'], ['help'], ['--http', '--help'], ['help', 'other']])
    expect(helpTopic(argv)).toBe(undefined);
});

import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../../../../src/adapters/inbound/cli/command-line.ts';
import { usage } from '../../../../../src/adapters/inbound/cli/usage.ts';

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
    '--verbose',
    '--no-browser',
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
    expect(USAGE).toMatch(/\nExit codes: 0 .*, 1 .*, 2 .*, 130 /);
  });
});

import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../../../../src/adapters/inbound/cli/command-line.ts';
import { USAGE } from '../../../../../src/adapters/inbound/cli/usage.ts';

const problemOf = (...argv: readonly string[]) => {
  const command = parseCommandLine(argv, false);
  return command.kind === 'bad-usage' ? command.problem : expect.fail(`${argv} is ${command.kind}`);
};

describe('help', () => {
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

describe('what is mistyped', () => {
  test.each([
    ['Ask', 'ask'],
    ['docter', 'doctor'],
    ['versoin', 'version'],
  ])('the command %s: did you mean %s?', (word, command) => {
    expect(problemOf(word)).toContain(`unknown command "${word}"; did you mean ${command}? `);
  });

  test.each([
    ['--confg=x', 'config'],
    ['--HTTP', 'http'],
    ['--show-confg', 'show-config'],
  ])('the option %s: did you mean --%s?', (option, name) => {
    expect(problemOf('ask', 'q', option)).toBe(`unknown option ${option.split('=')[0]}; did you mean --${name}?`);
  });
});

test.each([
  ['config', 'a path: --config=<path>'],
  ['record', 'a folder: --record=<folder>'],
  ['servers', 'a path: --servers=<path>'],
  ['tool', 'a tool: --tool=answer|answer_detailed|answer_quick'],
])('--%s requires a value, and says so', (name, required) => {
  for (const argv of [[`--${name}`], [`--${name}=`], [`--${name}`, '--stdio']])
    expect(problemOf('ask', 'q', ...argv)).toBe(`--${name} needs ${required}`);
});

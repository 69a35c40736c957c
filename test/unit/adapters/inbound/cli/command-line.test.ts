import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../../../../src/adapters/inbound/cli/command-line.ts';
import { COMMAND_NAMES } from '../../../../../src/adapters/inbound/cli/command-table.ts';

const TERMINAL = true;
const parse = (...argv: readonly string[]) => parseCommandLine(argv, !TERMINAL);

const asked = (question: string, over: object = {}) => ({
  kind: 'ask',
  tool: 'answer',
  question,
  json: false,
  verbose: false,
  options: {},
  ...over,
});

describe('the mode', () => {
  test.each([
    [[], TERMINAL, { kind: 'help' }],
    [[], !TERMINAL, { kind: 'serve', showConfig: false, options: {} }],
    [['--stdio'], TERMINAL, { kind: 'serve', showConfig: false, options: {} }],
    [['--show-config'], !TERMINAL, { kind: 'show-config', options: {} }],
    [['--show-config', '--stdio'], !TERMINAL, { kind: 'serve', showConfig: true, options: {} }],
    [['--http=:3917'], TERMINAL, { kind: 'serve-http', showConfig: false, options: { '--http': ':3917' } }],
  ])('of %j on a terminal (%s)', (argv, isTerminal, command) => {
    expect(parseCommandLine(argv, isTerminal)).toEqual(command);
  });

  test('help of an unknown command says so', () => {
    expect(parse('help', 'cal')).toMatchObject({
      kind: 'bad-usage',
      problem: 'unknown command "cal"; did you mean call?',
    });
  });

  test.each([['--help'], ['-h'], ['help'], ['help', 'ask'], ['--stdio', '--help'], ['ask', '-h']])(
    '%s %s is help',
    (...argv) => {
      expect(parse(...argv)).toEqual({ kind: 'help' });
    },
  );

  test.each([['--version'], ['-v'], ['version'], ['--stdio', '--version']])('%s %s is the version', (...argv) => {
    expect(parse(...argv)).toEqual({ kind: 'version' });
  });
});

const login = { kind: 'login', server: 'notes', noBrowser: false, options: {} };
const tools = { kind: 'tools', json: false, options: {} };

const check = {
  kind: 'check',
  sources: ['-'],
  json: false,
  isStrict: false,
  isPrivate: false,
  ignored: [],
  timeoutMs: undefined,
  options: {},
};
const badTimeout = {
  kind: 'bad-usage',
  topic: 'check',
  problem: '--timeout needs seconds, more than 0 and at most 60: --timeout=10',
};

test.each([
  [['check', 'a.md', '--json'], { ...check, sources: ['a.md'], json: true }],
  [
    ['check', 'a.md', 'b.md', '--ignore=*a*', '--ignore', 'b', '--timeout=2', '--strict', '--private'],
    {
      ...check,
      sources: ['a.md', 'b.md'],
      ignored: ['*a*', 'b'],
      timeoutMs: 2000,
      isStrict: true,
      isPrivate: true,
    },
  ],
  [['check', 'a.md', '--timeout=x'], badTimeout],
  [['check', 'a.md', '--timeout=61'], badTimeout],
  [['check', 'a.md', '--timeout=1e1'], badTimeout],
  [['doctor', '--json'], { kind: 'doctor', json: true, options: {} }],
  [['--debug', 'doctor'], { kind: 'doctor', json: false, options: { '--debug': '' } }],
  [['login', 'notes'], login],
  [
    ['--no-browser', '--config', 'a.yaml', 'login', 'notes'],
    { ...login, noBrowser: true, options: { '--config': 'a.yaml' } },
  ],
  [['logins', '--json'], { kind: 'logins', json: true, options: {} }],
  [['token', 'alice@example.com'], { kind: 'token', caller: 'alice@example.com' }],
  [['logout', 'notes', '--debug'], { kind: 'logout', server: 'notes', options: { '--debug': '' } }],
  [['tools', 'notes', '--fresh'], { ...tools, server: 'notes', isFresh: true }],
  [['tools', 'notes', 'read'], { ...tools, server: 'notes', tool: 'read', isFresh: false }],
  [['tools', '--lock'], { ...tools, action: 'lock' }],
  [['tools', '--diff', '--json'], { ...tools, json: true, action: 'diff' }],
  [
    ['call', 'notes', 'read', '--json'],
    { kind: 'call', server: 'notes', tool: 'read', input: '{}', json: true, options: {} },
  ],
  [
    ['call', 'notes/read', 'a=1', '--timeout=1.5', '--save', 'out', '--url=http://x/mcp', '--token-env=T'],
    {
      ...{ kind: 'call', server: 'notes', tool: 'read', input: [['a', '1']], json: false, options: {} },
      ...{ timeoutMs: 1500, save: 'out', url: 'http://x/mcp', tokenVariable: 'T' },
    },
  ],
])('the command %j', (argv, command) => {
  expect(parse(...argv)).toEqual(command);
});

test.each([
  [['--config', 'a.yaml'], { '--config': 'a.yaml' }],
  [['--config=-odd.yaml'], { '--config': '-odd.yaml' }],
  [['--debug', 'a.log'], { '--debug': 'a.log' }],
  [['--offline'], { '--offline': '' }],
  [['--debug', '--offline', '--config', 'a.yaml'], { '--debug': '', '--offline': '', '--config': 'a.yaml' }],
])('the server has the options %j, before and after --stdio', (argv, options) => {
  expect(parse('--stdio', ...argv)).toMatchObject({ kind: 'serve', options });
  expect(parse(...argv, '--stdio')).toMatchObject({ kind: 'serve', options });
});

describe('ask', () => {
  test.each([
    [['ask', 'What', 'is', 'MCP?'], asked('What is MCP?')],
    [['ask', '--tool', 'answer_quick', 'q'], asked('q', { tool: 'answer_quick' })],
    [['--json', 'ask', 'q', '--verbose'], asked('q', { json: true, verbose: true })],
    [['ask', '--debug', '--', '-5 degrees'], asked('-5 degrees', { options: { '--debug': '' } })],
    [['ask', '--', '--debug'], asked('--debug')],
    [['ask', 'ask'], asked('ask')],
    [['ask', 'help'], asked('help')],
  ])('%j', (argv, command) => {
    expect(parse(...argv)).toEqual(command);
  });

  test.each([
    [['ask', '--debug', 'q'], { '--debug': '' }],
    [['--offline', 'ask', 'q'], { '--offline': '' }],
    [['--config', 'ask', 'ask', 'q'], { '--config': 'ask' }],
  ])('an option does not consume the question: %j', (argv, options) => {
    expect(parse(...argv)).toEqual(asked('q', { options }));
  });

  test('reads the question from a pipe, and from a terminal only if requested', () => {
    expect(parse('ask', '--json')).toMatchObject({ kind: 'ask', question: undefined });
    expect(parseCommandLine(['ask', '-'], TERMINAL)).toMatchObject({ kind: 'ask', question: undefined });
    expect(parseCommandLine(['ask'], TERMINAL)).toMatchObject({ kind: 'bad-usage' });
  });
});

const CALL = "call <server> <tool> [key=value... | '{...}' | @file | -]";

describe('bad usage', () => {
  test.each([
    [['-x'], 'unknown option -x; put -- before a question that starts with -'],
    [['--sk-proj-abc123'], 'unknown option --[redacted]'],
    [['--toString'], 'unknown option --toString'],
    [
      ['serve'],
      'unknown command "serve"; the commands are ask, check, doctor, tools, call, login, logins, logout and token',
    ],
    [
      ['sk-proj-abc123'],
      'unknown command "[redacted]"; the commands are ask, check, doctor, tools, call, login, logins, logout and token',
    ],
    [['--http', '--stdio'], '--stdio cannot be combined with --http'],
    [['docter'], 'unknown command "docter"; did you mean doctor?'],
    [['ask', 'q', '--confg=x'], 'unknown option --confg; did you mean --config?'],
    [['ask', 'q', '--config'], '--config needs a path: --config=<path>'],
    [['ask', 'q', '--record='], '--record needs a folder: --record=<folder>'],
    [['ask', 'q', '--servers', '--stdio'], '--servers needs a path: --servers=<path>'],
    [['ask', 'q', '--tool'], '--tool needs a tool: --tool=answer|answer_detailed|answer_quick'],
    [['--stdio=1'], '--stdio takes no value'],
    [['--expose=all'], '--expose takes no value, or search or auto'],
    [['ask', 'q', '--tool', 'quick'], '--tool=quick: did you mean answer_quick?'],
    [['ask', 'q', '--tool', 'search'], '--tool must be one of answer, answer_detailed, answer_quick'],
    [['ask'], 'ask needs a question', 'ask "question"'],
    [['ask', '--stdio', 'q'], '--stdio cannot be combined with ask'],
    [['--stdio', '--json'], '--json is an option of ask, check, doctor, tools, call and logins'],
    [['--http', '--lock'], '--lock is an option of tools'],
    [['tools', '--lock', '--diff'], '--lock cannot be combined with --diff'],
    [['tools', '--lock', '--json'], '--lock cannot be combined with --json'],
    [['tools', 'notes', '--diff'], '--diff applies to all servers: tools --diff'],
    [['tools', 'notes', 'read', 'now'], 'tools takes at most a server and a tool', 'tools [server [tool]]'],
    [['logout'], 'logout needs a server, or --caller', 'logout [<server>]'],
    [['check'], 'check needs a text', 'check <file | URL | ->...'],
    [['login', 'notes', '--record=dir'], '--record cannot be combined with login'],
    [['call', 'notes'], 'call needs a server and a tool', CALL],
    [['call', 'notes', 'a=1'], 'call needs a server and a tool', CALL],
    [['call', 'a', 'b', '--url=127.0.0.1'], '--url needs the URL of a running gateway: --url=http://127.0.0.1:3917'],
    [['call', 'a', 'b', '--token-env=T'], '--token-env needs --url'],
    [['call', 'a', 'b', '--url=http://x', '--servers=y'], '--servers cannot be combined with --url'],
    [['tools', '--url=http://x', '--fresh'], '--fresh cannot be combined with --url'],
    [['tools', '--url=http://x', '--lock'], '--lock cannot be combined with --url'],
    [['tools', '--token-env=T'], '--token-env needs --url'],
    [['login'], 'login needs a server', 'login <server>'],
    [['login', 'notes', 'issues'], 'login needs a server', 'login <server>'],
    [['logins', 'notes'], 'logins takes no arguments'],
    [['doctor', 'now'], 'doctor takes no arguments'],
    [['version', 'now'], 'version takes no arguments'],
    [
      ['ask', '--record', 'my question'],
      '--record needs a folder before the question',
      'ask --record=<folder> "question"',
    ],
  ])('%j', (argv, problem, example?: string) => {
    const topic = COMMAND_NAMES.find((name) => name === argv[0]);
    expect(parseCommandLine(argv, TERMINAL)).toEqual({ kind: 'bad-usage', problem, example, topic });
  });
});

import { describe, expect, test } from 'vitest';
import { parseCommandLine } from '../../../../../src/adapters/inbound/cli/command-line.ts';

const TERMINAL = true;
const parse = (...argv: readonly string[]) => parseCommandLine(argv, !TERMINAL);

const NOTHING = {};
const serve = (options: object = NOTHING) => ({ kind: 'serve', showConfig: false, options });
const asked = (question: string, over: object = {}) => ({
  kind: 'ask',
  tool: 'answer',
  question,
  json: false,
  verbose: false,
  options: NOTHING,
  ...over,
});

describe('the mode', () => {
  test('without arguments is help on a terminal, and the server on a pipe', () => {
    expect(parseCommandLine([], TERMINAL)).toEqual({ kind: 'help' });
    expect(parseCommandLine([], !TERMINAL)).toEqual(serve());
  });

  test.each([TERMINAL, !TERMINAL])('--stdio is the server, on a terminal (%s) or not', (isTerminal) => {
    expect(parseCommandLine(['--stdio'], isTerminal)).toEqual(serve());
  });

  test.each([['--help'], ['-h'], ['--stdio', '--help'], ['ask', '--help'], ['ask', 'q', '-h'], ['doctor', '--help']])(
    '%s %s is help',
    (...argv) => {
      expect(parse(...argv)).toEqual({ kind: 'help' });
    },
  );

  test.each([['--version'], ['-v'], ['--stdio', '--version']])('%s %s is the version', (...argv) => {
    expect(parse(...argv)).toEqual({ kind: 'version' });
  });

  test('--show-config prints, and serves as well with --stdio', () => {
    expect(parseCommandLine(['--show-config'], TERMINAL)).toEqual({ kind: 'show-config', options: NOTHING });
    expect(parse('--show-config', '--stdio')).toEqual({ kind: 'serve', showConfig: true, options: NOTHING });
  });

  test('doctor is a command', () => {
    expect(parse('doctor')).toEqual({ kind: 'doctor', json: false, options: NOTHING });
    expect(parse('--debug', 'doctor')).toMatchObject({ kind: 'doctor', options: { '--debug': '' } });
    expect(parse('--offline', 'doctor', '--debug=x.log')).toMatchObject({
      options: { '--offline': '', '--debug': 'x.log' },
    });
    expect(parse('doctor', '--json')).toEqual({ kind: 'doctor', json: true, options: NOTHING });
  });
});

describe('logins', () => {
  const login = { kind: 'login', server: 'notes', noBrowser: false, options: NOTHING };

  test.each([
    [['login', 'notes'], login],
    [['login', 'notes', '--no-browser'], { ...login, noBrowser: true }],
    [
      ['--no-browser', '--config', 'a.yaml', 'login', 'notes'],
      { ...login, noBrowser: true, options: { '--config': 'a.yaml' } },
    ],
    [['logins'], { kind: 'logins', json: false, options: NOTHING }],
    [['logins', '--json'], { kind: 'logins', json: true, options: NOTHING }],
    [['logout', 'notes', '--debug'], { kind: 'logout', server: 'notes', options: { '--debug': '' } }],
  ])('%j', (argv, command) => {
    expect(parse(...argv)).toEqual(command);
  });
});

describe('the server over HTTP', () => {
  const serveHttp = (http: string) => ({ kind: 'serve-http', showConfig: false, options: { '--http': http } });

  test.each([
    [['--http'], ''],
    [['--http', '127.0.0.1:3917'], '127.0.0.1:3917'],
    [['--http=:3917'], ':3917'],
  ])('%j', (argv, address) => {
    expect(parse(...argv)).toEqual(serveHttp(address));
  });

  test('is not the stdio server', () => {
    expect(parse('--http', '--stdio')).toEqual({
      kind: 'bad-usage',
      problem: '--stdio cannot be combined with --http',
    });
  });
});

describe('options of the server', () => {
  test.each([
    [['--config', 'a.yaml'], { '--config': 'a.yaml' }],
    [['--config=a.yaml'], { '--config': 'a.yaml' }],
    [['--config=-odd.yaml'], { '--config': '-odd.yaml' }],
    [['--debug'], { '--debug': '' }],
    [['--debug', 'a.log'], { '--debug': 'a.log' }],
    [['--debug', '0'], { '--debug': '0' }],
    [['--offline'], { '--offline': '' }],
    [['--offline', 'dir'], { '--offline': 'dir' }],
    [['--record=dir'], { '--record': 'dir' }],
    [['--debug', '--offline', '--config', 'a.yaml'], { '--debug': '', '--offline': '', '--config': 'a.yaml' }],
  ])('%j', (argv, options) => {
    expect(parse('--stdio', ...argv)).toEqual(serve(options));
    expect(parse(...argv, '--stdio')).toEqual(serve(options));
  });
});

describe('ask', () => {
  test.each([
    [['ask', 'What is MCP?'], asked('What is MCP?')],
    [['ask', 'What', 'is', 'MCP?'], asked('What is MCP?')],
    [['ask', '--tool', 'answer_quick', 'q'], asked('q', { tool: 'answer_quick' })],
    [['ask', '--tool=answer_detailed', 'q'], asked('q', { tool: 'answer_detailed' })],
    [['ask', 'q', '--json', '--verbose'], asked('q', { json: true, verbose: true })],
    [['--json', 'ask', 'q'], asked('q', { json: true })],
    [['ask', '--', '--is this an option?'], asked('--is this an option?')],
    [['ask', '--debug', '--', '-5 degrees'], asked('-5 degrees', { options: { '--debug': '' } })],
    [['ask', '--', '--debug'], asked('--debug')],
    [['ask', 'ask'], asked('ask')],
    [['ask', 'doctor'], asked('doctor')],
  ])('%j', (argv, command) => {
    expect(parse(...argv)).toEqual(command);
  });

  test.each([
    [['ask', '--debug', 'q'], { '--debug': '' }],
    [['ask', '--offline', 'q'], { '--offline': '' }],
    [['--offline', 'ask', 'q'], { '--offline': '' }],
    [['ask', '--config', 'a.yaml', 'q'], { '--config': 'a.yaml' }],
    [['--config', 'ask', 'ask', 'q'], { '--config': 'ask' }],
  ])('an option does not consume the question: %j', (argv, options) => {
    expect(parse(...argv)).toEqual(asked('q', { options }));
  });
});

describe('a question on standard input', () => {
  test.each([[['ask', '-']], [['ask']], [['ask', '--json']]])('is read from a pipe: %j', (argv) => {
    expect(parse(...argv)).toMatchObject({ kind: 'ask', question: undefined });
  });

  test('is read from a terminal only if requested', () => {
    expect(parseCommandLine(['ask', '-'], TERMINAL)).toMatchObject({ kind: 'ask', question: undefined });
    expect(parseCommandLine(['ask'], TERMINAL)).toMatchObject({ kind: 'bad-usage' });
  });
});

test('tools lists, approves or compares', () => {
  expect(parse('tools')).toEqual({ kind: 'tools', json: false, isFresh: false, options: {} });
  expect(parse('tools', 'notes', '--fresh')).toMatchObject({ kind: 'tools', server: 'notes', isFresh: true });
  expect(parse('tools', 'notes', 'read')).toMatchObject({ kind: 'tools', server: 'notes', tool: 'read' });
  expect(parse('call', 'notes', 'read', '--json')).toMatchObject({ kind: 'call', input: '{}', json: true });
  expect(parse('tools', '--lock')).toEqual({ kind: 'tools', json: false, action: 'lock', options: {} });
  expect(parse('tools', '--diff', '--json')).toEqual({ kind: 'tools', json: true, action: 'diff', options: {} });
});

describe('bad usage', () => {
  test.each([
    [['--what'], 'unknown option --what'],
    [['-x'], 'unknown option -x; put -- before a question that starts with -'],
    [['--sk-proj-abc123'], 'unknown option --[redacted]'],
    [['--stdio', '--Debug'], 'unknown option --Debug; did you mean --debug?'],
    [['--toString'], 'unknown option --toString'],
    [['--no-json'], 'unknown option --no-json'],
    [['serve'], 'unknown command "serve"; the commands are ask, check, doctor, tools, call, login, logins and logout'],
    [
      ['sk-proj-abc123'],
      'unknown command "[redacted]"; the commands are ask, check, doctor, tools, call, login, logins and logout',
    ],
    [['-', 'ask'], 'unknown command "-"; the commands are ask, check, doctor, tools, call, login, logins and logout'],
    [['--stdio=1'], '--stdio takes no value'],
    [['--expose=all'], '--expose takes no value, or search or auto'],
    [['--expose='], '--expose takes no value, or search or auto'],
    [['ask', 'q', '--json=yes'], '--json takes no value'],
    [['ask', 'q', '--tool', 'quick'], '--tool=quick: did you mean answer_quick?'],
    [['ask', 'q', '--tool', 'search'], '--tool must be one of answer, answer_detailed, answer_quick'],
    [['ask'], 'ask needs a question: openai-responses-mcp ask "your question"'],
    [['ask', '--debug'], 'ask needs a question: openai-responses-mcp ask "your question"'],
    [['ask', '--stdio', 'q'], '--stdio cannot be combined with ask'],
    [['ask', '--show-config', 'q'], '--show-config cannot be combined with ask'],
    [['--stdio', '--json'], '--json is an option of ask, check, doctor, tools, call and logins'],
    [['--stdio', '--no-browser'], '--no-browser is an option of login'],
    [['--http', '--lock'], '--lock is an option of tools'],
    [['--diff'], '--diff is an option of tools'],
    [['ask', 'q', '--lock'], '--lock cannot be combined with ask'],
    [['doctor', '--diff'], '--diff cannot be combined with doctor'],
    [['tools', '--lock', '--diff'], '--lock cannot be combined with --diff'],
    [['tools', '--lock', '--json'], '--lock cannot be combined with --json'],
    [['tools', 'notes', '--diff'], '--diff is about all servers: tools --diff'],
    [['tools', 'notes', 'read', 'now'], 'tools takes at most a server and a tool'],
    [['ask', 'q', '--no-browser'], '--no-browser cannot be combined with ask'],
    [['login', 'notes', '--json'], '--json cannot be combined with login'],
    [['login', 'notes', '--record=dir'], '--record cannot be combined with login'],
    [['login'], 'login needs a server: openai-responses-mcp login <server>'],
    [['login', 'notes', 'issues'], 'login needs a server: openai-responses-mcp login <server>'],
    [['logout'], 'logout needs a server: openai-responses-mcp logout <server>'],
    [['logins', 'notes'], 'logins takes no arguments'],
    [['--tool', 'answer'], '--tool is an option of ask'],
    [['--verbose'], '--verbose is an option of ask'],
    [['doctor', 'now'], 'doctor takes no arguments'],
    [['version', 'now'], 'version takes no arguments'],
    [['doctor', '--verbose'], '--verbose cannot be combined with doctor'],
    [['ask', '--record', 'my question'], 'ask needs a question: openai-responses-mcp ask "your question"'],
  ])('%j', (argv, problem) => {
    expect(parseCommandLine(argv, TERMINAL)).toEqual({ kind: 'bad-usage', problem });
  });
});

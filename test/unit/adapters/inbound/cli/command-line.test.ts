import { describe, expect, test } from 'vitest';
import { parseCommandLine, USAGE } from '../../../../../src/adapters/inbound/cli/command-line.ts';

const TERMINAL = true;
const parse = (...argv: readonly string[]) => parseCommandLine(argv, !TERMINAL);

const NOTHING = { names: [] };
const serve = (config: object = NOTHING) => ({ kind: 'serve', showConfig: false, config });
const asked = (question: string, over: object = {}) => ({
  kind: 'ask',
  tool: 'answer',
  question,
  json: false,
  verbose: false,
  config: NOTHING,
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
    expect(parseCommandLine(['--show-config'], TERMINAL)).toEqual({ kind: 'show-config', config: NOTHING });
    expect(parse('--show-config', '--stdio')).toEqual({ kind: 'serve', showConfig: true, config: NOTHING });
  });

  test('doctor is a command', () => {
    expect(parse('doctor')).toEqual({ kind: 'doctor', json: false, config: NOTHING });
    expect(parse('--debug', 'doctor')).toMatchObject({ kind: 'doctor', config: { debug: '' } });
    expect(parse('--offline', 'doctor', '--debug=x.log')).toMatchObject({ config: { offline: '', debug: 'x.log' } });
    expect(parse('doctor', '--json')).toEqual({ kind: 'doctor', json: true, config: NOTHING });
  });
});

describe('the server over HTTP', () => {
  const serveHttp = (http: string) => ({ kind: 'serve-http', showConfig: false, config: { http, names: ['--http'] } });

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
      problem: '--stdio does not go with --http: give one of the two',
    });
  });
});

describe('options of the server', () => {
  test.each([
    [['--config', 'a.yaml'], { configPath: 'a.yaml', names: ['--config'] }],
    [['--config=a.yaml'], { configPath: 'a.yaml', names: ['--config'] }],
    [['--config=-odd.yaml'], { configPath: '-odd.yaml', names: ['--config'] }],
    [['--debug'], { debug: '', names: ['--debug'] }],
    [['--debug', 'a.log'], { debug: 'a.log', names: ['--debug'] }],
    [['--debug=a.log'], { debug: 'a.log', names: ['--debug'] }],
    [['--debug', '0'], { debug: '0', names: ['--debug'] }],
    [['--offline'], { offline: '', names: ['--offline'] }],
    [['--offline', 'dir'], { offline: 'dir', names: ['--offline'] }],
    [['--offline=dir'], { offline: 'dir', names: ['--offline'] }],
    [['--record=dir'], { record: 'dir', names: ['--record'] }],
    [['--record', 'dir'], { record: 'dir', names: ['--record'] }],
    [
      ['--debug', '--offline', '--config', 'a.yaml'],
      { debug: '', offline: '', configPath: 'a.yaml', names: ['--debug', '--offline', '--config'] },
    ],
  ])('%j', (argv, config) => {
    expect(parse('--stdio', ...argv)).toEqual(serve(config));
    expect(parse(...argv, '--stdio')).toEqual(serve(config));
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
    [['ask', '--debug', '--', '-5 degrees'], asked('-5 degrees', { config: { debug: '', names: ['--debug'] } })],
    [['ask', '--', '--debug'], asked('--debug')],
    [['ask', 'ask'], asked('ask')],
    [['ask', 'doctor'], asked('doctor')],
  ])('%j', (argv, command) => {
    expect(parse(...argv)).toEqual(command);
  });

  test.each([
    [['ask', '--debug', 'q'], { debug: '', names: ['--debug'] }],
    [['--debug', 'ask', 'q'], { debug: '', names: ['--debug'] }],
    [['ask', '--debug=a.log', 'q'], { debug: 'a.log', names: ['--debug'] }],
    [['ask', '--offline', 'q'], { offline: '', names: ['--offline'] }],
    [['--offline', 'ask', 'q'], { offline: '', names: ['--offline'] }],
    [['ask', '--offline=dir', 'q'], { offline: 'dir', names: ['--offline'] }],
    [['ask', '--config', 'a.yaml', 'q'], { configPath: 'a.yaml', names: ['--config'] }],
    [['--config', 'ask', 'ask', 'q'], { configPath: 'ask', names: ['--config'] }],
    [['ask', '--record=dir', 'q'], { record: 'dir', names: ['--record'] }],
  ])('an option does not consume the question: %j', (argv, config) => {
    expect(parse(...argv)).toEqual(asked('q', { config }));
  });
});

describe('bad usage', () => {
  test.each([
    [['--what'], 'unknown option --what'],
    [['-x'], 'unknown option -x; a question that begins with - goes behind --'],
    [['--sk-proj-abc123'], 'unknown option --[redacted]'],
    [['--stdio', '--Debug'], 'unknown option --Debug'],
    [['--toString'], 'unknown option --toString'],
    [['--no-json'], 'unknown option --no-json'],
    [['serve'], 'unknown command "serve"; the commands are ask and doctor'],
    [['--stdio', 'now'], 'unknown command "now"; the commands are ask and doctor'],
    [['--stdio=1'], '--stdio takes no value'],
    [['ask', 'q', '--json=yes'], '--json takes no value'],
    [['--config'], '--config takes a value'],
    [['--config='], '--config takes a value'],
    [['--config', '--stdio'], '--config takes a value'],
    [['--config', '--debug'], '--config takes a value'],
    [['--record', '--stdio'], '--record takes a value'],
    [['ask', 'q', '--tool'], '--tool takes a value'],
    [['ask', 'q', '--tool', 'search'], '--tool takes one of answer, answer_detailed, answer_quick'],
    [['ask'], 'ask takes a question: openai-responses-mcp ask "your question"'],
    [['ask', ' '], 'ask takes a question: openai-responses-mcp ask "your question"'],
    [['ask', '--debug'], 'ask takes a question: openai-responses-mcp ask "your question"'],
    [['ask', '--stdio', 'q'], '--stdio does not go with ask'],
    [['ask', '--show-config', 'q'], '--show-config does not go with ask'],
    [['--stdio', '--json'], '--json belongs to the command ask or doctor'],
    [['--tool', 'answer'], '--tool belongs to the command ask'],
    [['--verbose'], '--verbose belongs to the command ask'],
    [['doctor', 'now'], 'doctor takes no arguments'],
    [['doctor', '--verbose'], '--verbose does not go with doctor'],
  ])('%j', (argv, problem) => {
    expect(parse(...argv)).toEqual({ kind: 'bad-usage', problem });
  });
});

test('every option is in the help', () => {
  const options = 'stdio show-config config debug offline record help version tool json verbose';
  for (const option of options.split(' ')) expect(USAGE).toContain(`--${option}`);
  expect(USAGE.split('\n').filter((line) => line.length > 120)).toEqual([]);
});

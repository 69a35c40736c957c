import { TOOL_NAMES } from '../../../domain/answers/question.ts';
import type { BadUsage } from '../words/process-messages.ts';

/** A command or an option, as the help shows it. */
export interface Row {
  /** The arguments of a command, or the value of an option, as they are typed after the name. */
  readonly form?: string;
  readonly help: string;
}

export interface OptionRow extends Row {
  /** The option requires a value: what it is, in the message about a missing one. */
  readonly needs?: string;
  /** The option may have a value: any, or one of these. */
  readonly values?: 'any' | readonly string[];
  /** Whether the option sets keys of the configuration. */
  readonly setsKeys?: true;
  /** What the help of one command says, if the option means something else with another one. */
  readonly of?: Readonly<Record<string, string>>;
}

export const MODES = {
  stdio: { help: 'serve MCP over standard input and output' },
  http: {
    form: ' [host:port]',
    help: 'serve MCP, REST and a page (default: 127.0.0.1:3917)',
    values: 'any',
    setsKeys: true,
  },
  'show-config': { help: 'print the effective configuration as JSON to stderr' },
} satisfies Readonly<Record<string, OptionRow>>;

/** The options, in the order of the help. */
export const OPTIONS: Readonly<Record<string, OptionRow>> = {
  ...MODES,
  config: {
    form: ' <path>',
    help: 'a YAML file (default, if it exists:\n~/.config/openai-responses-mcp/config.yaml)',
    needs: 'a path: --config=<path>',
    setsKeys: true,
  },
  offline: {
    form: '[=path]',
    help: 'answer from recordings, without key and network: those of the package, of a folder, or one file; with doctor: send no request and start no server, for CI',
    values: 'any',
    setsKeys: true,
  },
  record: {
    form: '=<folder>',
    help: 'save API responses for --offline=<folder>',
    needs: 'a folder: --record=<folder>',
    setsKeys: true,
  },
  servers: {
    form: '=<path>',
    help: 'also use the MCP servers in a file of another client, such as .mcp.json; may be given again',
    needs: 'a path: --servers=<path>',
    setsKeys: true,
  },
  expose: {
    form: '[=search|auto]',
    help: 'offer the tools of the MCP servers over MCP, too; search: through tools that find and call them; auto: search for callers with more than 40 tools',
    values: ['search', 'auto'],
    setsKeys: true,
  },
  debug: {
    form: '[=file]',
    help: 'log debug output to stderr, and to the file',
    values: 'any',
    setsKeys: true,
  },
  json: { help: 'print JSON' },
  tool: {
    form: ' <name>',
    help: 'answer (default), answer_detailed, answer_quick',
    needs: `a tool: --tool=${TOOL_NAMES.join('|')}`,
  },
  fresh: { help: 'ask every server, even if its tools are known' },
  lock: { help: 'approve all tools in the file of gateway.lock' },
  diff: { help: 'compare the tools with that file' },
  strict: { help: 'pages that cannot be read, and figures without a source, are findings' },
  ignore: {
    form: '=<pattern>',
    help: 'do not check these URLs; * stands for any text; may be given again',
    needs: 'a pattern: --ignore=https://example.com/*',
  },
  private: { help: 'also read pages on this machine and in your own network' },
  timeout: {
    form: '=<seconds>',
    help: 'time limit of the call, or of each page',
    of: { call: 'time limit, in place of that of the server', check: 'time limit of each page, in place of 10' },
    needs: 'seconds: --timeout=10',
  },
  save: {
    form: '=<folder>',
    help: 'write images, audio and other data of the result to files in this folder',
    needs: 'a folder: --save=<folder>',
  },
  url: {
    form: '=<url>',
    help: 'use a running gateway (--http), whose servers keep their state; its token is in MCP_HTTP_TOKEN',
    needs: 'the URL of a running gateway: --url=http://127.0.0.1:3917',
  },
  'token-env': {
    form: '=<name>',
    help: 'the variable with the token for --url',
    needs: 'the name of a variable: --token-env=<name>',
  },
  'no-input': { help: 'never ask what the server wants to know; the call then fails' },
  verbose: { help: 'also print the duration, model and usage' },
  'no-browser': { help: 'only print the URL at which to sign in' },
  caller: {
    form: '=<name>',
    help: 'the login of this caller over HTTP; without a server, to all servers',
    needs: 'a name: --caller=<name>',
  },
  check: { help: 'compare the answer with the pages it cites', setsKeys: true },
};

/** The options of serving and of every command. */
export const COMMON_OPTIONS = ['config', 'debug', 'offline', 'servers', 'help', 'version'];
/** The options of serving, in addition. */
export const SERVE_OPTIONS = ['stdio', 'http', 'show-config', 'record', 'expose'];

export interface CommandRow extends Row {
  /** The minimum and the maximum number of words after the name. */
  readonly words: readonly [number, number];
  /** Completes the message about other words, after the name. */
  readonly usage?: string;
  /** The options, in addition to the common ones. */
  readonly options: readonly string[];
  /** The words of a complete command, after the name. */
  readonly sample: string;
}

/** The commands, in the order of the help. */
export const COMMANDS = {
  ask: {
    form: ' "question"',
    help: 'answer one question; "-" or a pipe: read it from standard input',
    words: [0, Number.POSITIVE_INFINITY],
    usage: 'needs a question',
    options: ['record', 'tool', 'json', 'verbose', 'check'],
    sample: '"What is HTTP?"',
  },
  check: {
    form: ' <file | URL | ->...',
    help: 'check the sources of a text: dead links, and figures that are not on the page that a sentence cites',
    words: [0, Number.POSITIVE_INFINITY],
    usage: 'needs a text',
    options: ['json', 'strict', 'ignore', 'timeout', 'private'],
    sample: 'report.md',
  },
  doctor: {
    help: 'check everything that an answer needs; asks the API one question (with grounding.tools, two), which costs a little',
    words: [0, 0],
    options: ['record', 'json'],
    sample: '--offline',
  },
  tools: {
    form: ' [server [tool]]',
    help: 'list the tools of your MCP servers, or of one, or the parameters of one tool',
    words: [0, 2],
    usage: 'takes at most a server and a tool',
    options: ['json', 'fresh', 'lock', 'diff', 'url', 'token-env'],
    sample: 'everything get-sum',
  },
  call: {
    form: " <server> <tool> [key=value... | '{...}' | @file | -]",
    help: 'call a tool; its input is words, JSON, a file or standard input',
    words: [1, Number.POSITIVE_INFINITY],
    usage: 'needs a server and a tool',
    options: ['json', 'timeout', 'save', 'url', 'token-env', 'no-input'],
    sample: 'everything get-sum a=1 b=2',
  },
  login: {
    form: ' <server>',
    help: 'sign in to a remote MCP server that requires it',
    words: [1, 1],
    usage: 'needs a server',
    options: ['no-browser'],
    sample: 'tickets',
  },
  logins: { help: 'list the logins to MCP servers', words: [0, 0], options: ['json'], sample: '--json' },
  logout: {
    form: ' [<server>]',
    help: 'revoke and delete a login',
    words: [0, 1],
    usage: 'needs a server, or --caller',
    options: ['caller'],
    sample: 'tickets',
  },
  token: {
    form: ' <caller>',
    help: 'create a token for a caller over HTTP, and its line in the file http.token_file',
    words: [1, 1],
    usage: 'needs a caller, of letters, digits, _ . @ and -, other than local',
    options: [],
    sample: 'alice',
  },
} as const satisfies Readonly<Record<string, CommandRow>>;

export type CommandName = keyof typeof COMMANDS;
export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[];

/** What is wrong with the words of a command, and the command as it may be typed. */
export function wordsOf(command: CommandName): BadUsage {
  const { usage = 'takes no arguments', form }: CommandRow = COMMANDS[command];
  return { topic: command, problem: `${command} ${usage}`, example: form && `${command}${form}` };
}

/** What `ask` needs. The value of `--record` is probably the question if there is no other word. */
export function questionRequired(record: unknown): BadUsage {
  const required = wordsOf('ask');
  if (record === undefined) return required;
  const example = 'ask --record=<folder> "question"';
  return { ...required, problem: '--record needs a folder before the question', example };
}

/** The commands that have an option of their own. */
export function ownersOf(option: string): readonly CommandName[] {
  return COMMAND_NAMES.filter((name) => (COMMANDS[name].options as readonly string[]).includes(option));
}

export function enumerated(names: readonly string[]): string {
  return names.join(', ').replace(/, (\w+)$/, ' and $1');
}

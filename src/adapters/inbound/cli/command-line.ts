import { parseArgs } from 'node:util';
import type { ConfigOptions } from '../../../application/ports/config.ts';
import { createRedactor } from '../../../domain/redaction.ts';
import { TOOL_NAMES, type ToolName } from '../../../domain/tool-name.ts';

/** What the program is to do. */
export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'show-config'; readonly config: ConfigOptions }
  | { readonly kind: 'serve'; readonly showConfig: boolean; readonly config: ConfigOptions }
  | { readonly kind: 'serve-http'; readonly showConfig: boolean; readonly config: ConfigOptions }
  | {
      readonly kind: 'ask';
      readonly tool: ToolName;
      readonly question: string;
      readonly json: boolean;
      readonly verbose: boolean;
      readonly config: ConfigOptions;
    }
  | { readonly kind: 'doctor'; readonly json: boolean; readonly config: ConfigOptions }
  | { readonly kind: 'bad-usage'; readonly problem: string };

const OPTIONS = {
  stdio: { type: 'boolean' },
  http: { type: 'string' },
  'show-config': { type: 'boolean' },
  config: { type: 'string' },
  debug: { type: 'string' },
  offline: { type: 'string' },
  record: { type: 'string' },
  tool: { type: 'string' },
  json: { type: 'boolean' },
  verbose: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

const OPTIONAL_VALUES = ['--debug', '--offline', '--http'];
const REQUIRED_VALUES = ['--config', '--record', '--tool'];
const FOR_PERSONS = ['tool', 'json', 'verbose'] as const;

export const USAGE = `openai-responses-mcp: answers with sources, from OpenAI's Responses API and web search, over MCP

Usage:
  openai-responses-mcp --stdio [options]            serve MCP over standard input and output
  openai-responses-mcp --http [host:port] [options] serve MCP over HTTP (default: http://127.0.0.1:3917/mcp)
  openai-responses-mcp ask [options] "question"     answer one question here
  openai-responses-mcp doctor [options]             check configuration, key, network, models and a search
  openai-responses-mcp --show-config [options]      print the effective configuration, as JSON on stderr

Options:
  --config <path>     YAML file (default: ~/.config/openai-responses-mcp/config.yaml, if there is one)
  --offline[=path]    answer from recorded replies, without key or network: the shipped ones, a folder's, or one file's
  --record=<folder>   keep the API's replies there, for --offline=<folder>
  --debug[=file]      say on stderr what happens, and in the file as well
  --help, --version

Options of ask and doctor:
  --json              print the result as JSON
Options of ask:
  --tool <name>       answer (default), answer_detailed or answer_quick
  --verbose           print on stderr what the answer took

The API key is read from OPENAI_API_KEY, or from the file that OPENAI_API_KEY_FILE names. doctor asks the API one
short question, which costs a little. More: https://github.com/uchimanajet7/openai-responses-mcp#readme
`;

/** Reads the command line (spec 5.5, ruling 21). Without a mode: help on a terminal, the server on a pipe. */
export function parseCommandLine(argv: readonly string[], isTerminal: boolean): Command {
  const command = firstArgument(argv);
  const isForPerson = command === 'ask' || command === 'doctor';
  const parsed = parse(withEmptyValues(isForPerson ? argv : joinOptionalValues(argv)));
  if ('problem' in parsed) return { kind: 'bad-usage', problem: parsed.problem };

  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  if (values.version === true) return { kind: 'version' };
  const config = toConfigOptions(values, parsed.names);
  if (command === 'ask') return toAsk(positionals.slice(1), values, config);
  if (command === 'doctor') return toDoctor(positionals.slice(1), values, config);

  const [unknown] = positionals;
  const misplaced = FOR_PERSONS.find((name) => values[name] !== undefined);
  if (unknown !== undefined)
    return {
      kind: 'bad-usage',
      problem: `unknown command ${JSON.stringify(unknown)}; the commands are ask and doctor`,
    };
  if (misplaced !== undefined)
    return {
      kind: 'bad-usage',
      problem: `--${misplaced} belongs to the command ${misplaced === 'json' ? 'ask or doctor' : 'ask'}`,
    };
  if (values.stdio === true && values.http !== undefined)
    return { kind: 'bad-usage', problem: '--stdio does not go with --http: give one of the two' };
  if (values.http !== undefined) return { kind: 'serve-http', showConfig: values['show-config'] === true, config };
  if (values['show-config'] === true && values.stdio !== true) return { kind: 'show-config', config };
  if (values.stdio !== true && isTerminal) return { kind: 'help' };
  return { kind: 'serve', showConfig: values['show-config'] === true, config };
}

type Values = {
  readonly [Name in keyof typeof OPTIONS]?:
    | ((typeof OPTIONS)[Name]['type'] extends 'boolean' ? boolean : string)
    | undefined;
};

function toAsk(words: readonly string[], values: Values, config: ConfigOptions): Command {
  const tool = TOOL_NAMES.find((name) => name === (values.tool ?? 'answer'));
  const question = words.join(' ');
  if (tool === undefined) return { kind: 'bad-usage', problem: `--tool takes one of ${TOOL_NAMES.join(', ')}` };
  if (question.trim() === '')
    return { kind: 'bad-usage', problem: 'ask takes a question: openai-responses-mcp ask "your question"' };
  const misplaced = (['stdio', 'http', 'show-config'] as const).find((name) => values[name] !== undefined);
  if (misplaced !== undefined) return { kind: 'bad-usage', problem: `--${misplaced} does not go with ask` };
  return { kind: 'ask', tool, question, json: values.json === true, verbose: values.verbose === true, config };
}

function toDoctor(words: readonly string[], values: Values, config: ConfigOptions): Command {
  const misplaced = (['tool', 'verbose', 'stdio', 'http', 'show-config'] as const).find(
    (name) => values[name] !== undefined,
  );
  if (misplaced !== undefined) return { kind: 'bad-usage', problem: `--${misplaced} does not go with doctor` };
  if (words.length > 0) return { kind: 'bad-usage', problem: 'doctor takes no arguments' };
  return { kind: 'doctor', json: values.json === true, config };
}

function toConfigOptions(values: Values, names: readonly string[]): ConfigOptions {
  const { config, debug, offline, record, http } = values;
  return {
    ...(config === undefined ? {} : { configPath: config }),
    ...(debug === undefined ? {} : { debug }),
    ...(offline === undefined ? {} : { offline }),
    ...(record === undefined ? {} : { record }),
    ...(http === undefined ? {} : { http }),
    names: names
      .filter((name) => ['config', 'debug', 'offline', 'record', 'http'].includes(name))
      .map((name) => `--${name}`),
  };
}

type Parsed =
  | { readonly values: Values; readonly positionals: readonly string[]; readonly names: readonly string[] }
  | { readonly problem: string };

function parse(args: readonly string[]): Parsed {
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const names = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(OPTIONS, token.name)) return { problem: `unknown option ${shown(token.rawName)}` };
    const isFlag = OPTIONS[token.name as keyof typeof OPTIONS].type === 'boolean';
    if (isFlag && token.value !== undefined) return { problem: `${token.rawName} takes no value` };
    if (REQUIRED_VALUES.includes(`--${token.name}`) && isMissing(token))
      return { problem: `${token.rawName} takes a value` };
    names.add(token.name);
  }
  return { values: values as Values, positionals, names: [...names] };
}

/** What came in place of an option: it may be a key that was pasted, or a word of a question, as in "-5 degrees". */
function shown(option: string): string {
  const safe = createRedactor([]).inLogs(option);
  return option.startsWith('--') ? safe : `${safe}; a question that begins with - goes behind --`;
}

/** `--config --stdio` forgot its value. */
function isMissing({
  value,
  inlineValue,
}: {
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}): boolean {
  return value === undefined || value.trim() === '' || (inlineValue !== true && value.startsWith('-'));
}

/** `--debug file` as `--debug=file`, as spec 5.5 has it: with a server no argument can be meant instead. */
function joinOptionalValues(argv: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const argument of argv) {
    const above = joined.at(-1) ?? '';
    if (OPTIONAL_VALUES.includes(above) && !argument.startsWith('-'))
      joined[joined.length - 1] = `${above}=${argument}`;
    else joined.push(argument);
  }
  return joined;
}

/** A bare `--debug` as `--debug=`, so that it does not swallow what follows it. */
function withEmptyValues(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return argv.map((argument, index) =>
    OPTIONAL_VALUES.includes(argument) && (end < 0 || index < end) ? `${argument}=` : argument,
  );
}

/** The first argument that is neither an option nor an option's value. */
function firstArgument(argv: readonly string[]): string | undefined {
  return argv.find((argument, index) => !argument.startsWith('-') && !REQUIRED_VALUES.includes(argv[index - 1] ?? ''));
}

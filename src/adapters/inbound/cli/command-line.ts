import { parseArgs } from 'node:util';
import { TOOL_NAMES, type ToolName } from '../../../domain/answers/tool-name.ts';
import { LOCAL_CALLER, TOKEN_CALLER } from '../../../domain/gateway/call-origin.ts';
import { withoutKeyLike } from '../../../domain/values/redaction.ts';
import { nearestName } from '../nearest-name.ts';
import { CALL_USAGE, CHECK_USAGE, TOKEN_USAGE } from './usage.ts';

export const QUESTION_REQUIRED = 'ask needs a question: openai-responses-mcp ask "your question"';

/** Options about the configuration, by name; a bare `--debug` has the value ''. */
type ConfigOptions = Readonly<Record<string, string>>;

export interface Ask {
  readonly kind: 'ask';
  readonly tool: ToolName;
  /** Undefined if it is read from standard input. */
  readonly question: string | undefined;
  readonly json: boolean;
  readonly verbose: boolean;
}

type Configured =
  | Ask
  | { readonly kind: 'show-config' }
  | { readonly kind: 'serve' | 'serve-http'; readonly showConfig: boolean }
  | { readonly kind: 'doctor'; readonly json: boolean }
  /** The source is a file, a URL, or `-` for standard input. */
  | { readonly kind: 'check'; readonly source: string; readonly json: boolean }
  /** Without an action, the tools are listed; `isFresh`: every server is asked for them. */
  | {
      readonly kind: 'tools';
      readonly json: boolean;
      readonly action?: 'lock' | 'diff';
      readonly isFresh?: boolean;
      /** Only this server, or this tool of it, is shown. */
      readonly server?: string | undefined;
      readonly tool?: string | undefined;
    }
  | { readonly kind: 'login'; readonly server: string; readonly noBrowser: boolean }
  | { readonly kind: 'logins'; readonly json: boolean }
  | { readonly kind: 'logout'; readonly server: string }
  /** The input is a JSON object, `@` and the path of a file, or `-` for standard input. */
  | {
      readonly kind: 'call';
      readonly server: string;
      readonly tool: string;
      readonly input: string;
      readonly json: boolean;
    };

export type Command =
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'token'; readonly caller: string }
  | (Configured & { readonly options: ConfigOptions })
  | { readonly kind: 'bad-usage'; readonly problem: string };

const COMMANDS = ['ask', 'check', 'doctor', 'tools', 'call', 'login', 'logins', 'logout', 'token'] as const;

const COMMON_OPTIONS = ['config', 'debug', 'offline', 'servers', 'help', 'version'];
/** The options of serving and of each command, in addition to the common ones. */
const OPTIONS_OF: Readonly<Record<'serve' | (typeof COMMANDS)[number], readonly string[]>> = {
  serve: ['stdio', 'http', 'show-config', 'record', 'expose'],
  ask: ['record', 'tool', 'json', 'verbose', 'check'],
  check: ['json'],
  doctor: ['record', 'json'],
  tools: ['json', 'fresh', 'lock', 'diff'],
  call: ['json'],
  login: ['no-browser'],
  logins: ['json'],
  logout: [],
  token: [],
};
const OPTIONS = new Set([...COMMON_OPTIONS, ...Object.values(OPTIONS_OF).flat()]);

const CONFIG_OPTIONS = ['config', 'debug', 'offline', 'record', 'http', 'servers', 'expose', 'check'];
const OPTIONAL_VALUES = ['debug', 'offline', 'http'];
/** The options that require a value, each with a description of it. */
const REQUIRED_VALUES: Readonly<Record<string, string>> = {
  config: 'a path: --config=<path>',
  record: 'a folder: --record=<folder>',
  servers: 'a path: --servers=<path>',
  tool: `a tool: --tool=${TOOL_NAMES.join('|')}`,
};

/** An option of the type `string` takes the next argument as its value; all others have a value only after `=`. */
const PARSED_OPTIONS = {
  ...Object.fromEntries(Object.keys(REQUIRED_VALUES).map((name) => [name, { type: 'string' as const }])),
  help: { type: 'boolean' as const, short: 'h' },
  version: { type: 'boolean' as const, short: 'v' },
};

/** The values of the options that are present; '' for an option without a value. */
type Values = Record<string, string>;

/** Parses the command line. Without a mode: help on a terminal, the stdio server on a pipe. */
export function parseCommandLine(argv: readonly string[], isTerminal: boolean): Command {
  const tokens = tokenize(argv);
  const problem = tokens.map(problemOf).find((problem) => problem !== undefined);
  if (problem !== undefined) return badUsage(problem);

  const first = tokens.find((token) => token.kind === 'positional')?.value;
  const command = COMMANDS.find((command) => command === first);
  const values: Values = {};
  const words: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'option') values[token.name] = token.value ?? '';
    if (token.kind !== 'positional') continue;
    const takesValue = command === undefined && !token.value.startsWith('-');
    const option = takesValue ? openOption(tokens[index - 1]) : undefined;
    if (option === undefined) words.push(token.value);
    else values[option] = token.value;
  }
  if ('help' in values) return { kind: 'help' };
  if ('version' in values) return { kind: 'version' };
  // `help ask` shows the same text, because there is only one.
  if (first === 'help') return { kind: 'help' };
  if (first === 'version') return words.length === 1 ? { kind: 'version' } : badUsage('version takes no arguments');
  if (command === undefined) return toServe(words, values, isTerminal);
  const misplaced = misplacedIn(command, values);
  if (misplaced !== undefined) return badUsage(`--${misplaced} cannot be combined with ${command}`);
  const options = toConfigOptions(values);
  const json = 'json' in values;
  const [, server, tool, input = '{}', ...rest] = words;
  switch (command) {
    case 'ask':
      return toAsk(words.slice(1), values, isTerminal);
    case 'check':
      if (tool !== undefined || (server === undefined && isTerminal)) return badUsage(CHECK_USAGE);
      return { kind: command, source: server ?? '-', json, options };
    case 'call': {
      const isComplete = server !== undefined && tool !== undefined && rest.length === 0;
      return isComplete ? { kind: command, server, tool, input, json, options } : badUsage(CALL_USAGE);
    }
    case 'login':
    case 'logout':
      if (server === undefined || tool !== undefined)
        return badUsage(`${command} needs a server: openai-responses-mcp ${command} <server>`);
      if (command === 'logout') return { kind: command, server, options };
      return { kind: command, server, noBrowser: 'no-browser' in values, options };
    case 'token': {
      const isCaller = server !== undefined && TOKEN_CALLER.test(server) && server !== LOCAL_CALLER;
      return isCaller && tool === undefined ? { kind: command, caller: server } : badUsage(TOKEN_USAGE);
    }
    case 'tools': {
      if (words.length > 3) return badUsage('tools takes at most a server and a tool');
      const [action] = (['lock', 'diff'] as const).filter((name) => name in values);
      const other =
        action && { lock: ['diff', 'json', 'fresh'], diff: ['fresh'] }[action].find((name) => name in values);
      if (other !== undefined) return badUsage(`--${action} cannot be combined with --${other}`);
      if (action === undefined) return { kind: command, json, isFresh: 'fresh' in values, server, tool, options };
      if (server !== undefined) return badUsage(`--${action} applies to all servers: tools --${action}`);
      return { kind: command, json, action, options };
    }
    default:
      if (server !== undefined) return badUsage(`${command} takes no arguments`);
      return { kind: command, json, options };
  }
}

function toServe([word]: readonly string[], values: Values, isTerminal: boolean): Command {
  if (word !== undefined) {
    const nearest = nearestName(word, [...COMMANDS, 'help', 'version']);
    const suggestion = nearest === undefined ? '' : `did you mean ${nearest}? `;
    return badUsage(`unknown command ${JSON.stringify(word)}; ${suggestion}the commands are ${enumerated(COMMANDS)}`);
  }
  const misplaced = misplacedIn('serve', values);
  if (misplaced !== undefined) {
    const owners = COMMANDS.filter((command) => OPTIONS_OF[command].includes(misplaced));
    return badUsage(`--${misplaced} is an option of ${enumerated(owners)}`);
  }
  const isStdio = 'stdio' in values;
  const showConfig = 'show-config' in values;
  const options = toConfigOptions(values);
  if (isStdio && 'http' in values) return badUsage('--stdio cannot be combined with --http');
  if ('http' in values) return { kind: 'serve-http', showConfig, options };
  if (showConfig && !isStdio) return { kind: 'show-config', options };
  return isStdio || !isTerminal ? { kind: 'serve', showConfig, options } : { kind: 'help' };
}

function toAsk(words: readonly string[], values: Values, isTerminal: boolean): Command {
  const tool = TOOL_NAMES.find((name) => name === (values.tool ?? 'answer'));
  const nearest = nearestName(values.tool ?? '', TOOL_NAMES);
  if (tool === undefined && nearest !== undefined) return badUsage(`--tool=${values.tool}: did you mean ${nearest}?`);
  if (tool === undefined) return badUsage(`--tool must be one of ${TOOL_NAMES.join(', ')}`);
  const question = words.join(' ');
  const isPiped = question.trim() === '-' || (words.length === 0 && !isTerminal);
  if (question.trim() === '' && !isPiped) return badUsage(QUESTION_REQUIRED);
  return {
    kind: 'ask',
    tool,
    question: isPiped ? undefined : question,
    json: 'json' in values,
    verbose: 'verbose' in values,
    options: toConfigOptions(values),
  };
}

function enumerated(names: readonly string[]): string {
  return names.join(', ').replace(/, (\w+)$/, ' and $1');
}

function misplacedIn(mode: keyof typeof OPTIONS_OF, values: Values): string | undefined {
  const names = [...COMMON_OPTIONS, ...OPTIONS_OF[mode]];
  return Object.keys(values).find((name) => !names.includes(name));
}

function toConfigOptions(values: Values): ConfigOptions {
  const present = CONFIG_OPTIONS.filter((name) => name in values);
  return Object.fromEntries(present.map((name) => [`--${name}`, values[name] ?? '']));
}

function badUsage(problem: string): Command {
  // A key may have been pasted in place of any argument.
  return { kind: 'bad-usage', problem: withoutKeyLike(problem) };
}

type Token = ReturnType<typeof tokenize>[number];

function tokenize(argv: readonly string[]) {
  return parseArgs({ args: [...argv], options: PARSED_OPTIONS, strict: false, allowPositionals: true, tokens: true })
    .tokens;
}

function problemOf(token: Token): string | undefined {
  if (token.kind !== 'option') return undefined;
  const { name, rawName, value, inlineValue } = token;
  if (!OPTIONS.has(name)) return unknownOption(rawName);
  const required = REQUIRED_VALUES[name];
  if (required === undefined) {
    const isAllowed = value === undefined || OPTIONAL_VALUES.includes(name);
    if (isAllowed || (name === 'expose' && /^(?:search|auto)$/.test(value))) return undefined;
    return `${rawName} takes no value${name === 'expose' ? ', or search or auto' : ''}`;
  }
  // In `--config --stdio` the value is missing.
  const isMissing = value === undefined || value.trim() === '' || (!inlineValue && value.startsWith('-'));
  return isMissing ? `${rawName} needs ${required}` : undefined;
}

/** The message for an unknown option, which may be a word of a question, as in "-5 degrees". */
function unknownOption(option: string): string {
  if (!option.startsWith('--')) return `unknown option ${option}; put -- before a question that starts with -`;
  const nearest = nearestName(option.slice(2), [...OPTIONS]);
  return `unknown option ${option}${nearest === undefined ? '' : `; did you mean --${nearest}?`}`;
}

/** The option that takes the next argument as its value: without a command, `--debug file` means `--debug=file`. */
function openOption(token: Token | undefined): string | undefined {
  if (token?.kind !== 'option' || token.value !== undefined) return undefined;
  return OPTIONAL_VALUES.find((name) => name === token.name);
}

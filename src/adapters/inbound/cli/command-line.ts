import { parseArgs } from 'node:util';
import { TOOL_NAMES } from '../../../domain/answers/question.ts';
import { LOCAL_CALLER, TOKEN_CALLER } from '../../../domain/gateway/call-origin.ts';
import { withoutKeyLike } from '../../../domain/values/redaction.ts';
import { nearestName } from '../nearest-name.ts';
import type { Command, ConfigOptions } from './command.ts';
import {
  COMMAND_NAMES,
  COMMANDS,
  COMMON_OPTIONS,
  type CommandName,
  enumerated,
  OPTIONS,
  ownersOf,
  questionRequired,
  SERVE_OPTIONS,
  wordsOf,
} from './command-table.ts';
import {
  readCallWords,
  readRunning,
  readSeconds,
  readToolWords,
  toCheckOptions,
  type Values,
} from './command-words.ts';

const OPTION_NAMES = [
  ...new Set([...COMMON_OPTIONS, ...SERVE_OPTIONS, ...COMMAND_NAMES.flatMap((name) => [...COMMANDS[name].options])]),
];
/** An option of the type `string` takes the next argument as its value, all others only one after `=`. */
const PARSED_OPTIONS = {
  ...Object.fromEntries(
    Object.entries(OPTIONS).flatMap(([name, { needs }]) => (needs ? [[name, { type: 'string' as const }]] : [])),
  ),
  help: { type: 'boolean' as const, short: 'h' },
  version: { type: 'boolean' as const, short: 'v' },
};

/** Parses the command line. Without a mode: help on a terminal, the stdio server on a pipe. */
export function parseCommandLine(argv: readonly string[], isTerminal: boolean): Command {
  const tokens = tokenize(argv);
  const command = toTyped(tokens, isTerminal);
  // All values of `--servers` and `--ignore` count, but only the last one of every other option.
  const valuesOf = (name: string) =>
    tokens.flatMap((token) => ('name' in token && token.name === name ? [token.value ?? ''] : []));
  if (command.kind === 'bad-usage') return { topic: topicOf(tokens), ...command };
  if (command.kind === 'check') return { ...command, ignored: valuesOf('ignore') };
  const files = valuesOf('servers');
  if (!('options' in command) || files.length < 2) return command;
  return { ...command, options: { ...command.options, '--servers': files } };
}

/** Whether a failure is printed as JSON, also one of a command line that cannot be read. */
export function wantsJson(argv: readonly string[]): boolean {
  return tokenize(argv).some((token) => token.kind === 'option' && token.name === 'json');
}

/** The command whose help is wanted; undefined for all of it. */
export function helpTopic(argv: readonly string[]): CommandName | undefined {
  return topicOf(tokenize(argv));
}

function topicOf(tokens: readonly Token[]): CommandName | undefined {
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
  const [word] = words[0] === 'help' ? words.slice(1) : words;
  return COMMAND_NAMES.find((name) => name === word);
}

function toTyped(tokens: readonly Token[], isTerminal: boolean): Command {
  const [problem] = tokens.flatMap((token) => problemOf(token) ?? []);
  if (problem !== undefined) return badUsage(problem);
  const first = tokens.find((token) => token.kind === 'positional')?.value;
  const command = COMMAND_NAMES.find((name) => name === first);
  const values: Values = {};
  const words: string[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'option') values[token.name] = token.value ?? '';
    if (token.kind !== 'positional') continue;
    const isWord = command !== undefined || token.value.startsWith('-');
    const option = isWord ? undefined : openOption(tokens[index - 1]);
    if (option === undefined) words.push(token.value);
    else values[option] = token.value;
  }
  if ('help' in values || (first === 'help' && (!words[1] || topicOf(tokens)))) return { kind: 'help' };
  if ('version' in values) return { kind: 'version' };
  if (first === 'version') return words.length === 1 ? { kind: 'version' } : badUsage('version takes no arguments');
  if (command !== undefined) return toCommand(command, words.slice(1), values, isTerminal);
  return toServe(first === 'help' ? words.slice(1) : words, values, isTerminal);
}

function toCommand(command: CommandName, words: readonly string[], values: Values, isTerminal: boolean): Command {
  const { words: limits, options: own } = COMMANDS[command];
  const misplaced = misplacedIn(own, values);
  if (misplaced !== undefined) return badUsage(`--${misplaced} cannot be combined with ${command}`);
  const [least, most] = limits;
  if (words.length < least || words.length > most) return wrongWords(command);
  const options = toConfigOptions(values);
  const json = 'json' in values;
  const [first = ''] = words;
  switch (command) {
    case 'ask':
      return toAsk(words, values, isTerminal);
    case 'check': {
      if (words.length === 0 && isTerminal) return wrongWords(command);
      const check = toCheckOptions(words, values);
      return typeof check === 'string' ? badUsage(check) : { kind: command, ...check, options };
    }
    case 'call':
      return toCall(words, values);
    case 'login':
      return { kind: command, server: first, noBrowser: 'no-browser' in values, options };
    case 'logout':
      if (words.length === 0 && values.caller === undefined) return wrongWords(command);
      return { kind: command, server: words[0], caller: values.caller, options };
    case 'token': {
      const isCaller = TOKEN_CALLER.test(first) && first !== LOCAL_CALLER;
      return isCaller ? { kind: command, caller: first } : wrongWords(command);
    }
    case 'tools':
      return toTools(words, values);
    case 'doctor':
    case 'logins':
      return { kind: command, json, options };
  }
}

function toCall(words: readonly string[], values: Values): Command {
  const read = readCallWords(words);
  if (read.isErr()) return read.error === undefined ? wrongWords('call') : badUsage(read.error);
  const timeoutMs = readSeconds(values.timeout);
  if (timeoutMs === null) return badUsage(`--timeout needs ${OPTIONS.timeout?.needs}`);
  const running = readRunning(values, ['servers']);
  if (typeof running === 'string') return badUsage(running);
  return {
    kind: 'call',
    ...read.value,
    json: 'json' in values,
    timeoutMs,
    save: values.save,
    ...running,
    ...('no-input' in values && { noInput: true as const }),
    options: toConfigOptions(values),
  };
}

function toTools(words: readonly string[], values: Values): Command {
  const { server, tool, rest } = readToolWords(words);
  if (rest.length > 0) return wrongWords('tools');
  const [action] = (['lock', 'diff'] as const).filter((name) => name in values);
  const other = action && { lock: ['diff', 'json', 'fresh'], diff: ['fresh'] }[action].find((name) => name in values);
  if (other !== undefined) return badUsage(`--${action} cannot be combined with --${other}`);
  const running = readRunning(values, ['servers', 'fresh', 'lock', 'diff']);
  if (typeof running === 'string') return badUsage(running);
  const common = { kind: 'tools' as const, json: 'json' in values, options: toConfigOptions(values) };
  if (action === undefined)
    return { ...common, ...running, isFresh: 'fresh' in values, server: words[0] && server, tool };
  if (words.length > 0) return badUsage(`--${action} applies to all servers: tools --${action}`);
  return { ...common, action };
}

function toServe([word]: readonly string[], values: Values, isTerminal: boolean): Command {
  if (word !== undefined) {
    const nearest = nearestName(word, [...COMMAND_NAMES, 'help', 'version']);
    const advice = nearest === undefined ? `the commands are ${enumerated(COMMAND_NAMES)}` : `did you mean ${nearest}?`;
    return badUsage(`unknown command ${JSON.stringify(word)}; ${advice}`);
  }
  const misplaced = misplacedIn(SERVE_OPTIONS, values);
  if (misplaced !== undefined) return badUsage(`--${misplaced} is an option of ${enumerated(ownersOf(misplaced))}`);
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
  if (question.trim() === '' && !isPiped) return { kind: 'bad-usage', ...questionRequired(values.record) };
  return {
    kind: 'ask',
    tool,
    question: isPiped ? undefined : question,
    json: 'json' in values,
    verbose: 'verbose' in values,
    options: toConfigOptions(values),
  };
}

/** The first option that is neither common nor one of `own`. */
function misplacedIn(own: readonly string[], values: Values): string | undefined {
  return Object.keys(values).find((name) => !COMMON_OPTIONS.includes(name) && !own.includes(name));
}

function toConfigOptions(values: Values): ConfigOptions {
  const present = OPTION_NAMES.filter((name) => OPTIONS[name]?.setsKeys && name in values);
  return Object.fromEntries(present.map((name) => [`--${name}`, values[name] ?? '']));
}

function wrongWords(command: CommandName): Command {
  return { kind: 'bad-usage', ...wordsOf(command) };
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
  if (!OPTION_NAMES.includes(name)) return unknownOption(rawName);
  const { needs, values = [] } = OPTIONS[name] ?? {};
  if (needs === undefined) {
    if (value === undefined || values === 'any' || values.includes(value)) return undefined;
    return `${rawName} takes no value${values.length === 0 ? '' : `, or ${values.join(' or ')}`}`;
  }
  // In `--config --stdio` the value is missing.
  const isMissing = value === undefined || value.trim() === '' || (!inlineValue && value.startsWith('-'));
  return isMissing ? `${rawName} needs ${needs}` : undefined;
}

/** The message for an unknown option, which may be a word of a question, as in "-5 degrees". */
function unknownOption(option: string): string {
  if (!option.startsWith('--')) return `unknown option ${option}; put -- before a question that starts with -`;
  if (option === '--port' || option === '--host')
    return `unknown option ${option}; give the address to --http, such as --http=127.0.0.1:4000`;
  const nearest = nearestName(option.slice(2), OPTION_NAMES);
  return `unknown option ${option}${nearest === undefined ? '' : `; did you mean --${nearest}?`}`;
}

/** The option that takes the next argument as its value: without a command, `--debug file` means `--debug=file`. */
function openOption(token: Token | undefined): string | undefined {
  if (token?.kind !== 'option' || token.value !== undefined) return undefined;
  return OPTIONS[token.name]?.values === 'any' ? token.name : undefined;
}

import {
  COMMANDS,
  COMMON_OPTIONS,
  type CommandName,
  type CommandRow,
  MODES,
  OPTIONS,
  ownersOf,
  type Row,
  SERVE_OPTIONS,
} from './command-table.ts';

/** The text of `--help`, at most 80 columns wide. */
export function usage(): string {
  const { 'show-config': showConfig, ...modes } = MODES;
  const options = Object.entries(OPTIONS).filter(([name]) => !Object.hasOwn(MODES, name));
  const isGeneral = (name: string) => COMMON_OPTIONS.includes(name) || SERVE_OPTIONS.includes(name);
  const ofCommands = options.filter(([name]) => !isGeneral(name));
  return `${HEAD}
Modes:
${rows(modes, '--')}Commands:
${rows(COMMANDS)}${rows({ 'help, version': { help: 'the same as --help, --version' } })}${rows({ 'show-config': showConfig }, '--')}
Options:
${rows(Object.fromEntries(options.filter(([name]) => isGeneral(name))), '--')}Options of commands:
${ofCommands.map(([name, row]) => rows({ [name]: { ...row, help: `${row.help} (${ownersOf(name).join(', ')})` } }, '--')).join('')}
${TAIL}`;
}

/** The text of `--help` for one command, at most 80 columns wide and 25 lines long. */
export function usageOf(command: CommandName): string {
  const { form = '', help, options, sample }: CommandRow = COMMANDS[command];
  const own = Object.entries(OPTIONS)
    .filter(([name]) => options.includes(name))
    .map(([name, row]) => [name, { ...row, help: row.of?.[command] ?? row.help }]);
  const head = `Usage: ${PROGRAM} ${command}${form}${own.length === 0 ? '' : ' [options]'}`;
  return `${wrapped(head, 80).join('\n  ')}

${wrapped(`${help.charAt(0).toUpperCase()}${help.slice(1)}`, 80).join('\n')}

${own.length === 0 ? '' : `Options:\n${rows(Object.fromEntries(own), '--')}\n`}${OF_EVERY_COMMAND}
Example: ${PROGRAM} ${command} ${sample}
`;
}

const PROGRAM = 'openai-responses-mcp';

const OF_EVERY_COMMAND = `Every command also takes --config <path>, --servers=<path>, --offline[=path] and
--debug[=file]; see ${PROGRAM} --help
`;

const HEAD = `openai-responses-mcp: answers with sources over MCP, from OpenAI's Responses API
and web search, and a gateway to your own MCP servers

Usage: openai-responses-mcp <command or mode> [options]
`;

const TAIL = `Examples:
  openai-responses-mcp ask "Who won the last Nobel Prize in Physics?"
  openai-responses-mcp ask --offline "What does HTTP 404 mean?"
  openai-responses-mcp --http --config config.yaml

The API key is read from OPENAI_API_KEY, from the file that OPENAI_API_KEY_FILE
names, or from the output of the command in OPENAI_API_KEY_COMMAND.
Exit codes: 0 success, 1 failure, 2 bad usage, 3 no page read (check),
130 interrupted.
More: https://github.com/uchimanajet7/openai-responses-mcp#readme
`;

/** The column at which the help of a row begins, and its width. */
const INDENT = 26;
const WIDTH = 80 - INDENT;

function rows(table: Readonly<Record<string, Row>>, prefix = ''): string {
  return Object.entries(table)
    .map(([name, { form = '', help }]) => {
      const head = `  ${prefix}${name}${form}`;
      const begin = head.length < INDENT ? head.padEnd(INDENT) : `${head}\n${' '.repeat(INDENT)}`;
      return `${begin}${wrapped(help).join(`\n${' '.repeat(INDENT)}`)}\n`;
    })
    .join('');
}

function wrapped(text: string, width = WIDTH): readonly string[] {
  return text.split('\n').flatMap((part) => {
    const lines = [''];
    for (const word of part.split(' ')) {
      const line = `${lines.at(-1)} ${word}`.trimStart();
      if (line.length <= width) lines[lines.length - 1] = line;
      else lines.push(word);
    }
    return lines;
  });
}

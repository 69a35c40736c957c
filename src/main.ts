import type { Command } from './adapters/inbound/cli/command.ts';
import { helpTopic, parseCommandLine, wantsJson } from './adapters/inbound/cli/command-line.ts';
import { usage, usageOf } from './adapters/inbound/cli/usage.ts';
import { BAD_USAGE, FAILED, SUCCEEDED } from './adapters/inbound/exit-codes.ts';
import { failureJson } from './adapters/inbound/failure-json.ts';
import { missingFileMessage, PROCESS } from './adapters/inbound/words/process-messages.ts';
import { readOwnCommand } from './adapters/outbound/config/own-command.ts';
import { withoutUnsafeCharacters } from './domain/values/clean-text.ts';
import type { TerminalCommand } from './wiring/command.ts';
import { createProgram, PROGRAM, VERSION } from './wiring/runtime.ts';
import { serveStdio } from './wiring/stdio.ts';

/** How long standard error may take to be read before the process exits. */
const FLUSH_MS = 500;

const program = createProgram(import.meta.dirname);
const argv = process.argv.slice(2);

/** Decides the mode, and returns the exit code when it has ended. */
async function main(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help': {
      const topic = helpTopic(argv);
      process.stdout.write(topic === undefined ? usage() : usageOf(topic));
      return SUCCEEDED;
    }
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      return SUCCEEDED;
    case 'bad-usage': {
      printFailure('USAGE_ERROR', command.problem);
      const { say } = await import('./adapters/inbound/cli/terminal.ts');
      const ownCommand = readOwnCommand(process.argv[1], {}, process.env);
      say(PROCESS.badUsage(command, ownCommand).trimEnd(), { err: process.stderr, ownCommand });
      return BAD_USAGE;
    }
    case 'serve':
      return serveStdio(command, program);
    case 'serve-http':
      return (await import('./wiring/http.ts')).serveHttp(command, program);
    default:
      return runInTerminal(command);
  }
}

/** Prints a failure as JSON, if that was demanded. */
function printFailure(code: string, message: string): void {
  if (wantsJson(argv)) process.stdout.write(`${failureJson({ code, message }, program.redactor, 2)}\n`);
}

async function runInTerminal(command: TerminalCommand): Promise<number> {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, fail);
  return (await import('./wiring/command.ts')).runCommand(command, program);
}

/** Exits soon, so that neither an idle connection to the API nor a closed pipe keeps the process alive. */
function exit(code: number): void {
  process.exitCode = code;
  process.stderr.on('error', () => {});
  const end = () => process.exit(isOutputLost ? FAILED : code);
  setTimeout(end, FLUSH_MS);
  // A failed write is reported a moment after its callback.
  process.stdout.write('', () => process.stderr.write('', () => setImmediate(end)));
}

let isOutputLost = false;

/** The error codes of a pipe whose reader has closed it. */
const READER_CLOSED = /^(?:EPIPE|ECONNRESET|EOF)$/;

/** Output that cannot be written is an error, unless its reader has closed the pipe. */
function onStdoutError({ code = '' }: NodeJS.ErrnoException): void {
  if (READER_CLOSED.test(code) || isOutputLost) return;
  isOutputLost = true;
  program.stderr.say('error', PROCESS.lostOutput(code));
}

/** Maximum length of the message of an exception. */
const MAX_MESSAGE = 1000;

function fail(error: unknown): void {
  const message = program.redactor.inLogs(withoutUnsafeCharacters(String(error))).slice(0, MAX_MESSAGE);
  const words = missingFileMessage(error) ?? `internal error: ${message}`;
  printFailure('INTERNAL_ERROR', words);
  program.stderr.say('error', `${PROGRAM}: ${words}`);
  exit(FAILED);
}

process.stdout.on('error', onStdoutError);
main(parseCommandLine(argv, process.stdin.isTTY === true)).then(exit, fail);

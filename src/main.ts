import { join } from 'node:path';
import type { Command } from './adapters/inbound/cli/command-line.ts';
import { BAD_USAGE, FAILED, SUCCEEDED } from './adapters/inbound/exit-codes.ts';
import { missingFileMessage, PROCESS } from './adapters/inbound/words/process-messages.ts';
import { withoutUnsafeCharacters } from './domain/values/clean-text.ts';
import { redactedJson } from './domain/values/redaction.ts';
import { bootstrap } from './wiring/runtime.ts';
import type { LoadServices, Services } from './wiring/services.ts';
import { serveStdio } from './wiring/stdio.ts';
import { PROGRAM, VERSION } from './wiring/version.ts';

/** How long standard error may take to be read before the process exits. */
const FLUSH_MS = 500;

type RunnableCommand = Extract<Command, { options: object }>;

/** The usual arguments of MCP clients, handled without loading the parser. */
const STDIO_SERVER: RunnableCommand = { kind: 'serve', showConfig: false, options: {} };

async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 1 && argv[0] === '--stdio') return run(STDIO_SERVER);
  const { parseCommandLine } = await import('./adapters/inbound/cli/command-line.ts');
  const command = parseCommandLine(argv, process.stdin.isTTY === true);
  switch (command.kind) {
    case 'help':
      process.stdout.write((await import('./adapters/inbound/cli/usage.ts')).USAGE);
      return SUCCEEDED;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      return SUCCEEDED;
    case 'bad-usage':
      process.stderr.write(PROCESS.badUsage(command.problem));
      return BAD_USAGE;
    default:
      return run(command);
  }
}

async function run(command: RunnableCommand): Promise<number> {
  const writesLock = command.kind === 'tools' && command.action === 'lock';
  const commandLine = command.options;
  const isServer = 'showConfig' in command;
  const options = { environment: process.env, commandLine, version: VERSION, writesLock, serves: isServer };
  const validated = await bootstrap(options);
  if ('problems' in validated) {
    if (command.kind === 'doctor') {
      const { doctorOnProblems } = await import('./adapters/inbound/cli/doctor.ts');
      return doctorOnProblems(validated.problems, { json: command.json, out: (text) => process.stdout.write(text) });
    }
    const [{ messageForProblems }, { withTypedOptions }] = await Promise.all([
      import('./adapters/inbound/words/config-problems.ts'),
      import('./adapters/inbound/words/advised-commands.ts'),
    ]);
    const message = withTypedOptions(messageForProblems(validated.problems), commandLine);
    if ('json' in command && command.json) {
      const error = { kind: 'configuration', message: message.trimEnd() };
      process.stdout.write(`${JSON.stringify({ error }, undefined, 2)}\n`);
    }
    process.stderr.write(message);
    return FAILED;
  }
  const { audit } = validated.value.config;
  const isAudited = audit !== undefined && /^(?:serve|serve-http|ask|call)$/.test(command.kind);
  const runtime = isAudited ? (await import('./wiring/audit.ts')).withAudit(validated.value, audit) : validated.value;
  redact = runtime.redactor.inLogs;
  const { config, logger } = runtime;
  // doctor has a line for each, and --show-config prints only JSON.
  if (config.notices.length > 0 && !/^(?:doctor|show-config)$/.test(command.kind)) {
    const { logNotices, messageForProblem, noticesAbout } = await import('./adapters/inbound/words/config-problems.ts');
    const usesServers = command.kind !== 'check' && (command.kind !== 'ask' || config.grounding !== undefined);
    const notices = noticesAbout(config.notices, usesServers, 'server' in command ? command.server : undefined);
    if (isServer) logNotices(config.notices, logger);
    else
      for (const notice of notices)
        process.stderr.write(`warning: ${redact(withoutUnsafeCharacters(messageForProblem(notice)))}\n`);
  }
  if (command.kind === 'show-config' || (isServer && (command.showConfig || config.server.showConfigOnStart))) {
    process.stderr.write(`${redactedJson(config.shown(), redact, 2)}\n`);
  }
  const folder = import.meta.dirname;
  let services: Services | undefined;
  const load: LoadServices = async (options) => {
    const { createServices } = await import('./wiring/services.ts');
    services ??= createServices(runtime, { folder, ...options });
    return services;
  };
  try {
    switch (command.kind) {
      case 'show-config':
        return SUCCEEDED;
      case 'serve':
        return await serveStdio(runtime, load);
      case 'serve-http':
        return await (await import('./wiring/http.ts')).serveHttp(runtime, load, join(folder, 'page'));
      default:
        for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, fail);
        return await (await import('./wiring/command.ts')).runCommand(command, runtime, load);
    }
  } finally {
    await services?.close();
    await runtime.audit?.close();
    runtime.close();
  }
}

/** Exits soon: neither an idle connection to the API nor a closed pipe may keep the process alive. */
function exit(code: number): void {
  process.exitCode = code;
  process.stderr.on('error', () => {});
  const end = () => process.exit(isOutputLost ? FAILED : code);
  setTimeout(end, FLUSH_MS);
  // A failed write is reported a moment after its callback.
  process.stdout.write('', () => process.stderr.write('', () => setImmediate(end)));
}

let isOutputLost = false;

/** The error codes of a reader that closed its end. */
const READER_CLOSED = /^(?:EPIPE|ECONNRESET|EOF)$/;

/** Output that cannot be written is an error, unless its reader does not want it. */
function onStdoutError({ code = '' }: NodeJS.ErrnoException): void {
  if (READER_CLOSED.test(code) || isOutputLost) return;
  isOutputLost = true;
  process.stderr.write(PROCESS.lostOutput(code));
}

/** Known once the configuration was read. */
let redact = (text: string) => text;

/** The message of an exception may contain a text of any length. */
const MAX_MESSAGE = 1000;

function fail(error: unknown): void {
  const message = redact(withoutUnsafeCharacters(String(error))).slice(0, MAX_MESSAGE);
  process.stderr.write(`${PROGRAM}: ${missingFileMessage(error) ?? `internal error: ${message}`}\n`);
  exit(FAILED);
}

process.stdout.on('error', onStdoutError);
main(process.argv.slice(2)).then(exit, fail);

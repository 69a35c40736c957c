#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import type { Command } from './adapters/inbound/cli/command-line.ts';
import { LazyApplication } from './application/lazy-application.ts';
import type { ConfigOptions } from './application/ports/config.ts';
import { layFoundation } from './foundation.ts';
import { serveStdio } from './serve-stdio.ts';
import { PROGRAM, VERSION } from './version.ts';

const FAILED = 1;
const BAD_USAGE = 2;

/** How long standard error may take to be read before the process ends. */
const FLUSH_MS = 500;

type RunnableCommand = Extract<Command, { config: ConfigOptions }>;

/** What clients say: it is read without the parser, which would have to be loaded. */
const PLAIN_SERVER: RunnableCommand = { kind: 'serve', showConfig: false, config: { names: [] } };

async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 1 && argv[0] === '--stdio') return run(PLAIN_SERVER);
  const { parseCommandLine, USAGE } = await import('./adapters/inbound/cli/command-line.ts');
  const command = parseCommandLine(argv, process.stdin.isTTY === true);
  switch (command.kind) {
    case 'help':
      process.stdout.write(USAGE);
      return 0;
    case 'version':
      process.stdout.write(`${VERSION}\n`);
      return 0;
    case 'bad-usage':
      process.stderr.write(`${command.problem}\nTry ${PROGRAM} --help\n`);
      return BAD_USAGE;
    default:
      return run(command);
  }
}

async function run(command: RunnableCommand): Promise<number> {
  const laid = await layFoundation({ environment: process.env, commandLine: command.config, version: VERSION });
  if ('problems' in laid) {
    if (command.kind === 'doctor') {
      const { runDoctorOfProblems } = await import('./run-for-person.ts');
      return runDoctorOfProblems(command.json, laid.problems);
    }
    const { wordsForProblems } = await import('./adapters/inbound/cli/config-problems.ts');
    process.stderr.write(wordsForProblems(laid.problems));
    return FAILED;
  }
  const foundation = laid.value;
  const { config } = foundation;
  const isServer = command.kind === 'serve' || command.kind === 'serve-http';
  if (command.kind === 'show-config' || (isServer && (command.showConfig || config.server.showConfigOnStart))) {
    process.stderr.write(`${JSON.stringify(config.shown, undefined, 2)}\n`);
  }
  const application = new LazyApplication(async () => {
    const { assemble } = await import('./container.ts');
    return assemble(foundation, fileURLToPath(new URL('./recordings', import.meta.url)));
  });
  try {
    switch (command.kind) {
      case 'show-config':
        return 0;
      case 'serve':
        return await serveStdio({ ...foundation, application });
      case 'serve-http':
        return await (await import('./serve-http.ts')).serveHttp({ ...foundation, application });
      default:
        for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, failed);
        return await (await import('./run-for-person.ts')).runForPerson(command, { ...foundation, application });
    }
  } finally {
    foundation.close();
  }
}

/** Ends with what is written out, at once: an idle connection to the API must not keep the process, nor a closed pipe. */
function exit(code: number): void {
  process.exitCode = code;
  process.stderr.on('error', () => {});
  const end = () => process.exit(isOutputLost ? FAILED : code);
  setTimeout(end, FLUSH_MS);
  // A loss is heard of a moment later than its write has ended.
  process.stdout.write('', () => process.stderr.write('', () => setImmediate(end)));
}

let isOutputLost = false;

/** How systems say that the reader wanted no more. */
const READER_GONE = /^(?:EPIPE|ECONNRESET|EOF)$/;

/** What was said but could not be written is a failure, unless nobody wants to read it. */
function lose({ code = '' }: NodeJS.ErrnoException): void {
  if (READER_GONE.test(code) || isOutputLost) return;
  isOutputLost = true;
  process.stderr.write(
    `Standard output cannot be written (${code}), so what it was told is lost. Send it elsewhere.\n`,
  );
}

function failed(fault: unknown): void {
  process.stderr.write(`${PROGRAM}: a fault of this program: ${String(fault)}\n`);
  exit(FAILED);
}

process.stdout.on('error', lose);
main(process.argv.slice(2)).then(exit, failed);

#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { type Command, type ConfigOptions, parseCommandLine, USAGE } from './adapters/inbound/cli/command-line.ts';
import { wordsForProblems } from './adapters/inbound/cli/config-problems.ts';
import { McpSession } from './adapters/inbound/mcp/mcp-session.ts';
import { claimStdout } from './adapters/inbound/stdio/claim-stdout.ts';
import { watchReader } from './adapters/inbound/stdio/reader-watch.ts';
import { StdioTransport } from './adapters/inbound/stdio/stdio-transport.ts';
import { type Composition, compose } from './container.ts';
import { PROGRAM, VERSION } from './version.ts';

const FAILED = 1;
const BAD_USAGE = 2;

/** How long aborted calls may take to end before the process does. */
const ABORT_MS = 500;

async function main(): Promise<number> {
  const command = parseCommandLine(process.argv.slice(2), process.stdin.isTTY === true);
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

async function run(command: Extract<Command, { config: ConfigOptions }>): Promise<number> {
  const composed = await compose({
    environment: process.env,
    commandLine: command.config,
    version: VERSION,
    shippedRecordings: fileURLToPath(new URL('./recordings', import.meta.url)),
  });
  if (composed.isErr()) {
    process.stderr.write(wordsForProblems(composed.error));
    return FAILED;
  }
  const composition = composed.value;
  const { config } = composition;
  if (
    command.kind === 'show-config' ||
    (command.kind === 'serve' && (command.showConfig || config.server.showConfigOnStart))
  ) {
    process.stderr.write(`${JSON.stringify(config.shown, undefined, 2)}\n`);
  }
  if (command.kind === 'show-config') return 0;
  try {
    if (command.kind === 'serve') return await serve(composition);
    return await untilInterrupted((signal) =>
      command.kind === 'ask' ? runAsk(command, composition, signal) : runDoctor(command.json, composition, signal),
    );
  } finally {
    composition.close();
  }
}

/** Serves MCP over standard input and output, to the end of the input or of its reader (ruling 13). */
async function serve({ application, config, clock, logger, redactor }: Composition): Promise<number> {
  const write = claimStdout();
  const session = new McpSession({
    application,
    clock,
    logger,
    redactor,
    serverInfo: { name: PROGRAM, version: VERSION },
    toolErrors: config.server.toolErrors,
    sessionKey: 'stdio',
    caller: 'stdio',
    maxAnswerChars: config.maxAnswerChars,
  });
  const transport = new StdioTransport({
    session,
    input: process.stdin,
    write,
    logger,
    redact: redactor.anywhere,
    forceLines: config.server.forceLines,
  });
  const served = transport.serve().then(() => 0);
  const stopped = new Promise<number>((resolve) => {
    const stop = (why: string, code: number) => {
      logger.debug(`server: stopping, since ${why}`);
      session.close();
      setTimeout(() => resolve(code), ABORT_MS).unref();
      void transport.settled().then(() => resolve(code));
    };
    watchReader((why) => stop(why, 0));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(`of ${signal}`, 0));
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (fault: unknown) => {
        logger.error(`a fault of this program: ${String(fault)}`);
        session.fail();
        stop('of a fault', FAILED);
      });
    }
  });
  return Promise.race([served, stopped]);
}

/** Runs something for a person, who may break it off with Ctrl-C. */
async function untilInterrupted(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());
  return work(interrupted.signal);
}

async function runAsk(
  command: Extract<Command, { kind: 'ask' }>,
  composition: Composition,
  signal: AbortSignal,
): Promise<number> {
  const { ask } = await import('./adapters/inbound/cli/ask.ts');
  return ask({ ...composition, ...command, out: print, err: process.stderr }, signal);
}

async function runDoctor(json: boolean, composition: Composition, signal: AbortSignal): Promise<number> {
  const { doctor } = await import('./adapters/inbound/cli/doctor.ts');
  const { openai, llm, shown } = composition.config;
  const { yaml, env, cli } = shown.sources;
  return doctor(
    {
      ...composition,
      nodeVersion: process.versions.node,
      configSources: ['defaults', ...(yaml === undefined ? [] : [yaml]), ...env, ...cli].join(', '),
      apiKey: { variable: openai.apiKeyVariable, isPresent: openai.apiKey !== undefined },
      isOffline: llm.adapter === 'offline',
      json,
      out: print,
    },
    signal,
  );
}

function print(text: string): void {
  process.stdout.write(text);
}

/** Ends at once with what is written out: an idle connection to the API must not keep the process. */
function exit(code: number): void {
  process.exitCode = code;
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
}

main().then(exit, (fault: unknown) => {
  process.stderr.write(`${PROGRAM}: a fault of this program: ${String(fault)}\n`);
  exit(FAILED);
});

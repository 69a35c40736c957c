import { McpSession } from './adapters/inbound/mcp/mcp-session.ts';
import { claimStdout } from './adapters/inbound/stdio/claim-stdout.ts';
import { watchReader } from './adapters/inbound/stdio/reader-watch.ts';
import { StdioTransport } from './adapters/inbound/stdio/stdio-transport.ts';
import { watchFaults } from './process-faults.ts';
import type { Program } from './program.ts';
import { PROGRAM, VERSION } from './version.ts';

const FAILED = 1;

/** How long aborted calls may take to end before the process does. */
const ABORT_MS = 500;

/** Serves MCP over standard input and output, to the end of the input or of its reader (ruling 13). */
export async function serveStdio({ application, config, clock, logger, redactor }: Program): Promise<number> {
  const stdout = claimStdout();
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
    write: stdout.write,
    logger,
    redact: redactor.anywhere,
    forceLines: config.server.forceLines,
  });
  const served = transport.serve().then(stdout.flushed);
  let exitCode = 0;
  const stopped = new Promise<void>((resolve) => {
    let isStopping = false;
    const stop = (why: string) => {
      if (isStopping) return;
      isStopping = true;
      logger.debug(`server: stopping, since ${why}`);
      session.close();
      setTimeout(resolve, ABORT_MS).unref();
      void transport.settled().then(stdout.flushed).then(resolve);
    };
    watchReader(stop, () => transport.beginMessage(), clock);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(`of ${signal}`));
    watchFaults(logger, () => {
      session.fail();
      exitCode = FAILED;
      stop('of a fault');
    });
  });
  await Promise.race([served, stopped]);
  return exitCode;
}

import { AnswerTools } from '../adapters/inbound/mcp/answer-tools.ts';
import { McpSession } from '../adapters/inbound/mcp/session.ts';
import { claimStdout } from '../adapters/inbound/stdio/claim-stdout.ts';
import { onReaderGone } from '../adapters/inbound/stdio/reader-watch.ts';
import { StdioTransport } from '../adapters/inbound/stdio/stdio-transport.ts';
import type { Application } from '../application/application.ts';
import { NEVER } from '../application/deadline.ts';
import type { Runtime } from '../bootstrap.ts';
import { PROGRAM, VERSION } from '../version.ts';
import { effectsOf, type GatewayAccess } from './gateway-access.ts';
import { onUncaughtError } from './uncaught-errors.ts';

const FAILED = 1;

/** A person has started it. */
const TYPED = `Waiting for MCP messages on standard input, which clients send; Ctrl-C ends it. Try ${PROGRAM} --help\n`;

/** How long aborted calls may take to settle before the process exits. */
const ABORT_MS = 500;

/** Serves MCP over standard input and output until the input ends or nothing can read the output (ruling 13). */
export async function serveStdio(application: Application, runtime: Runtime, gateways: GatewayAccess): Promise<number> {
  const { config, clock, logger, redactor } = runtime;
  const { toolErrors, lineMode } = config.server;
  if (process.stdin.isTTY) process.stderr.write(TYPED);
  const stdout = claimStdout();
  const answerTools = new AnswerTools({
    ...runtime,
    timeZone: config.timeZone,
    application,
    toolErrors,
    maxAnswerChars: config.maxAnswerChars,
    hasEffects: await effectsOf(runtime, gateways),
  });
  let notify = (): void => {};
  const isExposed = config.gateway.expose && (config.servers ?? []).length > 0;
  const tools = isExposed
    ? (await import('./exposed-tools.ts')).exposedOnStdio(answerTools, runtime, gateways.load, () => notify())
    : answerTools;
  const session = new McpSession({
    tools,
    logger,
    serverInfo: { name: PROGRAM, version: VERSION },
    caller: 'stdio',
    isLocal: true,
  });
  const transport = new StdioTransport({
    session,
    input: process.stdin,
    write: stdout.write,
    logger,
    redact: redactor.anywhere,
    lineMode,
  });
  notify = () => transport.notify('notifications/tools/list_changed');
  const served = transport.serve().then(stdout.flushed);
  let exitCode = 0;
  const stopped = new Promise<void>((resolve) => {
    let isStopping = false;
    const stop = (reason: string) => {
      if (isStopping) return;
      isStopping = true;
      logger.debug(`server: stopping (${reason})`);
      session.close();
      void clock.sleep(ABORT_MS, NEVER).then(() => resolve());
      void transport.settled().then(stdout.flushed).then(resolve);
    };
    onReaderGone(stop);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
    onUncaughtError(logger, () => {
      session.fail();
      exitCode = FAILED;
      stop('internal error');
    });
  });
  await Promise.race([served, stopped]);
  // The servers end now; nothing reads about it.
  notify = () => {};
  return exitCode;
}

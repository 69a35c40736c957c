import { FAILED, SUCCEEDED } from '../adapters/inbound/exit-codes.ts';
import type { GatewayTools } from '../adapters/inbound/mcp/gateway-tools.ts';
import { McpSession } from '../adapters/inbound/mcp/session.ts';
import { claimStdout } from '../adapters/inbound/stdio/claim-stdout.ts';
import { onReaderGone } from '../adapters/inbound/stdio/reader-watch.ts';
import { StdioTransport } from '../adapters/inbound/stdio/stdio-transport.ts';
import { PROCESS } from '../adapters/inbound/words/process-messages.ts';
import { never } from '../application/async/deadline.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import { createAnswerTools, longAnswerParts, SERVER_INFO } from './answer-tools.ts';
import { answerServers, type Runtime } from './runtime.ts';
import type { LoadServices } from './services.ts';
import { onUncaughtError } from './uncaught-errors.ts';

/** How long aborted calls may take to settle before the process exits. */
const ABORT_MS = 500;

/** Serves MCP over standard input and output until the input ends or nothing can read the output (ruling 13). */
export async function serveStdio(runtime: Runtime, load: LoadServices): Promise<number> {
  const { config, clock, logger, redactor } = runtime;
  const { lineMode } = config.server;
  if (process.stdin.isTTY) process.stderr.write(PROCESS.waiting);
  const stdout = claimStdout();
  let gateway: Gateway | undefined;
  let exposed: GatewayTools | undefined;
  let notify = (): void => {};
  const services = () =>
    load({
      servers: answerServers(config),
      logSpawn: (line) => logger.debug(line),
      onStarted: (started) => {
        gateway = started;
        started.onToolsChanged(() => {
          if (exposed?.isListOutdated) notify();
        });
      },
    });
  const loadApplication = async () => (await services()).application();
  const long = await longAnswerParts(runtime, loadApplication);
  const answerTools = await createAnswerTools(runtime, loadApplication, () => gateway, long.tasks);
  if (config.gateway.expose && (config.servers ?? []).length > 0) {
    const { GatewayTools } = await import('../adapters/inbound/mcp/gateway-tools.ts');
    // The servers start with the first list or call, and not before (ruling G23).
    const start = async () => (await (await services()).gateway()).gateway;
    exposed = new GatewayTools({ builtIn: answerTools, gateway: start, notifiesOfChanges: true, clock, redactor });
  }
  const session = new McpSession({
    tools: exposed ?? answerTools,
    logger,
    serverInfo: SERVER_INFO,
    caller: 'stdio',
    isLocal: true,
    ...long,
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
  let exitCode = SUCCEEDED;
  const stopped = new Promise<void>((resolve) => {
    let isStopping = false;
    const stop = (reason: string) => {
      if (isStopping) return;
      isStopping = true;
      logger.debug(`server: stopping (${reason})`);
      session.close();
      void clock.sleep(ABORT_MS, never()).then(() => resolve());
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

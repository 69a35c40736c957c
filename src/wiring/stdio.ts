import { FAILED, SUCCEEDED } from '../adapters/inbound/exit-codes.ts';
import { McpSession } from '../adapters/inbound/mcp/session.ts';
import { claimStdout } from '../adapters/inbound/stdio/claim-stdout.ts';
import { onReaderGone } from '../adapters/inbound/stdio/reader-watch.ts';
import { StdioTransport } from '../adapters/inbound/stdio/stdio-transport.ts';
import { PROCESS } from '../adapters/inbound/words/process-messages.ts';
import { never } from '../application/async/deadline.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import type { ChangingList } from '../application/ports/tool-server.ts';
import { LOCAL_CALLER } from '../domain/gateway/call-origin.ts';
import { createAnswerTools } from './answer-tools.ts';
import type { Exposure } from './exposure.ts';
import { answerServers, type Runtime } from './runtime.ts';
import type { LoadServices } from './services.ts';
import { onUncaughtError } from './uncaught-errors.ts';
import { IDENTITY } from './version.ts';

/** How long aborted calls may take to settle before the process exits. */
const ABORT_MS = 500;

/** Serves MCP over standard input and output until the input ends or nothing can read the output (ruling 13). */
export async function serveStdio(runtime: Runtime, load: LoadServices): Promise<number> {
  const { config, clock, logger, redactor, audit, onUnknownTool } = runtime;
  const { lineMode } = config.server;
  if (process.stdin.isTTY) process.stderr.write(PROCESS.waiting);
  const stdout = claimStdout();
  const rights = runtime.rightsOf({ caller: LOCAL_CALLER });
  const by = { caller: LOCAL_CALLER, door: 'stdio' as const, rights: () => rights };
  let gateway: Gateway | undefined;
  const isExposed = config.gateway.expose !== false && (config.servers ?? []).length > 0;
  let exposure: Exposure | undefined;
  let notify = (_list: ChangingList | 'tools'): void => {};
  const services = () =>
    load({
      servers: answerServers(config, by.rights()),
      logSpawn: (line) => logger.debug(line),
      onStarted: (started) => {
        gateway = started;
        started.onToolsChanged(() => {
          if (exposure?.tools.isListOutdated) notify('tools');
          if (exposure?.shared.isListOutdated) for (const list of ['resources', 'prompts'] as const) notify(list);
        });
      },
      onListChanged: isExposed ? (server, list) => by.rights().mayRead(server) && notify(list) : undefined,
    });
  const { answerTools, long } = await createAnswerTools(runtime, services, () => gateway);
  if (isExposed) {
    // The servers start with the first list or call, and not before (ruling G23).
    const start = async () => (await (await services()).gateway()).gateway;
    const { createExposure } = await import('./exposure.ts');
    exposure = await createExposure(runtime, { builtIn: answerTools, gateway: start, notifiesOfChanges: true });
  }
  const session = new McpSession({
    tools: exposure?.tools ?? answerTools,
    logger,
    serverInfo: IDENTITY,
    by,
    ...long,
    onUnknownTool,
    shared: exposure?.shared,
  });
  const transport = new StdioTransport({
    session,
    input: process.stdin,
    write: stdout.write,
    logger,
    redact: redactor.anywhere,
    lineMode,
  });
  notify = (list) => transport.notify(`notifications/${list}/list_changed`);
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
    if (audit !== undefined) process.on('SIGHUP', () => void audit.open());
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

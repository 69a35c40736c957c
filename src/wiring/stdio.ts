import { FAILED, SUCCEEDED } from '../adapters/inbound/exit-codes.ts';
import { McpSession } from '../adapters/inbound/mcp/session.ts';
import { type ClientList, Subscriptions } from '../adapters/inbound/mcp/subscriptions.ts';
import { claimStdout } from '../adapters/inbound/stdio/claim-stdout.ts';
import { onReaderGone } from '../adapters/inbound/stdio/reader-watch.ts';
import { StdioTransport } from '../adapters/inbound/stdio/stdio-transport.ts';
import { PROCESS, SERVING } from '../adapters/inbound/words/process-messages.ts';
import { never } from '../application/async/deadline.ts';
import { LOCAL_CALLER } from '../domain/gateway/call-origin.ts';
import { composeCatalogue } from './catalogue.ts';
import {
  answerServers,
  isGatewayOnly,
  onUncaughtError,
  type Program,
  type Runtime,
  type ServerCommand,
  startServer,
} from './runtime.ts';
import { IDENTITY } from './version.ts';

/** How long aborted calls may take to settle before the process exits. */
const ABORT_MS = 500;

/** Serves MCP over standard input and output until the input ends or nothing can read the output. */
export async function serveStdio(command: ServerCommand, program: Program): Promise<number> {
  const runtime = await startServer(command, program);
  return runtime === undefined ? FAILED : serve(runtime).finally(runtime.close);
}

async function serve(runtime: Runtime): Promise<number> {
  const { config, clock, logger, redactor, stderr } = runtime;
  const { lineMode } = config.server;
  if (process.stdin.isTTY) stderr.say('info', PROCESS.waiting(runtime.startCommand()));
  if (isGatewayOnly(config)) logger.warn(SERVING.gatewayOnly(config.openai.apiKeyVariable));
  const stdout = claimStdout();
  const rights = runtime.rights.of({ caller: LOCAL_CALLER });
  const by = { caller: LOCAL_CALLER, door: 'stdio' as const, rights };
  const configured = (config.servers ?? []).map(({ name }) => name);
  const isExposed = config.gateway.expose !== false && configured.length > 0;
  let notify = (_list: ClientList): void => {};
  const { moreInstructions, startGateway, expose, endServers } = composeCatalogue(runtime, {
    configured,
    servers: answerServers(config, rights),
    starts: 'on_use',
    logSpawn: (line) => logger.debug(line),
    onToolsChanged: () => {
      if (tools.takeOutdated()) notify('tools');
      for (const list of shared?.takeOutdated() ?? []) notify(list);
    },
    onListChanged: isExposed ? (server, list) => rights.mayRead(server) && notify(list) : undefined,
  });
  // The servers start with the first list or call.
  const gateway = async () => (await startGateway()).gateway;
  const { tools, shared } = await expose(isExposed ? { gateway, notifiesOfChanges: true, configured } : undefined);
  const subscriptions = isExposed ? new Subscriptions() : undefined;
  const session = new McpSession({
    tools,
    logger,
    serverInfo: IDENTITY,
    by,
    moreInstructions,
    shared,
    subscriptions,
  });
  const transport = new StdioTransport({
    session,
    input: process.stdin,
    write: stdout.write,
    logger,
    redact: redactor.anywhere,
    lineMode,
    onInputEnded: () => subscriptions?.end(),
  });
  notify = (list) => {
    transport.notify(`notifications/${list}/list_changed`);
    subscriptions?.notify(list);
  };
  const served = transport.serve().then(stdout.flushed);
  let exitCode = SUCCEEDED;
  const stopped = new Promise<void>((resolve) => {
    let isStopping = false;
    const stop = (reason: string) => {
      if (isStopping) return;
      isStopping = true;
      logger.debug(`server: stopping (${reason})`);
      session.close();
      // Clients kill this process soon after asking it to end, and its servers would remain.
      endServers();
      void clock.sleep(ABORT_MS, never()).then(() => resolve());
      void transport.settled().then(stdout.flushed).then(resolve);
    };
    onReaderGone(stop);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
    onUncaughtError(logger, () => {
      session.fail();
      exitCode = FAILED;
      stop('internal error');
    });
  });
  await Promise.race([served, stopped]);
  // The servers end now, and no client reads about it.
  notify = () => {};
  endServers();
  return exitCode;
}

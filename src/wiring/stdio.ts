import { FAILED, SUCCEEDED } from '../adapters/inbound/exit-codes.ts';
import { ClientQuestions } from '../adapters/inbound/mcp/client-questions.ts';
import { McpSession } from '../adapters/inbound/mcp/session.ts';
import { ListChanges, Subscriptions } from '../adapters/inbound/mcp/subscriptions.ts';
import { claimStdout, onReaderGone, StdioTransport } from '../adapters/inbound/stdio/stdio-transport.ts';
import { PROCESS, SERVING } from '../adapters/inbound/words/process-messages.ts';
import { never } from '../application/async/deadline.ts';
import { answerServers, isGatewayOnly } from '../application/gateway/offer.ts';
import { LOCAL_CALLER } from '../domain/gateway/call-origin.ts';
import { composeCatalogue } from './catalogue.ts';
import { IDENTITY, onUncaughtError, type Program, type Runtime, type ServerCommand, startServer } from './runtime.ts';

/** How long aborted calls may take to settle before the process exits. */
const ABORT_MS = 500;

/** Serves MCP over standard input and output until the input ends or nothing can read the output. */
export async function serveStdio(command: ServerCommand, program: Program): Promise<number> {
  const runtime = await startServer(command, program);
  return runtime === undefined ? FAILED : serve(runtime).finally(runtime.close);
}

async function serve(runtime: Runtime): Promise<number> {
  const { config, logger, stderr } = runtime;
  if (process.stdin.isTTY) stderr.say('info', PROCESS.waiting(runtime.startCommand()));
  if (isGatewayOnly(config)) logger.warn(SERVING.gatewayOnly(config.openai.apiKeyVariable));
  const stdout = claimStdout();
  const connection = await compose(runtime, stdout);
  const exitCode = await untilEnded(runtime, stdout, connection);
  // The servers end now, and no client reads about it.
  connection.changes.end();
  connection.endServers();
  return exitCode;
}

type Stdout = ReturnType<typeof claimStdout>;
type Connection = Awaited<ReturnType<typeof compose>>;

/** Composes the session with the client, which does not read yet. */
async function compose(runtime: Runtime, stdout: Stdout) {
  const { config, logger, redactor } = runtime;
  const rights = runtime.rights.of({ caller: LOCAL_CALLER });
  const configured = (config.servers ?? []).map(({ name }) => name);
  const isExposed = config.gateway.expose !== false && configured.length > 0;
  const changes = new ListChanges();
  const questions = new ClientQuestions(() => crypto.randomUUID());
  const { moreInstructions, startGateway, expose, endServers } = composeCatalogue(runtime, {
    configured,
    servers: answerServers(config, rights),
    starts: 'on_use',
    logSpawn: (line) => logger.debug(line),
    onToolsChanged: () => changes.onToolsChanged(),
    declared: () => questions.declared,
    onListChanged: isExposed ? (server, list) => rights.mayRead(server) && changes.notify(list) : undefined,
  });
  // The servers start with the first list or call.
  const gateway = async () => (await startGateway()).gateway;
  const exposed = await expose(isExposed ? { gateway, notifiesOfChanges: true, configured } : undefined);
  const subscriptions = isExposed ? new Subscriptions() : undefined;
  const session = new McpSession({
    ...exposed,
    logger,
    serverInfo: IDENTITY,
    by: { caller: LOCAL_CALLER, door: 'stdio', rights },
    moreInstructions,
    subscriptions,
    questions,
  });
  const transport = new StdioTransport({
    session,
    input: process.stdin,
    write: stdout.write,
    logger,
    redact: redactor.anywhere,
    lineMode: config.server.lineMode,
    onInputEnded: () => {
      subscriptions?.end();
      session.endQuestions();
    },
  });
  changes.connect(exposed, [
    (list) => transport.notify(`notifications/${list}/list_changed`),
    (list) => subscriptions?.notify(list),
  ]);
  return { session, transport, changes, endServers };
}

/** Serves until the input has ended, a signal or a bug, and returns the exit code. */
async function untilEnded({ clock, logger }: Runtime, stdout: Stdout, connection: Connection): Promise<number> {
  const { session, transport, endServers } = connection;
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
  return exitCode;
}

import { setFlagsFromString } from 'node:v8';
import { FAILED } from '../adapters/inbound/exit-codes.ts';
import { BuiltInServer } from '../adapters/inbound/http/rest/built-in-server.ts';
import { LineWriter } from '../adapters/inbound/http/server/access-log.ts';
import { HttpServer } from '../adapters/inbound/http/server/http-server.ts';
import { Metrics } from '../adapters/inbound/http/server/metrics.ts';
import type { ToolSet } from '../adapters/inbound/mcp/tool-set.ts';
import { SERVING } from '../adapters/inbound/words/serving-messages.ts';
import type { ServerEntry } from '../adapters/outbound/config/server-entry.ts';
import type { Application } from '../application/answers/application.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import { keyProblem } from '../domain/values/redaction.ts';
import { createAnswerTools, longAnswerParts, SERVER_INFO } from './answer-tools.ts';
import type { Runtime } from './runtime.ts';
import { serversReload } from './servers-reload.ts';
import type { LoadServices } from './services.ts';
import { onUncaughtError } from './uncaught-errors.ts';
import { PROGRAM, VERSION } from './version.ts';

/** By how many percent the heap may grow before it is collected. V8 lets it grow to four times what is in use, which is garbage of calls that have ended. */
const HEAP_GROWTH = 120;

/** Serves MCP over HTTP until a signal. Calls in flight then have `http.drain_ms` to finish, unless a second signal comes. */
export async function serveHttp(runtime: Runtime, load: LoadServices, pageFolder: string): Promise<number> {
  const { config, clock, logger, redactor } = runtime;
  const { http, openai, llm, timeoutMs } = config;
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  // If nothing reads the access log any more, calls continue.
  process.stderr.on('error', () => {});
  if (http === undefined) throw new Error('the HTTP endpoint has no configuration');
  const logSpawn = (line: string) => void process.stderr.write(`${redactor.inLogs(line)}\n`);
  let gateway: Gateway | undefined;
  let loading: Promise<void> | undefined;
  const metrics = new Metrics(() => gateway);
  const services = await load({
    servers: [],
    logSpawn,
    onStarted: (started) => {
      gateway = started;
    },
    onCallEnded: (report) => metrics.onServerCallEnded(report),
    onRenewal: (server, outcome) => metrics.onRenewal(server, outcome),
  });
  let application: Application | undefined;
  const loadApplication = async () => {
    application ??= await services.application();
    return application;
  };
  if (config.longAnswers !== undefined) {
    const { registerLongMetrics } = await import('../adapters/inbound/http/server/long-metrics.ts');
    registerLongMetrics(metrics.registry, () => application?.long);
  }
  if (config.citationCheck !== 'off') metrics.registerChecks(() => application?.checkCounts);
  const long = await longAnswerParts(runtime, loadApplication);
  const answerTools = await createAnswerTools(runtime, loadApplication, () => gateway, long.tasks);
  let tools: ToolSet = answerTools;
  if (config.gateway.expose) {
    const { GatewayTools } = await import('../adapters/inbound/mcp/gateway-tools.ts');
    // No client can be notified of changes.
    const started = async () => gateway;
    tools = new GatewayTools({ builtIn: answerTools, gateway: started, notifiesOfChanges: false, clock, redactor });
  }
  const quota =
    config.quota && (await (await import('./quota.ts')).composeQuota(runtime, config.quota, config.timeZone));
  const oauth = http.oauth && {
    ...http.oauth,
    verifier: (await import('./oauth.ts')).composeTokenVerifier(http.oauth, runtime),
  };
  const accessLog = new LineWriter(clock, process.stderr);
  const { validator } = services;
  const server = new HttpServer({
    ...http,
    ...runtime,
    quota: quota?.guard,
    oauth,
    canAnswer: llm.adapter === 'offline' || keyProblem(openai.apiKey) === undefined,
    tools,
    toolErrors: config.server.toolErrors,
    serverInfo: SERVER_INFO,
    ...long,
    rest: {
      gateway: () => gateway,
      loading: () => loading,
      builtIn: new BuiltInServer({ tools: answerTools, clock, validator, timeoutMs }),
      version: VERSION,
      pageFolder: http.page ? pageFolder : undefined,
    },
    endWaits: () => application?.long?.endWaits() === true,
    metrics,
    writeAccessLine: (line) => accessLog.add(redactor.inLogs(line)),
  });
  let isStopping = false;
  const stopped = new Promise<number>((resolve) => {
    const stop = (signal: string) => {
      logger.debug(`server: stopping (${signal})`);
      const waiting = server.inFlight;
      if (!isStopping && waiting > 0) process.stderr.write(SERVING.draining(http.drainMs, waiting));
      void (isStopping ? server.close() : server.drain()).then(() => resolve(0));
      isStopping = true;
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
    onUncaughtError(logger, () => void server.close().then(() => resolve(FAILED)));
  });
  const configure = async (servers: readonly ServerEntry[]) => {
    if (servers.length === 0 && gateway === undefined) return;
    const configured = services.gateway().then((composed) => composed.reconfigure(servers));
    if (gateway === undefined) loading = configured.catch(() => {});
    await configured.finally(() => {
      loading = undefined;
    });
  };
  const reloadServers = serversReload({ configure, logSpawn, reload: runtime.reload, logger });
  process.on('SIGHUP', () => {
    if (!isStopping) reloadServers();
  });
  const listening = await server.listen();
  if (listening.isErr()) {
    process.stderr.write(SERVING.notListening(http.host, http.port, listening.error));
    return FAILED;
  }
  await configure(config.servers ?? []);
  process.stderr.write(SERVING.at(`${PROGRAM} ${VERSION}`, listening.value));
  if (http.page) process.stderr.write(`page: ${new URL('/', listening.value).href}\n`);
  if (llm.adapter !== 'offline' && keyProblem(openai.apiKey) !== undefined) process.stderr.write(SERVING.noKey);
  if (/^(?:0\.0\.0\.0|::)$/.test(http.host) && http.allowedHosts.length === 0) process.stderr.write(SERVING.hosts);
  const code = await stopped;
  await quota?.close();
  accessLog.flush();
  return code;
}

import { setFlagsFromString } from 'node:v8';
import { FAILED } from '../adapters/inbound/exit-codes.ts';
import { BuiltInServer } from '../adapters/inbound/http/rest/built-in-server.ts';
import { lineWriter } from '../adapters/inbound/http/server/access-log.ts';
import { HttpServer } from '../adapters/inbound/http/server/http-server.ts';
import { Metrics } from '../adapters/inbound/http/server/metrics.ts';
import type { GatewayMethods } from '../adapters/inbound/mcp/shared-methods.ts';
import type { ToolSet } from '../adapters/inbound/mcp/tool-set.ts';
import { SERVING } from '../adapters/inbound/words/serving-messages.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import { keyProblem } from '../domain/values/redaction.ts';
import { createAnswerTools } from './answer-tools.ts';
import type { Runtime } from './runtime.ts';
import { type Reloadable, serversReload } from './servers-reload.ts';
import type { LoadServices } from './services.ts';
import { onUncaughtError } from './uncaught-errors.ts';
import { IDENTITY, PROGRAM, VERSION } from './version.ts';

/** By how many percent the heap may grow before it is collected. V8 lets it grow to four times what is in use, which is garbage of calls that have ended. */
const HEAP_GROWTH = 120;

/** Serves MCP over HTTP until a signal. Calls in flight then have `http.drain_ms` to finish, unless a second signal comes. */
export async function serveHttp(runtime: Runtime, load: LoadServices, pageFolder: string): Promise<number> {
  const { config, clock, logger, redactor, audit } = runtime;
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
  const { answerTools, long, application } = await createAnswerTools(
    runtime,
    async () => services,
    () => gateway,
  );
  if (config.longAnswers !== undefined) {
    const { registerLongMetrics } = await import('../adapters/inbound/http/server/long-metrics.ts');
    registerLongMetrics(metrics.registry, () => application()?.long);
  }
  if (config.citationCheck !== 'off') metrics.registerChecks(() => application()?.checkCounts);
  if (audit !== undefined) metrics.registerAudit(() => audit.failures);
  let tools: ToolSet = answerTools;
  let shared: GatewayMethods | undefined;
  if (config.gateway.expose) {
    // No client can be notified of changes.
    const started = async () => {
      await loading;
      return gateway;
    };
    const options = { builtIn: answerTools, gateway: started, notifiesOfChanges: false };
    ({ tools, shared } = await (await import('./exposure.ts')).createExposure(runtime, options));
  }
  const quota = config.quota && (await (await import('./quota.ts')).composeQuota(runtime, config.quota));
  const oauth = http.oauth && {
    ...http.oauth,
    verifier: (await import('./oauth.ts')).composeTokenVerifier(http.oauth, runtime),
  };
  const accessLog = lineWriter(clock, process.stderr);
  const { validator } = services;
  const server = new HttpServer({
    ...http,
    ...runtime,
    quota: quota?.guard,
    oauth,
    canAnswer: llm.adapter === 'offline' || keyProblem(openai.apiKey) === undefined,
    tools,
    toolErrors: config.server.toolErrors,
    serverInfo: IDENTITY,
    ...long,
    shared,
    rest: {
      gateway: () => gateway,
      loading: () => loading,
      builtIn: new BuiltInServer({ tools: answerTools, clock, validator, timeoutMs, audit }),
      version: VERSION,
      pageFolder: http.page ? pageFolder : undefined,
    },
    endWaits: () => application()?.long?.endWaits() === true,
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
  const configure = async ({ servers = [], lock }: Pick<Reloadable, 'servers' | 'lock'>) => {
    if (lock !== undefined) metrics.registerChanges();
    if (servers.length === 0 && gateway === undefined) return;
    const configured = services.gateway().then((composed) => composed.reconfigure(servers, lock?.approved));
    if (gateway === undefined) loading = configured.catch(() => {});
    await configured.finally(() => {
      loading = undefined;
    });
  };
  let { files } = config;
  let lookAtFiles = () => {};
  let started = Promise.resolve();
  const apply = async (reloadable: Reloadable) => {
    // A signal may come while the first servers are being composed.
    await started;
    const setAccess = await runtime.prepareAccess(reloadable.access);
    await configure(reloadable);
    // In the same turn: no caller sees the new servers with the rights of before.
    setAccess();
    if (gateway !== undefined) await (await services.gateway()).checkAccess();
  };
  const reload = async () => {
    const loaded = await runtime.reload();
    // With a problem, those of before are kept, because a file that is damaged names none.
    files = 'value' in loaded ? loaded.files : [...new Set([...files, ...loaded.files])];
    lookAtFiles();
    return loaded;
  };
  const reloadServers = serversReload({ apply, logSpawn, reload, logger });
  const onChanged = () => void (isStopping || reloadServers());
  process.on('SIGHUP', () => void audit?.open());
  process.on('SIGHUP', onChanged);
  if (config.gateway.watch) {
    const { watchFiles } = await import('../adapters/outbound/config/watched-files.ts');
    lookAtFiles = watchFiles({ files: () => files, onChanged, clock, logger });
  }
  const listening = await server.listen();
  if (listening.isErr()) {
    process.stderr.write(SERVING.notListening(http.host, http.port, listening.error));
    return FAILED;
  }
  started = configure(config);
  await started;
  process.stderr.write(SERVING.at(`${PROGRAM} ${VERSION}`, listening.value));
  if (http.page) process.stderr.write(`page: ${new URL('/', listening.value).href}\n`);
  if (llm.adapter !== 'offline' && keyProblem(openai.apiKey) !== undefined)
    process.stderr.write(SERVING.noKey(openai.apiKeyVariable));
  if (/^(?:0\.0\.0\.0|::)$/.test(http.host) && http.allowedHosts.length === 0) process.stderr.write(SERVING.hosts);
  const code = await stopped;
  await quota?.close();
  accessLog.flush();
  return code;
}

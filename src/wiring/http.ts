import { join } from 'node:path';
import { FAILED } from '../adapters/inbound/exit-codes.ts';
import { Metrics, type ReloadedPart } from '../adapters/inbound/http/metrics.ts';
import { HttpServer } from '../adapters/inbound/http/serve.ts';
import { OPEN, SERVING } from '../adapters/inbound/words/process-messages.ts';
import { watchFiles } from '../adapters/outbound/config/watched-files.ts';
import { keyProblem } from '../domain/values/redaction.ts';
import { composeCatalogue } from './catalogue.ts';
import { onHangUp } from './hang-up.ts';
import { composeTokenVerifier } from './oauth.ts';
import { composeQuota } from './quota.ts';
import {
  isGatewayOnly,
  onUncaughtError,
  type Program,
  type Runtime,
  type ServerCommand,
  startServer,
} from './runtime.ts';
import { type Reloadable, serversReload } from './servers-reload.ts';
import { composeTokens } from './tokens.ts';
import { IDENTITY, PROGRAM, VERSION } from './version.ts';

/** Serves MCP over HTTP until a signal. Calls in flight then have `http.drain_ms` to finish, unless a second signal comes. */
export async function serveHttp(command: ServerCommand, program: Program): Promise<number> {
  const runtime = await startServer(command, program);
  return runtime === undefined ? FAILED : serve(runtime).finally(runtime.close);
}

async function serve(runtime: Runtime): Promise<number> {
  const { config, clock, logger, stderr, audit } = runtime;
  const { http, openai, llm, request } = config;
  if (http === undefined) throw new Error('the HTTP endpoint has no configuration');
  const logSpawn = (line: string) => stderr.say('info', line);
  const metrics = new Metrics(() => gateway(), VERSION);
  const onReload = (part: ReloadedPart) => (isSuccessful: boolean) => metrics.onReload(part, isSuccessful, clock.now());
  onReload('configuration')(true);
  if (http.tokenFile !== undefined) onReload('token_file')(true);
  const composed = composeCatalogue(runtime, {
    servers: [],
    isShared: true,
    logSpawn,
    onRenewal: (server, outcome) => metrics.onRenewal(server, outcome),
    on: (event) => metrics.on(event),
  });
  const { catalogue, checks, moreInstructions, application, gateway, startGateway, expose } = composed;
  let loading: Promise<void> | undefined;
  if (config.citations.check !== 'off') metrics.registerChecks(() => application()?.checkCounts);
  if (audit !== undefined) metrics.registerAudit(() => audit.failures);
  const whenLoaded = async () => {
    await loading;
    return gateway();
  };
  // No client can be notified of changes.
  const served = { gateway: whenLoaded, notifiesOfChanges: false };
  const { tools, shared } = await expose(config.gateway.expose ? served : undefined);
  const quota = config.quota && (await composeQuota(runtime, config.quota));
  const tokens = composeTokens(http, runtime, onReload('token_file'));
  const oauth = http.oauth && { ...http.oauth, verifier: composeTokenVerifier(http.oauth, runtime) };
  if (oauth !== undefined) metrics.registerState('issuer_up', () => oauth.verifier.isUp);
  if (quota !== undefined && config.quota?.store !== 'memory')
    metrics.registerState('quota_store_up', () => quota.isUp);
  const server = new HttpServer({
    ...http,
    ...runtime,
    rightsOf: runtime.rights.of,
    tokens: tokens.current,
    quota,
    oauth,
    // Without answer tools, there is nothing to warn of.
    canAnswer: llm.adapter === 'offline' || keyProblem(openai.apiKey) === undefined || isGatewayOnly(config),
    tools,
    toolErrors: config.server.toolErrors,
    serverInfo: IDENTITY,
    moreInstructions,
    shared,
    rest: {
      gateway,
      loading: () => loading,
      catalogue,
      checks,
      timeoutMs: request.timeoutMs,
      version: VERSION,
      pageFolder: http.page ? join(runtime.folder, 'page') : undefined,
    },
    endWaits: () => application()?.endWaits?.() === true,
    metrics,
    writeAccessLine: (entry) => stderr.recordSoon(entry),
  });
  // A terminal sends SIGHUP when it is closed.
  const isOnTerminal = process.stderr.isTTY === true;
  let isStopping = false;
  const stopped = new Promise<number>((resolve) => {
    const stop = (signal: string) => {
      logger.debug(`server: stopping (${signal})`);
      const waiting = server.inFlight;
      if (!isStopping && waiting > 0) stderr.say('info', SERVING.draining(http.drainMs, waiting));
      if (isStopping) composed.endServers();
      void (isStopping ? server.close() : server.drain()).then(() => resolve(0));
      isStopping = true;
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
    if (isOnTerminal) onHangUp(() => stop('SIGHUP'));
    onUncaughtError(logger, () => void server.close().then(() => resolve(FAILED)));
  });
  const configure = async ({ servers = [], lock }: Pick<Reloadable, 'servers' | 'lock'>) => {
    if (lock !== undefined) metrics.registerChanges();
    if (servers.length === 0 && gateway() === undefined) return;
    const isFirst = gateway() === undefined;
    const configured = startGateway().then(({ reconfigure }) => reconfigure(servers, lock?.approved));
    if (isFirst) loading = configured.catch(() => {});
    await configured.finally(() => {
      loading = undefined;
    });
  };
  let { files } = config;
  let started = Promise.resolve();
  const apply = async (reloadable: Reloadable) => {
    // A signal may come while the first servers are being composed.
    await started;
    await configure(reloadable);
    // Applied in the same turn, so that no caller sees the new servers with the old rights.
    runtime.rights.apply(reloadable.access);
    if (gateway() !== undefined) await (await startGateway()).warn();
  };
  const reload = async () => {
    const loaded = await runtime.reload();
    // After a problem, the earlier files are still watched, because a damaged configuration names none.
    files = 'value' in loaded ? loaded.files : [...new Set([...files, ...loaded.files])];
    return loaded;
  };
  const reloadServers = serversReload({
    initial: config,
    apply,
    logSpawn,
    reload,
    logger,
    onReload: onReload('configuration'),
  });
  const onChanged = () => void (isStopping || reloadServers());
  if (!isOnTerminal) {
    process.on('SIGHUP', tokens.reload);
    process.on('SIGHUP', () => void audit?.open());
    process.on('SIGHUP', onChanged);
  }
  if (config.gateway.watch) watchFiles({ files: () => files, onChanged, clock });
  const { tokenFile } = http;
  if (tokenFile !== undefined) watchFiles({ files: () => [tokenFile.path], onChanged: tokens.reload, clock });
  const listening = await server.listen();
  if (listening.isErr()) {
    stderr.say('error', SERVING.notListening(http.host, http.port, listening.error));
    return FAILED;
  }
  started = configure(config);
  await started;
  stderr.say('info', SERVING.at(`${PROGRAM} ${VERSION}`, listening.value));
  if (!http.requiresToken) stderr.say('warn', `http: ${OPEN}`);
  if (http.page) stderr.say('info', `page: ${new URL('/', listening.value).href}`);
  if (isGatewayOnly(config)) stderr.say('warn', SERVING.gatewayOnly(openai.apiKeyVariable));
  else if (llm.adapter !== 'offline' && keyProblem(openai.apiKey) !== undefined)
    stderr.say('warn', SERVING.noKey(openai.apiKeyVariable));
  if (/^(?:0\.0\.0\.0|::)$/.test(http.host) && http.allowedHosts.length === 0) stderr.say('warn', SERVING.hosts);
  return stopped;
}

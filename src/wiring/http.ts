import { join } from 'node:path';
import { FAILED, SUCCEEDED } from '../adapters/inbound/exit-codes.ts';
import { accessWords } from '../adapters/inbound/http/access-log.ts';
import { Metrics } from '../adapters/inbound/http/metrics.ts';
import { HttpServer } from '../adapters/inbound/http/serve.ts';
import type { LoginServices } from '../adapters/inbound/http/services.ts';
import { groundingWarnings, messageForProblem, OPEN, SERVING } from '../adapters/inbound/words/process-messages.ts';
import { checkCallerLogins } from '../adapters/outbound/config/caller-logins.ts';
import type { HttpConfig } from '../adapters/outbound/config/http-config.ts';
import { reporter } from '../adapters/outbound/config/problems.ts';
import { watchFiles } from '../adapters/outbound/files/watched-files.ts';
import { LoadedServers } from '../application/gateway/loaded-servers.ts';
import { isGatewayOnly, lacksKey } from '../application/gateway/offer.ts';
import type { ConfigProblem } from '../application/ports/config.ts';
import { ASKABLE } from '../domain/gateway/elicitation.ts';
import { composeCallers, type OnReload } from './callers.ts';
import { composeCatalogue } from './catalogue.ts';
import {
  IDENTITY,
  onHangUp,
  onUncaughtError,
  PROGRAM,
  type Program,
  type Runtime,
  type ServerCommand,
  startServer,
  VERSION,
} from './runtime.ts';
import { type Reloadable, serversReload } from './servers-reload.ts';

/** Serves MCP over HTTP until a signal. Calls in flight then have `http.drain_ms` to finish, unless a second signal comes. */
export async function serveHttp(command: ServerCommand, program: Program): Promise<number> {
  const runtime = await startServer(command, program);
  return runtime === undefined ? FAILED : serve(runtime).finally(runtime.close);
}

async function serve(runtime: Runtime): Promise<number> {
  const { config, stderr } = runtime;
  const { http } = config;
  if (http === undefined) throw new Error('the HTTP endpoint has no configuration');
  const endpoint = await compose(runtime, http);
  registerMetrics(runtime, endpoint);
  const stopping = new AbortController();
  const stopped = untilStopped(runtime, endpoint, stopping);
  const started = listen(runtime, endpoint);
  reloadOn(runtime, endpoint, started, stopping.signal);
  const listening = await started;
  if (listening.isErr()) {
    stderr.say('error', SERVING.notListening(http.host, http.port, listening.error));
    return FAILED;
  }
  say(runtime, http, listening.value);
  void sayReady(runtime, endpoint, listening.value, stopping.signal);
  return stopped;
}

type Endpoint = Awaited<ReturnType<typeof compose>>;

/** Composes the endpoint, which does not listen yet. */
async function compose(runtime: Runtime, http: HttpConfig) {
  const { config, clock, stderr } = runtime;
  const metrics = new Metrics(VERSION);
  const onReload: OnReload = (part) => (isSuccessful) => metrics.onReload(part, isSuccessful, clock.now());
  const composed = composeCatalogue(runtime, {
    servers: [],
    isShared: true,
    // Each call says what its caller can be asked; the connections are those of all callers.
    declared: () => ASKABLE,
    logSpawn: (line) => stderr.say('info', line),
    onRenewal: (server, outcome) => metrics.onRenewal(server, outcome),
    publicUrl: () => logins && server.publicUrl,
    on: (event) => metrics.on(event),
  });
  const { catalogue, checks, moreInstructions, application, startGateway, endServers, expose } = composed;
  const servers = new LoadedServers(startGateway);
  // No client can be notified of changes.
  const served = { gateway: () => servers.whenLoaded(), notifiesOfChanges: false };
  const exposed = await expose(config.gateway.expose ? served : undefined);
  const callers = await composeCallers(runtime, { http, servers, metrics, onReload });
  const { quota, tokens, oauth, logins, applied } = callers;
  const lasting = groundingWarnings(config.grounding, http.requiresToken);
  const server = new HttpServer({
    ...http,
    ...runtime,
    ...exposed,
    metrics,
    writeAccessLine: (entry, isRoutine) => {
      if (stderr.form !== 'terminal') stderr.recordSoon(entry);
      else if (!isRoutine) stderr.saySoon(accessWords(entry));
    },
    serverInfo: IDENTITY,
    version: VERSION,
    toolErrors: config.server.toolErrors,
    moreInstructions,
    tokens: tokens.current,
    oauth,
    rightsOf: runtime.rights.of,
    quota,
    servers,
    catalogue,
    checks,
    // Without answer tools, there is nothing to warn of.
    canAnswer: !lacksKey(config) || isGatewayOnly(config),
    warnings: () => [...lasting, ...applied.current.notices.map(messageForProblem)],
    answerTimeoutMs: config.request.timeoutMs,
    endWaits: () => application()?.endWaits?.() === true,
    pageFolder: http.page ? join(runtime.folder, 'page') : undefined,
    logins,
  });
  const { openCalls } = exposed;
  return { http, server, servers, metrics, openCalls, onReload, application, endServers, ...callers };
}

/** Registers the metrics that only some configurations have. */
function registerMetrics({ config, audit }: Runtime, { metrics, onReload, ...endpoint }: Endpoint): void {
  const { http, servers, openCalls, application, quota, oauth, logins } = endpoint;
  onReload('configuration')(true);
  if (http.tokenFile !== undefined) onReload('token_file')(true);
  metrics.registerServers(servers);
  if (openCalls !== undefined) metrics.registerCounts('open_questions', () => openCalls.questions());
  metrics.registerCounts('server_connections', () => servers.gateway?.connections ?? new Map());
  if (logins !== undefined) metrics.registerCounts('logins', () => countLogins(logins));
  if (config.citations.check !== 'off') metrics.registerChecks(() => application()?.checkCounts);
  if (audit !== undefined) metrics.registerAudit(() => audit.failures);
  if (oauth !== undefined) metrics.registerState('issuer_up', () => oauth.verifier.isUp);
  if (quota !== undefined && config.quota?.store !== 'memory')
    metrics.registerState('quota_store_up', () => quota.isUp);
}

/** The logins of callers to each server that has some. */
async function countLogins({ logins }: LoginServices): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { server } of await logins.list()) counts.set(server, (counts.get(server) ?? 0) + 1);
  return counts;
}

/** A terminal sends SIGHUP when it is closed; elsewhere, this signal asks for a reload. */
const isOnTerminal = () => process.stderr.isTTY === true;

/** Resolves with the exit code when the endpoint has ended, after signals or a bug. Aborts `stopping` at the first signal. */
function untilStopped({ logger, stderr }: Runtime, endpoint: Endpoint, stopping: AbortController): Promise<number> {
  const { http, server, endServers } = endpoint;
  return new Promise((resolve) => {
    const stop = (signal: string) => {
      logger.debug(`server: stopping (${signal})`);
      const isAgain = stopping.signal.aborted;
      stopping.abort();
      const waiting = server.inFlight;
      if (!isAgain && waiting > 0) stderr.say('info', SERVING.draining(http.drainMs, waiting));
      if (isAgain) endServers();
      void (isAgain ? server.close() : server.drain()).then(() => resolve(SUCCEEDED));
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
    if (isOnTerminal()) onHangUp(() => stop('SIGHUP'));
    onUncaughtError(logger, () => void server.close().then(() => resolve(FAILED)));
  });
}

/** Listens, and then starts the configured servers. Resolves with the URL, or with the error code of the operating system. */
async function listen({ config }: Runtime, endpoint: Endpoint) {
  const listening = await endpoint.server.listen();
  if (listening.isOk()) await configure(endpoint, config);
  return listening;
}

async function configure({ metrics, servers }: Endpoint, { servers: entries = [], lock }: Reloadable): Promise<void> {
  if (lock !== undefined) metrics.registerChanges(servers);
  await servers.configure(entries, lock?.approved);
}

/** Applies changes of the configuration and of the tokens: with SIGHUP, and when their files change. `started` resolves with the first servers. */
function reloadOn(runtime: Runtime, endpoint: Endpoint, started: Promise<unknown>, stopping: AbortSignal): void {
  const { config, clock, logger, stderr, audit } = runtime;
  const { http, servers, applied, tokens, onReload } = endpoint;
  let { files } = config;
  const reload = async () => {
    const loaded = await runtime.reload();
    // After a problem, the earlier files are still watched, because a damaged configuration names none.
    files = 'value' in loaded ? loaded.files : [...new Set([...files, ...loaded.files])];
    if ('problems' in loaded) return loaded;
    const problems: ConfigProblem[] = [];
    const report = reporter(problems);
    // The section http stays as it was at the start, whatever the file says now.
    checkCallerLogins(loaded.value.servers, http, (where, message) => report(where, `${message}; ${AT_START}`));
    return problems.length === 0 ? loaded : { problems };
  };
  const reloadServers = serversReload({
    initial: config,
    apply: async (reloadable) => {
      // A signal may come while the first servers are being configured.
      await started;
      await configure(endpoint, reloadable);
      // Applied in the same turn, so that no caller sees the new servers with the old rights.
      runtime.rights.apply(reloadable.access);
      applied.current = reloadable;
      servers.warn();
    },
    logSpawn: (line) => stderr.say('info', line),
    reload,
    logger,
    onReload: onReload('configuration'),
  });
  const onChanged = () => void (stopping.aborted || reloadServers());
  if (!isOnTerminal()) {
    process.on('SIGHUP', tokens.reload);
    process.on('SIGHUP', () => void audit?.open());
    process.on('SIGHUP', onChanged);
  }
  if (config.gateway.watch) watchFiles({ files: () => files, onChanged, clock });
  const { tokenFile } = http;
  if (tokenFile !== undefined) watchFiles({ files: () => [tokenFile.path], onChanged: tokens.reload, clock });
}

const AT_START = 'the section http is read at the start, so restart the program';

/** Tells the operator where the endpoint is, and what it lacks. */
function say({ config, stderr }: Runtime, http: HttpConfig, url: string): void {
  const { apiKeyVariable } = config.openai;
  stderr.say('info', SERVING.at(`${PROGRAM} ${VERSION}`, url));
  if (!http.requiresToken) stderr.say('warn', `http: ${OPEN}`);
  for (const warning of groundingWarnings(config.grounding, http.requiresToken)) stderr.say('warn', warning);
  if (http.page) stderr.say('info', `page: ${new URL('/', url).href}`);
  if (isGatewayOnly(config)) stderr.say('warn', SERVING.gatewayOnly(apiKeyVariable));
  else if (lacksKey(config)) stderr.say('warn', SERVING.noKey(apiKeyVariable));
  if (/^(?:0\.0\.0\.0|::)$/.test(http.host) && http.allowedHosts.length === 0) stderr.say('warn', SERVING.hosts);
}

/** Says once what callers can use, when every server has started or failed. */
async function sayReady(
  { stderr }: Runtime,
  { servers, http }: Endpoint,
  url: string,
  stopping: AbortSignal,
): Promise<void> {
  const gateway = await servers.whenLoaded();
  await gateway?.whenStarted(Number.POSITIVE_INFINITY, stopping);
  if (gateway === undefined || stopping.aborted) return;
  const { serverNames: names, tools } = gateway;
  const ready = names.filter((name) => gateway.isOffered(name)).length;
  stderr.say('info', SERVING.ready(ready, names.length, tools.length, http.page ? new URL('/', url).href : url));
}

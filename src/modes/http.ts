import { setFlagsFromString } from 'node:v8';
import { HttpServer } from '../adapters/inbound/http/http-server.ts';
import { LineWriter } from '../adapters/inbound/http/line-writer.ts';
import { AnswerTools } from '../adapters/inbound/mcp/answer-tools.ts';
import { McpSession } from '../adapters/inbound/mcp/session.ts';
import { BuiltInServer } from '../adapters/inbound/rest/built-in-server.ts';
import type { OAuthConfig } from '../adapters/outbound/config/http-config.ts';
import type { Application } from '../application/application.ts';
import type { ToolCallReport } from '../application/call-tool.ts';
import type { SchemaValidator } from '../application/ports/schema-validator.ts';
import type { TokenVerifier } from '../application/ports/token-verifier.ts';
import type { Runtime } from '../bootstrap.ts';
import { keyProblem } from '../domain/redaction.ts';
import { PROGRAM, VERSION } from '../version.ts';
import { effectsOf, type GatewayAccess } from './gateway-access.ts';
import { serversReload } from './servers-reload.ts';
import { onUncaughtError } from './uncaught-errors.ts';

const FAILED = 1;

/** By how many percent the heap may grow before it is collected. V8 lets it grow to four times what is in use, which is garbage of calls that have ended. */
const HEAP_GROWTH = 120;

/** Serves MCP over HTTP until a signal. Calls in flight then have `http.drain_ms` to finish, unless a second signal comes. */
export async function serveHttp(
  application: Application,
  runtime: Runtime,
  { gateways, pageFolder, loadValidator, loadVerifier }: HttpModeOptions,
): Promise<number> {
  const { config, logger, redactor } = runtime;
  const { http, openai, llm, maxAnswerChars } = config;
  const { toolErrors } = config.server;
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  // If nothing reads the access log any more, calls continue.
  process.stderr.on('error', () => {});
  if (http === undefined) throw new Error('the HTTP endpoint has no configuration');
  const holder = await gateways.load();
  const hasEffects = await effectsOf(runtime, gateways);
  const answerTools = new AnswerTools({
    ...runtime,
    timeZone: config.timeZone,
    application,
    toolErrors,
    maxAnswerChars,
    hasEffects,
  });
  const tools = config.gateway.expose
    ? (await import('./exposed-tools.ts')).exposedOnHttp(answerTools, runtime, holder)
    : answerTools;
  const quota =
    config.quota && (await (await import('../compose-quota.ts')).composeQuota(runtime, config.quota, config.timeZone));
  const oauth = http.oauth && { ...http.oauth, verifier: await loadVerifier(http.oauth) };
  const accessLog = new LineWriter({ clock: runtime.clock, stream: process.stderr });
  const server = new HttpServer({
    ...http,
    ...runtime,
    quota: quota?.guard,
    oauth,
    canAnswer: llm.adapter === 'offline' || keyProblem(openai.apiKey) === undefined,
    openSession: (request) =>
      new McpSession({ ...request, tools, logger, toolErrors, serverInfo: { name: PROGRAM, version: VERSION } }),
    rest: {
      gateway: () => holder.gateway,
      loading: () => holder.loading,
      builtIn: new BuiltInServer({
        tools: answerTools,
        clock: runtime.clock,
        validator: loadValidator,
        timeoutMs: config.timeoutMs,
      }),
      version: VERSION,
      pageFolder: http.page ? pageFolder : undefined,
    },
    writeAccessLine: (line) => accessLog.add(redactor.inLogs(line)),
  });
  const hooks = {
    onCallEnded: (report: ToolCallReport) => server.onServerCallEnded(report),
    logSpawn: (line: string) => void process.stderr.write(`${redactor.inLogs(line)}\n`),
  };
  let isStopping = false;
  const stopped = new Promise<number>((resolve) => {
    const stop = (signal: string) => {
      logger.debug(`server: stopping (${signal})`);
      const waiting = server.inFlight;
      if (!isStopping && waiting > 0) {
        const seconds = Math.ceil(http.drainMs / 1000);
        process.stderr.write(
          waiting === 1
            ? `Waiting up to ${seconds} s for 1 request in flight; another signal ends it.\n`
            : `Waiting up to ${seconds} s for ${waiting} requests in flight; another signal ends them.\n`,
        );
      }
      void (isStopping ? server.close() : server.drain()).then(() => resolve(0));
      isStopping = true;
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal));
    onUncaughtError(logger, () => void server.close().then(() => resolve(FAILED)));
  });
  const reloadServers = serversReload({ holder, hooks, reload: runtime.reload, logger });
  process.on('SIGHUP', () => {
    if (!isStopping) reloadServers();
  });
  const listening = await server.listen();
  if (listening.isErr()) {
    const code = listening.error;
    const reason = LISTEN_ERRORS[code] ?? 'choose another address (--http, MCP_HTTP_LISTEN or http.listen)';
    process.stderr.write(`Cannot listen on ${http.host} port ${http.port} (${code}): ${reason}.\n`);
    return FAILED;
  }
  await holder.configure(config.servers ?? [], hooks);
  process.stderr.write(`${PROGRAM} ${VERSION}: serving MCP at ${listening.value}\n`);
  if (http.page) process.stderr.write(`page: ${new URL('/', listening.value).href}\n`);
  if (llm.adapter !== 'offline' && keyProblem(openai.apiKey) !== undefined) process.stderr.write(KEY_NOTICE);
  if (/^(?:0\.0\.0\.0|::)$/.test(http.host) && http.allowedHosts.length === 0) process.stderr.write(HOSTS_NOTICE);
  const code = await stopped;
  await quota?.close();
  accessLog.flush();
  return code;
}

interface HttpModeOptions {
  readonly gateways: GatewayAccess;
  readonly pageFolder: string;
  readonly loadValidator: () => Promise<SchemaValidator>;
  readonly loadVerifier: (config: OAuthConfig) => Promise<TokenVerifier>;
}

const KEY_NOTICE = 'There is no usable API key, so answers fail: set OPENAI_API_KEY, or check it with doctor.\n';

const HOSTS_NOTICE =
  'Only calls that name this machine as localhost are accepted: set MCP_HTTP_ALLOWED_HOSTS to the host names that clients use.\n';

/** By the error code of the operating system. */
const LISTEN_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is using this port; stop it, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'this host name does not exist',
  EACCES: 'this user may not use this port; choose 1024 or higher',
};

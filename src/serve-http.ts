import { HttpServer } from './adapters/inbound/http/http-server.ts';
import { McpSession } from './adapters/inbound/mcp/mcp-session.ts';
import { isSendableKey } from './domain/redaction.ts';
import { watchFaults } from './process-faults.ts';
import type { Program } from './program.ts';
import { PROGRAM, VERSION } from './version.ts';

const FAILED = 1;

/** Serves MCP over HTTP, until a signal; calls in flight then have `http.drain_ms` to end, unless a second signal comes. */
export async function serveHttp({ application, config, clock, logger, redactor }: Program): Promise<number> {
  const { http, openai, llm, server: options } = config;
  // The access log may lose its reader; calls go on.
  process.stderr.on('error', () => {});
  if (http === undefined) throw new Error('the HTTP endpoint has no configuration');
  const server = new HttpServer({
    ...http,
    canAnswer: llm.adapter === 'offline' || isSendableKey(openai.apiKey ?? ''),
    application,
    openSession: (request) =>
      new McpSession({
        ...request,
        clock,
        logger,
        redactor,
        serverInfo: { name: PROGRAM, version: VERSION },
        toolErrors: options.toolErrors,
        maxAnswerChars: config.maxAnswerChars,
      }),
    clock,
    logger,
    redact: redactor.anywhere,
    writeAccessLine: (line) => void process.stderr.write(line),
  });
  const stopped = new Promise<number>((resolve) => {
    let isStopping = false;
    const stop = (why: string) => {
      logger.debug(`server: stopping, since ${why}`);
      void (isStopping ? server.close() : server.drain()).then(() => resolve(0));
      isStopping = true;
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(`of ${signal}`));
    watchFaults(logger, () => void server.close().then(() => resolve(FAILED)));
  });
  const listening = await server.listen();
  if (listening.isErr()) {
    process.stderr.write(wordsForListening(http, listening.error));
    return FAILED;
  }
  process.stderr.write(`${PROGRAM} ${VERSION}: serving MCP at ${listening.value}\n`);
  return stopped;
}

/** Why there is nothing to call. `fault` is the operating system's code. */
function wordsForListening({ host, port }: { readonly host: string; readonly port: number }, fault: string): string {
  const words: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there; end it, or choose another port',
    EADDRNOTAVAIL: 'this machine has no such address',
    ENOTFOUND: 'there is no such host name',
    EACCES: 'this user may not; choose a port from 1024',
  };
  return `Cannot listen on ${host} port ${port} (${fault}): ${words[fault] ?? 'see http.listen'}.\n`;
}

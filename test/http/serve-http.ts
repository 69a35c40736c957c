import { onTestFinished } from 'vitest';
import { Metrics } from '../../src/adapters/inbound/http/metrics.ts';
import { HttpServer, type HttpServerOptions } from '../../src/adapters/inbound/http/serve.ts';
import type { ClientCallOptions } from '../../src/adapters/inbound/mcp/client-call.ts';
import { ExposedTools } from '../../src/adapters/inbound/mcp/exposed-tools.ts';
import type { ServerTools } from '../../src/adapters/inbound/mcp/server-tools.ts';
import { hashOfToken } from '../../src/adapters/outbound/config/http-config.ts';
import type { ToolProvider } from '../../src/application/tools/tool-call.ts';
import { ToolCatalogue } from '../../src/application/tools/tool-catalogue.ts';
import { EVERYTHING } from '../../src/domain/gateway/call-origin.ts';
import { withoutUndefined } from '../../src/domain/values/json.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { answersOf } from '../support/catalogue.ts';
import { type CoreOptions, startCore } from '../support/core.ts';
import { type Ask, begin, type Exchange, modernHeaders, type Reply } from '../support/http-client.ts';
import { loadedServers } from '../support/loaded-servers.ts';
import { until } from '../support/until.ts';

export interface ServedHttp {
  /** The URL of the endpoint. */
  readonly url: string;
  /** The URL of another path. */
  at(path: string): string;
  readonly server: HttpServer;
  readonly metrics: Metrics;
  /** The lines of the access log, parsed. */
  readonly accessLines: readonly Readonly<Record<string, unknown>>[];
  /** Resolves when there are so many lines. */
  untilLogged(count: number): Promise<void>;
  /** Posts a message, in the modern era with its headers. */
  post(message: object, headers?: Ask['headers']): Promise<Reply>;
  begin(message: object, headers?: Ask['headers']): Exchange;
}

interface StaticToken {
  readonly caller: string;
  readonly token: string;
}

export interface ServeHttpOptions extends CoreOptions {
  readonly http?: Omit<Partial<HttpServerOptions>, 'tokens'> & { readonly tokens?: readonly StaticToken[] };
  readonly toolErrors?: 'protocol' | 'result';
  /** Other tools of the program itself. */
  readonly otherTools?: readonly ToolProvider[];
  /** The tools of a session in addition to the answer tools. */
  readonly servers?: (options: ClientCallOptions) => ServerTools;
}

/** The endpoint in this process, on the core with fakes, for one test. */
export async function serveHttp({
  http = {},
  toolErrors = 'protocol',
  servers,
  otherTools = [],
  ...core
}: ServeHttpOptions = {}): Promise<ServedHttp & ReturnType<typeof startCore>> {
  const started = startCore(core);
  const { application, clock, logger } = started;
  const redactor = createRedactor();
  const tokens = (http.tokens ?? []).map(({ caller, token }) => ({ caller, hash: hashOfToken(token) }));
  const answers = answersOf(application);
  const { servers: loaded = loadedServers() } = http;
  const catalogue = new ToolCatalogue({
    providers: () => [loaded.gateway, answers, ...otherTools].filter((provider) => provider !== undefined),
    clock,
    audit: core.audit,
    on: (event) => metrics.on(event),
  });
  const exposed = { catalogue, clock, logger, redactor, toolErrors };
  const accessLines: Record<string, unknown>[] = [];
  const metrics = new Metrics('1.2.3');
  metrics.registerServers(loaded);
  const server = new HttpServer({
    host: '127.0.0.1',
    port: 0,
    path: '/mcp',
    minTokenLength: 1,
    allowedHosts: [],
    allowedOrigins: [],
    drainMs: 25_000,
    maxBodyBytes: 128 * 1024,
    maxConnections: 100,
    maxCallsPerToken: 64,
    canAnswer: true,
    requiresToken: tokens.length > 0 || http.oauth !== undefined,
    rightsOf: () => EVERYTHING,
    tools: new ExposedTools({ ...exposed, servers: servers?.(exposed) }),
    toolErrors,
    serverInfo: { name: 'openai-responses-mcp', version: '0.0.0-test' },
    servers: loaded,
    catalogue,
    answerTimeoutMs: 300_000,
    version: '0.0.0-test',
    metrics,
    clock,
    logger,
    redactor,
    writeAccessLine: (entry) => void accessLines.push(withoutUndefined(entry)),
    ...http,
    tokens: () => tokens,
  });
  const listening = await server.listen();
  if (listening.isErr()) throw new Error(`The test's server cannot listen: ${listening.error}`);
  onTestFinished(() => server.close());
  const url = listening.value;
  const beginPost: ServedHttp['begin'] = (message, headers) => {
    const { method = '', params } = message as {
      readonly method?: string;
      readonly params?: { readonly _meta?: object };
    };
    const isModern = 'io.modelcontextprotocol/protocolVersion' in (params?._meta ?? {});
    return begin(url, {
      body: message,
      headers: { ...(isModern ? modernHeaders({ method, params }) : {}), ...headers },
    });
  };
  return {
    ...started,
    url,
    at: (path) => new URL(path, url).href,
    server,
    metrics,
    accessLines,
    untilLogged: (count) => until(() => accessLines.length >= count),
    post: (message, headers) => beginPost(message, headers).reply,
    begin: beginPost,
  };
}

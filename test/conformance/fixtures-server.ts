import { HttpServer } from '../../src/adapters/inbound/http/http-server.ts';
import type { Session } from '../../src/adapters/inbound/http/mcp-endpoint.ts';
import { META } from '../../src/adapters/inbound/mcp/era.ts';
import {
  errorMessage,
  isParams,
  type Params,
  readMessage,
  resultMessage,
} from '../../src/adapters/inbound/mcp/json-rpc.ts';
import { McpSession, type Send } from '../../src/adapters/inbound/mcp/mcp-session.ts';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { createRedactor } from '../../src/domain/redaction.ts';
import { startCore } from '../support/core.ts';
import { FakeLlmSearch } from '../support/fake-llm-search.ts';
import { FIXTURE_TOOLS } from './fixture-tools.ts';

const SERVER_INFO = { name: 'openai-responses-mcp-fixtures', version: '0.0.0-test' };

/** The real session with the tools of the suite next to ours; it answers everything that is not about them. */
class FixtureSession implements Session {
  readonly #session: McpSession;

  constructor(session: McpSession) {
    this.#session = session;
  }

  async receive(value: unknown, send: Send): Promise<void> {
    const message = readMessage(value);
    const params = message.kind === 'request' ? (message.params ?? {}) : {};
    const method = message.kind === 'request' ? message.method : '';
    const tool = FIXTURE_TOOLS.find(({ name }) => name === params.name);
    if (message.kind === 'request' && method === 'tools/call' && tool !== undefined) {
      const { progressToken } = (params._meta ?? {}) as Params;
      const answer = tool.call({
        params,
        reportProgress: (progress, total) => {
          if (progressToken === undefined) return;
          send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, total } });
        },
      });
      const { id } = message;
      send('error' in answer ? errorMessage(id, answer.error) : resultMessage(id, stamped(answer.result, params)));
      return;
    }
    const listed = FIXTURE_TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    await this.#session.receive(value, (sent) => {
      const tools = 'result' in sent ? sent.result.tools : undefined;
      send(
        'result' in sent && Array.isArray(tools)
          ? { ...sent, result: { ...sent.result, tools: [...tools, ...listed] } }
          : sent,
      );
    });
  }

  close(): void {
    this.#session.close();
  }
}

function stamped(result: Params, { _meta }: Params): Params {
  const isModern = isParams(_meta) && META.protocolVersion in _meta;
  return isModern ? { resultType: 'complete', ...result, _meta: { [META.serverInfo]: SERVER_INFO } } : result;
}

const clock = new SystemClock();
const { app, logger } = startCore({ clock, llmSearch: new FakeLlmSearch() });
const redactor = createRedactor([]);
const server = new HttpServer({
  host: '127.0.0.1',
  port: 0,
  path: '/mcp',
  tokens: [],
  allowedHosts: [],
  allowedOrigins: [],
  drainMs: 0,
  maxBodyBytes: 4 * 1024 * 1024,
  maxConnections: 100,
  maxCallsPerToken: 64,
  canAnswer: true,
  application: app,
  openSession: (request) =>
    new FixtureSession(
      new McpSession({
        ...request,
        clock,
        logger,
        redactor,
        serverInfo: SERVER_INFO,
        toolErrors: 'protocol',
        maxAnswerChars: 20_000,
      }),
    ),
  clock,
  logger,
  redact: redactor.anywhere,
  writeAccessLine: () => {},
});
const listening = await server.listen();
process.stderr.write(`serving MCP at ${listening._unsafeUnwrap()}\n`);
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));

import { Metrics } from '../../src/adapters/inbound/http/metrics.ts';
import { HttpServer } from '../../src/adapters/inbound/http/serve.ts';
import { ExposedTools } from '../../src/adapters/inbound/mcp/exposed-tools.ts';
import type { ToolSet } from '../../src/adapters/inbound/mcp/tool-set.ts';
import { SystemClock } from '../../src/adapters/outbound/clock/system-clock.ts';
import { isToolName } from '../../src/domain/answers/question.ts';
import { EVERYTHING } from '../../src/domain/gateway/call-origin.ts';
import { createRedactor } from '../../src/domain/values/redaction.ts';
import { answersOf, catalogueOf } from '../support/catalogue.ts';
import { startCore } from '../support/core.ts';
import { FakeLlmSearch } from '../support/fake-llm-search.ts';
import { loadedServers } from '../support/loaded-servers.ts';
import { fixtureGateway } from './fixture-resources.ts';
import { FIXTURE_TOOLS } from './fixture-tools.ts';

const clock = new SystemClock();
const { application, logger } = startCore({ clock, llmSearch: new FakeLlmSearch() });
const redactor = createRedactor();
const gateway = fixtureGateway({ clock, logger, redactor });

/** The tools that the conformance suite calls. */
const fixtureTools: ToolSet = {
  list: () => [
    ...FIXTURE_TOOLS.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ...gateway.names.map((name) => ({ name, description: `${name}, which asks.`, inputSchema: { type: 'object' } })),
  ],
  unknownTool: (name, rights) => answerTools.unknownTool(name, rights),
  call: (call, notify, signal) => {
    const { name, meta } = call;
    if (gateway.names.includes(name)) return gateway.call(call, notify, signal);
    const tool = FIXTURE_TOOLS.find((tool) => tool.name === name);
    if (tool === undefined) return Promise.resolve('unknown_tool' as const);
    const { progressToken } = meta;
    const reply = tool.call(meta, (progress, total) => {
      if (progressToken === undefined) return;
      notify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress, total } });
    });
    return Promise.resolve(reply);
  },
};

const catalogue = catalogueOf([answersOf(application)], { clock });
const answerTools = new ExposedTools({
  catalogue,
  clock,
  logger,
  redactor,
  toolErrors: 'protocol',
});
const tools: ToolSet = {
  list: (rights) => [...answerTools.list(rights), ...fixtureTools.list(rights)],
  unknownTool: (name, rights) => answerTools.unknownTool(name, rights),
  call: (call, notify, signal) => (isToolName(call.name) ? answerTools : fixtureTools).call(call, notify, signal),
};
const server = new HttpServer({
  host: '127.0.0.1',
  port: 0,
  path: '/mcp',
  tokens: () => [],
  minTokenLength: 1,
  allowedHosts: [],
  allowedOrigins: [],
  drainMs: 0,
  maxBodyBytes: 4 * 1024 * 1024,
  maxConnections: 100,
  maxCallsPerToken: 64,
  canAnswer: true,
  rightsOf: () => EVERYTHING,
  tools,
  shared: gateway.shared,
  openCalls: gateway.openCalls,
  serverInfo: { name: 'openai-responses-mcp-fixtures', version: '0.0.0-test' },
  requiresToken: false,
  servers: loadedServers(),
  catalogue,
  answerTimeoutMs: 300_000,
  version: '0.0.0-test',
  metrics: new Metrics('0.0.0-test'),
  clock,
  logger,
  redactor,
  writeAccessLine: () => {},
});
const listening = await server.listen();
process.stderr.write(`serving MCP at ${listening._unsafeUnwrap()}\n`);
process.on('SIGTERM', () => void server.close().then(() => process.exit(0)));

import { join } from 'node:path';
import { ExposedTools } from '../adapters/inbound/mcp/exposed-tools.ts';
import { answerToolList, CHECK_SOURCES } from '../adapters/inbound/mcp/tool-schemas.ts';
import type { ServerConfig } from '../adapters/outbound/config/server-config.ts';
import { AnswerProvider } from '../application/answers/answer-provider.ts';
import type { Application } from '../application/answers/application.ts';
import { whenNeeded } from '../application/async/shared-runs.ts';
import { checkProvider } from '../application/check/check-provider.ts';
import type { AnswerGateway } from '../application/grounded/grounded-calls.ts';
import { type CatalogueOptions, ToolCatalogue } from '../application/tools/tool-catalogue.ts';
import { UNFINISHED_INSTRUCTIONS } from '../domain/answers/unfinished-answer.ts';
import { BUILT_IN_SERVER } from '../domain/gateway/call-origin.ts';
import type { GatewayTool } from '../domain/gateway/gateway-tool.ts';
import { mayHaveEffects } from '../domain/grounded/grounding.ts';
import type { Answers, Reach } from './container.ts';
import type { ComposedGateway, GatewayOptions, ServedOptions } from './gateway.ts';
import { type Runtime, TEXT_WORKER } from './runtime.ts';

interface Options extends Pick<CatalogueOptions, 'configured' | 'on'>, GatewayOptions {
  /** Calls a tool for the model. Default: by the catalogue. */
  readonly call?: AnswerGateway['call'];
}

/**
 * Composes every tool of the program, and the tools for MCP. Loads two packages when they are first needed: `openai` with the first question or
 * check, and the official MCP client with the servers. The runtime closes everything that is created here.
 */
export function composeCatalogue(runtime: Runtime, { configured, on, call, ...options }: Options) {
  const { config } = runtime;
  const { server, citations, longAnswers } = config;
  let gateway: ComposedGateway | undefined;
  let application: Application | undefined;
  const loadGateway = () => import('./gateway.ts');
  const servers = whenNeeded(async () => {
    const { composeGateway } = await loadGateway();
    gateway = await composeGateway(runtime, options);
    return gateway;
  });
  const answering = whenNeeded(async (): Promise<Answers> => {
    const { createContainer } = await import('./container.ts');
    const inFolder = (name: string) => join(runtime.folder, name);
    const files = { recordings: inFolder('recordings'), textWorker: inFolder(TEXT_WORKER) };
    return createContainer(runtime, files, async () => ({
      ...(await servers.get()),
      call: call ?? ((toolCall, signal) => catalogue.call(toolCall, signal)),
    }));
  });
  runtime.atClose(servers.close);
  runtime.atClose(answering.close);
  const loadApplication = async () => {
    application ??= (await answering.get()).application();
    return application;
  };
  const answers = answerProvider(config, { load: loadApplication, tools: () => gateway?.gateway.tools ?? [] });
  const loadCheck = async (reach?: Reach) => (await answering.get()).check(reach);
  const checks = checkProvider({ tool: CHECK_SOURCES, load: whenNeeded(() => loadCheck()).get });
  const ownTools = citations.tool ? [answers, checks] : [answers];
  const providers = () => [gateway?.gateway, ...ownTools].filter((provider) => provider !== undefined);
  const common = { ...runtime, configured, on };
  const catalogue = new ToolCatalogue({ ...common, providers });
  // `POST /mcp/check` needs the check without its tool in the lists.
  const checkCatalogue = new ToolCatalogue({ ...common, providers: () => [checks] });
  const ofMcp = { ...runtime, catalogue, toolErrors: server.toolErrors };
  return {
    catalogue,
    checks: citations.rest ? checkCatalogue : undefined,
    moreInstructions: longAnswers && UNFINISHED_INSTRUCTIONS,
    /** Undefined before the first question. */
    application: () => application,
    loadApplication,
    loadCheck,
    /** Undefined before the servers are needed. */
    gateway: () => gateway?.gateway,
    startGateway: servers.get,
    /** What MCP clients see: the program's own tools and, with `served`, what the servers offer, started or not. */
    expose: async (served?: Pick<ServedOptions, 'gateway' | 'notifiesOfChanges' | 'configured'>) => {
      const exposed = served && (await loadGateway()).exposeServers(runtime, { ...ofMcp, ...served });
      const { servers, shared, openCalls } = exposed ?? {};
      return { tools: new ExposedTools({ ...ofMcp, servers, openCalls }), shared, openCalls };
    },
    /** Ends the servers at once, without waiting for their calls. */
    endServers: () => gateway?.end(),
  };
}

interface AnswerOptions {
  readonly load: () => Promise<Application>;
  /** The current tools of the servers. */
  readonly tools: () => readonly GatewayTool[];
}

/** Offers the answer tools, whose descriptions say whether an answer may have effects. */
function answerProvider({ grounding, timeZone, server, citations, request }: ServerConfig, options: AnswerOptions) {
  const { load, tools } = options;
  return new AnswerProvider({
    load,
    describe: (hasEffects) =>
      answerToolList(server.maxAnswerChars, hasEffects, timeZone, citations.check === 'evidence').map((tool) => ({
        server: BUILT_IN_SERVER,
        ...tool,
      })),
    hasEffects: grounding && ((rights) => mayHaveEffects(grounding, tools(), rights)),
    timeoutMs: request.timeoutMs,
  });
}

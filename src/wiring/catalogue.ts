import { answerToolList } from '../adapters/inbound/mcp/answer-schemas.ts';
import { AnswerTools } from '../adapters/inbound/mcp/answer-tools.ts';
import { CHECK_SOURCES, toCheckResult } from '../adapters/inbound/mcp/check-schemas.ts';
import { CHECK } from '../adapters/inbound/words/check-messages.ts';
import { AnswerProvider } from '../application/answers/answer-provider.ts';
import type { Application } from '../application/answers/application.ts';
import { checkProvider } from '../application/check/check-provider.ts';
import type { Gateway } from '../application/gateway/gateway.ts';
import type { CatalogueOptions } from '../application/tools/catalogue-options.ts';
import { ToolCatalogue } from '../application/tools/tool-catalogue.ts';
import { UNFINISHED_INSTRUCTIONS } from '../domain/answers/unfinished-answer.ts';
import { BUILT_IN_SERVER } from '../domain/gateway/call-origin.ts';
import { parseTool } from '../domain/gateway/gateway-tool.ts';
import { mayHaveEffects } from '../domain/grounded/grounding.ts';
import type { Runtime } from './runtime.ts';
import type { Services } from './services.ts';

interface Options extends Pick<CatalogueOptions, 'configured' | 'onCallEnded'> {
  readonly services: () => Promise<Services>;
  /** Undefined while there is none. */
  readonly gateway: () => Gateway | undefined;
}

/** Every tool, and the answer tools as MCP offers them. The application is loaded with the first question. */
export function createCatalogue(runtime: Runtime, { services, gateway, ...options }: Options) {
  const { config } = runtime;
  const { grounding, timeZone, maxAnswerChars, server, citationCheck, timeoutMs, longAnswers } = config;
  let application: Application | undefined;
  const answers = new AnswerProvider({
    load: async () => {
      application ??= await (await services()).application();
      return application;
    },
    describe: (hasEffects) =>
      answerToolList(maxAnswerChars, hasEffects, timeZone, citationCheck === 'evidence').flatMap(
        (tool) => parseTool(BUILT_IN_SERVER, tool) ?? [],
      ),
    hasEffects: grounding && ((rights) => mayHaveEffects(grounding, gateway()?.tools ?? [], rights)),
    timeoutMs,
  });
  const checks = checkProvider({
    load: async () => (await (await services()).check()).check,
    tool: CHECK_SOURCES,
    present: toCheckResult,
    progress: CHECK.progress,
  });
  const ownTools = config.checksAsTool ? [answers, checks] : [answers];
  const providers = () => [gateway(), ...ownTools].filter((provider) => provider !== undefined);
  const catalogue = new ToolCatalogue({ ...runtime, ...options, providers });
  // `POST /mcp/check` needs no tool in the lists.
  const checkCatalogue = new ToolCatalogue({ ...runtime, ...options, providers: () => [checks] });
  const answerTools = new AnswerTools({ ...runtime, catalogue, toolErrors: server.toolErrors });
  const moreInstructions = longAnswers && UNFINISHED_INSTRUCTIONS;
  return {
    catalogue,
    checks: config.checksOverRest ? checkCatalogue : undefined,
    answerTools,
    moreInstructions,
    application: () => application,
  };
}
